"""What a summary tells of the backtest and of other adversaries rests on five people or more."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import random_traces, traces

import passerby as pb
from passerby.audits.attacks import BACKTESTED
from passerby.audits.calibration import compared, windows_of
from passerby.audits.disclosure import _promise, told_adversaries, told_backtest
from passerby.audits.record import Mean
from passerby.audits.windows import highest_mean, least_departure
from passerby.support.rule_of_five import FEW

UPPER = pl.Series(np.linspace(0.1, 0.6, 40))


def mean_below(upper: float) -> Mean:
    return Mean(lower=0.1, upper=upper, confidence=0.99)


@pytest.fixture(scope="module")
def found() -> pb.Calibration:
    return pb.backtest(random_traces(3, 40, 20, 8), holdout=3, habits="paper", people=30)


def test_people_who_were_found_are_told_in_fives(found: pb.Calibration) -> None:
    told = told_backtest(found, UPPER, None)
    tries = int(found.by_origin["people"].sum())
    for row, exact in zip(told.by_misses, found.by_misses.iter_rows(named=True), strict=True):
        counted = row.right * tries
        assert counted == pytest.approx(FEW * round(counted / FEW), abs=0.02) or row.right in (0, 1)
        assert abs(row.right - exact["right"]) <= FEW / 2 / tries + 1e-4
        assert row.promised == pytest.approx(exact["promised"], abs=1e-4)
        assert (row.attack, row.misses, row.verdict) == (exact["attack"], exact["misses"], exact["verdict"])
    assert min(each.people for each in told.by_promise) >= 4 * FEW
    assert told.verdict == found.verdict
    assert told.people == found.people
    assert all(word in told.sentence for word in found.sentence.split(":")[0].split())


def test_the_robust_end_is_above_the_certain_one(found: pb.Calibration) -> None:
    told = told_backtest(found, UPPER, None)
    assert told.robust is not None
    assert told.robust_upper is not None
    assert UPPER.mean() - 1e-4 <= told.robust.upper <= told.robust_upper.upper  # type: ignore[operator]
    assert told.robust.nats == pytest.approx(found.told_nats[0], abs=1e-3)
    # What nothing explains is not told, nor that of a few people.
    nothing = {"told_nats": pl.lit(float("inf")), "told_nats_upper": None}
    odd = replace(found, by_misses=found.by_misses.with_columns(**nothing))
    assert told_backtest(odd, UPPER, None).robust is None
    assert told_backtest(odd, UPPER, None).robust_upper is None
    assert told_backtest(odd, UPPER, None).by_misses[0].nats is None
    assert told_backtest(found, UPPER.head(4), None).robust is None


@pytest.mark.parametrize(("nats", "said"), [(0.0, 0.0), (0.0003, 0.001), (0.0142, 0.015)])
def test_a_departure_that_is_told_as_none_is_none(found: pb.Calibration, nats: float, said: float) -> None:
    """Else the page tells two upper ends for the same departure."""
    little = replace(found, by_misses=found.by_misses.with_columns(told_nats=pl.lit(nats)))
    told = told_backtest(little, UPPER, None).robust
    assert told is not None
    assert told.nats == said
    assert told.upper == round(highest_mean(UPPER.to_numpy(), said), 4)


@pytest.mark.parametrize("found_of", [31, 33])
def test_departures_tell_no_more_than_shares_in_fives(found_of: int) -> None:
    """From a departure, the promise and a formula that is known, the share of people who were found follows."""
    promised, right = np.full(80, 0.2), (np.arange(80) < found_of).astype(float)
    row = compared(windows_of([(promised, right)] * 2, 2), promised)
    assert row["told_nats"] == pytest.approx(least_departure(promised, (30 if found_of == 31 else 35) / 80))
    assert row["nats"] == pytest.approx(least_departure(promised, found_of / 80))
    told = [_promise({**row, "attack": name, "misses": 1}, 80) for name in BACKTESTED]  # type: ignore[dict-item]
    assert {each.nats for each in told} == {round(least_departure(promised, told[0].right), 2)}


def test_adversaries_that_were_tried_on_few_people_are_not_told() -> None:
    people = pb.fit_people(random_traces(3, 30, 12, 6), holdout=3, habits="paper")
    table = pb.adversaries(people, pb.Release([[0, 1]] * 3), sample=7)
    told = told_adversaries(table)
    assert [each.adversary for each in told] == table["adversary"].to_list()
    assert {each.right for each in told} <= {0.0, round(5 / 7, 4), 1.0}
    assert told_adversaries(table.with_columns(people=pl.lit(4))) == []


def test_a_narrow_limit_of_the_mean_narrows_the_robust_ends(found: pb.Calibration) -> None:
    wide, narrow = told_backtest(found, UPPER, None), told_backtest(found, UPPER, mean_below(0.2))
    assert wide == told_backtest(found, UPPER, mean_below(1.0))
    for plain, limited in ((wide.robust, narrow.robust), (wide.robust_upper, narrow.robust_upper)):
        assert plain is not None
        assert limited is not None
        assert 0.2 <= limited.upper < plain.upper
    # One person of that loss who departs as far.
    assert narrow.robust_upper is not None
    expected = highest_mean(np.array([0.2]), narrow.robust_upper.nats)
    assert narrow.robust_upper.upper == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("people", [1, 3])
def test_nothing_is_told_of_fewer_than_five_people(people: int) -> None:
    few = pb.backtest(random_traces(3, 40, 20, 8), holdout=3, habits="paper", people=people)
    with pytest.raises(pb.InputError, match="fewer than 5 people were tried at an origin, of whom nothing may be told"):
        told_backtest(few, UPPER, None)


def test_everybody_who_is_gone_is_no_promise_that_came_true() -> None:
    array = np.random.default_rng(0).integers(0, 4, (40, 20))
    array[:, 17:] = 3
    gone = pb.backtest(traces(array, 4), holdout=3, habits=pb.Habits())
    told = told_backtest(gone, UPPER, None)
    assert told.verdict != "came true"
    assert not told.too_low
    [visited] = (each for each in told.windows if (each.what, each.steps_before) == ("visited", 0))
    assert (visited.right, visited.verdict) == (0.0, "did not come true")
    silent = pb.backtest(traces(array, 4), holdout=3, habits="paper", release=pb.Release([[], [], []]))
    [visits, *_] = told_backtest(silent, UPPER, None).events
    assert (visits.places, visits.promised, visits.right, visits.visitors) == (0, None, None, 0)


def test_what_is_too_low_did_not_come_true(found: pb.Calibration) -> None:
    for seed in range(6):
        other = pb.backtest(random_traces(seed, 40, 20, 8), holdout=3, habits="paper")
        told = told_backtest(other, UPPER, None)
        assert not (told.verdict == "came true" and told.too_low)
