"""Verdicts, intervals that know of drift, and the tables behind them."""

import numpy as np
import polars as pl
import pytest

from passerby.audits.attacks import BACKTESTED
from passerby.audits.calibration import Calibration, Tried, calibrate, interval
from passerby.audits.windows import least_departure


def made(promised: float, rights: list[float], people: int = 200, independent: int | None = None) -> Calibration:
    """Origins at which shares of the people are right, for all attacks and three numbers of misses."""
    tried = []
    for origin, share in enumerate(rights):
        right = np.zeros((people, len(BACKTESTED), 3))
        right[: round(share * people)] = 1
        said = np.full(right.shape, promised)
        tried.append(Tried(f"20{origin}", "paper", np.arange(people), 2 * people, said, right, np.zeros(people)))
    return calibrate(tried, [0, 1, 2], 1, 3, len(rights) if independent is None else independent)


def test_the_verdict_has_three_outcomes() -> None:
    kept, broken, drifting = (
        made(0.25, [0.25, 0.27, 0.24]),
        made(0.25, [0.75, 0.72, 0.78]),
        made(0.25, [0.25, 0.1, 0.5]),
    )
    assert [each.verdict for each in (kept, broken, drifting)] == ["came true", "did not come true", "cannot be told"]
    assert kept.sentence.startswith("Such predictions came true: for the published steps, habits promised that 25 % of")
    assert kept.sentence.endswith("and 25 % were. So much was to be expected from 2 earlier times.")
    assert broken.sentence.endswith("would be found with the counts, and 75 % were.")
    assert drifting.sentence.startswith("Whether such predictions come true cannot be told: for the published steps")
    assert broken.gap == pytest.approx(0.5, abs=0.002)
    assert broken.nats == pytest.approx(least_departure(np.array([0.25]), 0.75))
    assert broken.nats_upper is not None
    assert broken.nats_upper > broken.nats
    assert (broken.people, broken.share) == (200, 0.5)
    assert (kept.too_low, broken.too_low) == (False, True)


def test_the_published_window_is_judged_and_not_the_mean() -> None:
    """A demo's last day, promised 78 % and found 68 %, among days that were right on average."""
    last, first = made(0.78, [0.68, 0.82, 0.80, 0.82, 0.79]), made(0.78, [0.78, 0.68, 0.78, 0.79, 0.78])
    assert last.row("map")["right"] == pytest.approx(0.78, abs=0.02)
    assert last.verdict == "did not come true"
    assert not last.too_low
    assert first.verdict == "came true"
    rows = last.windows.filter(last.windows["what"] == "map")
    assert rows["right"].to_list() == pytest.approx([0.68, 0.82, 0.80, 0.82, 0.79])
    assert rows["verdict"].to_list() == ["did not come true", None, None, None, None]


def test_opposite_misses_do_not_make_up_for_each_other() -> None:
    found = made(0.5, [0.5, 0.9, 0.1])
    assert found.row("map")["difference"] == pytest.approx(0.0, abs=0.01)
    assert found.verdict == "cannot be told"


def test_small_chances_are_judged_relative_to_them() -> None:
    """Promised 2.9 % and found 5.3 % is no promise that came true."""
    assert made(0.03, [0.055] * 5, people=2000).verdict == "did not come true"
    assert made(0.03, [0.055] * 5, people=2000).too_low
    assert made(0.03, [0.0345] * 5, people=2000).verdict == "came true"
    assert made(0.5, [0.525] * 5, people=2000).verdict == "came true"


def test_one_origin_alone_tells_nothing_of_others() -> None:
    alone = made(0.25, [0.25])
    assert alone.verdict == "cannot be told"
    assert alone.nats_upper is None
    assert alone.row("map")["lower"] is None
    # That the published steps were missed is seen there.
    assert made(0.25, [0.5]).verdict == "did not come true"


def test_one_attack_that_failed_is_enough() -> None:
    tried = made(0.25, [0.25, 0.25, 0.25])
    assert tried.verdict == "came true"
    said = np.full((200, len(BACKTESTED), 1), 0.25)
    right = np.zeros(said.shape)
    right[:50] = 1
    right[:150, 2] = 1
    again = [Tried("2024", "paper", np.arange(200), 200, said, right, np.zeros(200))] * 3
    found = calibrate(again, [1], 1, 3, 3)
    assert found.verdict == "did not come true"
    assert "without the counts" in found.sentence


def test_what_counts_add_is_judged_by_itself() -> None:
    """Promised 10 points on top of 70 %, and none came: levels that are near enough do not hide it."""
    rng = np.random.default_rng(2)
    said, right = np.full((1000, len(BACKTESTED), 1), 0.70), np.empty((1000, len(BACKTESTED), 1))
    said[:, :2] = 0.78
    right[:] = rng.permutation(np.arange(1000) < 740)[:, None, None]
    tried = [Tried("2024", "paper", np.arange(1000), 1000, said, right, np.zeros(1000))] * 4
    found = calibrate(tried, [1], 1, 3, 4)
    levels = [found.published(name)["verdict"] for name in BACKTESTED]
    assert levels == ["came true"] * 4
    assert found.published("added")["promised"] == pytest.approx(0.08)
    assert found.published("added")["right"] == 0
    assert found.published("added")["verdict"] == found.verdict == "did not come true"
    assert found.sentence == (
        "What the counts add did not come true: with them, 8.0 % more of the people were to be found than without "
        "them, and 0 % more were."
    )


def test_everybody_takes_the_place_of_a_sample_at_the_published_window() -> None:
    sample = made(0.25, [0.25, 0.25, 0.25])
    columns = {f"attack_{name}": [0.25] * 1000 for name in BACKTESTED}
    hits = {f"hit_{name}": [True] * 340 + [False] * 640 + [None] * 20 for name in BACKTESTED}
    found = sample.with_everyone(pl.DataFrame({**columns, **hits}))
    assert (found.published("map")["people"], found.published("map")["right"]) == (1000, 0.34)
    assert (sample.verdict, found.verdict) == ("came true", "did not come true")
    assert dict(found.row("map"))["verdict"] == "did not come true"  # type: ignore[comparison-overlap]
    assert found.row("map", 0)["verdict"] == "came true"  # type: ignore[comparison-overlap]  # of other misses, the table does not tell
    few = pl.DataFrame({**columns, **hits}).head(50)
    assert sample.with_everyone(few) is sample
    assert sample.with_everyone(few.select("attack_map")) is sample


def test_an_origin_counts_by_what_it_can_tell_and_not_by_its_people() -> None:
    """145 of 226 tries are of the weakest origin: where origins differ, each is one of three."""
    sizes, rights = [41, 40, 145], [0.1, 0.1, 0.8]
    tried = []
    for people, share in zip(sizes, rights, strict=True):
        right = np.zeros((people, len(BACKTESTED), 1))
        right[: round(share * people)] = 1
        tried.append(
            Tried("2024", "paper", np.arange(people), people, np.full(right.shape, 0.1), right, np.zeros(people))
        )
    found = calibrate(tried, [1], 1, 3, 3)
    by_people = sum(n * r for n, r in zip(sizes, rights, strict=True)) / sum(sizes)
    assert by_people > 0.5
    assert found.row("map")["right"] < 0.36
    counts = found.windows.filter(found.windows["what"] == "map")["counts"]
    assert counts.sum() == pytest.approx(1.0)
    assert counts[2] < 0.4


def test_intervals_hold_about_as_often_as_they_say() -> None:
    """Where the means of origins differ by more than chance, and where they do not.

    Two origins may agree by chance, and hide that others would not.
    """
    rng = np.random.default_rng(1)
    for drift, sizes, least in (
        (0.0, [60, 60, 60], 0.87),
        (0.1, [60] * 5, 0.87),
        (0.1, [90, 60, 30], 0.87),
        (0.08, [300, 300], 0.77),
    ):
        hits = 0
        for _ in range(400):
            means = rng.normal(0.4, drift, len(sizes)).clip(0, 1)
            values = np.concatenate([rng.random(n) < mean for n, mean in zip(sizes, means, strict=True)]) - 0.4
            origin = np.repeat(np.arange(len(sizes)), sizes)
            ends = interval(values, origin, np.arange(len(values)), len(sizes))
            assert ends is not None
            hits += ends[0] <= 0 <= ends[1]
        assert hits / 400 > least


def test_drift_makes_intervals_wider_than_people_do() -> None:
    origin, who = np.repeat([0, 1, 2], 100), np.tile(np.arange(100), 3)
    calm, drifting = np.tile([0.0, 1.0], 150), np.repeat([0.2, 0.5, 0.8], 100) + np.tile([-0.1, 0.1], 150)
    narrow, wide = (interval(values, origin, who, 3) for values in (calm, drifting))
    assert narrow is not None
    assert wide is not None
    assert narrow[1] - narrow[0] < 0.25
    assert wide[0] == pytest.approx(0.5 - 4.303 * 0.3 / 3**0.5, abs=0.01)
    assert wide[1] == 1.0
    assert interval(drifting, origin, who, 1) is None
    assert interval(np.ones(300), origin, who, 3) == (1.0, 1.0)


def test_promises_are_in_classes_of_enough_people() -> None:
    rng = np.random.default_rng(0)
    said = rng.random((300, len(BACKTESTED), 1))
    tried = [
        Tried(
            "2024",
            "paper",
            np.arange(300),
            300,
            said,
            (rng.random(said.shape) < said).astype(np.float64),
            np.zeros(300),
        )
        for _ in range(3)
    ]
    found = calibrate(tried, [1], 1, 3, 3)
    classes = found.by_promise.filter(found.by_promise["attack"] == "map")
    assert classes.height == 10
    assert classes["people"].min() >= 20  # type: ignore[operator]
    assert classes["promised"].is_sorted()
    assert ((classes["right"] - classes["promised"]).abs() < 0.15).all()
    assert ((classes["lower"] <= classes["right"]) & (classes["right"] <= classes["upper"])).all()
    few = calibrate([made_few(rng, 30)] * 2, [1], 1, 3, 2)
    assert few.by_promise.height == len(BACKTESTED)


def made_few(rng: np.random.Generator, people: int) -> Tried:
    said = rng.random((people, len(BACKTESTED), 1))
    return Tried("2024", "paper", np.arange(people), people, said, said.round(), np.zeros(people))
