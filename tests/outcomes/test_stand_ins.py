"""Stand-ins: one tells less than the mechanism, the other more, whatever is asked."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import laplace, norm
from tests.mechanisms.test_conformance import EVERY
from tests.oracle import World
from tests.strategies import Case, Whimsical, cases

import passerby as pb
from passerby.outcomes.series import Series
from passerby.outcomes.stand_ins import OUTCOMES, at_any, bracketing_series, spread, stand_ins
from passerby.support.statistics import by_ratio

Floats = NDArray[np.float64]
SPREADS = [1e-4, 0.02, 0.3, 1.0, 4.0, 100.0]
NOISE = tuple(noise(size) for noise in (pb.Gaussian, pb.Laplace) for size in SPREADS)
PRESENCE = (0.01, 0.1, 0.3, 0.5, 0.8, 0.97)


def noise(kind: str, size: float) -> pb.Mechanism:
    return pb.Gaussian(size) if kind == "gaussian" else pb.Laplace(size)


def both(mechanism: pb.Mechanism, count: int = 0) -> tuple[Floats, Floats]:
    pair = stand_ins(mechanism, count)
    assert pair is not None
    return pair


def told(kind: str, size: float, presence: float) -> float:
    """How often "was the person there?" is answered right from the published value, by integration."""
    law = norm(scale=size) if kind == "gaussian" else laplace(scale=size)
    ends = [-40 * size, 0, 0.5, 1, 1 + 40 * size]
    # Where the two are as likely.
    odds = math.log((1 - presence) / presence)
    threshold = 0.5 + size**2 * odds if kind == "gaussian" else (size * odds + 1) / 2
    cuts = sorted({*ends, min(max(threshold, ends[0]), ends[-1])})

    def better(y: float) -> float:
        return float(max((1 - presence) * law.pdf(y), presence * law.pdf(y - 1)))

    return sum(quad(better, a, b, limit=200)[0] for a, b in pairwise(cuts))


def answered(table: Floats, presence: float) -> float:
    return float(np.maximum((1 - presence) * table[:, 0], presence * table[:, 1]).sum())


@pytest.mark.parametrize("mechanism", EVERY + NOISE, ids=repr)
@pytest.mark.parametrize("count", [0, 3, 300])
def test_are_laws_with_increasing_ratios(mechanism: pb.Mechanism, count: int) -> None:
    for table in both(mechanism, count):
        assert len(table) <= OUTCOMES
        assert np.isfinite(table).all()
        assert (table >= 0).all()
        np.testing.assert_allclose(table.sum(axis=0), 1, atol=1e-9)
        assert (np.diff(table[:, 1] / table.sum(axis=1)) > 0).all()


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
@pytest.mark.parametrize("count", [0, 4])
def test_bracket_every_mechanism_for_every_prior(mechanism: pb.Mechanism, count: int) -> None:
    """Of two experiments about a yes or no, one tells more if it is the better one for all priors (Blackwell)."""
    less, more = both(mechanism, count)
    pair = mechanism.pair(count)
    # A numerical integral over a kink is not exact.
    slack = 1e-9 if mechanism.outputs(count) is not None else 2e-5
    for presence in PRESENCE:
        exact = answered(pair, presence)
        assert answered(less, presence) <= exact + slack
        assert exact <= answered(more, presence) + slack
        assert answered(more, presence) - answered(less, presence) < 1e-3


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("size", [0.3, 1.0, 4.0])
def test_bracket_noise_for_every_prior(kind: str, size: float) -> None:
    less, more = both(noise(kind, size))
    for presence in PRESENCE:
        exact = told(kind, size, presence)
        assert answered(less, presence) - 1e-7 <= exact <= answered(more, presence) + 1e-7


def test_hardly_any_noise_is_no_noise() -> None:
    for kind in ("gaussian", "laplace"):
        for table in both(noise(kind, 1e-4)):
            assert answered(table, 0.5) == pytest.approx(1, abs=1e-9)


def test_nobody_can_change_what_others_will_be_given() -> None:
    for table in both(pb.Gaussian(0.8)):
        with pytest.raises(ValueError, match="read-only"):
            table[0] = 1.0


def test_few_outcomes_stand_for_themselves() -> None:
    less, more = both(pb.Sampling(0.3), 4)
    np.testing.assert_array_equal(less, more)
    assert len(less) == 6


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 6))
def test_spreading_keeps_both_laws_and_tells_more(seed: int, size: int, kept: int) -> None:
    rng = np.random.default_rng(seed)
    table = by_ratio(rng.dirichlet(np.ones(size), 2).T)
    some = np.unique(np.append(0, rng.integers(0, size, kept)))
    more = spread(table, some)
    assert len(more) == len(np.union1d(some, [size - 1]))
    np.testing.assert_allclose(more.sum(axis=0), 1)
    for presence in PRESENCE:
        assert answered(table, presence) <= answered(more, presence) + 1e-12


def test_centres_out_of_order_have_no_stand_ins() -> None:
    """Noise after a rule that turns counts around: the ratio need not increase along the line."""
    assert stand_ins(pb.Then(Whimsical(1), pb.Gaussian(1.0)), 0) is None


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_one_stand_in_for_several_counts(mechanism: pb.Mechanism) -> None:
    joint = at_any(mechanism, 2, 6)
    assert joint is not None
    np.testing.assert_allclose(joint.sum(axis=0), 1)
    for presence in PRESENCE:
        most = max(answered(both(mechanism, count)[1], presence) for count in range(2, 7))
        assert answered(joint, presence) >= most - 1e-12


class TestSeries:
    @staticmethod
    def channel(world: World, release: pb.Release, series: Series) -> Floats:
        """Likelihoods (series, traces)."""
        out = np.ones((len(series), len(world.traces)))
        for t in range(release.steps):
            out *= np.exp(series.evidence[:, t])[:, world.column(release, t)]
        return out

    @given(cases(mechanisms=(Whimsical(0), Whimsical(1)), most_series=300), st.sampled_from([1, 4, 9, 30]))
    @settings(max_examples=60)
    def test_bracket_the_optimum(self, case: Case, most: int) -> None:
        """Whatever the number of series: one side's best guess does worse than the mechanism's, the other's better."""
        pair = bracketing_series(case.prior, case.release, most, 0.0)
        world = World(case.prior, case.steps)
        best = world.optimum(world.likelihoods(case.release), case.misses)
        if pair is None:
            return
        less, more = (self.channel(world, case.release, series) for series in pair)
        for series, channel in zip(pair, (less, more), strict=True):
            assert len(series) <= most
            assert series.left_over == 0
            np.testing.assert_allclose(channel @ world.chance, series.mass, atol=1e-12)
            # Each trace that can happen is published as something.
            np.testing.assert_allclose(channel.sum(axis=0)[world.chance > 0], 1, atol=1e-9)
        assert world.optimum(less, case.misses) <= best + 1e-9
        assert best <= world.optimum(more, case.misses) + 1e-9

    @given(cases(mechanisms=(Whimsical(2),), most_series=300))
    def test_what_is_faint_is_left_over(self, case: Case) -> None:
        pair = bracketing_series(case.prior, case.release, 300, 0.01)
        assert pair is not None
        assert pair[0].mass.sum() == pytest.approx(1)
        assert pair[1].mass.sum() + pair[1].left_over == pytest.approx(1)

    def test_more_series_come_closer(self) -> None:
        prior = pb.line_prior(6)
        release = pb.Release([[0, 1], 2, 3], pb.Gaussian(1.0))
        world, widths = World(prior, 3), []
        for most in (20, 100, 1000):
            pair = bracketing_series(prior, release, most, 0.0)
            assert pair is not None
            ends = [world.optimum(self.channel(world, release, series), 1) for series in pair]
            widths.append(ends[1] - ends[0])
        assert widths[0] > widths[1] > widths[2] >= 0
        assert widths[2] < 0.02

    def test_none_where_few_do_not_suffice(self) -> None:
        prior, release = pb.line_prior(6), pb.Release([[0, 1], 2, 3], pb.Gaussian(1.0))
        assert bracketing_series(prior, release, 10, 0.0) is None
        raw = bracketing_series(prior, pb.Release([0, 2, 3]), 8, 0.0)
        assert raw is not None
        assert len(raw[1]) == 8


def test_a_stand_in_for_any_count_tells_what_its_ends_tell() -> None:
    """Below ten nothing is published: one more person is seen at nine only."""
    seen, unseen = np.eye(2), np.ones((1, 2))
    for least, most, expected in ((8, 9, seen), (9, 12, seen), (9, 9, seen), (0, 8, unseen)):
        found = at_any(pb.Suppression(10), least, most)
        assert found is not None
        assert sorted(found.tolist()) == sorted(expected.tolist())


@pytest.mark.parametrize("there", [0.2, 0.37, 0.51])
@pytest.mark.parametrize("sigma", [0.7, 2.0])
def test_the_truth_is_between_stand_ins_as_fine_as_they_get(there: float, sigma: float) -> None:
    """By more than rounding: laws that tell less, in the place of those that tell more, would be told."""
    prior = pb.MarkovPrior([there, 1 - there], np.eye(2))
    pair = bracketing_series(prior, pb.Release([0], pb.Gaussian(sigma)), 10_000, 0.0)
    assert pair is not None
    less, more = (_right(series, np.array([1 - there, there])) for series in pair)
    # The likelier place is named on either side of where both are equally likely.
    cut = 0.5 + sigma**2 * math.log((1 - there) / there)
    truth = there * norm.sf(cut, 1.0, sigma) + (1 - there) * norm.cdf(cut, 0.0, sigma)
    assert less <= truth * (1 + 1e-14)
    assert truth < more < truth + 1e-3


def _right(series: Series, prior: NDArray[np.float64]) -> float:
    """How often the likelier of two places is the right one."""
    joint = np.exp(series.evidence[:, 0]) * prior
    return float(series.mass @ (joint.max(axis=1) / joint.sum(axis=1))) + series.left_over
