"""Releases of thousands of steps: how many series there are is more than a number can hold, and what is true is known.

Two places, and every move as likely as the next: steps are independent, and each tells as much as its total variation
ρ. The best guess of T steps has as many misses as T coins that fall with probability `(1 - ρ) / 2`.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom

import passerby as pb
from passerby.outcomes.series import log_series
from passerby.outcomes.stand_ins import log_outcomes

HALF = pb.MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])

MECHANISMS: tuple[pb.Mechanism, ...] = (
    pb.Gaussian(0.2),
    pb.Gaussian(0.3, rounded=True, clamped=True),
    pb.Laplace(0.1),
    pb.Laplace(0.15, clamped=True),
    pb.Geometric(0.15),
    pb.DiscreteGaussian(0.25),
    pb.RandomRounding(3),
    pb.Sampling(0.9),
    pb.Bands([2, 7]),
    pb.RoundingBySize(),
    pb.Then(pb.Sampling(0.9), pb.Gaussian(0.2)),
    pb.Then(pb.Scaled(5), pb.Gaussian(1.0)),
    pb.Then(pb.Geometric(0.2), pb.Suppression(3)),
)


def check(mechanism: pb.Mechanism, steps: int, misses: int) -> None:
    """Both ends, and every bound by a formula, against the truth."""
    truth = binom.cdf(misses, steps, (1 - mechanism.total_variation(2)) / 2)
    loss = pb.measure(HALF, pb.Release([0] * steps, mechanism, [2] * steps), misses, budget=0, runs=10)
    tiny = 1e-300  # where numbers have no digits left
    assert loss.lower * (1 - 1e-9) - tiny <= truth <= loss.upper * (1 + 1e-9) + tiny
    assert all(bound >= truth * (1 - 1e-9) for name, bound in loss.bounds.items() if name != "posterior")


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_a_thousand_steps(mechanism: pb.Mechanism) -> None:
    check(mechanism, 1100, 3)


@pytest.mark.parametrize("mechanism", [pb.RandomRounding(3)], ids=repr)
def test_thousands_of_steps(mechanism: pb.Mechanism) -> None:
    check(mechanism, 2500, 820)


@pytest.mark.thorough
@pytest.mark.parametrize("steps", [1250, 5000])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_thousands_of_steps_with_few_misses_and_many(mechanism: pb.Mechanism, steps: int) -> None:
    check(mechanism, steps, 3)
    check(mechanism, steps, steps // 4)


@pytest.mark.thorough
@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Rounding(3), pb.Suppression(3), pb.AtLeast(2)], ids=repr)
def test_counts_that_tell_everything(mechanism: pb.Mechanism) -> None:
    loss = pb.measure(HALF, pb.Release([0] * 1250, mechanism, [2] * 1250), 3, budget=1e9, runs=2)
    assert loss.lower == loss.upper == 1


def test_numbers_of_series_are_logarithms() -> None:
    assert log_series(HALF, pb.Release([0] * 5000)) == pytest.approx(5000 * math.log(2))
    assert log_series(HALF, pb.Release([0] * 12)) == pytest.approx(12 * math.log(2))
    assert log_outcomes(pb.Release([0] * 5000, pb.RandomRounding(3), [1] * 5000)) == pytest.approx(5000 * math.log(2))
    assert log_outcomes(pb.Release([0], pb.Gaussian(1.0))) == math.inf


def test_a_step_of_many_counts_that_are_chosen_as_one_goes() -> None:
    """2^1100 histories after one step: they are drawn, and where a list was asked for, refused."""
    prior = pb.MarkovPrior(np.full(1100, 1 / 1100), np.eye(1100))
    release = pb.Release.adaptive(
        lambda history: [pb.Present([place], step=len(history), others=1) for place in range(1100)],
        steps=2,
        mechanism=pb.RandomRounding(2),
    )
    with pytest.raises(pb.InputError, match=r"about 10\^\d+ histories are possible"):
        pb.measure(prior, release, series="enumerate")
