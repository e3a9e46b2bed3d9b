"""What readers lose, against draws and sums."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import passerby as pb
from passerby.plans.cost import Truth, cost_of, error_of
from passerby.plans.lever import cells_of

COUNTS = np.array([[3, 17, 40], [0, 8, 55]])
TRUE = Truth(lambda release: [int(sum(COUNTS[t, x] for x, t in cell.around)) for cell in cells_of(release)])
WANTED = pb.Release([[0, 1, 2], [0, 1, 2]])


@pytest.mark.parametrize(
    "mechanism",
    [
        pb.Raw(),
        pb.Gaussian(2.0),
        pb.Gaussian(2.0, clamped=True),
        pb.Laplace(1.5, rounded=True),
        pb.Geometric(2.0),
        pb.DiscreteGaussian(3.0),
        pb.Rounding(5),
        pb.RandomRounding(4),
        pb.Suppression(10),
        pb.Then(pb.Gaussian(2.0), pb.Rounding(5)),
        pb.Then(pb.Gaussian(2.0), pb.Suppression(5)),
        pb.Then(pb.Sampling(0.5), pb.Gaussian(1.0)),
        pb.Then(pb.Laplace(2.0), pb.AtLeast(3)),
        pb.Then(pb.Suppression(10), pb.Rounding(5)),
    ],
    ids=repr,
)
def test_costs_are_means_over_what_is_published(mechanism: pb.Mechanism) -> None:
    rng = np.random.default_rng(1)
    release = pb.Release([[0, 1], [1, 2]], mechanism)
    cells = [(0, 0), (0, 1), (1, 1), (1, 2)]
    true = np.array([COUNTS[cell] for cell in cells])
    drawn = mechanism.sample(np.tile(true, (40_000, 1)), rng)
    errors = np.abs(drawn - true)
    shown = ~np.isnan(errors)
    found = cost_of(release, WANTED, TRUE)
    assert found.published == pytest.approx(shown.mean() * 4 / 6, rel=0.01)
    assert found.mean == pytest.approx(np.nansum(errors) / shown.sum(), rel=0.02, abs=1e-12)
    lost = np.where(shown, errors, true).sum(axis=1).mean() + 40
    assert found.total == pytest.approx(lost / COUNTS.sum(), rel=0.01)
    assert found.worst is not None
    within = (np.nan_to_num(errors).max(axis=1) <= found.worst + 1e-9).mean()
    assert within >= 0.945
    if found.worst > 0:
        assert (np.nan_to_num(errors).max(axis=1) <= found.worst * 0.98 - 1e-9).mean() < 0.955


@pytest.mark.parametrize(("count", "wanted"), [(0, 0), (1, 1), (4, 4), (0, 3), (5, 1)])
def test_clamped_noise_errs_less_where_counts_are_small(count: int, wanted: int) -> None:
    """Negative values are published as 0. The density is added up over a fine grid."""
    noise = np.linspace(-60, 60, 2_400_001)
    for mechanism, density in (
        (pb.Gaussian(2.0, clamped=True), np.exp(-(noise**2) / 8)),
        (pb.Laplace(1.5, clamped=True), np.exp(-np.abs(noise) / 1.5)),
    ):
        law = density / density.sum()
        true = float(law @ np.abs(np.maximum(0.0, count + noise) - wanted))
        assert error_of(mechanism, count, wanted)[1] == pytest.approx(true, rel=1e-3)


def test_weights_are_those_of_the_counts() -> None:
    weights = np.zeros(COUNTS.shape)
    weights[0, 2] = 3.0
    weights[1, 0] = 1.0
    found = cost_of(pb.Release([[2], []], pb.Rounding(3)), WANTED, Truth(TRUE.numbers, weights))
    assert (found.mean, found.published, found.numbers) == (1.0, 0.75, 1.0)
    assert found.total == pytest.approx(1 / 40)


def test_nothing_costs_everything() -> None:
    assert cost_of(pb.Release.silent(2), WANTED, TRUE).total == 1.0


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(2.0), pb.Laplace(1.5), pb.Geometric(2.0), pb.Rounding(5)])
def test_what_is_put_together_is_shared_out_evenly(mechanism: pb.Mechanism) -> None:
    """Two places of each step as one zone: readers of single places halve it, and know nothing of the third place."""
    counts = [pb.Present([0, 1], step=0), pb.Present([0, 1], step=1)]
    release = pb.Release(counts=counts, steps=2, mechanism=mechanism)
    found = cost_of(release, WANTED, TRUE)
    drawn = mechanism.sample(np.tile([20, 8], (40_000, 1)), np.random.default_rng(2))
    assert found.published == 0.0
    assert found.mean == pytest.approx(np.abs(drawn - [20, 8]).mean(), rel=0.02, abs=1e-12)
    halves = sum(np.abs(drawn[:, t] / 2 - COUNTS[t, x]).mean() for t in (0, 1) for x in (0, 1))
    assert found.total == pytest.approx((halves + COUNTS[:, 2].sum()) / COUNTS.sum(), rel=0.01)


def test_mechanisms_of_each_count() -> None:
    """With two kinds of noise, the worst error holds for both together."""
    counts = [pb.Present([0], step=0, mechanism=pb.Gaussian(1.0)), pb.Present([1], step=0, mechanism=pb.Laplace(4.0))]
    found = cost_of(pb.Release(counts=counts, steps=2), WANTED, TRUE)
    assert found.mean == pytest.approx((np.sqrt(2 / np.pi) + 4.0) / 2)
    assert found.worst is not None
    rng = np.random.default_rng(3)
    errors = np.maximum(np.abs(rng.normal(0, 1, 40_000)), np.abs(rng.laplace(0, 4, 40_000)))
    assert 0.945 < (errors <= found.worst).mean() < 0.99


def test_a_number_that_is_published_twice_is_two_numbers() -> None:
    """Each has its own noise, in any order, and both may be far off."""
    fine, rough = (pb.Present([0], step=0, mechanism=pb.Gaussian(sigma)) for sigma in (1.0, 5.0))
    both, again = (pb.Release(counts=counts, steps=2) for counts in ([fine, rough], [rough, fine]))
    found = cost_of(both, both, TRUE)
    assert found == cost_of(again, again, TRUE)
    assert (found.numbers, found.published) == (2.0, 1.0)
    assert found.mean == pytest.approx(3 * np.sqrt(2 / np.pi))
    assert found.total == pytest.approx(np.sqrt(2 / np.pi))
    rng = np.random.default_rng(4)
    twice = pb.Release(counts=[rough, rough], steps=2)
    worst = cost_of(twice, twice, TRUE).worst
    assert worst is not None
    assert (np.abs(rng.normal(0, 5, (40_000, 2))).max(axis=1) <= worst).mean() == pytest.approx(0.95, abs=0.005)


def test_a_zone_is_shared_among_different_numbers() -> None:
    """Of two places that were to be published twice each, one is half of both together."""
    twice = [pb.Present([x], step=0, mechanism=pb.Gaussian(1.0)) for x in (0, 0, 1, 1)]
    zone = pb.Release(counts=[pb.Present([0, 1], step=0)], steps=2)
    found = cost_of(zone, pb.Release(counts=twice, steps=2), TRUE)
    assert found.total == pytest.approx(2 * (7 + 7) / (2 * (3 + 17)))


@pytest.mark.parametrize(
    ("mechanism", "count", "chance"),
    [
        (
            pb.Sampling(0.5) | pb.Gaussian(2.0),
            1,
            lambda e: 0.5 * between(-e, e, 2.0) + 0.5 * between(1 - e, 1 + e, 2.0),
        ),
        (pb.Gaussian(7.0) | pb.Suppression(5), 5, lambda e: 0.5 + between(0, e, 7.0)),
        (pb.Gaussian(7.0) | pb.AtLeast(0), 7, lambda e: between(-e if e < 7 else -math.inf, e, 7.0)),
        (pb.Suppression(5) | pb.Gaussian(2.0), 9, lambda e: between(-e, e, 2.0)),
    ],
    ids=["sampled", "suppressed", "cut off", "after a rule"],
)
def test_the_largest_error_of_a_continuum_has_its_chance(
    mechanism: pb.Mechanism, count: int, chance: Callable[[float], float]
) -> None:
    """Nodes of an integration are no values that are published: errors in between them are as likely."""
    worst = cost_of(pb.Release([[0]], mechanism), pb.Release([[0]]), Truth(lambda _: [count])).worst
    assert worst is not None
    assert chance(worst) == pytest.approx(0.95, abs=1e-6)


def between(low: float, high: float, sigma: float) -> float:
    """The chance of normal noise between two numbers."""
    return (math.erf(high / sigma / math.sqrt(2)) - math.erf(low / sigma / math.sqrt(2))) / 2
