"""Verdicts on the people of real files, on made-up tables."""

import polars as pl
import pytest
from tests.passerby_paper.made_up import SETTINGS, named, verdict

from passerby_paper.claims import FAILS, HOLDS, OPEN, PART


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
    assert verdict("Number of people", people=table) == expected
    assert verdict("Number of windows", people=table) == HOLDS


@pytest.mark.parametrize(("direction", "expected"), [(-1, HOLDS), (1, FAILS)])
def test_spectral_gap(direction: int, expected: str) -> None:
    gaps = [i / 60 for i in range(60)]
    losses = [0.5 + direction * gap / 3 for gap in gaps]
    table = pl.DataFrame({"dataset": "gowalla", "spectral_gap": gaps, "tight": losses, "upper": losses})
    found = named("Spectral gap").judged({"spectral-gap": table}, SETTINGS)
    assert found.verdict == expected
    assert f"{float(direction):+.2f}" in found.measured


@pytest.mark.parametrize(
    ("visits", "loss", "expected"),
    [([0.9] * 5, 0.9, HOLDS), ([0.9] * 5, 0.45, PART), ([0.9] * 5, 0.1, FAILS), ([0.9] * 4 + [0.4], 0.9, OPEN)],
)
def test_frequent_visitors(visits: list[float], loss: float, expected: str) -> None:
    frequency, losses = visits + [0.0] * 20, [loss] * 5 + [0.2] * 20
    table = pl.DataFrame({"dataset": "gowalla", "frequency": frequency, "tight": losses, "upper": losses})
    assert verdict("Frequent visitors", sensor_visits=table) == expected


@pytest.mark.parametrize(
    ("people", "tight", "upper", "expected"),
    [
        (21, (0.0, 1.0), (0.1, 0.9), HOLDS),
        (21, (0.0, 1.0), (0.1, 0.3), PART),
        (21, (0.4, 0.6), (0.1, 0.3), FAILS),
        (4, (0.0, 1.0), (0.0, 1.0), OPEN),
    ],
)
def test_everybody_else(people: int, tight: tuple[float, ...], upper: tuple[float, ...], expected: str) -> None:
    losses = {
        name: [low + i / (people - 1) * (high - low) for i in range(people)] + [0.99]
        for name, (low, high) in (("tight", tight), ("upper", upper))
    }
    table = pl.DataFrame({"dataset": "gowalla", "frequency": [0.0] * people + [0.9], **losses})
    found = named("Everybody else").judged({"sensor-visits": table}, SETTINGS)
    assert found.verdict == expected
    assert f"{people} people were never there" in found.measured
    if expected == PART:
        assert "tight 0 to 100 % (middle nine tenths 5.0 % to 95 %); this tool 10 % to 30 %" in found.measured


@pytest.mark.parametrize(("found", "expected"), [([0.9, 0.1], HOLDS), ([0.5, 0.1], PART), ([0.5, 0.5], FAILS)])
def test_habits_and_real_traces(found: list[float], expected: str) -> None:
    table = pl.DataFrame({"dataset": "gowalla", "right": [1, 2], "people": 100, "map": [0.5, 0.5], "hit_map": found})
    assert verdict("Habits and the real traces", real_right=table) == expected
