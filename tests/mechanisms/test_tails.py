"""Likelihoods are right however far out a value lies, and what is listed of a law leaves out next to nothing."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.mechanisms.tails import discrete_gaussian, gaussian, geometric, laplace, log_of, people
from tests.mechanisms.test_conformance import EVERY

import passerby as pb
from passerby.mechanisms.laws import log_binomial, log_normal
from passerby.mechanisms.noise import _increasing

#: The last digits of a logarithm of this size.
ULPS = 1e-13


def close(found: object, right: float) -> None:
    value = float(np.asarray(found))
    assert value == pytest.approx(right, rel=ULPS, abs=1e-12), (value, right)


class TestNoise:
    """Against sums in many digits, from the middle to forty standard deviations out."""

    @pytest.mark.parametrize("kind", [pb.Gaussian, pb.Laplace])
    @pytest.mark.parametrize("size", [0.3, 1.0, 7.0])
    @pytest.mark.parametrize("count", [0, 3])
    @pytest.mark.parametrize("value", [-60, -11, -1, 0, 1, 2, 5, 11, 44, 90])
    def test_rounded_and_clamped(self, kind: type, size: float, count: int, value: int) -> None:
        between = (gaussian if kind is pb.Gaussian else laplace)(size)
        half = Decimal("0.5")
        right = between(value - count - half, value - count + half)
        close(kind(size, rounded=True).log_likelihood(value, count), log_of(right))
        clamped = kind(size, rounded=True, clamped=True).log_likelihood(value, count)
        close(
            clamped,
            log_of(between(Decimal(-99999), half - count) if value == 0 else right if value > 0 else Decimal(0)),
        )
        close(
            kind(size, clamped=True).log_likelihood(0, count + 20),
            log_of(between(Decimal(-99999), Decimal(-count - 20))),
        )

    @pytest.mark.parametrize("kind", [pb.Gaussian, pb.Laplace])
    @pytest.mark.parametrize("value", [-60, -5, 0, 5, 10, 45, 90])
    def test_rounded_to_multiples_shown_from_a_least_on_and_banded(self, kind: type, value: int) -> None:
        between = (gaussian if kind is pb.Gaussian else laplace)(1.5)
        half = Decimal("2.5")
        right = between(value - 2 - half, value - 2 + half)
        then = pb.Then(kind(1.5), pb.Rounding(5))
        close(then.log_likelihood(value, 2), log_of(right))
        hidden = pb.Then(then, pb.Suppression(50)).log_likelihood(math.nan, 90)
        close(hidden, log_of(between(Decimal(-99999), Decimal("47.5") - 90)))
        close(
            pb.Then(then, pb.AtLeast(50)).log_likelihood(50, 90), log_of(between(Decimal(-99999), Decimal("52.5") - 90))
        )
        close(pb.Then(kind(1.5), pb.Bands([50, 60])).log_likelihood(1, 2), log_of(between(Decimal(48), Decimal(58))))

    def test_zeros_that_are_kept(self) -> None:
        then = pb.Then(pb.Then(pb.Laplace(1.0), pb.Rounding(5)), pb.Suppression(20, keep_zeros=True))
        between = laplace(1.0)
        close(then.log_likelihood(0, 60), log_of(between(Decimal("-62.5"), Decimal("-57.5"))))
        gone = between(Decimal(-99999), Decimal("-62.5")) + between(Decimal("-57.5"), Decimal("-42.5"))
        close(then.log_likelihood(math.nan, 60), log_of(gone))

    @pytest.mark.parametrize(("kind", "law"), [(pb.Geometric, geometric), (pb.DiscreteGaussian, discrete_gaussian)])
    @pytest.mark.parametrize("size", [0.4, 1.0, 6.0])
    @pytest.mark.parametrize("value", [-70, -44, 0, 3, 44, 70, 120])
    def test_whole_numbers(self, kind: type, law: object, size: float, value: int) -> None:
        chances = law(size)  # type: ignore[operator]
        for count in (0, 5, 50):
            close(kind(size).log_likelihood(value, count), log_of(chances[value - count]))
            at_zero = sum(chance for z, chance in chances.items() if z <= -count)
            right = at_zero if value == 0 else chances[value - count] if value > 0 else Decimal(0)
            close(kind(size, clamped=True).log_likelihood(value, count), log_of(right))
            multiple = 10 * (value // 10)
            rounded = sum(chances[z - count] for z in range(multiple - 5, multiple + 5))
            close(pb.Then(kind(size), pb.Rounding(10)).log_likelihood(multiple, count), log_of(rounded))
            hidden = sum(chance for z, chance in chances.items() if z + count < 40)
            close(pb.Then(kind(size), pb.Suppression(40)).log_likelihood(math.nan, count), log_of(hidden))


class TestPeople:
    @pytest.mark.parametrize("count", [1, 7, 300])
    @pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.999, 1.0])
    def test_samples(self, count: int, share: float) -> None:
        law = people([1 - share, share], count)
        for value in {0, 1, count // 2, count - 1, count, count + 1}:
            close(pb.Sampling(share).log_likelihood(value, count), log_of(law.get(value, Decimal(0))))
        rounded = pb.Then(pb.Sampling(share), pb.Rounding(50))
        close(rounded.log_likelihood(0, count), log_of(sum(law.get(k, Decimal(0)) for k in range(25))))
        bands = pb.Then(pb.Sampling(share), pb.Bands([150]))
        close(
            bands.log_likelihood(1, count), log_of(sum((law.get(k, Decimal(0)) for k in range(150, 400)), Decimal(0)))
        )

    @pytest.mark.parametrize("count", [1, 7, 90])
    @pytest.mark.parametrize(("miss", "double"), [(0.1, 0.05), (0.0, 0.001), (0.5, 0.5), (0.2, 0.0)])
    def test_miscounts(self, count: int, miss: float, double: float) -> None:
        mechanism = pb.Miscount(miss, double)
        law = people([float(share) for share in mechanism.share], count)
        for value in {0, 1, count, 2 * count - 1, 2 * count, 2 * count + 1}:
            close(mechanism.log_likelihood(value, count), log_of(law.get(value, Decimal(0))))

    def test_billions(self) -> None:
        # The mean and the variance of what is listed.
        values, chances = pb.Sampling(0.3).law(10**9)
        assert values @ chances == pytest.approx(3e8, rel=1e-11)
        assert (values - 3e8) ** 2 @ chances == pytest.approx(2.1e8, rel=1e-6)


class TestBoth:
    """What follows an endless law by chance is added up from as much of it as it takes."""

    def test_random_rounding_after_noise(self) -> None:
        noise = geometric(1.0)
        mechanism = pb.Then(pb.Geometric(1.0), pb.RandomRounding(3))
        for value in (-90, 0, 60, 120):
            right = sum(noise[value + z] * Decimal(3 - abs(z)) / 3 for z in (-2, -1, 0, 1, 2))
            close(mechanism.log_likelihood(value, 0), log_of(right))
        assert mechanism.log_likelihood(61, 0) == -math.inf

    def test_a_sample_after_noise(self) -> None:
        noise = geometric(1.0)
        mechanism = pb.Then(pb.Geometric(1.0, clamped=True), pb.Sampling(0.5))
        for value in (1, 30, 80):
            right = sum(noise[v] * math.comb(v, value) / Decimal(2) ** v for v in range(value, 1500))
            close(mechanism.log_likelihood(value, 0), log_of(right))

    def test_noise_after_noise(self) -> None:
        first = geometric(1.0)
        density = pb.Gaussian(1.0)
        mechanism = pb.Then(pb.Geometric(1.0), density)
        for value in (0.3, 60.5):
            each = [log_of(first[v]) + float(density.log_likelihood(value, v)) for v in range(-200, 400)]
            close(mechanism.log_likelihood(value, 0), float(np.logaddexp.reduce(each)))

    def test_what_cannot_be_told_is_refused(self) -> None:
        with pytest.raises(pb.UnsupportedRelease, match=r"cannot be told|gone through"):
            pb.Then(pb.Geometric(1.0, clamped=True), pb.Sampling(0.5)).log_likelihood(10**6, 0)


class TestRealised:
    def test_clamped(self) -> None:
        prior = pb.MarkovPrior([0.5, 0.5], np.eye(2))
        loss = pb.measure(prior, pb.Release([0], pb.Geometric(1.0, clamped=True), others=[0]), published=[44])
        assert loss.lower == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-12)
        assert loss.upper == pytest.approx(1 / (1 + math.exp(-1)), rel=1e-12)

    def test_rounded(self) -> None:
        prior = pb.MarkovPrior([1e-5, 1 - 1e-5], np.eye(2))
        loss = pb.measure(prior, pb.Release([0], pb.Gaussian(1.0, rounded=True)), published=[11])
        between = gaussian(1.0)
        odds = (
            float(between(Decimal("9.5"), Decimal("10.5")) / between(Decimal("10.5"), Decimal("11.5")))
            * 1e-5
            / (1 - 1e-5)
        )
        assert loss.lower == pytest.approx(max(odds, 1) / (1 + odds), rel=1e-9)
        assert loss.upper == pytest.approx(max(odds, 1) / (1 + odds), rel=1e-9)


@given(st.floats(-300, 300), st.floats(-9, 2))
def test_normal_intervals_of_any_width(low: float, digits: float) -> None:
    high = low + 10.0**digits
    if high > low:
        close(log_normal(low, high), log_of(gaussian(1.0)(Decimal(low), Decimal(high))))


@given(st.integers(1, 400), st.floats(1e-6, 1 - 1e-6), st.data())
def test_binomials(trials: int, rate: float, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, trials))
    no = 1 - Decimal(rate)
    close(
        log_binomial(hits, trials, rate),
        log_of(math.comb(trials, hits) * Decimal(rate) ** hits * no ** (trials - hits)),
    )


@pytest.mark.parametrize("mechanism", EVERY, ids=repr)
@settings(max_examples=8)
@given(count=st.integers(0, 60))
def test_stand_ins_tell_less_and_more(mechanism: pb.Mechanism, count: int) -> None:
    """Both laws sum to one, and at no prior is presence told better by the mechanism than by what tells more."""
    pair = mechanism.stand_ins(count)
    if pair is None:
        return
    for table in pair:
        assert (table >= 0).all()
        np.testing.assert_allclose(table.sum(axis=0), 1, rtol=0, atol=1e-12)
    exact = mechanism.pair(count)
    for odds in 10.0 ** np.arange(-12, 13):
        less, found, more = (np.maximum(table[:, 0], odds * table[:, 1]).sum() for table in (pair[0], exact, pair[1]))
        rough = 0.0 if mechanism.outputs(count) is not None else 1e-3 * min(1.0, odds)
        assert less <= found * (1 + 1e-12) + rough
        assert found <= more * (1 + 1e-12) + rough


@given(st.floats(0.05, 50), st.floats(-30, 30))
def test_stand_ins_of_gaussian_noise_against_the_closed_form(sigma: float, log_odds: float) -> None:
    """The best guess says "there" above `1/2 - sigma² log(odds)`."""
    pair = pb.Gaussian(sigma).stand_ins(0)
    assert pair is not None
    odds, cut = math.exp(log_odds), 0.5 - sigma**2 * log_odds
    found = stats.norm.cdf(cut / sigma) + odds * stats.norm.sf((cut - 1) / sigma)
    less, more = (np.maximum(table[:, 0], odds * table[:, 1]).sum() for table in pair)
    assert less <= found * (1 + 1e-12)
    assert found <= more * (1 + 1e-12)


@pytest.mark.parametrize("mechanism", [m for m in EVERY if m.outputs(0) is not None], ids=repr)
def test_ratios_lie_within_those_of_what_tells_more(mechanism: pb.Mechanism) -> None:
    for count in (0, 4, 33):
        values = mechanism.outputs(count)
        pair = mechanism.stand_ins(count)
        assert values is not None
        assert pair is not None
        logs = np.stack([mechanism.log_likelihood(values, count), mechanism.log_likelihood(values, count + 1)], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios, told = logs[:, 1] - logs[:, 0], np.log(pair[1][:, 1]) - np.log(pair[1][:, 0])
        ratios, told = ratios[~np.isnan(ratios)], told[~np.isnan(told)]
        assert ratios.max() <= told.max() + 1e-9
        assert ratios.min() >= told.min() - 1e-9


def test_weights_whose_ratio_falls_by_rounding_lose_what_is_too_much() -> None:
    """As little as that is given away; what is left has a ratio that does not fall."""
    weights = np.array([[0.1, 0.1 * (1 + 1e-11), 0.1], [0.1, 0.1, 0.2]])
    left = _increasing(weights)
    assert left is not None
    assert (left <= weights).all()
    assert (np.diff(left[1] / left.sum(axis=0)) >= -1e-15).all()
    np.testing.assert_allclose(left, weights, rtol=1e-10)
    assert _increasing(np.array([[0.1, 0.2], [0.1, 0.1]])) is None
