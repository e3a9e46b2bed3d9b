"""How many counts one person changes, against all traces and all pairs of them; and differential privacy by that."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import World
from tests.questions.trace.test_counts import Flip, any_counts, best, channel

import passerby as pb
from passerby.measurement.sensitivity import most_changed, most_counted, sensitivity
from passerby.model.count import mechanism_of


def of_traces(bits: Any, weights: Any) -> tuple[float, float]:
    """The largest difference between the bits (n, counts) of two traces, and the most bits of one; by trying all."""
    changed = (np.abs(bits[:, None] - bits[None]) * weights).sum(axis=2).max()
    return float(changed), float((bits * weights).sum(axis=1).max())


def bits_of(release: pb.Release, traces: Any) -> Any:
    return np.stack([count.bits(traces) for count in release.listed], axis=1).astype(int)


@given(any_counts())
def test_against_all_traces(case: tuple[pb.MarkovPrior, pb.Release]) -> None:
    prior, release = case
    weights = {way: 0.25 * (i + 1) for i, way in enumerate(release.ways)}
    each = np.array([weights[mechanism_of(count)] for count in release.listed])
    # Anybody may be anywhere, elsewhere too: a place that no count is about.
    free = World(
        pb.MarkovPrior(np.full(prior.places + 1, 1 / (prior.places + 1)), np.eye(prior.places + 1)), release.steps
    )
    assert sensitivity(release, weights) == pytest.approx(of_traces(bits_of(release, free.traces), each))
    world = World(prior, release.steps)
    possible = bits_of(release, world.traces[world.chance > 0])
    chain, told = release.over(prior)
    assert (most_changed(chain, told, weights), most_counted(chain, told, weights)) == pytest.approx(
        of_traces(possible, each)
    )
    assert (most_changed(chain, told), most_counted(chain, told)) == of_traces(possible, 1)


def test_sensors_are_counted_step_by_step() -> None:
    release = pb.Release([[0, 1, 2], [], 3])
    as_counts = pb.Release(counts=[*release.listed, pb.Present([0, 1], 1)], steps=3)
    assert sensitivity(release) == (3, 2)
    assert sensitivity(as_counts) == (4, 3)


def test_sightings_that_cannot_happen_do_not_count() -> None:
    prior = pb.MarkovPrior([1, 0], [[0, 1], [1, 0]])
    assert most_counted(prior, pb.Release([0, 0, 0, 0])) == 2
    assert most_counted(prior, pb.Release([[0, 1]] * 3)) == 3
    assert most_changed(prior, pb.Release([0, 0, 0, 0])) == 0


class TestEpsilon:
    """Of counts of any kind: as that of as many single counts as one person changes."""

    @pytest.mark.parametrize("noise", [pb.Gaussian(2.0), pb.Laplace(3.0), pb.Geometric(2.0)], ids=repr)
    def test_nested_zones_change_together(self, noise: pb.Mechanism) -> None:
        nested = pb.Release(counts=[pb.Present(range(n), 0) for n in (1, 2, 3)], steps=1, mechanism=noise)
        found = pb.differential_privacy(nested)
        assert (found.changed_counts, found.added_counts) == (3, 3)
        assert found.exact == found.added == pb.differential_privacy(pb.Release([0] * 3, noise)).exact

    def test_zones_side_by_side_change_two_or_one(self) -> None:
        apart = pb.Release(counts=[pb.Present([n, n + 1], 0) for n in (0, 2, 4)], steps=1, mechanism=pb.Laplace(2.0))
        found = pb.differential_privacy(apart, delta=1e-9)
        assert (found.exact, found.added) == pytest.approx((1.0, 0.5), rel=1e-4)

    def test_a_person_who_comes_nowhere_near_changes_nothing(self) -> None:
        flows = pb.Release(counts=[pb.Moved([0, 1], [2], t) for t in range(2)], steps=3, mechanism=pb.Gaussian(1.0))
        still = pb.MarkovPrior(np.full(4, 0.25), np.eye(4))
        assert pb.differential_privacy(flows, prior=still).person == 0
        walker = pb.differential_privacy(flows, prior=pb.line_prior(4, 0.4))
        # From 0 or 1 to 2, and then one is not in 0 or 1 any more.
        assert walker.changed_counts == 2
        assert walker.added_counts == 1
        assert walker.person == walker.exact

    def test_normal_noise_of_different_deviations_adds_up_in_squares(self) -> None:
        counts = [pb.Present([0], 0, mechanism=pb.Gaussian(3.0)), pb.Present([0, 1], 0, mechanism=pb.Gaussian(4.0))]
        found = pb.differential_privacy(pb.Release(counts=counts, steps=1))
        alone = pb.differential_privacy(pb.Release([0], pb.Gaussian(1 / math.hypot(1 / 3, 1 / 4))))
        assert (found.exact, found.formula) == pytest.approx((alone.exact, alone.formula), rel=1e-9)

    @pytest.mark.parametrize(
        ("release", "words"),
        [
            (pb.Release(counts=[pb.Present([0, 1], 0)], steps=1), "raw counts are not differentially private"),
            (
                pb.Release(
                    counts=[pb.Present([0], 0, mechanism=pb.Laplace(1.0)), pb.Present([0, 1], 0)],
                    steps=1,
                    mechanism=pb.Gaussian(1.0),
                ),
                "are not accounted for together, unless all of it is normal",
            ),
            (pb.Release.adaptive(lambda history: 0, 2, pb.Gaussian(1.0)), "a policy chooses these as one goes"),
            (
                pb.Release(
                    counts=[pb.Visitors([n], range(12), 4) for n in range(8)], steps=12, mechanism=pb.Gaussian(1.0)
                ),
                "remember",
            ),
        ],
        ids=["raw", "mixed", "adaptive", "memory"],
    )
    def test_what_cannot_be_said_is_refused(self, release: pb.Release, words: str) -> None:
        found = pb.differential_privacy(release)
        assert (found.exact, found.added, found.formula, found.person) == (None,) * 4
        assert words in found.remark

    def test_pairs_of_many_states_are_refused(self) -> None:
        prior = pb.MarkovPrior(np.full(400, 1 / 400), np.full((400, 400), 1 / 400))
        release = pb.Release(counts=[pb.Present([0, 1], t) for t in range(400)], steps=400, mechanism=pb.Gaussian(1.0))
        with pytest.raises(pb.UnsupportedRelease, match="400 states and 400 steps may differ takes too long"):
            most_changed(prior, release)


@given(any_counts(), st.data())
def test_the_bound_holds_for_zones_flows_and_visitors(
    case: tuple[pb.MarkovPrior, pb.Release], data: st.DataObject
) -> None:
    """Whole-numbered Laplace noise of scale 1 tells as much as a bit that is flipped with probability 1 / (1 + e)."""
    prior, release = case
    steps = release.steps
    misses = data.draw(st.integers(0, steps - 1))
    noisy, flipped = (
        pb.Release(counts=[replace(count, mechanism=way, others=0) for count in release.listed], steps=steps)
        for way in (pb.Geometric(1.0), Flip(1 / (1 + math.e)))
    )
    world = World(prior, steps)
    truth = best(prior, world, channel(world, flipped), misses)
    loss = pb.measure(prior, noisy, misses, tolerance=0)
    assert loss.lower <= truth * (1 + 1e-9)
    assert truth <= min(loss.upper, loss.bounds["dp"]) * (1 + 1e-9)
