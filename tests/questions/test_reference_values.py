"""Every value that was worked out by brute force elsewhere: presence, membership, each step by itself."""

from typing import Any

import numpy as np
import pytest
from tests import reference
from tests.events import Truth, contains, membership, truth

import passerby as pb
from passerby.outcomes.series import MAX_SERIES

FALSE = (0.0, 0.001, 0.01, 0.1, 0.5, 0.9, 1.0)
CHANCES = (0.0, 0.3, 1.0)


def asked_of(case: Any) -> pb.Event:
    """The event of a case of presence.json."""
    return pb.Event(pb.Visitors(case["places"], case["steps"], case["times"]))


def check_exactly(found: pb.EventAnswer, want: Truth) -> None:
    """Both ends of every measure are the value that enumeration finds."""
    assert (found.advantage.lower, found.advantage.upper) == pytest.approx((want.advantage,) * 2, abs=1e-9)
    for false in FALSE:
        ends = found.power(false)
        assert (ends.lower, ends.upper) == pytest.approx((want.power(false),) * 2, abs=1e-9)
    for chance in CHANCES:
        for ends, value in (
            (found.certain(chance), want.certain(chance)),
            (found.absent(chance), want.absent(chance)),
        ):
            assert (ends.lower, ends.upper) == pytest.approx((value, value), abs=1e-9)


def best_guess(found: pb.EventAnswer, want: Truth) -> tuple[float, float]:
    """Ends of the success of the best guess of yes or no: the best corner of the trade-off curve."""
    ratio = np.divide(want.no, want.yes, out=np.full(len(want.yes), np.inf), where=want.yes > 0)
    alarms = np.minimum(np.append(0.0, np.cumsum(want.no[np.argsort(ratio)])), 1.0).tolist()
    tests = [(found.power(f), (1 - f) * want.absence) for f in alarms]
    lower = max(true.lower * want.event + right for true, right in tests)
    upper = max(true.upper * want.event + right for true, right in tests)
    return lower, upper


@pytest.mark.parametrize("case", reference.asked_cases("presence.json"))
def test_presence(case: Any) -> None:
    prior, release, answer = reference.chain_of(case), reference.channel_release(case), case["answer"]
    event = asked_of(case)
    found = pb.measure(prior, release, event, tolerance=0.0)
    assert (found.event.lower, found.event.upper) == pytest.approx((answer["event"],) * 2, abs=1e-9)
    want = None if case["channel"]["kind"] == "gaussian" else truth(prior, release, event)
    if want is None or len(want.yes) > MAX_SERIES:
        assert contains(found.advantage, answer["told_apart"], 1e-8)
        assert found.advantage.upper - found.advantage.lower < 0.05
        return
    assert (found.advantage.lower, found.advantage.upper) == pytest.approx((answer["told_apart"],) * 2, abs=1e-9)
    for chance, value in answer["certain_yes"].items():
        ends = found.certain(float(chance))
        assert (ends.lower, ends.upper) == pytest.approx((value, value), abs=1e-9)
    for chance, value in answer["certain_no"].items():
        ends = found.absent(float(chance))
        assert (ends.lower, ends.upper) == pytest.approx((value, value), abs=1e-9)
    assert want.guessed == pytest.approx(answer["bayes"], abs=1e-9)
    assert best_guess(found, want) == pytest.approx((answer["bayes"],) * 2, abs=1e-9)
    check_exactly(found, want)


@pytest.mark.parametrize("case", reference.asked_cases("membership.json"))
def test_membership(case: Any) -> None:
    prior, release, answer = reference.chain_of(case), reference.channel_release(case), case["answer"]
    if "others" in case:
        others = [pb.MarkovPrior(*person) for person in case["others"]]
        crowd = pb.measure(prior, pb.Release(case["sensors"], others=pb.Crowd(others)), pb.InData(), tolerance=0.0)
        assert contains(crowd.advantage, answer["crowd"])
        release = pb.Release(case["sensors"], others=[[0] * len(step) for step in case["sensors"]])
    found = pb.measure(prior, release, pb.InData(), tolerance=0.0)
    if case["channel"]["kind"] == "gaussian":
        assert contains(found.advantage, answer["known"], 1e-8)
        assert found.advantage.lower <= answer["bound_over_traces"] * (1 + 1e-9)
        return
    assert (found.advantage.lower, found.advantage.upper) == pytest.approx((answer["known"],) * 2, abs=1e-9)
    check_exactly(found, membership(prior, release))


@pytest.mark.parametrize("case", reference.asked_cases("worst.json"))
def test_each_step(case: Any) -> None:
    prior, release = reference.chain_of(case), reference.channel_release(case)
    found = pb.measure(prior, release, pb.EachStep(), tolerance=0.0)
    assert found.lower == pytest.approx(case["answer"]["each_step"], abs=1e-9)
    assert found.upper == pytest.approx(case["answer"]["each_step"], abs=1e-9)
