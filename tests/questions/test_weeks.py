"""Membership over several weeks of the same release: between certain ends, exact for raw counts of known others."""

import itertools
from typing import Any

import numpy as np
import pytest
from tests import reference

import passerby as pb
from passerby.questions.laws import Law
from passerby.questions.parts import Listed

RAW = [case for case in reference.asked_cases("membership.json") if case.values[0]["channel"]["kind"] == "raw"]
CROWDS = [case for case in RAW if "others" in case.values[0]]


def crowd_of(case: Any) -> pb.Crowd:
    return pb.Crowd([pb.MarkovPrior(*other) for other in case["others"]])


@pytest.mark.parametrize("case", CROWDS)
def test_ends_hold_the_bounds_by_the_coefficient(case: Any) -> None:
    """Section 27: the truth over w weeks is between both, by b of one week and the truth of one."""
    prior, b, one = reference.chain_of(case), case["answer"]["bhattacharyya"], case["answer"]["crowd"]
    release = pb.Release(case["sensors"], pb.Raw(), crowd_of(case))
    found = pb.measure(prior, release, pb.InData(), runs=400)
    for weeks in (1, 2, 10):
        ends = found.weeks(weeks)
        assert ends.lower <= min(np.sqrt(1 - b ** (2 * weeks)), 1 - (1 - one) ** weeks) + 1e-9
        assert ends.upper >= max(1 - b**weeks, one) - 1e-9


@pytest.mark.parametrize("case", RAW[:12])
def test_raw_counts_of_known_others_show_who_is_seen_in_any_week(case: Any) -> None:
    prior, release = reference.chain_of(case), pb.Release(case["sensors"])
    found = pb.measure(prior, release, pb.InData(), tolerance=0.0)
    unseen = 1 - found.advantage.lower
    for weeks in (1, 3, 52):
        ends = found.weeks(weeks)
        assert ends.lower == pytest.approx(1 - unseen**weeks, abs=1e-9)
        assert ends.upper == pytest.approx(1 - unseen**weeks, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_ends_hold_all_series_of_three_weeks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    yes, no = rng.dirichlet(np.full(4, 0.6), 2)
    part = Listed("list", 1.0, Law(yes, no))
    for weeks in (1, 2, 3):
        series = itertools.product(range(4), repeat=weeks)
        truth = sum(max(0.0, yes[list(each)].prod() - no[list(each)].prod()) for each in series)
        lower, upper = part.weeks(weeks)
        assert lower - 1e-12 <= truth <= upper + 1e-12


def test_draws_hold_what_lists_find() -> None:
    prior, release = pb.line_prior(12), pb.Release([[2, 3], 5], pb.Gaussian(1.0))
    found = pb.measure(prior, release, pb.InData(), tolerance=1e-3)
    drawn = pb.measure(prior, release, pb.InData(), series="sample", runs=4000, confidence=0.999)
    for weeks in (2, 20):
        assert drawn.weeks(weeks).lower <= found.weeks(weeks).upper
        assert found.weeks(weeks).lower <= drawn.weeks(weeks).upper


def test_presence_over_weeks_and_what_cannot_be_told() -> None:
    prior, release = pb.line_prior(12), pb.Release([2, 5])
    seen = pb.measure(prior, release, pb.Event(pb.Present([2], 0)))
    assert seen.weeks(3).lower == seen.weeks(3).upper == 1.0
    nothing = pb.measure(prior, pb.Release([[], []]), pb.InData())
    assert nothing.weeks(1000).upper < 1e-6
    never = pb.measure(pb.MarkovPrior([1.0, 0.0], np.eye(2)), pb.Release([1, 1]), pb.Event(pb.Present([1], 0)))
    assert (never.status, never.weeks(9).upper) == ("impossible", 0.0)


@pytest.mark.parametrize("count", [0, -1, 1.5, "x", None, 2**70])
def test_weeks_are_whole_numbers(count: Any) -> None:
    found = pb.measure(pb.line_prior(12), pb.Release([2]), pb.InData())
    with pytest.raises(pb.InputError, match="weeks is"):
        found.weeks(count)


def test_rounding_is_no_contradiction() -> None:
    """Laws that are the same but for the last digit: nothing is told, however many weeks there are."""
    yes = np.array([0.1, 0.2, 0.7])
    for no in (yes, yes * (1 + 2e-16), np.nextafter(yes, 0)):
        lower, upper = Listed("list", 1.0, Law(yes, no)).weeks(52)
        assert lower <= max(upper, 0.0)
        assert lower <= 1e-9
