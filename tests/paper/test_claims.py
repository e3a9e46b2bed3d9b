"""Verdicts, on made-up tables whose verdicts are known."""

from typing import Any

import polars as pl
import pytest

from passerby.paper import claims_real, claims_simulated, page
from passerby.paper.claims import FAILS, HOLDS, OPEN, PART, Claim, Finding, falls, grade, rises, shown, together
from passerby.paper.claims_readings import CHECKS, depending
from passerby.paper.settings import Settings

SETTINGS = Settings()


def simulated(**columns: list[Any]) -> pl.DataFrame:
    """A table of a sweep: what is not given does not change along it."""
    length = len(next(iter(columns.values())))
    usual = {
        "places": 100, "steps": 10, "misses": 5, "right": 5, "sigma": None, "draw": 0, "map": 0.1, "map_error": 0.0,
        "prior": 0.05, "constant": 0.05, "lower": 0.12, "lower_error": 0.0, "upper": 0.13, "baseline_lower": 0.05,
        "baseline_upper": 0.06, "tight": 0.3, "loose": 0.6, "map_mc": 0.1, "map_mc_error": 0.01, "prior_mc": 0.05,
        "prior_mc_error": 0.01, "constant_mc": 0.05, "constant_mc_error": 0.01,
    }  # fmt: skip
    filled = {name: columns.get(name, [value] * length) for name, value in usual.items()}
    return pl.DataFrame(filled, schema_overrides={"sigma": pl.Float64})


def named(name: str, *groups: tuple[Claim, ...]) -> Claim:
    return next(claim for group in (groups or (claims_simulated.CLAIMS,)) for claim in group if claim.name == name)


def test_grades() -> None:
    assert grade({"a": True, "b": True}) == (HOLDS, "")
    assert grade({"a": False}) == (FAILS, "does not: a")
    assert grade({"a": True, "b": False, "c": False}) == (PART, "holds: a; does not: b; c")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([HOLDS, HOLDS], HOLDS),
        ([FAILS, FAILS], FAILS),
        ([HOLDS, FAILS], PART),
        ([HOLDS, OPEN], HOLDS),
        ([OPEN, OPEN], OPEN),
        ([PART, HOLDS], PART),
    ],
)
def test_several_files_give_one_verdict(verdicts: list[Any], expected: str) -> None:
    findings = {f"file{i}": Finding(verdict, "x", "y") for i, verdict in enumerate(verdicts)}
    assert together(findings).verdict == expected
    assert together(findings).why == "y"


def test_directions() -> None:
    assert falls([3, 2, 2, 1])
    assert not falls([3, 2, 2.1, 1])
    assert falls([3, 2, 2.1, 1], slack=0.1)
    assert not falls([1, 1])
    assert rises([1, 1, 2])
    assert not rises([1, 0.5, 2])


def test_numbers_are_short() -> None:
    assert [shown(x) for x in (0.5, 0.0123, 1e-7, float("nan"))] == ["50 %", "1.2 %", "1.0e-7", "?"]


def test_what_was_not_run_cannot_be_judged() -> None:
    for group in (claims_simulated.CLAIMS, claims_real.CLAIMS):
        for claim in group:
            found = claim.judged({}, SETTINGS)
            assert found.verdict == OPEN
            assert f"`{claim.needs[0]}`" in found.why


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [([0.3, 0.01], [0.31, 0.02], HOLDS), ([0.3, 0.29], [0.31, 0.30], PART), ([0.1, 0.3], [0.2, 0.4], PART)],
)
def test_loss_and_places(lower: list[float], upper: list[float], expected: str) -> None:
    table = simulated(places=[10, 100], lower=lower, upper=upper, map=[0.3, 0.01], tight=[1.0, 0.1], loose=[1.0, 0.5])
    assert named("Loss and number of places").judged({"places": table}, SETTINGS).verdict == expected


@pytest.mark.parametrize(("value", "expected"), [(0.31, HOLDS), (0.05, FAILS)])
def test_map_with_few_places(value: float, expected: str) -> None:
    table = simulated(places=[10, 20], map=[value, 0.01])
    assert named("MAP with few places").judged({"places": table}, SETTINGS).verdict == expected


@pytest.mark.parametrize(
    ("tight", "lower", "expected"),
    [([0.1, 0.1], [0.04, 0.03], HOLDS), ([0.1, 0.1], [0.04, 1e-8], PART), ([0.1, 0.9], [0.04, 1e-8], FAILS)],
)
def test_constant_in_steps(tight: list[float], lower: list[float], expected: str) -> None:
    table = simulated(steps=[2, 20], tight=tight, lower=lower, upper=[x * 1.01 for x in lower])
    assert named("Steps with s = T/2").judged({"steps-half": table}, SETTINGS).verdict == expected


@pytest.mark.parametrize(("noisy_upper", "expected"), [([0.11, 0.11], FAILS), ([0.11, 0.2], PART), ([0.2, 0.2], HOLDS)])
def test_noise_and_loss(noisy_upper: list[float], expected: str) -> None:
    table = simulated(
        right=[1, 1, 2, 2],
        misses=[9, 9, 8, 8],
        sigma=[None, 1.0, None, 1.0],
        lower=[0.12, 0.1, 0.12, 0.1],
        upper=[0.13, noisy_upper[0], 0.13, noisy_upper[1]],
    )
    assert named("Noise and the loss, simulated").judged({"noise": table}, SETTINGS).verdict == expected


@pytest.mark.parametrize(
    ("rows", "people", "expected"), [(6_442_000, 318, HOLDS), (6_442_000, 300, FAILS), (150_000, 129, OPEN)]
)
def test_a_sample_cannot_confirm_the_number_of_people(rows: int, people: int, expected: str) -> None:
    table = pl.DataFrame(
        {
            "dataset": ["gowalla"], "rows": [rows], "windows": [32], "people": [people],
            "paper_rows": [6_442_890], "paper_windows": [32], "paper_people": [318],
        }
    )  # fmt: skip
    assert named("Number of people", claims_real.CLAIMS).judged({"people": table}, SETTINGS).verdict == expected
    assert named("Number of windows", claims_real.CLAIMS).judged({"people": table}, SETTINGS).verdict == HOLDS


@pytest.mark.parametrize(("direction", "expected"), [(-1, HOLDS), (1, FAILS)])
def test_spectral_gap(direction: int, expected: str) -> None:
    gaps = [i / 60 for i in range(60)]
    losses = [0.5 + direction * gap / 3 for gap in gaps]
    table = pl.DataFrame({"dataset": "gowalla", "spectral_gap": gaps, "tight": losses, "upper": losses})
    found = named("Spectral gap", claims_real.CLAIMS).judged({"spectral-gap": table}, SETTINGS)
    assert found.verdict == expected
    assert f"{float(direction):+.2f}" in found.measured


@pytest.mark.parametrize(("found", "expected"), [([0.9, 0.1], HOLDS), ([0.5, 0.1], PART), ([0.5, 0.5], FAILS)])
def test_habits_and_real_traces(found: list[float], expected: str) -> None:
    table = pl.DataFrame({"dataset": "gowalla", "right": [1, 2], "people": 100, "map": [0.5, 0.5], "hit_map": found})
    claim = named("Habits and the real traces", claims_real.CLAIMS)
    assert claim.judged({"real-right": table}, SETTINGS).verdict == expected


def test_which_claims_depend_on_the_reading() -> None:
    same: dict[str, bool | None] = dict.fromkeys(CHECKS, True)
    found = {
        ("gowalla", "a"): same,
        ("gowalla", "b"): {**same, "gap": False, "frequent": None},
        ("foursquare", "a"): {**same, "sigma": False},
        ("foursquare", "b"): {**same, "sigma": False},
    }
    assert depending(found) == {"gap": {"gowalla": ["b"]}}


def test_the_page_without_tables_says_so() -> None:
    text = page.written({}, SETTINGS)
    claims = sum(len(group) for _, group in page.GROUPS)
    assert f"Of {claims} claims: {claims} cannot be checked here." in text
    assert text.count("**Not checkable here**") == claims
    assert "quick" not in text
    assert "not to be quoted" in page.written({}, Settings.fast())


def test_cells_of_tables_are_kept_apart() -> None:
    assert page.rows_of(("a", "b"), [("x|y", "z")]).splitlines()[2] == "| x\\|y | z |"
