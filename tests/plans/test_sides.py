"""People are measured no closer than it takes to know on which side of a limit they are: what is known then holds."""

from itertools import product

import numpy as np
import pytest
from tests.plans.towns import town, wanted

import passerby as pb
from passerby.audits import job
from passerby.audits.job import Job
from passerby.audits.person import person_ends
from passerby.audits.settings import Measurement
from passerby.others.by_habits import everyone_else
from passerby.plans.lever import Dial, Scene
from passerby.plans.levers import BY_NAME
from passerby.plans.limit import Decided, Limit

HOW = Measurement(misses=1, tolerance=0.001, runs=40, budget=1e6)
#: Limits that are near what is measured, and one that is far from it.
LIMITS = (Limit(share=0.1, added=0.05), Limit(share=0.1, above=0.7))
WIDE = (Limit(share=0.1, added=0.75),)


def releases(people: pb.People) -> list[pb.Release]:
    plain = wanted(people)
    lever = BY_NAME["visitors"]
    assert isinstance(lever, Dial)
    windows = lever.family(plain, Scene(people.places)).build(plain, 2.0)
    return [plain, *(plain.through(way) for way in (pb.Rounding(5), pb.Gaussian(1.5), pb.Suppression(4))), windows]


@pytest.mark.parametrize(
    ("how_far", "states"),
    [(False, 500), (True, 6), *(pytest.param(*case, marks=pytest.mark.thorough) for case in ((False, 6), (True, 500)))],
    ids=["side, all windows", "how far, few windows", "side, few windows", "how far, all windows"],
)
def test_what_is_decided_is_so(how_far: bool, states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "MOST_STATES", states)
    people = town(5, people=6, steps=4)
    jobs = [Job(people, release, HOW, everyone_else(people, release)) for release in releases(people)]
    early = 0
    for each, limits in product(jobs, (LIMITS, WIDE)):
        decided = Decided(limits, HOW.tolerance, how_far)
        for person in range(len(people)):
            some, all_of = person_ends(each, person, decided)[0], person_ends(each, person)[0]
            assert some[0] <= all_of[0] * (1 + 1e-12)
            assert some[1] >= all_of[1] * (1 - 1e-12)
            assert some[2:] == pytest.approx(all_of[2:], rel=1e-9)
            for limit in limits:
                side = limit.side(some[0], some[1], some[2:])
                assert side in ("unclear", limit.side(all_of[0], all_of[1], all_of[2:]))
                if side == "unclear":
                    assert some[:2] == all_of[:2] or some[1] <= some[0] * (1 + HOW.tolerance)
            early += some[:2] != all_of[:2]
    assert early > 0


@pytest.mark.parametrize("limit", LIMITS)
def test_sides_are_those_of_tallies(limit: Limit) -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        low, high = np.sort(rng.random(2))
        known = np.sort(rng.random(2) * low)
        ends = limit.ends(np.array([low]), np.array([high]), (known[:1], known[1:]))
        above = [bool(limit.exceeded(end)[0]) for end in ends]
        assert (
            limit.side(low, high, (known[0], known[1]))
            == {
                (True, True): "above",
                (False, False): "below",
                (False, True): "unclear",
            }[above[0], above[1]]
        )
