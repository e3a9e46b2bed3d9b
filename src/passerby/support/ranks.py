"""Sums and ranks of numbers that lie in blocks, the same to the last bit however they are cut.

Sums are exact, and rounded once. Values at a rank are found by their bits, the first sixteen first: each round counts
how many values begin with each sequence of bits, so that no more than one block is held at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
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
        # In two halves, so that no sum of them leaves 64 bits.
        number = (int((some >> 27).sum()) << 27) + int((some & (2**27 - 1)).sum())
        total += number * Fraction(2) ** (power - 53)
    return total


def mean(total: Fraction, count: int) -> float:
    """The mean of so many numbers with this sum, rounded once."""
    return float(total / count)


def keys(values: Floats) -> Words:
    """Words (n,) in the order of numbers that are not NaN."""
    words = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    return np.where(words & _SIGN, ~words, words | _SIGN)


def value(key: int) -> float:
    """The number of a word.

    >>> value(int(keys(np.array([-0.25]))[0]))
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
    ...     yield {name: first_bits(keys(table[name]), heads, level) for name, heads in begin.items()}
    >>> at_ranks({"a": [0, 2]}, count)
    {'a': {0: -1.0, 2: 3.0}}
    """
    # For each rank: how a value begins, and its rank among those that begin so.
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
    return {name: {rank: value(head) for rank, (head, _) in found.items()} for name, found in state.items()}
