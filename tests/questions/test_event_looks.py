"""Events against a crowd: both ends beside the enumeration of everybody's traces, and what the others hide."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.events import Truth
from tests.joint import Law, numbers_of_others, seen
from tests.oracle import World
from tests.strategies import chain

import passerby as pb
from passerby.others.bridges import passages
from passerby.others.side_information import SideInformation, list_side_information
from passerby.questions.crowd_told import hidden
from passerby.questions.laws import Law as Sides

Numbers = tuple[int, ...]
#: Sensors at each step of three places: gaps, several, and all places.
SHAPES: tuple[list[list[int]], ...] = ([[0], [0], [0]], [[0], [], [1]], [[0, 1], [1]], [[0, 1, 2], [0, 1, 2]])


def shifted(law: Law, trace: NDArray[np.int64]) -> Law:
    """The law of the numbers with somebody in some counts."""
    return {tuple(n + int(bit) for n, bit in zip(number, trace, strict=True)): p for number, p in law.items()}


def both_laws(prior: pb.MarkovPrior, release: pb.Release, law: Law) -> Truth:
    """The laws of raw counts with the target and without, by all traces of theirs and a law of others."""
    world = World(prior, release.steps)
    inside: Law = {}
    for row, chance in zip(seen(release, world.traces), world.chance, strict=True):
        for number, p in shifted(law, row).items():
            inside[number] = inside.get(number, 0.0) + p * float(chance)
    numbers = sorted({*inside, *law})
    yes, no = (np.array([side.get(number, 0.0) for number in numbers]) for side in (inside, law))
    return Truth(yes, no, 0.5, 0.5)


def parts_of(answer: pb.EventAnswer, name: str) -> list[Any]:
    return [part for part in answer.parts if part.name == name]


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(SHAPES), st.integers(1, 3))
def test_the_truth_lies_between_the_ends_and_nobody_finds_more_than_who_knows_all(
    seed: int, shape: list[list[int]], number: int
) -> None:
    prior = chain(seed, 3, len(shape), "varying")
    others = [chain(seed + 1 + i, 3, len(shape), "varying") for i in range(number)]
    release = pb.Release(shape, pb.Raw(), pb.Crowd(others))
    found = pb.measure(prior, release, pb.InData(), runs=300, confidence=0.999)
    insider = pb.measure(prior, release.with_others(None), pb.InData(), runs=300, confidence=0.999)
    true = both_laws(prior, release, numbers_of_others(release, others))
    for part in found.parts:
        low, high = part.advantage()
        assert low - 1e-9 <= true.advantage <= high + 1e-9, part.name
        assert part.power(0.01)[0] - 1e-9 <= true.power(0.01) <= part.power(0.01)[1] + 1e-9, part.name
        assert part.affinity()[0] - 1e-9 <= Sides(true.yes, true.no).affinity <= part.affinity()[1] + 1e-9, part.name
    assert parts_of(found, "hiding")
    assert found.advantage.upper <= insider.advantage.upper + 1e-12
    assert found.power(0.01).upper <= insider.power(0.01).upper + 1e-12


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(2.0), pb.Geometric(1.0), pb.Rounding(3)], ids=repr)
@pytest.mark.parametrize("number", [3, 40])
def test_an_upper_end_is_never_above_that_for_known_others(mechanism: pb.Mechanism, number: int) -> None:
    prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    crowd = pb.Release([[0, 1]] * 5, mechanism, pb.Crowd([prior] * number))
    for question in (pb.InData(), pb.Event(pb.Visitors([0], range(5)))):
        found = pb.measure(prior, crowd, question)
        if not mechanism.shift_invariant:
            continue
        insider = pb.measure(prior, crowd.with_others(None), question)
        assert found.advantage.upper <= insider.advantage.upper
        assert found.power(0.01).upper <= insider.power(0.01).upper
        assert found.weeks(10).upper <= insider.weeks(10).upper


def given_laws(rng: np.random.Generator, shape: list[list[int]]) -> tuple[Any, Law]:
    """Laws of the number at each sensor, and the law of all numbers together where they are independent."""
    laws = [[rng.dirichlet(np.ones(int(rng.integers(1, 6)))).tolist() for _ in step] for step in shape]
    flat = [law for step in laws for law in step]
    together = {
        number: math.prod(law[n] for law, n in zip(flat, number, strict=True))
        for number in product(*(range(len(law)) for law in flat))
    }
    return laws, together


@given(st.integers(0, 10**6), st.sampled_from(SHAPES))
def test_what_is_hidden_of_somebody_who_is_told_given_laws(seed: int, shape: list[list[int]]) -> None:
    """The end is certain, and above what the enumeration of these laws says: no law needs to have a single peak."""
    rng = np.random.default_rng(seed)
    prior = chain(seed, 3, len(shape), "varying")
    told, together = given_laws(rng, shape)
    usual = [list(step) for step in told]
    usual[0] = [[0.5, 0.5] for _ in usual[0]]
    release = pb.Release(shape, pb.Raw(), pb.Crowd(laws=usual, told=told))
    (part,) = parts_of(pb.measure(prior, release, pb.InData(), runs=20), "hiding")
    true = both_laws(prior, release, together)
    assert part.level is None
    assert true.advantage <= part.advantage()[1] + 1e-9
    for false in (0.0, 0.01, 0.3):
        assert true.power(false) <= part.power(false)[1] + 1e-9
    assert Sides(true.yes, true.no).affinity >= part.affinity()[0] - 1e-9
    one = sum(map(len, shape)) == 1
    assert not one or part.advantage()[1] == pytest.approx(true.advantage)


def told_numbers(told: SideInformation, release: pb.Release) -> Law:
    """The law of the numbers at all counts, from what is known of them and the numbers along each direction."""
    law: Law = {(): 1.0}
    for t, step in enumerate(release.sensors):
        here: Law = {tuple(told.known[0, t, : len(step)].tolist()): 1.0}
        for g, direction in enumerate(told.directions[t]):
            after: Law = {}
            for (number, p), (k, q) in product(here.items(), enumerate(told.laws[t][0, g].tolist())):
                key = tuple(n + k * way for n, way in zip(number, direction, strict=True))
                after[key] = after.get(key, 0.0) + p * q
            here = after
        law = {(*head, *tail): p * q for (head, p), (tail, q) in product(law.items(), here.items()) if p * q > 0}
    return law


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from(["nested", "all", "two"]), st.integers(1, 3))
def test_what_is_hidden_among_counts_of_any_kind(seed: int, kind: str, number: int) -> None:
    """For each trace of the target, and all that can be told: its product is no less than the enumeration says."""
    zones = {"nested": [[0], [0, 1]], "all": [[0, 1], [2]], "two": [[0, 1], [1, 2]]}[kind]
    others = tuple(chain(seed + 1 + i, 3, 2, "varying") for i in range(number))
    counts = [pb.Present(zone, t) for t in range(2) for zone in zones]
    prior, release = chain(seed, 3, 2, "varying"), pb.Release(counts=counts, steps=2, others=pb.Crowd(others))
    over, of_states = release.over(prior)
    world = World(prior, 2)
    bits, classes = seen(release, world.traces), of_states.classes(over)
    listed = list_side_information(passages(others, release.counts), 300)
    for _, told in listed or []:
        law = told_numbers(told, release)
        chance, overlap = hidden(told, of_states)
        for trace, row in zip(world.traces, bits, strict=True):
            target = shifted(law, row)
            keys = {*law, *target}
            common = sum(min(law.get(key, 0.0), target.get(key, 0.0)) for key in keys)
            affinity = sum(math.sqrt(law.get(key, 0.0) * target.get(key, 0.0)) for key in keys)
            at = [classes[t, trace[t]] for t in range(2)]
            assert math.prod(chance[0, t, c] for t, c in enumerate(at)) <= common + 1e-9
            assert math.prod(overlap[0, t, c] for t, c in enumerate(at)) == pytest.approx(affinity, abs=1e-9)
