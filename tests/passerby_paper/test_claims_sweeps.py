"""Verdicts on sweeps over raw counts, on made-up tables."""

import pytest
from tests.passerby_paper.made_up import SETTINGS, named, simulated, verdict

from passerby_paper.claims import FAILS, HOLDS, PART


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [([0.3, 0.01], [0.31, 0.02], HOLDS), ([0.3, 0.29], [0.31, 0.30], PART), ([0.1, 0.3], [0.2, 0.4], PART)],
)
def test_loss_and_places(lower: list[float], upper: list[float], expected: str) -> None:
    table = simulated(places=[10, 100], lower=lower, upper=upper, map=[0.3, 0.01], tight=[1.0, 0.1], loose=[1.0, 0.5])
    assert verdict("Loss and number of places", places=table) == expected


@pytest.mark.parametrize(("values", "expected"), [([0.31, 0.01], HOLDS), ([0.6, 0.01], PART), ([0.05, 0.01], FAILS)])
def test_map_with_few_places(values: list[float], expected: str) -> None:
    assert verdict("MAP with few places", places=simulated(places=[10, 20], map=values)) == expected


@pytest.mark.parametrize(
    ("tight", "expected"),
    [([0.9, 0.13, 0.12], HOLDS), ([0.9, 0.4, 0.12], PART), ([0.2, 0.9, 0.9], FAILS)],
)
def test_tight_bound_and_attacks(tight: list[float], expected: str) -> None:
    table = simulated(misses=[5, 1, 0], right=[5, 9, 10], tight=tight, map=[0.12] * 3)
    assert verdict("The tight bound and the attacks", right=table) == expected


@pytest.mark.parametrize(
    ("changing", "expected"),
    [({}, HOLDS), ({"lower": [0.04, 1e-8]}, PART), ({"map": [0.2, 0.1], "tight": [0.3, 0.9]}, PART)],
)
def test_constant_in_steps(changing: dict[str, list[float]], expected: str) -> None:
    columns = {"lower": [0.04, 0.04], **changing}
    table = simulated(steps=[2, 20], upper=[x * 1.01 for x in columns["lower"]], **columns)
    assert verdict("Steps with s = T/2", steps_half=table) == expected


@pytest.mark.parametrize(("found", "expected"), [([0.1, 0.0], True), ([0.1, 0.01], False)])
def test_a_sample_without_a_success_is_said(found: list[float], expected: bool) -> None:
    table = simulated(steps=[2, 20], map_mc=found)
    measured = named("Steps with s = T/2").judged({"steps-half": table}, SETTINGS).measured
    assert measured.endswith(f"; {SETTINGS.traces:,} traces show no success of MAP at T = 20") == expected


@pytest.mark.parametrize(("tight", "expected"), [([0.2, 0.6], HOLDS), ([0.6, 0.2], PART)])
def test_tightest_at_few_steps(tight: list[float], expected: str) -> None:
    table = simulated(steps=[2, 20], lower=[0.1, 0.1], upper=[0.1, 0.1], tight=tight, loose=[0.8, 0.9])
    assert verdict("Tightness and number of steps", steps_two=table) == expected
