"""Verdicts, intervals that know of drift, and the tables behind them."""

import numpy as np
import pytest

from passerby.audits.attacks import BACKTESTED
from passerby.audits.calibration import Calibration, Tried, calibrate, interval, judged
from passerby.audits.departure import least_departure


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
    kept, broken, drifting = made(0.25, [0.25, 0.27, 0.24]), made(0.25, [0.75, 0.72, 0.78]), made(0.25, [0.9, 0.1, 0.5])
    assert [each.verdict for each in (kept, broken, drifting)] == ["came true", "did not come true", "cannot be told"]
    assert kept.sentence.startswith("Such predictions came true: at 3 earlier times, habits promised that 25 % of the")
    assert broken.sentence.endswith("would be found with the counts, and 75 % were.")
    assert drifting.sentence.startswith("Whether such predictions come true cannot be told: at 3 earlier times")
    assert broken.gap == pytest.approx(0.5)
    assert broken.nats == pytest.approx(least_departure(np.array([0.25]), 0.75))
    assert broken.nats_upper is not None
    assert broken.nats_upper > broken.nats
    assert (broken.people, broken.share) == (200, 0.5)


def test_one_origin_alone_tells_nothing() -> None:
    alone = made(0.25, [0.25])
    assert alone.verdict == "cannot be told"
    assert alone.nats_upper is None
    assert "at an earlier time, habits" in alone.sentence


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


def test_an_interval_that_leaves_out_nothing_is_no_proof_of_truth() -> None:
    assert judged(0.0, (-0.4, 0.4)) == "cannot be told"
    assert judged(0.04, (0.03, 0.05)) == "came true"
    assert judged(0.06, (0.05, 0.07)) == "did not come true"
    assert judged(-0.06, (-0.07, -0.05)) == "did not come true"


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
