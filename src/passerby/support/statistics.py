"""Statistics: confidence limits, likelihood ratios, and sums and ranks of numbers in blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

#: The distance of a limit from the refuted mean, as a share of it; a lower limit below this share of a value is zero.
FINEST, SMALLEST = 1e-13, 1e-17


def upper_limit(values: NDArray[np.float64], confidence: float, guide: NDArray[np.float64] | None = None) -> float:
    """An upper confidence limit for the mean of independent draws in [0, 1], valid for every sample size and law.

    The values may also be dependent upper bounds on the draws. Then `guide` must hold a number in [0, 1] for each draw,
    a function of this draw alone: the stakes follow from it.

    A gambler betting against "the mean is m" multiplies their capital by `1 + λ_i (m - x_i)`. The stakes λ_i depend on
    earlier draws only. If the mean is m or more, the capital ever reaches `1 / (1 - confidence)` with probability at
    most `1 - confidence` (Ville's inequality). The limit is the smallest refuted m. It adapts to the spread of the
    values, as in Waudby-Smith and Ramdas (2024), "Estimating means of bounded random variables by betting".

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

    def won(mean: float) -> float:
        # Nobody can lose more than they have. The gain grows with the mean in any case.
        stake = np.minimum(0.95 / (1 - mean), stakes) if mean < 1 else stakes
        return float(np.log1p(stake * (mean - values)).cumsum().max()) - target

    return min(1.0, _crossing(won, float(values.mean()), 1.0)[1])


def lower_limit(values: NDArray[np.float64], confidence: float, guide: NDArray[np.float64] | None = None) -> float:
    """A lower confidence limit for the mean, in the same way; the values may be lower bounds on the draws.

    The gambler multiplies their capital by `1 + λ_i (x_i - m)`. This does not need an upper end of the values: however
    small these are, the limit is as close to their mean. Nothing is staked before something was won.

    >>> round(lower_limit(np.ones(1000), 0.99), 4)
    0.995
    """
    guide = values if guide is None else guide
    # Bets depend on ratios alone. The largest becomes one, so the squares of tiny values do not vanish.
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

    def won(mean: float) -> float:
        return float(np.log1p(np.minimum(0.95 / mean, stakes) * (values - mean)).cumsum().max()) - target

    high = float(values.mean())
    # The gain grows without end as the mean falls to 0: every mean close enough to 0 is refuted.
    low = high
    while won(low) < 0:
        low /= 16
        if low < SMALLEST:
            return 0.0
    return low * top if low == high else -_crossing(lambda mean: won(-mean), -min(high, 16 * low), -low)[1] * top


def _crossing(rising: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Neighbouring numbers around the zero of a rising function, by false position (Illinois).

    It is below 0 at the first, and not at the second. If it never reaches 0, the second is infinite.

    >>> low, high = _crossing(lambda x: x**3 - 2, 0.0, 2.0)
    >>> low**3 < 2 <= high**3, round(high, 9)
    (True, 1.25992105)
    """
    below, above = rising(low), rising(high)
    if above < 0:
        return high, math.inf
    if below >= 0:
        return low, low
    last = 0
    for turn in range(100):
        if high - low <= FINEST * abs(high):
            break
        part = -below / (above - below) if turn < 40 else 0.5
        # Never next to an end, so the other end comes closer as well.
        step = min(max(part * (high - low), FINEST * abs(high) / 2), (high - low) * (1 - 1e-3))
        middle = low + step
        if not low < middle < high:
            break
        value = rising(middle)
        if value >= 0:
            high, above, below = middle, value, below / 2 if last > 0 else below
            last = 1
        else:
            low, below, above = middle, value, above / 2 if last < 0 else above
            last = -1
    return low, high


def standard_error(values: NDArray[np.float64], room: float = 1.0) -> float:
    """The standard error of the mean of independent draws from a range of width `room`; 0 only without room.

    Draws all alike, but for rounding, show no spread of their own. Something else may still be drawn with a chance of
    `1 / n`. More than one in three samples of n draws miss it, as often as a mean lies more than its standard error
    away.

    >>> standard_error(np.ones(1000)), round(standard_error(np.array([0.0, 1.0])), 3)
    (0.001, 0.5)
    """
    n = len(values)
    if n == 0:
        return room
    alike = n == 1 or float(np.ptp(values)) <= 64 * np.finfo(float).eps * float(np.abs(values).max())
    return room / n if alike else float(values.std(ddof=1) / math.sqrt(n))


def share_limits(found: NDArray[np.bool_], confidence: float) -> tuple[float, float]:
    """Lower and upper confidence limits, each at this level, for a share by draws of it (Clopper-Pearson 1934).

    >>> low, high = share_limits(np.arange(100) < 10, 0.975)
    >>> round(low, 4), round(high, 4)
    (0.049, 0.1762)
    """
    from scipy.special import betaincinv

    n, k, doubt = len(found), int(found.sum()), 1 - confidence
    low = float(betaincinv(k, n - k + 1, doubt)) if k else 0.0
    return low, float(betaincinv(k + 1, n - k, 1 - doubt)) if k < n else 1.0


def most_people(seen: int, drawn: int, people: int, confidence: float) -> int:
    """An upper confidence limit for a number among `people`, if `seen` of `drawn` ones are counted in it.

    The largest number K with a likely result as small as this: `Pr[X <= seen | K] > 1 - confidence`, with X
    hypergeometric. This is the limit of Clopper and Pearson (1934) for a finite number of people; if everybody was
    drawn, it is `seen`.

    >>> most_people(0, 100, 2000, 0.99), most_people(3, 10, 10, 0.99)
    (87, 3)
    """
    low, high = seen, people - (drawn - seen)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _at_most(seen, drawn, middle, people) > 1 - confidence else (low, middle - 1)
    return low


def least_people(seen: int, drawn: int, people: int, confidence: float) -> int:
    """A lower confidence limit, in the same way: the rest of the people, from above.

    >>> least_people(100, 100, 2000, 0.99), least_people(3, 10, 10, 0.99)
    (1913, 3)
    """
    return people - most_people(drawn - seen, drawn, people, confidence)


def _at_most(seen: int, drawn: int, there: int, people: int) -> float:
    """`Pr[X <= seen]` for `drawn` of `people`, with `there` of them counted."""
    from scipy.special import gammaln

    def log_choose(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    first = max(0, drawn - (people - there))
    if seen < first:
        return 0.0
    k = np.arange(first, min(seen, there, drawn) + 1)
    logs = log_choose(there, k) + log_choose(people - there, drawn - k) - log_choose(people, np.array([drawn]))
    return float(min(1.0, np.exp(logs).sum()))


Floats = NDArray[np.float64]

#: Shares of the likelihood with the target this close are the same but for rounding. Logarithms of listed likelihoods
#: reach 41. Their last digit is 7e-15, and a quarter of it goes into a share.
SAME = 4e-15
#: The probability left out of all outcomes of a step together.
LOST = 1e-16


def without_faintest(rows: Floats) -> Floats:
    """Likelihoods (outcomes, columns) without the faintest outcomes, no more than `LOST` in all."""
    total = rows.sum(axis=1)
    if total.min(initial=1.0) > LOST:
        return rows
    order = np.argsort(total, kind="stable")
    kept = np.ones(len(rows), dtype=bool)
    kept[order[np.cumsum(total[order]) <= LOST]] = False
    return rows[kept]


def by_ratio(table: Floats) -> Floats:
    """Outcomes (n, 2) by increasing likelihood ratio, equal ratios added up.

    >>> by_ratio(np.array([[0.2, 0.1], [0.5, 0.0], [0.3, 0.9], [0.0, 1e-30]])).round(3)
    array([[0.5, 0. ],
           [0.2, 0.1],
           [0.3, 0.9]])
    """
    table = without_faintest(table)
    share = table[:, 1] / table.sum(axis=1)
    order = np.argsort(share, kind="stable")
    first: list[int] = []
    top = -np.inf
    for i, value in enumerate(share[order].tolist()):
        if value > top:
            first.append(i)
            top = value + SAME
    return np.asarray(np.add.reduceat(table[order], first, axis=0)) if first else table


Words = NDArray[np.uint64]

_BITS = 16
_SIGN = np.uint64(1 << 63)


def exact_sum(values: Floats) -> Fraction:
    """The sum of finite numbers (n,) without any rounding.

    >>> float(exact_sum(np.array([1e16, 1.0, -1e16])))
    1.0
    """
    mantissa, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    whole = (mantissa * 2.0**53).astype(np.int64)
    total = Fraction(0)
    for power in np.unique(exponent).tolist():
        some = whole[exponent == power]
        # In two halves, so no sum of them leaves 64 bits.
        number = (int((some >> 27).sum()) << 27) + int((some & (2**27 - 1)).sum())
        total += number * Fraction(2) ** (power - 53)
    return total


def exact_mean(total: Fraction, count: int) -> float:
    """The mean of so many numbers with this sum, rounded once."""
    return float(total / count)


def sort_keys(values: Floats) -> Words:
    """Words (n,) in the order of the numbers, NaN excluded."""
    words = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return np.where(words & _SIGN, ~words, words | _SIGN)


def value_of_key(key: int) -> float:
    """The number of a word.

    >>> value_of_key(int(sort_keys(np.array([-0.25]))[0]))
    -0.25
    """
    word = np.uint64(key)
    return float((word & ~_SIGN if word & _SIGN else ~word).view(np.float64))


def first_bits(words: Words, begin: Sequence[int], level: int) -> dict[int, dict[int, int]]:
    """For each way to begin with the first `16 * level` bits, how many words go on with each 16 bits."""
    out: dict[int, dict[int, int]] = {}
    shift = np.uint64(64 - _BITS * (level + 1))
    for head in begin:
        inside = words if level == 0 else words[(words >> np.uint64(64 - _BITS * level)) == np.uint64(head)]
        found, counts = np.unique((inside >> shift) & np.uint64(2**_BITS - 1), return_counts=True)
        out[head] = dict(zip(found.tolist(), counts.tolist(), strict=True))
    return out


#: Counts, over all blocks, for the ways to begin of each column, at a level: see `first_bits`.
Count = Callable[[Mapping[str, Sequence[int]], int], Iterable[Mapping[str, Mapping[int, Mapping[int, int]]]]]


def at_ranks(wanted: Mapping[str, Sequence[int]], count: Count) -> dict[str, dict[int, float]]:
    """The values at some ranks (from 0, by size) of each column, in four rounds of counting.

    >>> table = {"a": np.array([0.5, -1.0, 3.0])}
    >>> def count(begin, level):
    ...     yield {name: first_bits(sort_keys(table[name]), heads, level) for name, heads in begin.items()}
    >>> at_ranks({"a": [0, 2]}, count)
    {'a': {0: -1.0, 2: 3.0}}
    """
    # For each rank: the beginning of a value, and its rank among the values of this beginning.
    state = {name: {rank: (0, rank) for rank in ranks} for name, ranks in wanted.items()}
    for level in range(64 // _BITS):
        begin = {name: sorted({head for head, _ in found.values()}) for name, found in state.items()}
        total: dict[tuple[str, int], dict[int, int]] = {}
        for part in count(begin, level):
            for name, heads in part.items():
                for head, counts in heads.items():
                    into = total.setdefault((name, head), {})
                    for bits, number in counts.items():
                        into[bits] = into.get(bits, 0) + number
        for name, found in state.items():
            for rank, (head, left) in found.items():
                for bits, number in sorted(total[name, head].items()):
                    if left < number:
                        found[rank] = (head << _BITS | bits, left)
                        break
                    left -= number
    return {name: {rank: value_of_key(head) for rank, (head, _) in found.items()} for name, found in state.items()}
