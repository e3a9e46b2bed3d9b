"""Zones, flows and visitors, against the reference values and against enumeration of traces, series and guesses."""

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import World
from tests.states import state_chains

import passerby as pb
from passerby.measurement.finding import Known
from passerby.mechanisms.fixed import Discrete
from passerby.mechanisms.laws import Law
from passerby.model.mixture import parts
from passerby.questions.trace.goal import pose
from passerby.questions.trace.measure import loss_of
from passerby.questions.trace.methods.side_information import told_mode

REFERENCE = json.loads((Path(__file__).parents[2] / "reference_values" / "any_counts.json").read_text())


@dataclass(frozen=True)
class Flip(Discrete):
    """The number itself (0 or 1), or with some probability the other one."""

    chance: float

    def law(self, count: float) -> Law:
        """Two values."""
        return np.array([0.0, 1.0]), np.where(np.arange(2) == min(count, 1), 1 - self.chance, self.chance)


def count_of(told: dict[str, Any], **more: Any) -> pb.Present | pb.Moved | pb.Visitors:
    if told["kind"] == "present":
        return pb.Present(told["places"], told["step"], **more)
    if told["kind"] == "moved":
        return pb.Moved(told["origin"], told["destination"], told["step"], **more)
    return pb.Visitors(told["places"], told["steps"], told["times"], **more)


def prior_of(case: dict[str, Any]) -> pb.MarkovPrior:
    moves = np.array(case["transition"])
    return pb.MarkovPrior(case["initial"], moves)


@pytest.mark.parametrize("number", range(len(REFERENCE)))
def test_reference_values(number: int) -> None:
    case = REFERENCE[number]
    prior, steps = prior_of(case), case["steps"]
    raw = pb.Release(counts=[count_of(told) for told in case["counts"]], steps=steps)
    flips = zip(case["counts"], case["flip_probabilities"], strict=True)
    flipped = pb.Release(
        counts=[count_of(told, mechanism=Flip(chance), others=0) for told, chance in flips], steps=steps
    )
    assert pb.mutual_information(prior, raw, "exact") == pytest.approx(case["information"], abs=1e-9)
    for want, noisy in zip(case["raw"], case["flip"], strict=False):
        loss = pb.measure(prior, raw, want["misses"], tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((want["loss"],) * 2, abs=1e-9)
        assert loss.baseline.lower == pytest.approx(want["baseline"], abs=1e-9)
        loss = pb.measure(prior, flipped, noisy["misses"], tolerance=0)
        assert (loss.lower, loss.upper) == pytest.approx((noisy["loss"],) * 2, abs=1e-9)


@st.composite
def zones(draw: st.DrawFn, places: int) -> list[int]:
    return draw(st.lists(st.integers(0, places - 1), min_size=1, max_size=places, unique=True))


@st.composite
def any_counts(draw: st.DrawFn) -> tuple[pb.MarkovPrior, pb.Release]:
    """A chain, whose states may share places, and one to four counts of all kinds, raw or flipped."""
    prior, steps = draw(state_chains())
    found: list[Any] = []
    for _ in range(draw(st.integers(1, 4))):
        step = draw(st.integers(0, steps - 1))
        more: dict[str, Any] = draw(st.sampled_from([{}, {"mechanism": Flip(0.2), "others": 0}]))
        kind = draw(st.sampled_from(["present", "moved", "visitors"]))
        if kind == "moved" and step + 1 < steps:
            found.append(pb.Moved(draw(zones(prior.places)), draw(zones(prior.places)), step, **more))
        elif kind == "visitors":
            window = draw(st.lists(st.integers(0, steps - 1), min_size=1, max_size=steps, unique=True))
            times = draw(st.integers(1, len(window)))
            found.append(pb.Visitors(draw(zones(prior.places)), window, times, **more))
        else:
            found.append(pb.Present(draw(zones(prior.places)), step, **more))
    return prior, pb.Release(counts=found, steps=steps)


def channel(world: World, release: pb.Release) -> Any:
    """`Pr[series | trace]`, from the definition of each count and its law."""
    rows = []
    bits = [(count, count.bits(world.traces).astype(int)) for count in release.listed]
    for series in product((0.0, 1.0), repeat=len(bits)):
        row = np.ones(len(world.traces))
        for value, (count, bit) in zip(series, bits, strict=True):
            if isinstance(count.mechanism, Flip):
                row *= np.where(bit == value, 1 - count.mechanism.chance, count.mechanism.chance)
            else:
                row *= bit == value
        rows.append(row)
    return np.array(rows)


def best(prior: pb.MarkovPrior, world: World, told: Any, misses: int) -> float:
    """Success of the best guess of places that may be named, for each series, by trying all."""
    right = world.distance <= misses
    named = np.flatnonzero(prior.guessable[world.traces].all(axis=1))
    return float((told * world.chance @ right[:, named]).max(axis=1).sum())


@given(any_counts(), st.data())
def test_any_counts_are_measured_exactly(case: tuple[pb.MarkovPrior, pb.Release], data: st.DataObject) -> None:
    prior, release = case
    misses = data.draw(st.integers(0, release.steps - 1))
    world = World(prior, release.steps)
    truth = best(prior, world, channel(world, release), misses)
    loss = pb.measure(prior, release, misses, tolerance=0)
    assert loss.lower <= truth * (1 + 1e-9)
    assert truth <= loss.upper * (1 + 1e-9)
    # What cannot happen has an upper end all the same, where underflow could hide it.
    assert loss.upper <= loss.lower * (1 + 1e-9) + 1e-270
    assert loss.effort.confidence is None
    for name, bound in loss.bounds.items():
        assert truth <= bound * (1 + 1e-9), name


@given(any_counts(), st.data())
def test_who_is_told_the_mode_knows_more(case: tuple[pb.MarkovPrior, pb.Release], data: st.DataObject) -> None:
    """Each mode is measured by itself, over its own states of the chain."""
    prior, release = case
    misses = data.draw(st.integers(0, release.steps - 1))
    world = World(prior, release.steps)
    options = {"tolerance": 0.0, "budget": 1e8, "confidence": 0.99, "runs": 50, "series": "auto", "way": "exact"}
    bound = told_mode(pose(prior, release, misses, 0, None, **options), Known(answer=loss_of))
    told = channel(world, release)
    assert best(prior, world, told, misses) <= bound.ceiling * (1 + 1e-9)
    each = 0.0
    for weight, part in parts(prior):
        alone = World(part, release.steps)
        each += weight * best(part, alone, channel(alone, release), misses)
    assert bound.ceiling == pytest.approx(each, rel=1e-9, abs=1e-270)


class TestDifferences:
    prior = pb.line_prior(5, 0.4)

    def loss(self, *counts: Any, misses: int = 1) -> float:
        return pb.measure(self.prior, pb.Release(counts=counts, steps=3), misses, tolerance=0).upper

    def test_two_tables_give_their_difference_away(self) -> None:
        """Each is about a large zone, and the difference about one place."""
        large, larger = pb.Present([0, 1, 2], 1), pb.Present([0, 1, 2, 3], 1)
        both = self.loss(large, larger)
        assert both >= max(self.loss(large), self.loss(larger)) * (1 - 1e-12)
        assert both == pytest.approx(self.loss(large, pb.Present([3], 1)), rel=1e-12)


def test_many_zones_of_few_places_with_noise_and_a_small_budget() -> None:
    """More counts at a step than places: their numbers are not those of places."""
    places, steps = 6, 24
    prior = pb.MarkovPrior(np.full(places, 1 / places), np.full((places, places), 1 / places))
    pairs = [sorted({a, b}) for a in range(places) for b in range(a, places)]
    counts = [pb.Present(zone, step=t) for t in range(steps) for zone in pairs]
    release = pb.Release(counts=counts, steps=steps, mechanism=pb.Gaussian(1.0))
    loss = pb.measure(prior, release, 2, budget=1e5, runs=20)
    assert loss.baseline.lower <= loss.lower <= loss.upper <= 1


def test_two_states_of_one_place_may_be_reached_in_two_steps() -> None:
    """Whoever was at the first place remembers it, and is at the second one as well as whoever was not."""
    moves = np.array([np.full((3, 3), 1 / 3), [[0, 1, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]]])
    prior, visitors = pb.MarkovPrior([0, 0, 1], moves), pb.Visitors([0], steps=[1, 2], times=2)
    loss = pb.measure(prior, pb.Release(counts=[visitors], steps=3), misses=1)
    # One of two unknown steps must be right. Place 1 is, unless somebody stays at place 2, 1 of 6 times.
    assert loss.baseline.lower == pytest.approx(5 / 6, rel=1e-12)
    assert loss.lower == pytest.approx(5 / 6, rel=1e-12)
    assert loss.upper == pytest.approx(5 / 6, rel=1e-12)
