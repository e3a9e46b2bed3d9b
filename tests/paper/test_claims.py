"""Verdicts, on made-up tables whose verdicts are known."""

from typing import Any

import polars as pl
import pytest

from passerby_paper import changes, page, page_readings
from passerby_paper.changes import left_of
from passerby_paper.claims import FAILS, HOLDS, OPEN, PART, Claim, Finding, grade, together
from passerby_paper.claims_readings import CHECKS, depending
from passerby_paper.readings import GAPS
from passerby_paper.rules import Answer
from passerby_paper.settings import Settings
from passerby_paper.wording import rows_of, shown

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


@pytest.mark.parametrize(("found", "expected"), [([0.1, 0.0], True), ([0.1, 0.01], False)])
def test_a_sample_without_a_success_is_said(found: list[float], expected: bool) -> None:
    table = simulated(steps=[2, 20], map_mc=found)
    measured = named("Steps with s = T/2").judged({"steps-half": table}, SETTINGS).measured
    assert measured.endswith(f"; {SETTINGS.traces:,} traces show no success of MAP at T = 20") == expected


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


def test_which_claims_depend_on_the_reading() -> None:
    same: dict[str, Answer] = dict.fromkeys(CHECKS, True)
    found = {
        ("gowalla", "a"): same,
        ("gowalla", "b"): {**same, "gap_whole_tight": False, "frequent": None},
        ("foursquare", "a"): {**same, "sigma": False},
        ("foursquare", "b"): {**same, "sigma": False},
    }
    assert depending(found) == {"gap_whole_tight": {"gowalla": {True: ["a"], False: ["b"]}}}


def test_that_no_claim_depends_on_the_reading_is_said() -> None:
    same: dict[str, Answer] = dict.fromkeys(CHECKS, True)
    text = page_readings._dependence({("gowalla", "a"): same, ("gowalla", "b"): {**same, "sigma": None}})
    assert text.startswith("**No claim depends on the reading.**\n\n**No reading contradicts another** on: loss falls")
    assert all(words in text for words in CHECKS.values())


def correlations(**values: list[float]) -> pl.DataFrame:
    """Correlations with each kind of gap under two readings; what is not given is undefined."""
    undefined = [float("nan")] * 2
    found = {f"{gap}_tight": values.get(gap, undefined) for gap in GAPS}
    ends = {
        f"{name}_{end}": pl.Series(v) + off for name, v in found.items() for end, off in (("low", -0.1), ("high", 0.1))
    }
    return pl.DataFrame({"dataset": "gowalla", "reading": ["first", "second"], **found, **ends})


def test_how_far_a_correlation_depends_on_the_reading() -> None:
    table = correlations(gap_whole=[-0.3, 0.2], gap_reached=[-0.4, -0.5], gap_signed=[0.0, 0.1])
    assert page_readings._range_of(table) == (
        "- Gowalla: from -0.50 [-0.60, -0.40] (*second*, places reached) to +0.20 [+0.10, +0.30] (*second*, all "
        "places). Whether rows of places never visited count moves it most with *second*: +0.20 [+0.10, +0.30] "
        "where they do, -0.50 [-0.60, -0.40] where they do not."
    )
    some = correlations(gap_whole=[-0.3, 0.2], gap_reached=[-0.4, float("nan")])
    assert "moves it most with *first*: -0.30 [-0.40, -0.20] where they do, -0.40" in page_readings._range_of(some)
    assert page_readings._range_of(correlations(gap_signed=[0.0, 0.1])) == (
        "- Gowalla: from +0.00 [-0.10, +0.10] (*first*, places reached, signed) to +0.10 [+0.00, +0.20] "
        "(*second*, places reached, signed)."
    )
    assert page_readings._range_of(correlations()) == "- Gowalla: undefined."


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
    known = table.with_columns(baseline_lower=pl.lit(0.29), baseline_upper=pl.lit(0.29))
    assert (
        "What it cannot lower is the loss without counts, and that is nine tenths or more of the loss in 1 of them "
        "(simulated, 5 of 10 right): there the loss hardly changes" in changes.section({"sigma": known}, SETTINGS)
    )
    assert "What it cannot lower" not in text
    assert changes.section({}, SETTINGS) == ""


def test_the_page_says_whether_longer_traces_protect() -> None:
    table = simulated(steps=[2, 20], lower=[0.04, 0.001], upper=[0.041, 0.002], tight=[0.50, 0.51])
    text = changes.section({"steps-half": table}, SETTINGS)
    assert "Longer traces do protect" in text
    assert (
        "the tight bound moves between 50 % and 51 %, which reads as almost constant. The loss itself falls from "
        in text
    )
    assert "from 4.0 % to 4.1 % at T = 2 to 0.1 % to 0.2 % at T = 20." in text
    moving = changes.section({"steps-half": table.with_columns(tight=pl.Series([0.2, 0.9]))}, SETTINGS)
    assert "between 20 % and 90 %. The loss itself" in moving
    assert changes.section({"steps-half": table.with_columns(upper=pl.Series([0.041, 0.03]))}, SETTINGS) == ""


def test_the_page_without_tables_says_so() -> None:
    text = page.written({}, SETTINGS)
    assert f"Of {len(CLAIMS)} claims: *not checkable here* {len(CLAIMS)}." in text
    assert text.count("**Not checkable here**") == len(CLAIMS)
    assert "quick" not in text
    assert "not to be quoted" in page.written({}, Settings.fast())


def test_cells_of_tables_are_kept_apart() -> None:
    assert rows_of(("a", "b"), [("x|y", "z")]).splitlines()[2] == "| x\\|y | z |"
