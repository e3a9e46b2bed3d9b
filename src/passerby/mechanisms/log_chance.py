"""Probabilities of far tails and narrow intervals in logarithms, with a small relative error everywhere."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: Where the log density of an interval changes by less than this, few nodes integrate it to the last digit.
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
    """An interval, or its mirror image where that is the one in the left tail."""
    low, high = np.broadcast_arrays(np.asarray(low, np.float64), np.asarray(high, np.float64))
    right = low >= 0
    return np.where(right, -high, low), np.where(right, -low, high)


def log_normal(low: ArrayLike, high: ArrayLike) -> Floats:
    """`log(Φ(high) - Φ(low))`.

    A narrow interval is integrated, one around zero is what its two tails leave over, and one in a tail is the
    difference of two tails that are not close to each other.

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
    # The density is taken out at the left end, so that nothing underflows.
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
    """`x log(x / mean) + mean - x`, by its series where the two are close."""
    v = (x - mean) / (x + mean)
    square = v * v
    total = np.zeros(x.shape)
    for j in range(10, 0, -1):
        total = (total + 1 / (2 * j + 1)) * square
    close = (x - mean) * v + 2 * x * v * total
    return np.where(np.abs(v) < 0.1, close, x * np.log(x / mean) + mean - x)
