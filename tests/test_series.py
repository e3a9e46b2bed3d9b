import numpy as np
import pytest
from hypothesis import given

import passerby as pb
from passerby.attacks import prior_attack
from passerby.posterior import bracket_series
from passerby.series import Anchor, enumerate_series, sample_series, series_of
from tests.oracle import World
from tests.strategies import FINITE, Case, Jumbled, cases, chain


@given(cases(mechanisms=FINITE))
def test_listed_series_are_all_of_them_with_their_probabilities(case: Case) -> None:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    world = World(case.prior, case.steps)
    law = world.likelihoods(case.release) @ world.chance
    assert len(series) == (law > 0).sum()
    np.testing.assert_allclose(series.mass, np.sort(law[law > 0])[::-1], atol=1e-12)
    assert series.left_over == pytest.approx(0, abs=1e-12)
    assert not series.sampled


@given(cases(mechanisms=FINITE))
def test_evidence_of_listed_series_has_their_probability(case: Case) -> None:
    """The evidence of each series, spread over places, gives back its mass by the forward recursion."""
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    for evidence, mass in zip(series.evidence[:30], series.mass[:30], strict=True):
        belief = case.prior.initial
        for t, step in enumerate(case.release.sensors):
            if t:
                belief = belief @ case.prior.matrices[0 if case.prior.homogeneous else t - 1]
            weight = np.full(case.prior.places, np.exp(evidence[t, 0]))
            weight[list(step)] = np.exp(evidence[t, 1 : 1 + len(step)])
            belief = belief * weight
        assert belief.sum() == pytest.approx(mass, rel=1e-9)


def test_the_least_likely_are_left_over() -> None:
    prior, release = chain(1, 4, 8, "started"), pb.Release([0, 1, 2, 3] * 2)
    every = enumerate_series(prior, release)
    some = enumerate_series(prior, release, max_series=10)
    assert every is not None
    assert some is not None
    assert len(some) == 10
    assert some.mass.sum() + some.left_over == pytest.approx(1)
    assert 0 < some.left_over < 1
    assert (np.diff(some.mass) <= 0).all()


def test_a_continuum_is_sampled() -> None:
    prior, release = pb.line_prior(5), pb.Release([1, 2], pb.Gaussian(1.0))
    rng = np.random.default_rng(0)
    assert enumerate_series(prior, release) is None
    series = series_of(prior, release, rng, runs=50)
    assert series.sampled
    assert len(series) == 50
    with pytest.raises(pb.UnsupportedRelease, match=r"Gaussian\(sigma=1\.0\) publishes from a continuum"):
        series_of(prior, release, rng, how="enumerate")


def test_auto_lists_where_little_is_left_over_and_samples_elsewhere() -> None:
    prior, release = pb.line_prior(5), pb.Release([1, 2, 3])
    rng = np.random.default_rng(0)
    assert not series_of(prior, release, rng).sampled
    assert series_of(prior, release, rng, max_series=2).sampled
    assert not series_of(prior, release, rng, max_series=2, how="enumerate").sampled
    assert series_of(prior, release, rng, how="sample").sampled


def test_averages_of_samples_carry_their_standard_error() -> None:
    prior, release = pb.line_prior(5), pb.Release([1, 2, 3])
    series = sample_series(prior, release, np.random.default_rng(0), 400)
    values = np.arange(400.0) / 400
    mean, error = series.mean(values)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / 20)
    listed = enumerate_series(prior, release)
    assert listed is not None
    assert listed.mean(np.ones(len(listed))) == pytest.approx((1, 0))


def test_samples_depend_on_the_generator_alone() -> None:
    prior, release = pb.line_prior(5), pb.Release([1, 2, 3], pb.Gaussian(1.0))
    first, second = (sample_series(prior, release, np.random.default_rng(7), 20) for _ in range(2))
    np.testing.assert_array_equal(first.evidence, second.evidence)


class TestAnchoredSamples:
    """Series drawn only for traces that a known guess gets wrong."""

    prior = chain(seed=4, places=3, steps=4, kind="varying")
    release = pb.Release([0, 1, 0, 1], Jumbled(0.3), [0, 0, 0, 0])
    misses = 1

    def anchor(self) -> Anchor:
        found = prior_attack(self.prior, 4, self.misses)
        return Anchor(np.array(found.guess), self.misses, found.value)

    def best(self) -> float:
        world = World(self.prior, 4)
        return world.optimum(world.likelihoods(self.release), self.misses)

    def test_averages_are_those_of_all_series(self) -> None:
        optimum = self.best()
        series = sample_series(self.prior, self.release, np.random.default_rng(2), 4000, self.anchor())
        found = bracket_series(self.prior, self.release, series, self.misses, 0.0, 1e9)
        mean, error = series.mean(found.lower)
        assert 0 < error < 0.02
        assert abs(mean - optimum) < 5 * error
        assert series.mass.sum() == pytest.approx(1.0, abs=0.1)
        plain = sample_series(self.prior, self.release, np.random.default_rng(2), 4000)
        loose = bracket_series(self.prior, self.release, plain, self.misses, 0.0, 1e9)
        assert error < plain.mean(loose.lower)[1]

    def test_the_limit_is_rarely_below_the_mean(self) -> None:
        optimum = self.best()
        below = 0
        for seed in range(40):
            series = sample_series(self.prior, self.release, np.random.default_rng(seed), 60, self.anchor())
            found = bracket_series(self.prior, self.release, series, self.misses, 0.0, 1e8)
            limit = series.upper(found.upper, np.maximum(found.map, found.marginal), 0.9)
            assert self.anchor().success <= limit <= 1
            below += limit < optimum
        assert below <= 10

    def test_only_traces_that_the_anchor_gets_wrong_are_drawn(self) -> None:
        told = pb.Release([[0, 1, 2]] * 4)
        anchor = self.anchor()
        series = sample_series(self.prior, told, np.random.default_rng(0), 200, anchor)
        assert (series.anchored == 0).all()
        assert series.mass == pytest.approx(np.full(200, (1 - anchor.success) / 200))

    def test_a_guess_that_nearly_always_succeeds_is_no_anchor(self) -> None:
        still = pb.MarkovPrior([1.0, 0.0], np.array([[0.999, 0.001], [0.5, 0.5]]))
        anchor = Anchor(np.zeros(4, dtype=np.int64), 0, 0.997)
        series = sample_series(still, pb.Release([0] * 4), np.random.default_rng(0), 20, anchor)
        assert series.success == 0
        assert series.mass == pytest.approx(np.full(20, 0.05))
