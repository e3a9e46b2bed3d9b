"""Confidence limits for averages of sampled values that lie between 0 and 1."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def upper_limit(values: NDArray[np.float64], confidence: float, guide: NDArray[np.float64] | None = None) -> float:
    """An upper confidence limit for the mean of independent draws in [0, 1], valid for every sample size and law.

    The values may also be upper bounds on the draws that depend on each other; then `guide` must hold, for each draw,
    a number in [0, 1] that depends on that draw alone, from which the stakes are set.

    A gambler who bets against "the mean is m" multiplies their capital by `1 + λ_i (m - x_i)`, with stakes λ_i that
    depend on earlier draws only; if the mean is m or more, the capital ever reaches `1 / (1 - confidence)` with
    probability at most `1 - confidence` (Ville's inequality). The limit is the smallest m that is refuted. It adapts to
    the spread of the values, as in Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by
    betting".

    >>> round(upper_limit(np.zeros(1000), 0.99), 4)
    0.0049
    """
    n = len(values)
    if n == 0:
        return 1.0
    target = math.log(1 / (1 - confidence))
    count = np.arange(1, n + 1)
    guide = values if guide is None else guide
    running = (0.5 + np.cumsum(guide)) / (count + 1)
    spread = (0.05 + np.cumsum((guide - running) ** 2)) / (count + 1)
    before = np.concatenate([[0.05], spread[:-1]])
    stakes = np.sqrt(2 * target / (n * before))

    def refuted(mean: float) -> bool:
        # Nobody can lose more than they have. What is won grows with the mean in any case.
        stake = np.minimum(0.95 / (1 - mean), stakes) if mean < 1 else stakes
        return bool(np.cumsum(np.log1p(stake * (mean - values))).max() >= target)

    low, high = float(values.mean()), 1.0
    if not refuted(high):
        return 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if refuted(middle) else (middle, high)
    return high


def lower_limit(values: NDArray[np.float64], confidence: float, guide: NDArray[np.float64] | None = None) -> float:
    """A lower confidence limit for the mean, in the same way; the values may be lower bounds on the draws.

    The gambler multiplies their capital by `1 + λ_i (x_i - m)`, which does not need an upper end of the values: however
    small these are, the limit is as close to their mean. Nothing is staked before something was won.

    >>> round(lower_limit(np.ones(1000), 0.99), 4)
    0.995
    """
    guide = values if guide is None else guide
    # What is bet depends on ratios alone. So that the squares of tiny values do not vanish, the largest becomes one.
    top = max(float(values.max(initial=0.0)), float(guide.max(initial=0.0)))
    if top == 0:
        return 0.0
    values, guide = values / top, guide / top
    n = len(values)
    target = math.log(1 / (1 - confidence))
    count = np.arange(1, n + 1)
    running = np.cumsum(guide) / count
    spread = (running**2 + np.cumsum((guide - running) ** 2)) / count
    before = np.concatenate([[0.0], spread[:-1]])
    stakes = np.sqrt(np.divide(2 * target / n, before, out=np.zeros(n), where=before > 0))

    def refuted(mean: float) -> bool:
        return bool(np.cumsum(np.log1p(np.minimum(0.95 / mean, stakes) * (values - mean))).max() >= target)

    low, high = 0.0, float(values.mean())
    for _ in range(60):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low * top


def standard_error(values: NDArray[np.float64], room: float = 1.0) -> float:
    """The standard error of the mean of independent draws from a range that is `room` wide; 0 only without room.

    Draws that are all alike, but for rounding, show no spread of their own. Something else may still be drawn with a
    chance of `1 / n`: n draws miss it in more than one case out of three, which is how often a mean lies more than its
    standard error away.

    >>> standard_error(np.ones(1000)), round(standard_error(np.array([0.0, 1.0])), 3)
    (0.001, 0.5)
    """
    n = len(values)
    if n == 0:
        return room
    alike = n == 1 or float(np.ptp(values)) <= 64 * np.finfo(float).eps * float(np.abs(values).max())
    return room / n if alike else float(values.std(ddof=1) / math.sqrt(n))


def share_limits(found: NDArray[np.bool_], confidence: float) -> tuple[float, float]:
    """Lower and upper confidence limits, each at this level, for the share of draws that are so (Clopper-Pearson 1934).

    >>> low, high = share_limits(np.arange(100) < 10, 0.975)
    >>> round(low, 4), round(high, 4)
    (0.049, 0.1762)
    """
    from scipy.special import betaincinv

    n, k, doubt = len(found), int(found.sum()), 1 - confidence
    low = float(betaincinv(k, n - k + 1, doubt)) if k else 0.0
    return low, float(betaincinv(k + 1, n - k, 1 - doubt)) if k < n else 1.0
