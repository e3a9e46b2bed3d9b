"""Noise that is drawn many times: closed forms, and what it costs to put the draws together."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

import passerby as pb
from passerby.measurement.accounting import POINTS, _losses, epsilon, most_added, private_noise, success_bound

HALF = pb.MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])


def of_bits(wrong: float, times: int, log_odds: float = 0.0) -> float:
    """`E[(1 - e^ε / L)+]` for so many bits, each wrong with a probability: the privacy curve of geometric noise."""
    k = np.arange(times + 1)
    log_ratio = (2 * k - times) * math.log((1 - wrong) / wrong)
    return float((binom.pmf(k, times, 1 - wrong) * -np.expm1(np.minimum(log_odds - log_ratio, 0.0))).sum())


@pytest.mark.parametrize(("scale", "times"), [(0.5, 1), (0.5, 200), (2.0, 50), (50.0, 5000), (300.0, 1000)])
def test_geometric_noise_is_a_bit_that_is_told_wrongly(scale: float, times: int) -> None:
    wrong = 1 / (1 + math.exp(1 / scale))
    assert most_added(pb.Geometric(scale), times) == pytest.approx(of_bits(wrong, times), rel=1e-9)
    level = epsilon(pb.Geometric(scale), times, 1e-6)
    assert of_bits(wrong, times, level * (1 + 1e-6) + 1e-9) <= 1e-6 <= of_bits(wrong, times, level * (1 - 1e-6)) + 1e-12


@pytest.mark.parametrize("times", [1, 7, 2000])
@pytest.mark.parametrize("scale", [0.1, 3.0, 40.0, 1e5])
def test_laplace_noise_lies_between_two_kinds_of_bits(scale: float, times: int) -> None:
    """Which side of one half a value lies on tells less; randomised response of the same epsilon tells more."""
    less = of_bits(math.exp(-0.5 / scale) / 2, times)
    most = of_bits(1 / (1 + math.exp(1 / scale)), times)
    assert less * (1 - 1e-7) <= most_added(pb.Laplace(scale), times) <= most * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize(("sigma", "times"), [(20.0, 5000), (100.0, 1000), (1000.0, 5000)])
def test_discrete_gaussian_noise_of_some_width_is_normal(sigma: float, times: int) -> None:
    found, normal = (most_added(noise(sigma), times) for noise in (pb.DiscreteGaussian, pb.Gaussian))
    assert found == pytest.approx(normal, rel=2e-2)
    assert success_bound(pb.DiscreteGaussian(sigma), times, math.log(0.01)) >= normal_bound(sigma, times, 0.01) * 0.999


def normal_bound(sigma: float, times: int, known: float) -> float:
    return success_bound(pb.Gaussian(sigma), times, math.log(known))


@pytest.mark.parametrize("times", [1, 200, 5000])
@pytest.mark.parametrize(
    "mechanism",
    [
        *(kind(scale) for kind in (pb.Laplace, pb.Geometric, pb.DiscreteGaussian) for scale in (0.3, 1000.0)),
        pb.Then(pb.Sampling(0.5), pb.Gaussian(0.3)),
        pb.Then(pb.Sampling(0.01), pb.Laplace(0.1)),
    ],
    ids=repr,
)
def test_what_accounting_costs_does_not_grow_with_the_draws(mechanism: pb.Mechanism, times: int) -> None:
    noise = private_noise(mechanism)
    assert _losses(noise, times)._pmf_remove.size <= 4 * POINTS
    assert 0.1 <= success_bound(noise, times, math.log(0.1)) <= 1


def test_two_laws_keep_what_they_tell_of_a_single_draw() -> None:
    """Lists of values, without the target and with: chords of the privacy curve meet it at each step."""
    sampled = pb.Then(pb.Sampling(0.25), pb.Geometric(1.0))
    exact = Fraction(1, 4) * Fraction(math.tanh(0.5))
    assert most_added(private_noise(sampled), 1) == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("noise", [pb.Laplace(0.3), pb.Geometric(0.5), pb.DiscreteGaussian(0.2)], ids=repr)
def test_bounds_of_long_releases_of_any_noise(noise: pb.Mechanism) -> None:
    """What each of independent steps tells is known, and so is how many are right: the bound lies above."""
    steps, misses = 400, 150
    right = (1 + noise.total_variation()) / 2
    truth = binom.cdf(misses, steps, 1 - right)
    loss = pb.measure(HALF, pb.Release([0] * steps, noise), misses, budget=0, runs=20)
    assert truth * (1 - 1e-9) <= loss.bounds["dp"]


def test_a_list_of_many_values_is_accounted_for_by_fewer() -> None:
    """Geometric noise as a law of one's own, of 20,000 values: hardly more than the noise itself tells."""
    noise = Listed(500.0)
    assert success_bound(private_noise(noise), 1, math.log(0.3)) >= 0.3 * math.exp(1 / 500) * (1 - 1e-9)
    assert most_added(private_noise(noise), 1) == pytest.approx(pb.Geometric(500.0).total_variation(), rel=1e-2)


@dataclass(frozen=True)
class Listed(pb.Discrete):
    """Geometric noise, by its list."""

    scale: float
    shift_invariant = True

    def law(self, count: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return pb.Geometric(self.scale).law(count)

    endless = True
