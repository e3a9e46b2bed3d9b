import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import World
from tests.strategies import FINITE, Case, Jumbled, cases, chain

import passerby as pb
import passerby.outcomes.series
from passerby.outcomes.series import (
    Anchor,
    Series,
    enumerate_series,
    one_series,
    relative,
    sample_series,
    score,
    wrong_laws,
)
from passerby.outcomes.stand_ins import bracketing_series
from passerby.questions.trace.guess import bracket_series, decode_series
from passerby.questions.trace.methods.baseline import prior_attack
from passerby.support.statistics import lower_limit, standard_error, upper_limit


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
    assert enumerate_series(prior, release) is None
    loss = pb.measure(prior, release, 1, series="sample", runs=50)
    assert loss.effort.sampled
    assert loss.effort.series == 50
    with pytest.raises(pb.UnsupportedRelease, match=r"Gaussian\(sigma=1\.0\) publishes .* a continuum"):
        pb.measure(prior, release, 1, series="enumerate")


def test_a_list_that_leaves_too_much_over_is_none() -> None:
    prior, release = pb.line_prior(5), pb.Release([1, 2, 3])
    assert enumerate_series(prior, release, 8, 0.0) is not None
    assert enumerate_series(prior, release, 2, 1e-3) is None
    assert enumerate_series(prior, release, 2, 1.0) is not None


def test_averages_of_samples_carry_their_standard_error() -> None:
    prior, release = pb.line_prior(5), pb.Release([1, 2, 3])
    series = sample_series(prior, release, np.random.default_rng(0), 400)
    values = np.arange(400.0) / 400
    mean, error = series.mean(values)
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / 20)
    assert series.left_over == 0
    listed = enumerate_series(prior, release)
    assert listed is not None
    assert listed.mean(np.ones(len(listed))) == pytest.approx((1, 0))


def test_weights_have_one_as_their_largest_at_each_step() -> None:
    evidence = np.log(np.array([[[0.2, 0.4, 0.1], [1e-300, 3e-300, 0.5e-300]]]))
    assert relative(evidence) == pytest.approx(np.array([[[0.5, 1, 0.25], [1 / 3, 1, 1 / 6]]]))
    impossible = np.full((1, 1, 2), -np.inf)
    assert (relative(impossible) == 0).all()


@given(cases(mechanisms=FINITE), st.integers(0, 10**6))
def test_scores_are_those_of_all_traces(case: Case, seed: int) -> None:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    world, rng = World(case.prior, case.steps), np.random.default_rng(seed)
    guesses = rng.integers(0, case.prior.places, (len(series), case.steps))
    found = score(case.prior, case.release, series.evidence, guesses, case.misses)
    for guess, evidence, value in zip(guesses[:10], series.evidence[:10], found[:10], strict=True):
        likelihood = np.ones(len(world.traces))
        for t in range(case.steps):
            likelihood *= np.exp(evidence[t])[world.column(case.release, t)]
        assert value == pytest.approx(world.success(guess, case.misses, likelihood), abs=1e-9)


def test_averages_of_listed_series_add_what_is_left_over() -> None:
    series = Series(np.zeros((2, 1, 1)), np.array([0.6, 0.3]), sampled=False, left_over=0.1)
    assert series.mean(np.array([0.5, 1.0])) == pytest.approx((0.6, 0.0))
    assert series.upper(np.array([0.5, 1.0]), np.zeros(2), 0.9) == pytest.approx(0.7)
    assert series.upper(np.full(2, 1.1), np.zeros(2), 0.9) == 1
    assert series.lower(np.array([0.5, 1.0]), np.zeros(2), 0.9) == pytest.approx(0.6)
    assert series.mean(np.array([2.0, 2.0]))[0] == 1
    unlucky = Series(np.zeros((1, 1, 1)), np.full(1, 2.0), True, 0.0, success=0.5, anchored=np.full(1, 0.6))
    assert unlucky.mean(np.zeros(1))[0] == 0


def test_averages_of_anchored_samples() -> None:
    """Success 0.4 is known; of the rest, each series stands for `0.6 / (1 - anchored) / n`."""
    anchored = np.array([0.0, 0.5, 0.25, 0.0])
    mass = 0.6 / (1 - anchored) / 4
    series = Series(np.zeros((4, 1, 1)), mass, sampled=True, left_over=0.0, success=0.4, anchored=anchored)
    values = np.array([0.2, 0.7, 0.25, 1.0])
    beyond = mass * (values - anchored)
    assert series.mean(values) == pytest.approx((0.4 + beyond.sum(), 2 * beyond.std(ddof=1)))
    shares = (values - anchored) / (1 - anchored)
    guide = np.array([0.1, 0.6, 0.3, 0.8])
    limit = upper_limit(shares, 0.9, np.clip((guide - anchored) / (1 - anchored), 0, 1))
    assert series.upper(values, guide, 0.9) == pytest.approx(0.4 + 0.6 * limit)
    many = Series(np.zeros((200, 1, 1)), np.tile(mass / 50, 50), True, 0.0, 0.4, anchored=np.tile(anchored, 50))
    guide = np.clip(shares - 0.1, 0, 1)
    limit = lower_limit(np.tile(shares, 50), 0.9, np.tile(guide, 50))
    low = many.lower(np.tile(values, 50), np.tile(guide * (1 - anchored) + anchored, 50), 0.9)
    assert 0.5 < low == pytest.approx(0.4 + 0.6 * limit)
    assert Series(np.zeros((1, 1, 1)), np.ones(1), sampled=True, left_over=0.0).mean(np.array([0.3])) == (0.3, 1.0)


def test_few_outcomes_are_told_in_full_and_many_as_finely_as_there_is_room() -> None:
    prior, release = chain(3, 3, 3, "started"), pb.Release([0, 1, 2], pb.Laplace(1.0))
    world = World(prior, 3)
    widths = []
    for most in (30, 300):
        pair = bracketing_series(prior, release, most, 0.0)
        assert pair is not None
        less, more = pair
        assert len(less) <= max(1, most // 4)
        assert len(more) <= most
        ends = []
        for series in pair:
            told = np.ones((len(series), len(world.traces)))
            for t in range(3):
                told *= np.exp(series.evidence[:, t])[:, world.column(release, t)]
            np.testing.assert_allclose(told @ world.chance, series.mass, atol=1e-12)
            ends.append(world.optimum(told, 1))
        assert ends[0] <= ends[1]
        widths.append(ends[1] - ends[0])
    assert widths[1] < widths[0]
    few = bracketing_series(prior, pb.Release([0, 1, 2], pb.Sampling(0.5), [1, 1, 1]), 300, 0.0)
    assert few is not None
    ends = [float(series.mass.sum()) for series in few]
    assert ends == pytest.approx([1, 1])


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

    def test_a_few_hundred_draws_agree_with_enumeration(self) -> None:
        """The success of the likeliest trace given each series, averaged over draws that the anchor gets wrong."""
        world = World(self.prior, 4)
        exact = world.map_success(world.likelihoods(self.release), self.misses)
        series = sample_series(self.prior, self.release, np.random.default_rng(3), 600, self.anchor())
        guesses, _ = decode_series(self.prior, self.release, series.evidence)
        mean, error = series.mean(score(self.prior, self.release, series.evidence, guesses, self.misses))
        assert 0 < error < 0.03
        assert abs(mean - exact) < 4 * error
        # What all series together stand for is all traces, beyond the anchor and with it.
        assert abs(series.mean(np.ones(600))[0] - 1) < 1e-9
        beyond = series.mass * (1 - series.anchored)
        assert beyond == pytest.approx(np.full(600, (1 - self.anchor().success) / 600), rel=1e-9)
        assert series.left_over == 0

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

    def test_an_anchor_that_is_as_good_as_sure_leaves_finite_weights(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Drawn for a trace that the anchor gets wrong, a series may still be one that it hardly ever fails for."""
        monkeypatch.setattr(passerby.outcomes.series, "score", lambda *case: np.linspace(0.5, 1.0, len(case[2])))
        series = sample_series(self.prior, self.release, np.random.default_rng(0), 20, self.anchor())
        assert (series.anchored < 1).all()
        assert series.anchored[0] == 0.5
        assert series.anchored.max() == pytest.approx(1.0, abs=1e-6)
        assert (series.mass > 0).all()
        assert series.mass * (1 - series.anchored) == pytest.approx(np.full(20, (1 - series.success) / 20), rel=1e-6)

    def test_a_guess_that_nearly_always_succeeds_is_no_anchor(self) -> None:
        still = pb.MarkovPrior([1.0, 0.0], np.array([[0.999, 0.001], [0.5, 0.5]]))
        anchor = Anchor(np.zeros(4, dtype=np.int64), 0, 0.997)
        series = sample_series(still, pb.Release([0] * 4), np.random.default_rng(0), 20, anchor)
        assert series.success == 0
        assert series.mass == pytest.approx(np.full(20, 0.05))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_limit_of_anchored_samples_is_that_of_what_is_beyond_the_anchor(share: float) -> None:
    """Every draw achieves the same share of what the anchor misses: then so does the whole, up to the limit."""
    anchored, none = np.linspace(0.1, 0.6, 50), np.empty((50, 1, 1))
    series = Series(none, np.full(50, 0.02), True, 0.0, success=0.4, anchored=anchored)
    values = anchored + share * (1 - anchored)
    expected = 0.4 + 0.6 * upper_limit(np.full(50, share), 0.99, np.full(50, share))
    assert series.upper(values, values, 0.99) == pytest.approx(expected, rel=1e-12)
    # Less than the anchor counts as nothing beyond it.
    assert series.upper(0 * values, values, 0.99) <= expected + 1e-12


def test_what_is_achieved_beyond_the_anchor_is_a_share() -> None:
    """A guess that is worse than the anchor adds nothing to it, and rounding adds no more than all."""
    series = Series(np.zeros((3, 1, 1)), np.ones(3) / 3, sampled=True, left_over=0.0, anchored=np.full(3, 0.5))
    assert series.beyond(np.array([0.1, 0.75, 1.2])).tolist() == [0.0, 0.5, 1.0]


def test_two_sampled_values_have_an_error_and_one_that_is_listed_has_none() -> None:
    series = Series(np.zeros((2, 1, 1)), np.ones(2) / 2, sampled=True, left_over=0.0)
    assert series.mean(np.array([0.2, 0.6])) == pytest.approx((0.4, 0.2))
    assert series.some(np.array([0]), np.ones(1)).mean(np.array([0.2])) == pytest.approx((0.2, 1.0))
    alone = one_series(np.zeros((1, 2, 1)))
    assert (alone.mean(np.array([0.3])), alone.left_over, alone.sampled) == ((0.3, 0.0), 0.0, False)


@pytest.mark.parametrize("value", [0.0, 1e-12, 0.3, 1.0])
def test_draws_that_are_all_alike_are_not_exact(value: float) -> None:
    """What one of n draws may still be: as far off as there is room beyond the anchor, with a chance of `1 / n`."""
    series = Series(np.zeros((50, 1, 1)), np.full(50, 1 / 50), sampled=True, left_over=0.0)
    assert series.mean(np.full(50, value)) == pytest.approx((value, 1 / 50))
    anchored = Series(series.evidence, np.full(50, 0.4 / 50), sampled=True, left_over=0.0, success=0.6)
    assert anchored.mean(np.full(50, value)) == pytest.approx((0.6 + 0.4 * value, 0.4 / 50))
    assert standard_error(np.full(50, value) * (1 + 1e-16 * np.arange(50.0))) == pytest.approx(1 / 50)
    certain = Series(series.evidence, np.zeros(50), sampled=True, left_over=0.0, success=1.0)
    assert certain.mean(np.full(50, value)) == (1.0, 0.0)


def test_all_sampled_traces_are_wrong_for_the_anchor() -> None:
    """Nobody moves, so those who are not at the anchor's place are never sighted there."""
    prior, release = pb.MarkovPrior([0.5, 0.5], np.eye(2)), pb.Release([0, 0])
    anchor = Anchor(np.zeros(2, dtype=np.int64), 0, 0.5)
    for runs in (1, 2, 30):
        drawn = sample_series(prior, release, np.random.default_rng(runs), runs, anchor)
        assert len(drawn) == runs
        assert (drawn.evidence[:, :, 1] == -np.inf).all()
        assert (drawn.evidence[:, :, 0] == 0).all()
        assert drawn.mean(np.zeros(runs))[0] == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(4))
def test_numbers_of_wrong_steps_add_up_to_scores(seed: int) -> None:
    """All numbers at once and each by itself, for guesses that name any place, and for those that make sense."""
    rng = np.random.default_rng(seed)
    chains = [pb.MarkovPrior(rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4), (5, 4))) for _ in range(2)]
    prior = pb.MarkovPrior.mixture([0.7, 0.3], chains)
    release = pb.Release([[0, 1]] * 6, pb.Gaussian(1.0))
    series = sample_series(prior, release, rng, 8)
    for guesses in (rng.integers(0, 4, (8, 6)), bracket_series(prior, release, series, 2, np.inf, 0.0).guesses[:, 0]):
        law = wrong_laws(prior, release, series.evidence, np.ascontiguousarray(guesses), 6)
        np.testing.assert_allclose(law.sum(axis=1), 1.0, rtol=1e-12)
        for misses in range(6):
            want = score(prior, release, series.evidence, np.ascontiguousarray(guesses), misses)
            np.testing.assert_allclose(law[:, : misses + 1].sum(axis=1), want, rtol=1e-9)
            few = wrong_laws(prior, release, series.evidence, np.ascontiguousarray(guesses), misses)
            np.testing.assert_allclose(few, law[:, : misses + 1], rtol=1e-12)
