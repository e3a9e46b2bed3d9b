"""How many of a finite number of people are so, from a sample of them that was drawn without replacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def most_of(seen: int, drawn: int, people: int, confidence: float) -> int:
    """An upper confidence limit for how many of `people` are so, where `seen` of `drawn` ones are.

    The largest number K for which so few in the sample are still likely: `Pr[X <= seen | K] > 1 - confidence`, with X
    hypergeometric. This is the limit of Clopper and Pearson (1934) for a finite number of people; where everybody was
    drawn, it is what was seen.

    >>> most_of(0, 100, 2000, 0.99), most_of(3, 10, 10, 0.99)
    (87, 3)
    """
    low, high = seen, people - (drawn - seen)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _at_most(seen, drawn, middle, people) > 1 - confidence else (low, middle - 1)
    return low


def least_of(seen: int, drawn: int, people: int, confidence: float) -> int:
    """A lower confidence limit, in the same way: those who are not so, from above.

    >>> least_of(100, 100, 2000, 0.99), least_of(3, 10, 10, 0.99)
    (1913, 3)
    """
    return people - most_of(drawn - seen, drawn, people, confidence)


def _at_most(seen: int, drawn: int, there: int, people: int) -> float:
    """`Pr[X <= seen]` where `drawn` of `people` are drawn, of whom `there` are so."""
    from scipy.special import gammaln

    def log_choose(n: int, k: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))

    first = max(0, drawn - (people - there))
    if seen < first:
        return 0.0
    k = np.arange(first, min(seen, there, drawn) + 1)
    logs = log_choose(there, k) + log_choose(people - there, drawn - k) - log_choose(people, np.array([drawn]))
    return float(min(1.0, np.exp(logs).sum()))
