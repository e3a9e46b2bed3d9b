"""What each rule tells, in closed form, and what it refuses."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.strategies import Uniform

import passerby as pb


class TestTotalVariation:
    def test_suppression(self) -> None:
        values = [pb.Suppression(10).total_variation(n) for n in range(30)]
        assert values == [0.0] * 9 + [1.0] * 21

    def test_suppression_that_keeps_zeros_tells_the_first_person(self) -> None:
        values = [pb.Suppression(10, keep_zeros=True).total_variation(n) for n in range(12)]
        assert values == [1.0] + [0.0] * 8 + [1.0] * 3

    def test_rounding_tells_exactly_when_the_target_tips_the_count(self) -> None:
        rounded = [5 * math.floor(n / 5 + 0.5) for n in range(31)]
        tipped = [float(a != b) for a, b in pairwise(rounded)]
        assert [pb.Rounding(5).total_variation(n) for n in range(30)] == tipped
        assert sum(tipped) == 6

    @pytest.mark.parametrize("base", [2, 3, 5, 10])
    def test_random_rounding(self, base: int) -> None:
        for n in range(2 * base):
            pair = pb.RandomRounding(base).pair(n)
            assert np.abs(pair[:, 0] - pair[:, 1]).sum() / 2 == pytest.approx(1 / base)
            assert pb.RandomRounding(base).total_variation(n) == pytest.approx(1 / base)

    def test_random_rounding_keeps_the_mean(self) -> None:
        for n in range(20):
            values, chances = pb.RandomRounding(6).law(n)
            assert values @ chances == pytest.approx(n)

    def test_bands(self) -> None:
        assert [pb.Bands([10, 50]).total_variation(n) for n in (0, 8, 9, 10, 48, 49, 50)] == [0, 0, 1, 0, 0, 1, 0]

    def test_gaussian(self) -> None:
        assert round(pb.Gaussian(1.0).total_variation(), 4) == 0.3829

    @pytest.mark.parametrize("scale", [0.2, 1.0, 7.0])
    def test_laplace(self, scale: float) -> None:
        assert pb.Laplace(scale).total_variation() == pytest.approx(1 - math.exp(-0.5 / scale), rel=1e-12)

    @pytest.mark.parametrize("scale", [0.2, 1.0, 7.0])
    def test_geometric(self, scale: float) -> None:
        a = math.exp(-1 / scale)
        assert pb.Geometric(scale).total_variation() == pytest.approx((1 - a) / (1 + a), rel=1e-12)

    @pytest.mark.parametrize("sigma", [0.3, 1.0, 5.0])
    def test_discrete_gaussian(self, sigma: float) -> None:
        z = np.arange(-200, 201)
        law = np.exp(-(z**2) / (2 * sigma**2))
        assert pb.DiscreteGaussian(sigma).total_variation() == pytest.approx(1 / law.sum(), rel=1e-12)

    @pytest.mark.parametrize("n", [0, 1, 7, 300])
    def test_sampling(self, n: int) -> None:
        k = np.arange(n + 2)
        laws = [stats.binom(m, 0.2).pmf(k) for m in (n, n + 1)]
        expected = np.abs(laws[0] - laws[1]).sum() / 2
        assert pb.Sampling(0.2).total_variation(n) == pytest.approx(expected, rel=1e-9)

    def test_miscount(self) -> None:
        one = np.array([0.1, 0.85, 0.05])
        two = np.convolve(one, one)
        expected = (np.abs(np.append(one, [0, 0]) - two).sum()) / 2
        assert pb.Miscount(0.1, 0.05).total_variation(1) == pytest.approx(expected)

    def test_geometric_amounts_to_one_bit(self) -> None:
        tables = pb.Release([0], pb.Geometric(2.0)).signals()
        assert tables is not None
        right = 1 / (1 + math.exp(-0.5))
        np.testing.assert_allclose(np.sort(tables[0], axis=0), [[1 - right] * 2, [right] * 2])

    def test_clamping_and_rounding_tell_no_more(self) -> None:
        for noise in (pb.Gaussian, pb.Laplace):
            plain = noise(1.3).total_variation()
            for n in (0, 1, 5):
                for clamped in (False, True):
                    for rounded in (False, True):
                        shaped = noise(1.3, clamped=clamped, rounded=rounded)
                        assert shaped.total_variation(n) <= plain + 1e-9
                        assert shaped.information(0.2, n) <= noise(1.3).information(0.2) + 1e-9

    def test_ten_five(self) -> None:
        rule = pb.Then(pb.Suppression(10), pb.Rounding(5))
        assert [rule.total_variation(n) for n in range(7, 14)] == [0, 0, 1, 0, 0, 1, 0]


class TestScaled:
    def test_a_threshold_afterwards_is_one_for_fewer_people(self) -> None:
        """Multiplied by 5 and left empty below 5: a single person passes. Left empty first, nobody does."""
        after, before = pb.Scaled(5) | pb.Suppression(5), pb.Suppression(5) | pb.Scaled(5)
        assert after.law(1) == (np.array([5.0]), np.ones(1))
        assert [after.total_variation(n) for n in range(6)] == [1.0] * 6
        assert [before.total_variation(n) for n in range(6)] == [0.0] * 4 + [1.0] * 2

    def test_a_sample_that_is_scaled_up_is_the_sample(self) -> None:
        for n in (0, 3, 40):
            plain, scaled = pb.Sampling(0.2), pb.Sampling(0.2) | pb.Scaled(5)
            assert scaled.total_variation(n) == pytest.approx(plain.total_variation(n), rel=1e-12)

    @pytest.mark.parametrize("noise", [pb.Gaussian(1.3), pb.Laplace(0.8), pb.Gaussian(1.3, clamped=True)], ids=repr)
    def test_to_scale_noisy_counts_changes_nothing(self, noise: pb.Mechanism) -> None:
        scaled = noise | pb.Scaled(3)
        for n in (0, 2):
            assert scaled.total_variation(n) == pytest.approx(noise.total_variation(n), abs=1e-9)
            assert scaled.information(0.3, n) == pytest.approx(noise.information(0.3, n), abs=1e-9)
        alone = pb.differential_privacy(pb.Release([0], noise)).exact
        assert pb.differential_privacy(pb.Release([0], scaled)).exact == alone

    def test_noise_after_scaling_hides_less(self) -> None:
        scaled = pb.Scaled(4) | pb.Gaussian(8.0)
        assert scaled.total_variation(3) == pytest.approx(pb.Gaussian(2.0).total_variation(), rel=1e-9)
        privacy = [pb.differential_privacy(pb.Release([0], rule)).exact for rule in (scaled, pb.Gaussian(2.0))]
        assert privacy[0] == privacy[1]
        assert pb.differential_privacy(pb.Release([0], pb.Scaled(4) | pb.Geometric(8.0))).exact is None

    def test_decimals_are_those_that_are_written(self) -> None:
        assert pb.Scaled(4.7).law(3)[0].tolist() == [14.1]
        assert (pb.Laplace(1.0, rounded=True) | pb.Scaled(4.7)).log_likelihood(14.1, 3) > -2

    @pytest.mark.parametrize("weight", [0.1, 1 / 3, 0.7, 4.7, 1e-6, 1e6, 123.456])
    def test_every_multiple_comes_from_its_own_number(self, weight: float) -> None:
        numbers = np.array([*range(-5, 200), 10**6 + 1, 10**9 - 1], dtype=float)
        scaled = pb.Scaled(weight)
        values = scaled.apply(numbers)
        ((low, high),) = scaled.preimage(values, np.where(values == 0, 1e-290, np.nextafter(values, np.inf)))
        assert ((low <= numbers) & (numbers < high)).all()
        assert (high - low < 1e-6 * np.maximum(1, np.abs(numbers))).all()

    def test_what_was_done_to_a_continuum_is_not_scaled(self) -> None:
        with pytest.raises(pb.UnsupportedRelease, match="scale first, and do the rest afterwards"):
            _ = (pb.Laplace(1.0) | pb.Suppression(2)) | pb.Scaled(5)
        with pytest.raises(TypeError):
            _ = pb.Scaled(5) | 5  # type: ignore[operator]


class TestRoundingBySize:
    def test_the_sizes_of_the_census(self) -> None:
        rule = pb.RoundingBySize()
        pairs = {14: math.nan, 15: 20, 94: 90, 99: 100, 124: 100, 125: 150, 999: 1000, 1049: 1000, 1050: 1100}
        pairs |= {10_249: 10_000, 10_250: 10_500, 123_456: 123_000, 1_234_567: 1_235_000, 23_456_789: 23_460_000}
        told = rule.sample(list(pairs), np.random.default_rng(0))
        assert np.array_equal(told, list(pairs.values()), equal_nan=True)

    def test_one_size_is_suppression_and_rounding(self) -> None:
        one, two = pb.RoundingBySize([[10, 5]]), pb.Then(pb.Suppression(10), pb.Rounding(5))
        assert [one.total_variation(n) for n in range(40)] == [two.total_variation(n) for n in range(40)]

    def test_a_person_is_seen_where_they_tip_the_count(self) -> None:
        seen = [n for n in range(160) if pb.RoundingBySize().total_variation(n)]
        assert seen == [14, 24, 34, 44, 54, 64, 74, 84, 94, 124]

    @pytest.mark.parametrize("noise", [pb.Gaussian(3.0), pb.Laplace(2.0, rounded=True)], ids=repr)
    def test_after_noise_it_hides_no_less(self, noise: pb.Mechanism) -> None:
        rule = noise | pb.RoundingBySize([[3, 2], [8, 5]])
        for n in (0, 4, 9):
            assert rule.total_variation(n) <= noise.total_variation(n) + 1e-12
            values, chances = rule.law(n)
            assert chances.sum() == pytest.approx(1, abs=1e-12)
            assert np.isnan(values[-1])


class TestEmptyCells:
    def test_what_is_hidden_stays_hidden(self) -> None:
        rng = np.random.default_rng(0)
        for second in (pb.Rounding(5), pb.AtLeast(4), pb.Bands([3]), pb.Gaussian(1.0), pb.Sampling(0.5)):
            drawn = pb.Then(pb.Suppression(10), second).sample(np.full(20, 3), rng)
            assert np.isnan(drawn).all()

    def test_an_empty_cell_can_be_what_was_published(self) -> None:
        prior = pb.line_prior(5)
        release = pb.Release([1, 2], pb.Suppression(3), others=[2, 7])
        loss = pb.measure(prior, release, published=[math.nan, 8.0])
        assert 0 < loss.lower <= loss.upper <= 1
        with pytest.raises(pb.InputError, match="probability zero"):
            pb.measure(prior, release, published=[3.0, math.nan])


class TestPersistent:
    @pytest.mark.parametrize(
        "mechanism",
        [
            pb.Gaussian(1.0, persistent=True),
            pb.Laplace(1.0, persistent=True, rounded=True),
            pb.Geometric(1.0, persistent=True),
            pb.RandomRounding(3, persistent=True),
            pb.Then(pb.Geometric(1.0, persistent=True), pb.Rounding(5)),
        ],
        ids=repr,
    )
    def test_a_cell_that_is_published_again_is_refused(self, mechanism: pb.Mechanism) -> None:
        with pytest.raises(pb.UnsupportedRelease, match=r"place 4 is published at steps 0 and 2 with the same draw"):
            pb.Release([4, 3, 4], mechanism)
        pb.Release([4, 3, [1, 2]], mechanism)  # each cell once: nothing is used again

    @pytest.mark.parametrize("kept", [False, True])
    def test_what_is_drawn_once_by_either_of_two_is_drawn_once(self, kept: bool) -> None:
        noise, sample = pb.Geometric(1.0, clamped=True, persistent=kept), pb.Sampling(0.5, persistent=kept)
        assert pb.Then(noise, pb.Rounding(5)).persistent == kept
        assert pb.Then(pb.Rounding(5), sample).persistent == kept

    def test_a_panel_is_refused_at_several_steps(self) -> None:
        with pytest.raises(pb.UnsupportedRelease, match=r"the same people are counted at steps 0 and 2"):
            pb.Release([1, [], 2], pb.Sampling(0.1, persistent=True))
        pb.Release([[], [1, 2], []], pb.Sampling(0.1, persistent=True))


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: pb.Rounding(1), r"Rounding\(base=1\): base must be a whole number of at least 2"),
    (lambda: pb.Rounding(2.5), r"Rounding\(base=2\.5\)"),  # type: ignore[arg-type]
    (lambda: pb.RandomRounding(0), r"RandomRounding\(base=0\): base must be .* at least 2"),
    (lambda: pb.Suppression(0), r"Suppression\(below=0\): below must be .* at least 1"),
    (lambda: pb.Suppression(True), r"Suppression\(below=True\)"),
    (lambda: pb.Sampling(1.2), r"Sampling\(rate=1\.2\): rate must be a probability"),
    (lambda: pb.Sampling(math.nan), r"Sampling\(rate=nan\)"),
    (lambda: pb.Miscount(-0.1, 0), r"Miscount\(miss=-0\.1\): miss must be a probability"),
    (lambda: pb.Miscount(0.1, 2), r"Miscount\(double=2\)"),
    (lambda: pb.Miscount(0.6, 0.6), r"add up to more than 1"),
    (lambda: pb.Laplace(0), r"Laplace\(scale=0\): scale must be a finite number above 0"),
    (lambda: pb.Geometric(-1), r"Geometric\(scale=-1\)"),
    (lambda: pb.DiscreteGaussian(math.inf), r"DiscreteGaussian\(sigma=inf\)"),
    (lambda: pb.Geometric(2000), r"Geometric\(scale=2000\): scale must be at most 1,000 for noise in whole numbers"),
    (lambda: pb.Laplace(2000, rounded=True), r"scale must be at most 1,000 for noise in whole numbers"),
    (lambda: pb.Gaussian(2e6), r"Gaussian\(sigma=2000000\.0\): sigma must lie between 1e-06 and 1,000,000; less noise"),
    (lambda: pb.Laplace(1e-7), r"Laplace\(scale=1e-07\): scale must lie between 1e-06 and 1,000,000; less noise"),
    (lambda: pb.Rounding(10**9 + 1), r"Rounding\(base=1000000001\): base must be at most 1,000,000,000"),
    (lambda: pb.Gaussian(1, clamped=1), r"clamped must be True or False"),  # type: ignore[arg-type]
    (lambda: pb.Bands([]), r"at least one edge"),
    (lambda: pb.Bands([3, 3]), r"edges\[1\] = 3 must be above the edge before it, 3"),
    (lambda: pb.Bands([math.nan]), r"edges\[0\] = nan"),
    (lambda: pb.Bands(5), r"edges must be a list"),  # type: ignore[arg-type]
    (lambda: pb.Scaled(0), r"Scaled\(weight=0\): weight must be a finite number above 0"),
    (lambda: pb.Scaled(math.inf), r"Scaled\(weight=inf\)"),
    (lambda: pb.Scaled(True), r"Scaled\(weight=True\)"),
    (lambda: pb.Scaled(1e7), r"Scaled\(weight=10000000\.0\): .* between 1e-06 and 1,000,000"),
    (lambda: pb.RoundingBySize([]), r"at least one pair of a size and a base"),
    (lambda: pb.RoundingBySize(5), r"expected pairs such as"),
    (lambda: pb.RoundingBySize([5]), r"sizes\[0\] = \[5\]: expected a size of at least 0 and a base"),
    (lambda: pb.RoundingBySize([[10, 0]]), r"sizes\[0\] = \[10, 0\]: expected a size"),
    (lambda: pb.RoundingBySize([[10, 2.5]]), r"sizes\[0\] = \[10, 2\.5\]: expected a size"),
    (lambda: pb.RoundingBySize([[10, 5], [10, 10]]), r"sizes\[1\] = \[10, 10\]: must be above the size before"),
    (lambda: pb.AtLeast(-1), r"AtLeast\(least=-1\)"),
    (lambda: pb.Then(pb.Raw(), 5), r"Then: second = 5: expected a Mechanism"),  # type: ignore[arg-type]
    (
        lambda: pb.Then(pb.Laplace(1.0), pb.Sampling(0.5)),
        r"gives real numbers, .* takes whole numbers of at least 0",
    ),
    (
        lambda: pb.Then(pb.Geometric(1.0), pb.Sampling(0.5)),
        r"gives whole numbers, .* takes whole numbers of at least 0 only; .* \(clamped=True\)",
    ),
    (lambda: pb.Sampling(0.5).law(2.5), r"Sampling\(rate=0\.5\): 2\.5 is not a whole number; let noise .* be rounded"),
    (lambda: pb.Gaussian(1.0).law(2), r"Gaussian\(sigma=1\.0\) publishes from a continuum: its values have densities"),
    (lambda: Uniform().information(0.5), r"Uniform\(\): a mechanism with a continuum of outputs must say its own"),
    (lambda: pb.Then(Uniform(), pb.Rounding(5)), r"Uniform\(\) does not say how likely .* write its log_between"),
    (
        lambda: pb.Then(pb.Then(pb.Laplace(1.0, clamped=True), pb.Rounding(5)), Uniform()).total_variation(2),
        r"Uniform\(\): a mechanism with a continuum of outputs must say its own .* write its around\(centres, cuts\)",
    ),
    (lambda: pb.Then(pb.Gaussian(1.0), pb.Laplace(1.0)), r"after a continuum only fixed mechanisms are modelled"),
    (lambda: pb.Then(pb.Gaussian(1e6), pb.Rounding(2)), r"multiples of 2 lie within reach .* leave the rounding out"),
    (
        lambda: pb.measure(pb.line_prior(4), pb.Release([1, 2], pb.Rounding(5))),
        r"^others: Rounding\(base=5\) .* needed",
    ),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input_says_which_and_why(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(pb.PasserbyError, match=message):
        make()
