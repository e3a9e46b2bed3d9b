"""Laws: the possible published values, their probabilities, and sums and integrals over them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
#: Possible values, in increasing order, and their probabilities.
Law = tuple[Floats, Floats]

#: A cell left empty. Whatever is done to it afterwards, it stays empty.
HIDDEN = math.nan

#: Lists of possible values end at less than this probability on either side, with the target and without. An outcome
#: counts by its likelihood times the success of guesses. So a loss changes by this share of itself at most, however
#: small it is. Likelihoods are exact everywhere: nothing is told as impossible for being far out.
TAIL = 1e-18
LOG_TAIL = math.log(TAIL)
#: Probabilities of a law with a sum this close to one add up to one but for rounding.
SUMS = 1e-9
#: More values than this are not listed.
MOST_VALUES = 1_000_000


def same(left: ArrayLike, right: ArrayLike) -> NDArray[np.bool_]:
    """Equality; an empty cell equals an empty cell."""
    left, right = np.asarray(left, np.float64), np.asarray(right, np.float64)
    return np.asarray((left == right) | (np.isnan(left) & np.isnan(right)))


def gathered(values: Floats, chances: Floats) -> Law:
    """A law in increasing order, with the probabilities of equal values added up."""
    distinct, index = np.unique(values, return_inverse=True)
    total = np.zeros(len(distinct))
    np.add.at(total, index.reshape(-1), chances)
    return trimmed(distinct, total)


def log_gathered(values: Floats, logs: Floats) -> Law:
    """The same for a law in logarithms."""
    distinct, index = np.unique(values, return_inverse=True)
    total = np.full(len(distinct), -np.inf)
    np.logaddexp.at(total, index.reshape(-1), logs)
    return distinct[total > -np.inf], total[total > -np.inf]


def trimmed(values: Floats, chances: Floats) -> Law:
    """A law without the values of probability zero."""
    there = chances > 0
    return values[there], chances[there]


def mixture_information(presence: float, absent: Floats, present: Floats) -> float:
    """`I(B; Y)` in nats for a bit B, 1 with probability `presence`, and laws of Y given B = 0 and B = 1."""
    presence = min(1.0, max(0.0, presence))  # a sum of probabilities may be above one by rounding
    mixed = (1 - presence) * absent + presence * present
    total = 0.0
    for share, law in ((1 - presence, absent), (presence, present)):
        there = share * law > 0
        with np.errstate(over="ignore"):
            ratio = law[there] / mixed[there]
        # The ratio is exact if both are nearly equal, and too large for a number if one is next to nothing.
        logs = np.where(np.isfinite(ratio), np.log(ratio), np.log(law[there]) - np.log(mixed[there]))
        total += share * float(law[there] @ logs)
    return max(0.0, total)


class Domain(NamedTuple):
    """Numbers: whole ones only or any, and with or without negative ones. An empty cell belongs to every domain.

    >>> COUNTS.within(REALS), REALS.within(COUNTS)
    (True, False)
    """

    whole: bool
    negative: bool

    def within(self, other: Domain) -> bool:
        """Whether all numbers of this domain belong to another."""
        return self.whole >= other.whole and self.negative <= other.negative

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Marks of the values in the domain."""
        inside = np.isnan(values) | (self.negative | (values >= 0))
        return inside & (np.isnan(values) | (values == np.floor(values))) if self.whole else inside

    def __str__(self) -> str:
        kind = "whole numbers" if self.whole else "real numbers"
        return kind if self.negative else f"{kind} of at least 0"


#: Whole numbers of at least 0.
COUNTS = Domain(whole=True, negative=False)
WHOLE = Domain(whole=True, negative=True)
REALS = Domain(whole=False, negative=True)


#: If the log density of an interval changes by less than this, few nodes integrate it to the last digit.
FLAT = 1.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)


def log1mexp(logs: Floats) -> Floats:
    """`log(1 - exp(x))` for x of at most 0."""
    logs = np.minimum(logs, 0.0)
    with np.errstate(divide="ignore"):
        return np.where(logs > -math.log(2), np.log(-np.expm1(logs)), np.log1p(-np.exp(logs)))


def log_sum(logs: Floats) -> Floats:
    """`log Σ exp(x)` along the last axis; minus infinity for nothing."""
    return np.asarray(np.logaddexp.reduce(logs, axis=-1, initial=-np.inf))


def _reflected(low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats]:
    """An interval, or its mirror image if this is in the left tail."""
    low, high = np.broadcast_arrays(np.asarray(low, np.float64), np.asarray(high, np.float64))
    right = low >= 0
    return np.where(right, -high, low), np.where(right, -low, high)


def log_normal(low: ArrayLike, high: ArrayLike) -> Floats:
    """`log(Φ(high) - Φ(low))`.

    A narrow interval is integrated. An interval around zero is the remainder of its two tails. An interval in a tail is
    the difference of two tails, not close to each other.

    >>> log_normal([-40, 39.9999, -1e-9], [-39, 40, 1e-9]).round(6)
    array([-765.083157, -810.127278,  -20.949057])
    """
    from scipy.special import log_ndtr

    a, b = _reflected(low, high)
    out = np.full(a.shape, -np.inf)
    with np.errstate(invalid="ignore"):
        width = b - a
        flat = (width > 0) & (width * np.maximum(1.0, np.maximum(np.abs(a), np.abs(b))) < FLAT)
    around = ~flat & (b > a) & (a < 0) & (b > 0)
    tail = ~flat & (b > a) & (b <= 0)
    half = width[flat, None] / 2
    points = a[flat, None] + half * (_NODES + 1)
    # The density is taken out at the left end, so nothing underflows.
    grown = ((_WEIGHTS * np.exp((a[flat, None] - points) * (a[flat, None] + points) / 2)) * half).sum(axis=-1)
    out[flat] = np.log(grown) - a[flat] ** 2 / 2 - math.log(2 * math.pi) / 2
    out[around] = np.log1p(-np.exp(log_ndtr(a[around])) - np.exp(log_ndtr(-b[around])))
    far = log_ndtr(b[tail])
    out[tail] = far + log1mexp(log_ndtr(a[tail]) - far)
    return out


def log_laplace(low: ArrayLike, high: ArrayLike) -> Floats:
    """The same for the Laplace law of scale 1: `(exp(high) - exp(low)) / 2` below zero.

    >>> log_laplace([-1000, -1], [-999, 1]).round(6)
    array([-1.00015182e+03, -4.58675000e-01])
    """
    a, b = _reflected(low, high)
    out = np.full(a.shape, -np.inf)
    around, tail = (b > a) & (a < 0) & (b > 0), (b > a) & (b <= 0)
    out[around] = np.log((-np.expm1(a[around]) - np.expm1(-b[around])) / 2)
    out[tail] = b[tail] - math.log(2) + log1mexp(a[tail] - b[tail])
    return out


def log_binomial(hits: ArrayLike, trials: ArrayLike, rate: float) -> Floats:
    """Log probability of a number of hits in independent trials, to a relative error of 1e-12 also for billions.

    By the deviances of Loader (2000), "Fast and accurate computation of binomial probabilities".

    >>> log_binomial([0, 1, 3], 2, 0.5).round(6)
    array([-1.386294, -0.693147,      -inf])
    """
    k, n = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(trials, np.float64))
    out = np.full(k.shape, -np.inf)
    if rate in (0.0, 1.0):
        out[k == n * rate] = 0.0
        return out
    # Nobody, or everybody.
    out[k == n] = n[k == n] * math.log(rate)
    out[k == 0] = n[k == 0] * math.log1p(-rate)
    inside = (k > 0) & (k < n) & (k == np.floor(k))
    k, n = k[inside], n[inside]
    shape = _stirling(n) - _stirling(k) - _stirling(n - k) + 0.5 * np.log(n / (2 * math.pi * k * (n - k)))
    out[inside] = shape - _deviance(k, n * rate) - _deviance(n - k, n * (1 - rate))
    return out


def _stirling(n: Floats) -> Floats:
    """`log n!` less Stirling's formula, for whole numbers from 1 on."""
    from scipy.special import gammaln

    small = np.minimum(n, 16.0)
    exact = gammaln(small + 1) - (small + 0.5) * np.log(small) + small - 0.5 * math.log(2 * math.pi)
    square = n * n
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n
    return np.where(n <= 15, exact, series)


def _deviance(x: Floats, mean: Floats) -> Floats:
    """`x log(x / mean) + mean - x`, by its series if the two are close."""
    v = (x - mean) / (x + mean)
    square = v * v
    total = np.zeros(x.shape)
    for j in range(10, 0, -1):
        total = (total + 1 / (2 * j + 1)) * square
    close = (x - mean) * v + 2 * x * v * total
    return np.where(np.abs(v) < 0.1, close, x * np.log(x / mean) + mean - x)


#: Nodes of the Gauss-Legendre rule in each panel.
NODES = 12


def panels(centres: Floats, reach: float, width: float, cuts: Iterable[float] = ()) -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss-Legendre panels no wider than `width`, within `reach` of any of the centres.

    Panels end at the centres and at the cuts: a density may have a kink or a jump there.
    """
    points = np.unique(centres)
    breaks = np.flatnonzero(np.diff(points) > 2 * reach) + 1
    grids = []
    for group in np.split(points, breaks):
        low, high = group[0] - reach, group[-1] + reach
        grids.append(np.linspace(low, high, int(np.ceil((high - low) / width)) + 1))
    edges = np.unique(np.concatenate([*grids, points, np.fromiter(cuts, dtype=np.float64)]))
    low, high = edges[:-1], edges[1:]
    middle = (low + high) / 2
    nearest = points[np.minimum(np.searchsorted(points, middle), len(points) - 1)]
    before = points[np.maximum(np.searchsorted(points, middle) - 1, 0)]
    near = np.minimum(np.abs(middle - nearest), np.abs(middle - before)) < reach
    near &= high - low > 1e-14 * np.maximum(1.0, np.abs(middle))
    low, high = low[near], high[near]
    x, w = _rule()
    half = (high - low) / 2
    return (low[:, None] + half[:, None] * (x + 1)).ravel(), (half[:, None] * w).ravel()


@lru_cache(maxsize=1)
def _rule() -> tuple[Floats, Floats]:
    """The nodes and weights of one panel, from -1 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return nodes, weights


#: The law of a whole number: its least value, and the probabilities from there on.
Sum = tuple[int, Floats]


def added(left: Sum, right: Sum, tail: float = TAIL) -> Sum:
    """The law of a sum of independent whole numbers; a `tail` is cut at both ends."""
    chances = np.convolve(left[1], right[1])
    kept = np.flatnonzero((np.cumsum(chances) > tail) & (np.cumsum(chances[::-1])[::-1] > tail))
    return left[0] + right[0] + int(kept[0]), chances[kept[0] : kept[-1] + 1]


#: Both ends of intervals; the upper one does not belong to the interval.
Spans = tuple[Floats, Floats]


#: The next number after zero by convention: an interval up to it holds zero alone. It can be divided.
AFTER_ZERO = 1e-290


#: In place of a value, for numbers published as they are.
AS_IT_IS = np.inf


#: More pieces than this are not listed.
MOST_PIECES = 100_000


def after(values: Floats) -> Floats:
    """The next number after each: an interval up to it holds the number alone."""
    return np.where(values == 0, AFTER_ZERO, np.nextafter(values, np.inf))


class Pieces(NamedTuple):
    """Pieces of the line: both ends of each, and its published value, `AS_IT_IS` if it is left alone."""

    low: Floats
    high: Floats
    value: Floats

    @property
    def left_alone(self) -> list[tuple[float, float]]:
        """Both ends of the pieces published as they are."""
        plain = np.isinf(self.value)
        return list(zip(self.low[plain].tolist(), self.high[plain].tolist(), strict=True))

    @property
    def values(self) -> Floats:
        """The values of the others."""
        return np.unique(self.value[~np.isinf(self.value)])


class Rule(Protocol):
    """A map from each number to one published value: noise needs no more of the rules after it."""

    def apply(self, values: Floats) -> Floats:
        """The published value for each number."""

    def pieces(self, low: float, high: float) -> Pieces:
        """The pieces of the line from `low` to `high`, in increasing order."""

    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """The origins of values from `low` to below `high`: disjoint intervals, empty ones among them."""

    def hidden(self) -> list[tuple[float, float]]:
        """The origins of empty cells."""


def cut_line(low: float, high: float, cuts: ArrayLike, values: ArrayLike) -> Pieces:
    """The pieces between cuts, from `low` to `high`.

    >>> cut_line(0, 9, [4], [4, AS_IT_IS])
    Pieces(low=array([0., 4.]), high=array([4., 9.]), value=array([ 4., inf]))
    """
    edges = np.concatenate([[-np.inf], np.asarray(cuts, np.float64), [np.inf]])
    left, right = np.maximum(edges[:-1], low), np.minimum(edges[1:], high)
    some = left < right
    return Pieces(left[some], right[some], np.asarray(values, np.float64)[some])
