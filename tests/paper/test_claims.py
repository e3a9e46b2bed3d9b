"""Verdicts, on made-up tables whose verdicts are known."""

from typing import Any

import polars as pl
import pytest

from passerby.paper import changes, page
from passerby.paper.changes import left_of
from passerby.paper.claims import FAILS, HOLDS, OPEN, PART, Claim, Finding, grade, together
from passerby.paper.claims_readings import CHECKS, depending
from passerby.paper.rules import Answer
from passerby.paper.settings import Settings
from passerby.paper.wording import rows_of, shown

SETTINGS = Settings()
CLAIMS = [claim for _, group in page.GROUPS for claim in group]


def simulated(**columns: list[Any]) -> pl.DataFrame:
    """A table of a sweep: what is not given does not change along it."""
    length = len(next(iter(columns.values())))
    usual = {
        "places": 100, "steps": 10, "misses": 5, "right": 5, "sigma": None, "draw": 0, "map": 0.1, "map_error": 0.0,
        "prior": 0.05, "constant": 0.05, "lower": 0.12, "upper": 0.13, "baseline_lower": 0.05,
        "baseline_upper": 0.06, "tight": 0.3, "loose": 0.6, "map_mc": 0.1, "map_mc_error": 0.01, "prior_mc": 0.05,
        "prior_mc_error": 0.01, "constant_mc": 0.05, "constant_mc_error": 0.01,
    }  # fmt: skip
    filled = {name: columns.get(name, [value] * length) for name, value in usual.items()}
    return pl.DataFrame(filled, schema_overrides={"sigma": pl.Float64})


def named(name: str) -> Claim:
    return next(claim for claim in CLAIMS if claim.name == name)


def verdict(name: str, **tables: pl.DataFrame) -> str:
    return named(name).judged({key.replace("_", "-"): table for key, table in tables.items()}, SETTINGS).verdict


def test_grades() -> None:
    assert grade({"a": True, "b": True}) == (HOLDS, "")
    assert grade({"a": False}) == (FAILS, "does not: a")
    assert grade({"a": None}) == (OPEN, "cannot be told: a")
    assert grade({"a": False, "b": None})[0] == FAILS
    assert grade({"a": True, "b": False, "c": None}) == (PART, "holds: a; does not: b; cannot be told: c")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([HOLDS, HOLDS], HOLDS),
        ([FAILS, FAILS], FAILS),
        ([HOLDS, FAILS], PART),
        ([HOLDS, OPEN], PART),
        ([FAILS, OPEN], FAILS),
        ([OPEN, OPEN], OPEN),
        ([PART, HOLDS], PART),
    ],
)
def test_several_files_give_one_verdict(verdicts: list[Any], expected: str) -> None:
    findings = {f"file{i}": Finding(verdict, "x", "y") for i, verdict in enumerate(verdicts)}
    assert together(findings).verdict == expected
    assert together(findings).why == "y"


def test_numbers_are_short() -> None:
    assert [shown(x) for x in (0.5, 0.0123, 1e-7, float("nan"))] == ["50 %", "1.2 %", "1.0e-7", "?"]


def test_what_was_not_run_cannot_be_judged() -> None:
    for claim in CLAIMS:
        found = claim.judged({}, SETTINGS)
        assert found.verdict == OPEN
        assert all(f"`{name}`" in found.why for name in claim.needs)


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


@pytest.mark.parametrize(("tight", "expected"), [([0.2, 0.6], HOLDS), ([0.6, 0.2], PART)])
def test_tightest_at_few_steps(tight: list[float], expected: str) -> None:
    table = simulated(steps=[2, 20], lower=[0.1, 0.1], upper=[0.1, 0.1], tight=tight, loose=[0.8, 0.9])
    assert verdict("Tightness and number of steps", steps_two=table) == expected


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


@pytest.mark.parametrize(("found", "expected"), [([0.9, 0.1], HOLDS), ([0.5, 0.1], PART), ([0.5, 0.5], FAILS)])
def test_habits_and_real_traces(found: list[float], expected: str) -> None:
    table = pl.DataFrame({"dataset": "gowalla", "right": [1, 2], "people": 100, "map": [0.5, 0.5], "hit_map": found})
    assert verdict("Habits and the real traces", real_right=table) == expected


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


def test_which_claims_depend_on_the_reading() -> None:
    same: dict[str, Answer] = dict.fromkeys(CHECKS, True)
    found = {
        ("gowalla", "a"): same,
        ("gowalla", "b"): {**same, "gap_whole_tight": False, "frequent": None},
        ("foursquare", "a"): {**same, "sigma": False},
        ("foursquare", "b"): {**same, "sigma": False},
    }
    assert depending(found) == {"gap_whole_tight": {"gowalla": {True: ["a"], False: ["b"]}}}


def test_what_noise_leaves_of_what_counts_add() -> None:
    raw = {"lower": 0.30, "upper": 0.30, "baseline_lower": 0.10, "baseline_upper": 0.10}
    assert left_of(raw, {"lower": 0.15, "upper": 0.20}) == pytest.approx((0.25, 0.5))
    assert left_of(raw, {"lower": 0.05, "upper": 0.40}) == (0.0, 1.0)
    wide = {**raw, "upper": 0.50, "baseline_lower": 0.0}
    assert left_of(wide, {"lower": 0.15, "upper": 0.20}) == pytest.approx((0.125, 2 / 3))
    silent = dict.fromkeys(raw, 0.1)
    assert left_of(silent, {"lower": 0.1, "upper": 0.1}) == (1.0, 1.0)


def test_the_page_says_whether_noise_helps() -> None:
    table = simulated(
        right=[5, 5], sigma=[None, 1.0], lower=[0.30, 0.12], upper=[0.31, 0.13],
        baseline_lower=[0.1, 0.1], baseline_upper=[0.1, 0.1],
    )  # fmt: skip
    text = changes.section({"sigma": table}, SETTINGS)
    assert "Noise surely lowers the loss in 1 of 1 settings" in text
    assert "In 1 of them noise of σ = 1 surely leaves less than half of what raw counts add" in text
    assert "noise helps for sure from sigma = 1 on. Raw counts add at least 20.0 %" in text
    hidden = table.with_columns(upper=pl.Series([0.31, 0.30]))
    assert "not seen to help at any sigma up to 1" in changes.section({"sigma": hidden}, SETTINGS)
    assert changes.section({}, SETTINGS) == ""


def test_the_page_without_tables_says_so() -> None:
    text = page.written({}, SETTINGS)
    assert f"Of {len(CLAIMS)} claims: *not checkable here* {len(CLAIMS)}." in text
    assert text.count("**Not checkable here**") == len(CLAIMS)
    assert "quick" not in text
    assert "not to be quoted" in page.written({}, Settings.fast())


def test_cells_of_tables_are_kept_apart() -> None:
    assert rows_of(("a", "b"), [("x|y", "z")]).splitlines()[2] == "| x\\|y | z |"
