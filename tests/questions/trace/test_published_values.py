"""Values that were published, near and far: right to the last digits of their ratio, or refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import passerby as pb

HALF = pb.MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
NOISES = (pb.Gaussian, pb.Laplace, pb.Geometric, pb.DiscreteGaussian)


def log_ratio(mechanism: pb.Mechanism, away: float) -> float:
    """`log Pr[value | one more] - log Pr[value | others]` for a value so far above the others, by the formula."""
    if isinstance(mechanism, (pb.Gaussian, pb.DiscreteGaussian)):
        return (away - 0.5) / mechanism.sigma**2
    assert isinstance(mechanism, (pb.Laplace, pb.Geometric))
    return min(1.0, max(-1.0, 2 * away - 1)) / mechanism.scale


@given(
    kind=st.sampled_from(NOISES),
    digits=st.floats(-3, 2.9),
    others=st.sampled_from([0, 7, 10**6, 10**12]),
    far=st.floats(0, 1300),
    sign=st.sampled_from([-1, 1]),
)
def test_the_ratio_of_values_that_are_taken(
    kind: type[pb.Gaussian], digits: float, others: int, far: float, sign: int
) -> None:
    mechanism = kind(10**digits)
    value = others + float(round(sign * far * 10**digits))
    ratio = log_ratio(mechanism, value - others)
    loss = pb.measure(HALF, pb.Release([0], mechanism, [others]), published=[value])
    truth = 1 / (1 + math.exp(-min(700.0, abs(ratio))))
    assert loss.lower == pytest.approx(truth, rel=1e-9)
    assert loss.upper == pytest.approx(truth, rel=1e-9)


def test_many_counts_far_from_what_was_published() -> None:
    """Each of a hundred counts of one step is 900 deviations off: only the ratio of each one matters."""
    prior = pb.MarkovPrior(np.full(101, 1 / 101), np.full((101, 101), 1 / 101))
    release = pb.Release([list(range(100))], pb.Gaussian(100.0))
    values = [90_000.0 + place for place in range(100)]
    weights = np.exp([*((value - 90_000.0) / 1e4 for value in values), -(90_000.0 - 0.5) / 1e4])
    loss = pb.measure(prior, release, published=[values])
    assert loss.lower == pytest.approx(weights.max() / weights.sum(), rel=1e-9)


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("value", [1e16, -1e16, 2.0**53 + 2, 1e155, -1e155])
def test_values_beyond_what_is_told_apart(kind: type[pb.Gaussian], value: float) -> None:
    with pytest.raises(pb.InputError, match=r"published\[1\] = .*expected a number from -2\*\*53 to 2\*\*53"):
        pb.measure(HALF, pb.Release([0, 0], kind(1.0), [0, 0]), published=[0.0, value])


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("value", [2.0**53 - 2, 1e12, -2e6 - 1])
def test_values_that_no_digits_are_left_of(kind: type[pb.Gaussian], value: float) -> None:
    """Neither silence nor certainty."""
    message = r"published\[0\] = .*: so far from what .*1\.0\) publishes of 12 other people"
    with pytest.raises(pb.UnsupportedRelease, match=message):
        pb.measure(HALF, pb.Release([0, 0], kind(1.0), [12, 3]), published=[value, 3.0])
    counts = [pb.Present([0], step=step, mechanism=kind(1.0), others=12) for step in (0, 1)]
    with pytest.raises(pb.UnsupportedRelease, match=message):
        pb.measure(HALF, pb.Release(counts=counts, steps=2), published=[value, 3.0])
