"""Chains whose states share places, and mixtures of chains: the loss, beside trying all guesses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import laplace, norm
from tests.guesses import kappa, masked_cases, optimum, successes
from tests.mechanisms.test_conformance import EVERY
from tests.oracle import World
from tests.states import mixed, state_cases, state_chains
from tests.strategies import FINITE, Case, chain, released

import passerby as pb

Floats = NDArray[np.float64]
#: Rounding, and what underflow may have taken, which is added to upper ends.
CLOSE = 1e-9
VANISHING = 1e-275


def holds(lower: float, truth: float, upper: float) -> None:
    assert lower <= truth * (1 + CLOSE) + VANISHING
    assert truth <= upper * (1 + CLOSE)


@settings(max_examples=60)
@given(state_cases())
def test_the_loss_is_that_of_the_best_guess(case: Case) -> None:
    world = World(case.prior, case.steps)
    truth = optimum(case, world.likelihoods(case.release), world)
    known = kappa(case, world)
    loss = pb.measure(case.prior, case.release, case.misses, tolerance=0)
    assert loss.effort.confidence is None
    for interval, value in ((loss, truth), (loss.baseline, known)):
        holds(interval.lower, value, interval.upper)
        assert interval.upper - interval.lower <= CLOSE * value + VANISHING
    for name, bound in loss.bounds.items():
        assert truth <= bound * (1 + CLOSE), name
    for name, attack in loss.attacks.items():
        assert attack.value <= truth * (1 + CLOSE) + VANISHING, name


@settings(max_examples=25)
@given(state_cases(), st.sampled_from([0.0, 1e5, 1e8]), st.sampled_from([0.01, 0.3]))
def test_the_loss_lies_in_the_interval_at_any_effort(case: Case, budget: float, tolerance: float) -> None:
    world = World(case.prior, case.steps)
    truth = optimum(case, world.likelihoods(case.release), world)
    loss = pb.measure(case.prior, case.release, case.misses, tolerance=tolerance, budget=budget, runs=20)
    if loss.effort.confidence is None:
        holds(loss.lower, truth, loss.upper)
        holds(loss.baseline.lower, kappa(case, world), loss.baseline.upper)


@settings(max_examples=30)
@given(state_cases(), st.integers(0, 10**6))
def test_the_loss_of_what_was_published(case: Case, seed: int) -> None:
    world, rng = World(case.prior, case.steps), np.random.default_rng(seed)
    values = case.release.publish(case.prior.sample(1, case.steps, rng), rng)
    published = [row[: len(step)].tolist() for row, step in zip(values[0], case.release.sensors, strict=True)]
    told = np.exp(case.release.evidence(values)[0])
    likelihood = np.prod([told[t, world.column(case.release, t)] for t in range(case.steps)], axis=0)
    truth = successes(world, likelihood[None], case.misses, case.prior.guessable)[0] / (likelihood @ world.chance)
    loss = pb.measure(case.prior, case.release, case.misses, published=published, tolerance=0)
    assert (loss.lower, loss.upper) == pytest.approx((truth, truth), rel=CLOSE, abs=VANISHING)


def densities(noise: pb.Mechanism) -> tuple[Floats, Floats]:
    """What a count of 0 and of 1 is published as: likelihoods (n, 2), and the width of each value (n,)."""
    values, width = np.linspace(-14, 15, 29 * 400 + 1, retstep=True)
    law = norm(scale=0.6) if isinstance(noise, pb.Gaussian) else laplace(scale=0.7)
    rule = np.full(len(values), 2 * width / 3)
    # Simpson's, whose pieces end where the density of either count has its kink.
    rule[1::2] *= 2
    rule[[0, -1]] /= 2
    return np.stack([law.pdf(values), law.pdf(values - 1)], axis=1), rule


@pytest.mark.parametrize("noise", [pb.Gaussian(0.6), pb.Laplace(0.7)], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_noise_beside_an_integral(noise: pb.Mechanism, seed: int) -> None:
    """One count, so that all that can be published is a line."""
    prior = mixed(seed, 2, 2, sparse=seed % 2 == 1, varying=False)
    steps, misses = 2, seed // 2
    release = pb.Release([[], [seed % 2]], noise)
    world = World(prior, steps)
    laws, rule = densities(noise)
    channel = laws[:, world.column(release, 1)] * rule[:, None]
    truth = optimum(Case(prior, release, misses), channel, world)
    loss = pb.measure(prior, release, misses, tolerance=1e-3, runs=50)
    assert loss.effort.confidence is None
    assert loss.lower <= truth * (1 + 1e-6)
    assert truth <= loss.upper * (1 + 1e-6)
    assert loss.upper <= loss.lower * 1.01


def split(prior: pb.MarkovPrior, seed: int) -> pb.MarkovPrior:
    """Every state twice, in no order; moves go to either one by a share that tells nothing."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(np.repeat(np.arange(prior.states), 2))
    share = np.empty(len(order))
    for x in range(prior.states):
        share[order == x] = [0.3, 0.7]
    moves = prior.transition[..., order[:, None], order] * share
    place_of = prior.place_of[order]
    return pb.MarkovPrior(prior.initial[order] * share, moves, place_of=place_of, guessable=prior.guessable)


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_states_that_tell_nothing_change_nothing(mechanism: pb.Mechanism) -> None:
    prior = chain(3, 3, 2, "varying")
    release = pb.Release([0, 1], mechanism, [1, 3])
    plain, twice = (pb.measure(habits, release, 1, runs=50, budget=1e7) for habits in (prior, split(prior, 1)))
    assert plain.effort.confidence is None
    assert twice.effort.confidence is None
    assert twice.lower <= plain.upper * (1 + CLOSE)
    assert plain.lower <= twice.upper * (1 + CLOSE)
    assert twice.upper <= twice.lower * 1.1
    tables = release.signals()
    if tables is not None and np.prod([len(table) for table in tables]) <= 2000:
        world = World(prior, 2)
        truth = world.optimum(world.likelihoods(release), 1)
        holds(plain.lower, truth, plain.upper)
        holds(twice.lower, truth, twice.upper)


@settings(max_examples=25)
@given(masked_cases(mechanisms=FINITE), st.integers(1, 3))
def test_a_mixture_of_equal_chains_is_the_chain(case: Case, count: int) -> None:
    weights = np.array([1e-300, 0.3, 0.7])[-count:]
    prior = pb.MarkovPrior.mixture(weights / weights.sum(), [case.prior] * count)
    plain, mixture = (pb.measure(habits, case.release, case.misses, tolerance=0) for habits in (case.prior, prior))
    for name in ("lower", "upper"):
        assert getattr(mixture, name) == pytest.approx(getattr(plain, name), rel=CLOSE)
        assert getattr(mixture.baseline, name) == pytest.approx(getattr(plain.baseline, name), rel=CLOSE)


@settings(max_examples=25)
@given(state_chains(), st.data())
def test_what_is_known_of_some_steps_is_taken_into_account(
    habits: tuple[pb.MarkovPrior, int], data: st.DataObject
) -> None:
    """The loss of somebody who was seen, beside the traces that run through there."""
    prior, steps = habits
    case = data.draw(released(prior, steps, FINITE, 100))
    world = World(prior, steps)
    seen = {data.draw(st.integers(0, steps - 1)): data.draw(st.integers(0, prior.places - 1))}
    for t, place in seen.items():
        world.chance = world.chance * (world.traces[:, t] == place)
    if world.chance.sum() < 1e-200:
        return
    world.chance = world.chance / world.chance.sum()
    truth = optimum(case, world.likelihoods(case.release), world)
    loss = pb.measure(prior.given(seen, steps), case.release, case.misses, tolerance=0)
    holds(loss.lower, truth, loss.upper)
    assert loss.upper - loss.lower <= CLOSE * truth + VANISHING
    holds(loss.baseline.lower, kappa(case, world), loss.baseline.upper)


def test_modes_are_told_apart_by_what_is_published() -> None:
    """Either at home for good or away for good: one count tells which, and without it the likelier one is guessed."""
    home, away = pb.MarkovPrior([1, 0], np.eye(2)), pb.MarkovPrior([0, 1], np.eye(2))
    prior = pb.MarkovPrior.mixture([0.3, 0.7], [home, away])
    loss = pb.measure(prior, pb.Release([[], 0, []]), 0)
    assert (loss.lower, loss.upper, loss.baseline.upper) == pytest.approx((1, 1, 0.7))


def test_the_best_guess_without_misses_is_no_trace_of_states() -> None:
    """One trace of states with 0.4, and two along the same places with 0.3 each."""
    prior = pb.MarkovPrior([0.4, 0.3, 0.3], np.eye(3), place_of=[0, 1, 1])
    loss = pb.measure(prior, pb.Release.silent(3), 0)
    assert (loss.lower, loss.upper) == pytest.approx((0.6, 0.6))
    assert (loss.baseline.lower, loss.baseline.upper) == pytest.approx((0.6, 0.6))
    with pytest.raises(pb.UnsupportedRelease, match="a state is a place"):
        pb.reconstruction_advantage(prior, pb.Release.silent(3), 0.6)
