"""Confidence limits, likelihood ratios, and sums and ranks over blocks."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracle import World
from tests.strategies import chain

import passerby as pb
from passerby.support.statistics import (
    LOST,
    at_ranks,
    by_ratio,
    exact_sum,
    first_bits,
    lower_limit,
    sort_keys,
    upper_limit,
    value_of_key,
    without_faintest,
)

Floats = NDArray[np.float64]
Law = Callable[[np.random.Generator, int], Floats]

LAWS: dict[str, tuple[float, Law]] = {
    "rare": (0.004, lambda rng, n: (rng.random(n) < 0.004).astype(np.float64)),
    "bernoulli": (0.3, lambda rng, n: (rng.random(n) < 0.3).astype(np.float64)),
    "likely": (0.98, lambda rng, n: (rng.random(n) < 0.98).astype(np.float64)),
    "beta": (2 / 7, lambda rng, n: rng.beta(2, 5, n)),
    "skewed": (0.1 / 5.1, lambda rng, n: rng.beta(0.1, 5, n)),
    "constant": (0.37, lambda rng, n: np.full(n, 0.37)),
}
#: The quick ones are coins that hardly ever fall, and values in between.
SOME = [law if law in ("rare", "skewed") else pytest.param(law, marks=pytest.mark.thorough) for law in LAWS]


@pytest.mark.parametrize("law", SOME)
@pytest.mark.parametrize("size", [25, 300])
def test_covers_the_mean_as_often_as_it_says(law: str, size: int) -> None:
    mean, draw = LAWS[law]
    rng, repeats = np.random.default_rng(size), 250
    missed = sum(upper_limit(draw(rng, size), 0.9) < mean for _ in range(repeats))
    assert missed <= 0.1 * repeats + 3 * np.sqrt(repeats * 0.09)


@given(st.lists(st.floats(0, 1), max_size=60), st.sampled_from([0.5, 0.9, 0.99]))
def test_is_a_probability_and_never_below_the_mean(values: list[float], confidence: float) -> None:
    limit = upper_limit(np.array(values), confidence)
    assert np.mean(values or [0.0]) - 1e-12 <= limit <= 1


def capital(values: Floats, stakes: Floats, mean: float) -> float:
    """The most that a gambler ever has who bets against a mean."""
    wealth, most = 1.0, 0.0
    for value, stake in zip(values, stakes, strict=True):
        wealth *= 1 + min(stake, 0.95 / (1 - mean)) * (mean - value)
        most = max(most, wealth)
    return most


@pytest.mark.parametrize("law", ["rare", "beta", "bernoulli"])
@pytest.mark.parametrize("guided", [False, True])
def test_is_the_smallest_mean_that_is_refuted(law: str, guided: bool) -> None:
    """Stakes as in Waudby-Smith and Ramdas: `sqrt(2 log(1/α) / (n variance so far))`, from what came before only."""
    values = LAWS[law][1](np.random.default_rng(4), 200)
    guide = 0.7 * values if guided else values
    stakes, total, squares = [], 0.5, 0.05
    for number, value in enumerate(guide):
        variance = squares / (number + 1)
        stakes.append(np.sqrt(2 * np.log(20) / (200 * variance)))
        total += value
        squares += (value - total / (number + 2)) ** 2
    limit = upper_limit(values, 0.95, guide if guided else None)
    assert capital(values, np.array(stakes), limit + 1e-9) >= 20
    assert capital(values, np.array(stakes), limit - 1e-9) < 20


def test_too_few_draws_refute_nothing() -> None:
    assert upper_limit(np.full(3, 0.9), 0.99) == 1


def test_no_draws_say_nothing() -> None:
    assert upper_limit(np.empty(0), 0.9) == 1


def test_narrows_with_the_sample_and_widens_with_confidence() -> None:
    values = np.random.default_rng(5).beta(2, 5, 4000)
    limits = [upper_limit(values[:n], 0.99) for n in (40, 400, 4000)]
    assert limits[0] > limits[1] > limits[2]
    assert limits[2] < values.mean() + 0.012
    assert upper_limit(values, 0.9) < upper_limit(values, 0.999)


def test_zeros_come_near_what_is_best_for_a_coin() -> None:
    """After 1000 failures nobody can say less than `1 - 0.01^(1/1000)` at 99 %."""
    best = 1 - 0.01**0.001
    assert best < upper_limit(np.zeros(1000), 0.99) < 1.1 * best


@pytest.mark.parametrize(
    "law", ["rare", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("bernoulli", "beta"))]
)
def test_covers_with_bounds_that_depend_on_the_whole_sample(law: str) -> None:
    """Upper bounds on the draws, drawn down to them where that makes the limit smallest; stakes from a guide."""
    mean, draw = LAWS[law]
    rng, repeats, size = np.random.default_rng(9), 200, 150
    missed = 0
    for _ in range(repeats):
        values = draw(rng, size)
        guide = 0.8 * values
        loose = np.minimum(values + 0.3 * rng.random(size), 1.0)
        tightened = np.argsort(-(loose - values))[: size // 2]
        loose[tightened] = values[tightened]
        missed += upper_limit(loose, 0.9, guide) < mean
        assert upper_limit(loose, 0.9, guide) >= upper_limit(values, 0.9, guide) - 1e-12
    assert missed <= 0.1 * repeats + 3 * np.sqrt(repeats * 0.09)


@pytest.mark.parametrize("law", SOME)
def test_lower_limits_are_below_the_mean_as_often_as_they_say(law: str) -> None:
    """Also of values that are below the draws, with stakes from a guide."""
    mean, draw = LAWS[law]
    rng, repeats, size = np.random.default_rng(10), 200, 150
    missed = missed_below = 0
    for _ in range(repeats):
        values = draw(rng, size)
        missed += lower_limit(values, 0.9) > mean
        missed_below += lower_limit(values * rng.random(size), 0.9, 0.8 * values) > mean
        assert lower_limit(values, 0.9) - 1e-12 <= values.mean() <= upper_limit(values, 0.9)
    assert max(missed, missed_below) <= 0.1 * repeats + 3 * np.sqrt(repeats * 0.09)
    values = draw(rng, 20_000)
    assert lower_limit(values, 0.9) >= values.mean() - 6 * max(values.std() / np.sqrt(20_000), 1e-4)


def test_lower_limits_are_as_close_however_small_the_values_are() -> None:
    values = np.random.default_rng(3).beta(2, 5, 400)
    limit = lower_limit(values, 0.99)
    assert 0.85 * values.mean() < limit < values.mean()
    assert lower_limit(1e-9 * values, 0.99) == pytest.approx(1e-9 * limit)
    assert lower_limit(1e-9 * values, 0.99, 0.5e-9 * values) == pytest.approx(
        1e-9 * lower_limit(values, 0.99, 0.5 * values)
    )


@pytest.mark.parametrize("guided", [False, True])
def test_is_the_largest_mean_that_is_refuted_from_below(guided: bool) -> None:
    values = LAWS["beta"][1](np.random.default_rng(4), 200)
    guide = 0.7 * values if guided else values
    stakes = [0.0]
    for i in range(1, 200):
        means = [guide[: j + 1].mean() for j in range(i)]
        variance = (means[-1] ** 2 + sum((g - m) ** 2 for g, m in zip(guide, means, strict=False))) / i
        stakes.append(np.sqrt(2 * np.log(20) / (200 * variance)))
    limit = lower_limit(values, 0.95, guide if guided else None)

    def most(mean: float) -> float:
        won = [1 + min(stake, 0.95 / mean) * (value - mean) for value, stake in zip(values, stakes, strict=True)]
        return float(np.cumprod(won).max())

    assert most(limit + 1e-9) < 20 <= most(limit - 1e-9)


def test_nothing_says_nothing() -> None:
    assert lower_limit(np.empty(0), 0.9) == 0
    assert lower_limit(np.zeros(30), 0.9) == 0


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e-100])
def test_a_lower_limit_is_as_close_to_tiny_means(scale: float) -> None:
    """What is bet depends on ratios alone, however small the values are."""
    values = np.random.default_rng(3).random(500)
    plain = lower_limit(values, 0.99)
    assert plain > 0.4
    assert lower_limit(values * scale, 0.99) <= (values * scale).mean() + 5e-324
    if scale > 1e-300:
        assert lower_limit(values * scale, 0.99) == pytest.approx(plain * scale, rel=1e-9)
    assert lower_limit(np.full(500, scale), 0.99) >= 0
    assert lower_limit(np.zeros(5), 0.99) == lower_limit(np.zeros(0), 0.99) == 0


@given(st.integers(0, 10**6), st.integers(1, 30))
def test_what_is_left_out_is_little_in_all(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    rows = 10.0 ** -rng.uniform(0, 40, (size, 3))
    left = without_faintest(rows)
    lost = math.fsum([*rows.reshape(-1), *-left.reshape(-1)])
    assert lost <= LOST * (1 + 1e-9)
    assert len(left) == size or rows.sum(axis=1).min() <= LOST


@pytest.mark.parametrize("scale", [0.1, 0.31, 1.0, 2.7, 13.0])
def test_geometric_noise_tells_two_things(scale: float) -> None:
    """Whatever is published, the ratio is one of two, but for rounding."""
    pair = pb.Geometric(scale).pair(0)
    table = by_ratio(pair)
    assert len(table) == 2
    np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)


@given(st.integers(0, 10**6), st.floats(0, 60), st.integers(0, 2))
def test_a_faint_outcome_changes_a_loss_by_a_small_share(seed: int, power: float, misses: int) -> None:
    """A loss changes by the share that the likelihoods change by, also where the loss is tiny."""
    rng = np.random.default_rng(seed)
    slow = chain(seed, 3, 3, "started")
    prior = pb.MarkovPrior(slow.initial, slow.matrices[0], guessable=[False, False, True])
    world = World(prior, 3)
    plain = [rng.dirichlet(np.ones(4), 2).T for _ in range(3)]
    changed = [law + 10.0**-power * rng.random(law.shape) for law in plain]

    def loss(laws: list[NDArray[np.float64]]) -> float:
        there = world.traces == np.array([0, 2, 2])
        table = np.ones((1, len(world.traces)))
        for t, law in enumerate(laws):
            table = (table[:, None] * law[:, there[:, t].astype(int)]).reshape(-1, len(world.traces))
        return float(world.optimum(table, misses))

    assert abs(loss(changed) - loss(plain)) <= 13 * 10.0**-power * (1 + 4 * 10.0**-power) ** 2 * loss(plain) + 1e-15


NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40)


@given(NUMBERS)
def test_sums_are_exact(numbers: list[float]) -> None:
    assert exact_sum(np.array(numbers)) == sum(map(Fraction, numbers))


@given(st.lists(NUMBERS, min_size=1, max_size=4))
def test_sums_do_not_depend_on_cuts(parts: list[list[float]]) -> None:
    whole = exact_sum(np.concatenate([np.array(part) for part in parts]))
    assert whole == sum(exact_sum(np.array(part)) for part in parts)


@given(st.lists(NUMBERS, min_size=1, max_size=4), st.data())
def test_values_at_ranks(parts: list[list[float]], data: st.DataObject) -> None:
    ordered = sorted(number for part in parts for number in part)
    ranks = data.draw(st.lists(st.integers(0, len(ordered) - 1), min_size=1, max_size=5))

    def count(begin: Mapping[str, Sequence[int]], level: int) -> Iterator[Any]:
        for part in parts:
            yield {name: first_bits(sort_keys(np.array(part)), heads, level) for name, heads in begin.items()}

    found = at_ranks({"a": ranks}, count)["a"]
    assert {rank: found[rank] for rank in ranks} == {rank: ordered[rank] for rank in ranks}


@given(st.floats(allow_nan=False))
def test_words_are_those_of_numbers(number: float) -> None:
    assert value_of_key(int(sort_keys(np.array([number]))[0])) == number
