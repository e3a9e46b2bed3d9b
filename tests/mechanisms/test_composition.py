"""Two mechanisms go together by what one gives and the other takes, also those of somebody's own."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import passerby as pb
from passerby.mechanisms import COUNTS, REALS, WHOLE, Domain, check_mechanism

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Lucky(pb.Discrete):
    """The count, or with probability `share` one more."""

    share: float

    def gives(self, taken: Domain) -> Domain:
        return COUNTS

    def law(self, count: float) -> tuple[Floats, Floats]:
        return np.array([count, count + 1.0]), np.array([1 - self.share, self.share])


class Unsaid(Lucky):
    """The same, but does not say what it gives."""

    gives = pb.Discrete.gives


@dataclass(frozen=True)
class Even(pb.Mechanism):
    """The count plus a number drawn evenly from -width to width."""

    width: float
    takes = REALS

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        return np.asarray(np.asarray(count) + rng.uniform(-self.width, self.width, np.shape(count)))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        inside = np.abs(np.asarray(output, np.float64) - np.asarray(count)) <= self.width
        return np.where(inside, -math.log(2 * self.width), -np.inf)

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        left, right = (np.clip(np.subtract(end, count), -self.width, self.width) for end in (low, high))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(right - left, 0.0) / (2 * self.width)))

    def around(self, centres: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        edges = np.unique(np.concatenate([centres - self.width, centres + self.width, cuts]))
        return (edges[:-1] + edges[1:]) / 2, np.diff(edges)


GOOD = (
    pb.Then(Lucky(0.2), pb.Rounding(3)),
    pb.Then(Lucky(0.2), pb.Sampling(0.5)),
    pb.Then(Lucky(0.2), pb.RandomRounding(3)),
    pb.Then(Lucky(0.2), pb.Gaussian(1.0)),
    pb.Then(Lucky(0.2), Even(2.3)),
    pb.Then(pb.Sampling(0.5), Lucky(0.2)),
    pb.Then(pb.Suppression(3), Lucky(0.2)),
    pb.Then(pb.Geometric(1.0, clamped=True), Lucky(0.2)),
    pb.Then(pb.Laplace(1.0, clamped=True, rounded=True), Lucky(0.2)),
    pb.Then(Even(2.3), pb.Rounding(3)),
    pb.Then(Even(2.3), pb.Suppression(3)),
    pb.Then(Even(2.3), pb.Bands([2, 5])),
    pb.Then(pb.Then(Even(2.3), pb.AtLeast(0)), pb.Rounding(2)),
    pb.Then(pb.Then(pb.Then(Even(2.3), pb.AtLeast(0)), pb.Rounding(2)), Lucky(0.2)),
    pb.Then(pb.Sampling(0.5), Even(2.3)),
    pb.Then(pb.Suppression(3), Even(2.3)),
    pb.Then(pb.Then(pb.Sampling(0.4), pb.Gaussian(1.0)), pb.Rounding(5)),
    pb.Then(pb.Sampling(0.4), pb.Then(pb.RandomRounding(3), pb.Rounding(2))),
    pb.Then(pb.Then(pb.Geometric(1.0, clamped=True), pb.RandomRounding(3)), pb.Suppression(4)),
    pb.Then(pb.Scaled(4.7), pb.Geometric(0.7)),
    pb.Then(pb.Scaled(1 / 3), pb.DiscreteGaussian(2.0)),
    pb.Then(pb.Scaled(0.1), pb.Geometric(2.0, clamped=True)),
    pb.Then(pb.Scaled(0.5), pb.Then(pb.Geometric(3.0), pb.Raw())),
    pb.Then(pb.Then(pb.Scaled(4.7), pb.Geometric(0.7)), pb.Suppression(3)),
    pb.Then(pb.Then(pb.Scaled(0.3), pb.DiscreteGaussian(2.0, clamped=True)), pb.AtLeast(2)),
    pb.Then(pb.Then(pb.Then(pb.Scaled(1.1), pb.Geometric(1.0)), pb.Scaled(3)), pb.Suppression(4, keep_zeros=True)),
    pb.Then(pb.Then(pb.Sampling(1e-6), pb.Suppression(2)), pb.Gaussian(1.0)),
)


@pytest.mark.parametrize("mechanism", GOOD, ids=repr)
def test_they_keep_their_promises_together(mechanism: pb.Mechanism) -> None:
    check_mechanism(mechanism, counts=(0, 2, 7))
    release = pb.Release([0, 1], mechanism, others=[2, 4])
    loss = pb.measure(pb.line_prior(4), release, misses=0, runs=50, budget=1e8)
    assert loss.baseline.lower <= loss.upper <= 1


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.7, 1.1])
def test_a_number_that_comes_about_in_two_ways_is_one_value(weight: float) -> None:
    """17 tenths less 2 and 7 tenths less 1 are the same, whatever the digits that they are held with."""
    people, rate, noise = 25, 0.5, pb.Geometric(1.0)
    mechanism = pb.Sampling(rate) | pb.Scaled(weight) | noise
    added, likely = noise.law(0)
    laws: list[dict[Fraction, float]] = [{}, {}]
    for bit, law in enumerate(laws):
        for k in range(people + bit + 1):
            chance = math.comb(people + bit, k) * rate**k * (1 - rate) ** (people + bit - k)
            for z, p in zip(added.tolist(), likely.tolist(), strict=True):
                value = k * Fraction(str(weight)) + Fraction(z)
                law[value] = law.get(value, 0.0) + chance * p
    apart = sum(abs(laws[0].get(value, 0.0) - laws[1].get(value, 0.0)) for value in laws[0] | laws[1]) / 2
    assert mechanism.total_variation(people) == pytest.approx(apart, rel=1e-9)
    values = mechanism.outputs(people)
    assert values is not None
    assert np.exp(mechanism.log_likelihood(values, people)).sum() == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (
            pb.Geometric(1.0),
            Lucky(0.2),
            r"the first gives whole numbers, .* takes whole numbers of at least 0 only",
        ),
        (pb.Geometric(1.0), pb.Then(pb.Raw(), pb.Sampling(0.5)), r"second takes whole numbers of at least 0 only"),
        (pb.Scaled(4.7), pb.Then(pb.Raw(), pb.Sampling(0.5)), r"the first gives real numbers of at least 0, "),
        (Unsaid(0.2), pb.Sampling(0.5), r"the first gives real numbers, .* your own say what it takes and gives"),
        (Even(1.0), pb.RandomRounding(3), r"the first gives real numbers, and the second takes whole numbers only"),
        (Even(1.0), pb.Laplace(1.0), r"after a continuum only fixed mechanisms are modelled"),
        (pb.Gaussian(1.0, clamped=True), pb.Sampling(0.5), r"real numbers of at least 0, .*\(rounded=True\)"),
    ],
    ids=repr,
)
def test_what_does_not_fit_is_refused_at_once(first: pb.Mechanism, second: pb.Mechanism, message: str) -> None:
    with pytest.raises(pb.UnsupportedRelease, match=message):
        pb.Then(first, second)


def test_what_is_given_is_what_was_said() -> None:
    @dataclass(frozen=True)
    class Liar(Lucky):
        def law(self, count: float) -> tuple[Floats, Floats]:
            return np.array([count - 0.5, count]), np.array([0.5, 0.5])

    with pytest.raises(pb.InputError, match=r"a value of -0\.5, but it says that it gives whole numbers of at least 0"):
        check_mechanism(Liar(0.1))


def test_domains() -> None:
    assert COUNTS.within(WHOLE)
    assert WHOLE.within(REALS)
    assert not REALS.within(WHOLE)
    assert not WHOLE.within(COUNTS)
    values = np.array([-1.0, 0.0, 0.5, math.nan])
    assert COUNTS.holds(values).tolist() == [False, True, False, True]
    assert REALS.holds(values).all()


@pytest.mark.parametrize("mechanism", [m for m in GOOD if m.outputs(3) is not None], ids=repr)
def test_values_belong_to_what_is_given(mechanism: pb.Mechanism) -> None:
    values = mechanism.outputs(3)
    assert values is not None
    assert mechanism.gives(COUNTS).holds(values).all()


class TestWork:
    """Nothing that takes long is begun."""

    def test_a_sample_of_a_billion(self) -> None:
        assert pb.Sampling(0.5).total_variation(10**9) == pytest.approx(1 / math.sqrt(2 * math.pi * 1e9), rel=1e-3)

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: pb.Sampling(0.5).total_variation(10**14), r"values that matter, more than the 1,000,000"),
            (lambda: pb.Miscount(0.5, 0.5).total_variation(10**7), r"their variance of 10,000,000 is above 250,000"),
            (
                lambda: pb.Then(pb.Geometric(1000, clamped=True), pb.Sampling(0.5)).total_variation(5),
                r"more than the 7,000 that are gone through",
            ),
            (
                lambda: pb.Then(pb.Geometric(100, clamped=True), pb.Sampling(0.5)).total_variation(5),
                r"too many ways to come to a value",
            ),
            (lambda: pb.Then(pb.Laplace(1e6), pb.Rounding(2)), r"leave the rounding out"),
        ],
    )
    def test_what_would_is_refused(self, make: object, message: str) -> None:
        with pytest.raises(pb.UnsupportedRelease, match=message):
            make()  # type: ignore[operator]

    def test_numbers_of_people_that_cannot_be_told_apart(self) -> None:
        pb.Release([0], pb.Rounding(5), others=[10**12])
        with pytest.raises(pb.InputError, match=r"others\[0\] = 9007199254740992: expected a number of people below 2"):
            pb.Release([0], pb.Rounding(5), others=[2**53])

    def test_numbers_of_people_of_whom_laws_lose_digits(self) -> None:
        message = r"others\[1\] = 1000000000001: expected at most 1,000,000,000,000 people"
        with pytest.raises(pb.InputError, match=message):
            pb.Release([0, 0], pb.Rounding(5), others=[3, 10**12 + 1])
        with pytest.raises(pb.InputError, match=message):
            pb.Release([0, 0], pb.Rounding(5), others=[3, 3]).with_others([3, 10**12 + 1])
        counts = pb.Release(counts=[pb.Present([0, 1], step=step, others=3) for step in (0, 1)], steps=2)
        with pytest.raises(pb.InputError, match=message):
            counts.with_others([3, 10**12 + 1])
        with pytest.raises(pb.InputError, match="others"):
            pb.Present([0], step=0, others=10**12 + 1)

    def test_counts_that_are_too_large_to_be_scaled(self) -> None:
        noisy = pb.Then(pb.Scaled(4.7), pb.Gaussian(1.0, clamped=True))
        pb.Release([0], noisy, others=[10**11])
        with pytest.raises(pb.InputError, match=r"Scaled\(weight=4.7\): a count of 1,0.* is scaled to 4,7"):
            noisy.sample(10**12, np.random.default_rng())
