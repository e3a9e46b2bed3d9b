"""Verdicts on noise, on made-up tables."""

import polars as pl
import pytest
from tests.passerby_paper.made_up import SETTINGS, named, simulated, verdict

from passerby_paper.claims import FAILS, HOLDS, OPEN, PART


@pytest.mark.parametrize(
    ("noisy", "expected"), [([0.30, 0.30], HOLDS), ([0.30, 0.05], PART), ([0.05, 0.05], FAILS), ([None, None], OPEN)]
)
def test_noise_and_loss(noisy: list[float | None], expected: str) -> None:
    lower = [x for value in noisy for x in (0.30, value or 0.05)]
    upper = [x for value in noisy for x in (0.30, value or 0.30)]
    table = simulated(right=[1, 1, 2, 2], misses=[9, 9, 8, 8], sigma=[None, 1.0] * 2, lower=lower, upper=upper)
    one, two = table.filter(pl.col("right") == 1), table.filter(pl.col("right") == 2)
    assert verdict("Noise and the loss, simulated", sigma=one, noise=two) == expected


@pytest.mark.parametrize(("error", "expected"), [(0.0, PART), (0.02, OPEN)])
def test_sampled_attacks_are_not_taken_for_exact(error: float, expected: str) -> None:
    table = simulated(sigma=[None, 1.0], map=[0.30, 0.26], map_error=[0.0, error])
    found = named("MAP and noise, simulated").judged({"sigma": table, "noise": table[:0]}, SETTINGS)
    assert found.verdict == expected
    assert ("holds: 5 of 10 right to the eye" in found.why) == (error == 0)


@pytest.mark.parametrize(("lower", "upper", "expected"), [(0.45, 0.48, HOLDS), (0.45, 0.52, OPEN), (0.55, 0.58, FAILS)])
def test_the_loss_where_noisy_bounds_are_higher(lower: float, upper: float, expected: str) -> None:
    table = pl.DataFrame(
        {
            "dataset": "gowalla", "sigma": [None, 0.1, 1.0], "tight": [0.6, 0.7, 0.5], "loose": [1.0, 1.0, 1.0],
            "lower": [0.50, lower, 0.4], "upper": [0.51, upper, 0.4],
        }
    )  # fmt: skip
    found = named("Actual bounds with noise").judged({"real-sigma": table, "real-noise": table}, SETTINGS)
    assert found.verdict == expected
    assert ("sigma = 0.1" in found.why) == (expected != HOLDS)


@pytest.mark.parametrize(("noisy", "expected"), [([0.7, 0.65], HOLDS), ([0.5, 0.4], FAILS)])
def test_noisy_bounds_above_raw_ones_where_one_sensor_was_run(noisy: list[float], expected: str) -> None:
    table = pl.DataFrame(
        {"dataset": "gowalla", "sigma": [None, 0.1, 0.2], "tight": [0.6, *noisy], "loose": [1.0, 1.0, 1.0]}
    )
    found = named("Noisy bounds above raw ones").judged({"real-sigma": table}, SETTINGS)
    assert found.verdict == expected
    above = "random sensors: tight at sigma = 0.1, 0.2, by at most 10 %"
    assert found.measured.endswith(above if expected == HOLDS else "at no sigma")
