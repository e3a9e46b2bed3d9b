"""Every mechanism keeps its promises, and the helper that checks them finds those that do not."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray
from tests.strategies import Halved, Jumbled

import passerby as pb
from passerby.mechanisms import check_mechanism

Floats = NDArray[np.float64]

EVERY: tuple[pb.Mechanism, ...] = (
    pb.Raw(),
    pb.Gaussian(0.3),
    pb.Gaussian(1.0, clamped=True),
    pb.Gaussian(2.0, rounded=True),
    pb.Gaussian(2.0, clamped=True, rounded=True),
    pb.Laplace(0.7),
    pb.Laplace(2.0, clamped=True),
    pb.Laplace(2.0, clamped=True, rounded=True),
    pb.DiscreteGaussian(0.4),
    pb.DiscreteGaussian(2.0, clamped=True),
    pb.Geometric(1.0),
    pb.Geometric(3.0, clamped=True),
    pb.Suppression(4),
    pb.Suppression(4, keep_zeros=True),
    pb.Rounding(5),
    pb.RandomRounding(3),
    pb.Bands([3, 7]),
    pb.AtLeast(4),
    pb.Sampling(0.3),
    pb.Sampling(1.0),
    pb.Miscount(0.1, 0.05),
    pb.Then(pb.Suppression(4), pb.Rounding(3)),
    pb.Then(pb.Then(pb.Laplace(1.0, rounded=True), pb.Suppression(2)), pb.AtLeast(4)),
    pb.Then(pb.Then(pb.Laplace(1.0), pb.Suppression(2)), pb.AtLeast(4)),
    pb.Then(pb.Laplace(1.0), pb.Rounding(5)),
    pb.Then(pb.Gaussian(1.0, clamped=True), pb.Bands([1, 4])),
    pb.Then(pb.Sampling(0.4), pb.Gaussian(1.0)),
    pb.Then(pb.Suppression(3), pb.Laplace(1.0, clamped=True)),
    pb.Then(pb.Geometric(1.0, clamped=True), pb.RandomRounding(3)),
    pb.Then(pb.Gaussian(2.0, clamped=True, rounded=True), pb.Sampling(0.5)),
    pb.Then(pb.Raw(), pb.Gaussian(1.0)),
    Jumbled(0.4),
    Halved(),
)


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_every_mechanism_conforms(mechanism: pb.Mechanism) -> None:
    check_mechanism(mechanism)


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
def test_laws_are_finite_and_sum_to_one(mechanism: pb.Mechanism) -> None:
    for count in (0, 3, 40):
        outputs = mechanism.outputs(count)
        if outputs is not None:
            assert len(outputs) < 2000
            values, chances = mechanism.law(count)
            assert chances.sum() == pytest.approx(1, abs=1e-12)
            assert (np.diff(values[~np.isnan(values)]) > 0).all()


@dataclass(frozen=True)
class Coin(pb.Discrete):
    """A mechanism with a fault of one's choice."""

    fault: str = ""

    def law(self, count: float) -> tuple[Floats, Floats]:
        chances = np.array([0.5, 0.4 if self.fault == "sum" else 0.5])
        return np.array([count, count + 1.0]), chances

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        if self.fault == "shape":
            return np.zeros(3)
        drawn = np.asarray(count) + (rng.random(np.shape(count)) < (0.7 if self.fault == "sample" else 0.5))
        return np.asarray(drawn + (0.5 if self.fault == "stray" else 0.0))

    def outputs(self, count: int) -> Floats | None:
        outputs = super().outputs(count)
        return outputs[:-1] if self.fault == "missing" and outputs is not None else outputs

    def total_variation(self, count: int = 0) -> float:
        return 0.9 if self.fault == "variation" else super().total_variation(count)

    def information(self, presence: float, count: int = 0) -> float:
        return super().information(presence, count) + (0.1 if self.fault == "information" else 0.0)


@dataclass(frozen=True)
class Moving(pb.Discrete):
    """Says that it is shift-invariant, and is not."""

    shift_invariant = True

    def law(self, count: float) -> tuple[Floats, Floats]:
        share = 1 / (2 + count)
        return np.array([count, count + 1.0]), np.array([share, 1 - share])


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("sum", r"at a count of 0: the likelihood at 0 sums to 0\.9 over the outputs, not to one"),
        ("missing", r"sums to 0\.5 .* a value is missing from outputs"),
        ("variation", r"total_variation is 0\.9, that of the likelihoods is 0\.5"),
        ("information", r"information at a presence of 0 is 0\.1, that of the likelihoods is 0"),
        ("sample", r"samples are at or below 0 in 0\.2.* of 4000 draws; the likelihood says 0\.5"),
        ("stray", r"a sample is 0\.5, which is not among the outputs"),
        ("shape", r"samples for counts of shape \(4000, 1\) have shape \(3,\)"),
    ],
)
def test_faults_are_found(fault: str, message: str) -> None:
    check_mechanism(Coin())
    with pytest.raises(pb.InputError, match=message):
        check_mechanism(Coin(fault))


def test_false_shift_invariance_is_found() -> None:
    with pytest.raises(pb.InputError, match="calls itself shift-invariant"):
        check_mechanism(Moving())
    check_mechanism(replace(Coin()), counts=[0])


def test_only_mechanisms_are_checked() -> None:
    nothing: Any = "raw"
    with pytest.raises(pb.InputError, match="'raw' is not a Mechanism"):
        check_mechanism(nothing)
