"""What readers lose, against draws and sums."""

import numpy as np
import pytest

import passerby as pb
from passerby.plans.cost import cost_of

COUNTS = np.array([[3, 17, 40], [0, 8, 55]])
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
    found = cost_of(release, WANTED, COUNTS)
    assert found.published == pytest.approx(shown.mean() * 4 / 6, rel=0.01)
    assert found.mean == pytest.approx(np.nansum(errors) / shown.sum(), rel=0.02, abs=1e-12)
    lost = np.where(shown, errors, true).sum(axis=1).mean() + 40
    assert found.total == pytest.approx(lost / COUNTS.sum(), rel=0.01)
    assert found.worst is not None
    within = (np.nan_to_num(errors).max(axis=1) <= found.worst + 1e-9).mean()
    assert within >= 0.945
    if found.worst > 0:
        assert (np.nan_to_num(errors).max(axis=1) <= found.worst * 0.98 - 1e-9).mean() < 0.955


def test_weights_are_those_of_the_counts() -> None:
    weights = np.zeros(COUNTS.shape)
    weights[0, 2] = 3.0
    weights[1, 0] = 1.0
    found = cost_of(pb.Release([[2], []], pb.Rounding(3)), WANTED, COUNTS, weights)
    assert (found.mean, found.published, found.numbers) == (1.0, 0.75, 1.0)
    assert found.total == pytest.approx(1 / 40)


def test_nothing_costs_everything() -> None:
    assert cost_of(pb.Release.silent(2), WANTED, COUNTS).total == 1.0
