"""Larger zones and longer time: levers over counts of other kinds, and which of them tells less."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plans.towns import EXACT, PLAIN, town, verdict, wanted

import passerby as pb
from passerby.plans.cost import Truth, cost_of
from passerby.plans.lever import Dial, Scene, cells_of, spots, tells_less, without
from passerby.plans.levers import BY_NAME

STEPS, PLACES = 3, 3


def levels(people: pb.People) -> list[dict[str, tuple[int, ...]]]:
    """The wanted places two and one, and all together."""
    first, second, third = wanted(people).sensors[0]
    return [{"two": (first, second), "one": (third,)}, {"all": (first, second, third)}]


def just_kept(people: pb.People, release: pb.Release) -> pb.Limit:
    """A limit on what is added that this release just keeps."""
    table = pb.audit(people, release, 0, **EXACT)  # type: ignore[arg-type]
    gains = np.sort((table["upper"] - table["baseline_lower"]).to_numpy())
    return pb.Limit(share=0.2, added=float(gains[len(gains) - 1 - len(gains) // 5]) + 1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["zones", "visitors"])
def test_a_lever_stands_where_exhaustive_search_puts_it(name: str) -> None:
    people = town(1)
    lever = BY_NAME[name]
    assert isinstance(lever, Dial)
    family = lever.family(wanted(people), Scene(people.places, levels=tuple(levels(people))))
    releases = [family.build(wanted(people), position) for position in family.positions]
    limit = just_kept(people, releases[-1])
    found = pb.plan(people, wanted(people), [limit], 0, levers=[name], levels=levels(people), **PLAIN)  # type: ignore[arg-type]
    costs = [
        cost_of(release, wanted(people), Truth.about(people).as_told(wanted(people))).total
        for release in releases
        if verdict(people, release, [limit]) == "sure"
    ]
    best = [plan.cost.total for plan in found.recommended.values()]
    assert costs
    assert verdict(people, wanted(people), [limit]) == "sure" or min(best) == pytest.approx(min(costs), abs=1e-12)


def test_zones_become_unions_of_what_is_wanted() -> None:
    """A larger zone also holds places that nobody wanted to count: these are not told of."""
    lever = BY_NAME["zones"]
    assert isinstance(lever, Dial)
    scene = Scene(("a", "b", "c", "elsewhere"), levels=({"north": (0, 1, 2)},))
    family = lever.family(pb.Release([[0, 1]] * 2), scene)
    coarse = family.build(pb.Release([[0, 1]] * 2), 1.0)
    assert cells_of(coarse) == (pb.Present([0, 1], step=0), pb.Present([0, 1], step=1))
    assert family.monotone
    flows = pb.Release(counts=[pb.Moved([x], [y], step=0) for x in (0, 1) for y in (0, 1)], steps=2)
    assert cells_of(lever.family(flows, scene).build(flows, 1.0)) == (pb.Moved([0, 1], [0, 1], step=0),)
    some = without(flows, frozenset([pb.Moved([0], [0], step=0)]))
    for other in (pb.Release([[0]]), some, pb.Release([[0, 1]] * 2, pb.Gaussian(1.0))):
        reason = lever.refuses(other, scene)
        assert reason is not None
        assert reason.startswith("no zones are given that put together what is counted apart")


def test_steps_become_windows() -> None:
    lever = BY_NAME["visitors"]
    assert isinstance(lever, Dial)
    release = pb.Release([[0], [0, 1], [0]])
    coarse = lever.family(release, Scene(("a", "b", "elsewhere"))).build(release, 2.0)
    assert set(cells_of(coarse)) == {
        pb.Visitors([0], steps=[0, 1]),
        pb.Present([1], step=1),
        pb.Present([0], step=2),
    }


def test_noisy_windows_are_refused() -> None:
    """A window through noise is one draw, and steps are several: it may tell more of whether somebody was there."""
    lever = BY_NAME["visitors"]
    assert isinstance(lever, Dial)
    release = pb.Release([[0], [0]], pb.Gaussian(1.0))
    assert lever.refuses(release, Scene(("a", "elsewhere"))) is not None


@st.composite
def counts(draw: st.DrawFn) -> pb.Release:
    """A few counts of zones, flows and windows, raw or with noise."""
    zone = st.sets(st.integers(0, PLACES - 1), min_size=1).map(sorted)
    some: list[st.SearchStrategy[object]] = [
        st.builds(pb.Present, zone, st.integers(0, STEPS - 1)),
        st.builds(pb.Moved, zone, zone, st.integers(0, STEPS - 2)),
        st.builds(pb.Visitors, zone, st.sets(st.integers(0, STEPS - 1), min_size=1).map(sorted)),
    ]
    found = draw(st.lists(st.one_of(some), max_size=4, unique=True))
    return pb.Release(counts=found, steps=STEPS)  # type: ignore[arg-type]


@given(counts(), counts(), st.integers(0, 9))
def test_what_tells_less_has_no_larger_loss(first: pb.Release, second: pb.Release, seed: int) -> None:
    rng = np.random.default_rng(seed)
    prior = pb.MarkovPrior(rng.dirichlet(np.ones(PLACES)), rng.dirichlet(np.ones(PLACES), PLACES))
    both = pb.Release(counts=[*first.listed, *second.listed], steps=STEPS)
    assert tells_less(first, both)
    assert tells_less(second, both)
    if tells_less(first, second):
        coarse, fine = (pb.measure(prior, each, 1, tolerance=0.0) for each in (first, second))
        assert coarse.lower <= fine.upper * (1 + 1e-9)
    some = frozenset(cells_of(both)[:1])
    assert tells_less(without(both, some), both)


def test_windows_follow_from_their_parts_alone() -> None:
    day = pb.Release(counts=[pb.Visitors([0, 1], steps=range(2))], steps=2)
    parts = pb.Release(
        counts=[pb.Present([0, 1], step=0), pb.Visitors([0], steps=[1]), pb.Present([1], step=1)], steps=2
    )
    assert tells_less(day, parts)
    assert not tells_less(parts, day)
    assert not tells_less(day, pb.Release([[0, 1], [0, 1]], pb.Gaussian(1.0)))
    again = pb.Release(counts=[pb.Visitors([0, 1], steps=range(2), times=2)], steps=2)
    assert spots(cells_of(again)[0]) is None
    assert not tells_less(again, parts)
    # One draw of noise cannot be made into two.
    noisy = pb.Present([0], step=0, mechanism=pb.Gaussian(1.0))
    once = pb.Release(counts=[noisy], steps=1)
    assert tells_less(once, once + once)
    assert not tells_less(once + once, once)


def test_what_is_published_twice_still_is() -> None:
    """Drawn afresh, the second tells more: a plan must not count it as gone."""
    table = pb.Release(counts=[pb.Present([0, 1], 0), pb.Present([2], 0)], steps=1, mechanism=pb.Gaussian(1.0))
    twice = table + table
    assert without(twice, frozenset()).listed == twice.listed
    assert without(twice, frozenset([pb.Present([2], 0)])).listed == (twice.listed[0],) * 2
    lever = BY_NAME["rounding"]
    assert isinstance(lever, Dial)
    assert len(lever.family(twice, Scene(("a", "b", "c"))).build(twice, 5.0).listed) == len(twice.listed)
