"""The rule of five: a published number rests on at least `FEW` people, or is withheld.

Values of single people become means of `FEW` neighbours in rank. Classes are merged until each holds enough people or
nobody. Shares are told only if no difference of two of them is about a smaller group. This is microaggregation and
merging of cells as in Hundepool et al., *Statistical Disclosure Control* (2012).

Other pages about the same people tell other shares. So numbers of people depending on the release, or on a chosen
level, are told in fives. Between any two pages, their difference is nobody or at least `FEW`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import pairwise, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The smallest group of people of whom anything is told.
FEW = 5

#: A value this little below an edge, by rounding, still counts as at it.
_ROUNDING = 1e-12


def middle_ranks(count: int) -> range | None:
    """The ranks of the `FEW` people around the median, of so many; None for fewer people.

    All ranks if fewer than `FEW` people would be left on a side of them (`rank_ranks`).
    """
    return rank_ranks(count, 0.5) or (range(count) if count >= FEW else None)


def rest_enough(some: int, everyone: int) -> int:
    """So many of everyone, or all if fewer than `FEW` were left out: two means would tell of these.

    >>> rest_enough(100, 250), rest_enough(100, 103)
    (100, 103)
    """
    return everyone if everyone - some < FEW else some


def rank_ranks(count: int, share: float) -> range | None:
    """The ranks of the `FEW` people around the rank of this share, of so many.

    None if fewer than `FEW` people would be left on a side of them. A mean would else tell of these: if it is the
    highest possible value, everybody above has it.
    """
    first = round(share * (count - 1)) - FEW // 2
    return range(first, first + FEW) if first >= FEW and first + 2 * FEW <= count else None


def middle(values: ArrayLike) -> float | None:
    """The median, as the mean of the `FEW` people around it (`middle_ranks`); None for fewer people.

    >>> middle([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 90, 100]), middle([1, 2, 3, 4])
    (8.0, None)
    """
    return _mean_of(values, middle_ranks(np.size(values)))


def at_rank(values: ArrayLike, share: float) -> float | None:
    """The value at the rank of this share of people, as the mean of the `FEW` people around it.

    None if fewer than `FEW` people lie on either side of them.

    >>> at_rank(range(200), 0.95), at_rank(range(100), 0.95)
    (189.0, None)
    """
    return _mean_of(values, rank_ranks(np.size(values), share))


def _mean_of(values: ArrayLike, ranks: range | None) -> float | None:
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return None if ranks is None else float(ordered[ranks.start : ranks.stop].mean())


def reached_ranks(count: int) -> range | None:
    """The ranks of `FEW` people, of so many, with a mean reached by at least `FEW`: up to the fifth from above.

    None if fewer than `FEW` people would be left below them.
    """
    return range(count - 2 * FEW + 1, count - FEW + 1) if count >= 3 * FEW - 1 else None


def reached(values: ArrayLike) -> float | None:
    """A value reached by at least `FEW` people (`reached_ranks`), rounded down to a hundredth; None for few people.

    >>> reached([0.1] * 5 + [0.1, 0.2, 0.3, 0.4, 0.98, 1.0, 1.0, 1.0, 1.0]), reached([1.0] * 13)
    (0.39, None)
    """
    found = _mean_of(values, reached_ranks(np.size(values)))
    return None if found is None else rounded_down(found)


def rounded_down(value: float) -> float:
    """A value rounded down to a hundredth, and so nobody's own."""
    return math.floor(100 * value + 1e-9) / 100


class NestedCounts:
    """Counts of people to be told beside each other, of several values of each of `everyone`.

    Values are ordered: `over` names for each of them the values never below it, all later ones unless told. So anybody
    at or above a level by one value is so by these and at lower levels. Two such counts differ by a group of people. A
    count is told if each group is nobody, or at least `FEW` people. `below` are functions giving the number of people
    below a level (`is_below`), one for each value.

    Counts are told in fives (`count_in_fives`), as other pages tell others of the same people. They are rounded down,
    or up for the values of `up` (bounds).

    >>> values = np.array([0.1] * 6 + [0.4] * 3 + [0.9] * 7)
    >>> found = NestedCounts([lambda level: int(is_below(values, level).sum())], len(values))
    >>> [found.take(level) for level in (0.2, 0.5, 0.95)], found.share(0, 0.2), found.share(0, 0.5)
    ([True, False, True], 0.625, None)
    """

    def __init__(
        self,
        below: Sequence[Callable[[float], int]],
        everyone: int,
        over: Sequence[Collection[int]] | None = None,
        up: Collection[int] = (),
    ) -> None:
        self.everyone, self.up = everyone, up
        self._below = below
        self._over = [range(i + 1, len(below)) for i in range(len(below))] if over is None else over
        self._told: dict[tuple[int, float], int] = {}

    def take(self, level: float, columns: Iterable[int] | None = None, *, divides: bool = False) -> bool:
        """Tell how many are at or above a level by some of the values (by all, unless told): all of these or none.

        Only if it `divides` people by one of them, if so asked: not if nobody lies between this level and other told
        ones.
        """
        chosen = range(len(self._below)) if columns is None else columns
        tried, new = dict(self._told), False
        for column in chosen:
            count = self.everyone - self._below[column](level)
            within = [other for cell, other in tried.items() if self._comparable(cell, (column, level))]
            if any(0 < abs(count - other) < FEW for other in (0, self.everyone, *within)):
                return False
            own = [other for (which, _), other in tried.items() if which == column]
            new = new or count not in (0, self.everyone, *own)
            tried[column, level] = count
        if divides and not new:
            return False
        self._told = tried
        return True

    def take_each(self, levels: Iterable[float], first: Iterable[int]) -> None:
        """Tell counts at some levels, one by one, as far as allowed.

        First all levels by the value that comes `first`, which does not depend on the other ones then, and so on. Of
        two levels with few people between them, the one nearer to one half is told.
        """
        for column, level in product(first, sorted(levels, key=lambda level: abs(level - 0.5))):
            self.take(level, [column])

    def share(self, column: int, level: float) -> float | None:
        """The share of people at or above a level by one of the values, in fives of people; None if withheld.

        Of nobody, there is none.
        """
        if not self.everyone or (column, level) not in self._told:
            return None
        return count_in_fives(self._told[column, level], self.everyone, up=column in self.up) / self.everyone

    def levels(self, columns: Collection[int]) -> list[float]:
        """The levels with counts of all of these values, in increasing order."""
        found = sorted({level for _, level in self._told})
        return [level for level in found if all((column, level) in self._told for column in columns)]

    def _comparable(self, one: tuple[int, float], other: tuple[int, float]) -> bool:
        """Whether all people of one count of (value, level) are in the other."""
        (first, low), (second, high) = one, other
        within = low >= high and (first == second or second in self._over[first])
        return within or (low <= high and (first == second or first in self._over[second]))


def is_below(values: NDArray[np.float64], edge: float) -> NDArray[np.bool_]:
    """Whether each value is below an edge, by more than rounding."""
    return np.asarray(values < edge - _ROUNDING)


def count_in_fives(count: int, everyone: int, *, up: bool = False) -> int:
    """A number of people in fives, rounded down, or `up`; nobody and everyone are told as they are.

    Rounded up, it leaves out nobody or at least `FEW`.

    >>> count_in_fives(13, 60), count_in_fives(13, 60, up=True), count_in_fives(23, 23), count_in_fives(18, 23, up=True)
    (10, 15, 23, 23)
    """
    if count in (0, everyone):
        return count
    if not up:
        return fives_below(count)
    return fives_above(count) if everyone - fives_above(count) >= FEW else everyone


def nested_shares(
    below: Sequence[Callable[[float], int]],
    everyone: int,
    levels: Sequence[float],
    first: Sequence[int] = (0,),
    up: Collection[int] = (),
) -> list[list[float | None]]:
    """The share of people at or above each level, by each of several values; None if it would tell of a small group.

    In fives of people, rounded down but for the values of `up`. No value of a person is below the one before it
    (`NestedCounts`); the `first` ones are preferred.

    >>> nested_shares([counting([0.1] * 8 + [0.3] * 2 + [0.6] * 10)], 20, [0.2, 0.5, 0.9])
    [[None, 0.5, 0.0]]

    >>> nested_shares([counting([0.1] * 9 + [0.6] * 11), counting([0.1] * 8 + [0.6] * 12)], 20, [0.5], (0, 1))
    [[0.5], [None]]
    """
    merged_sizes = NestedCounts(below, everyone, up=up)
    merged_sizes.take_each(levels, first)
    return [[merged_sizes.share(column, level) for level in levels] for column in range(len(below))]


def counting(values: ArrayLike) -> Callable[[float], int]:
    """How many of the values are below a level (`is_below`)."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    return lambda level: int(np.searchsorted(ordered, level - _ROUNDING))


def effective_people(values: ArrayLike) -> float:
    """How many people (n,) a sum of theirs rests on: `(Σ v)² / Σ v²`, and all of them if each has 0.

    It is n if all have the same, 1 if one person alone has any (Kish, *Survey Sampling*, 1965).

    >>> effective_people([0.5, 0.5, 0.5]), effective_people([0.5, 0.0, 0.0]), effective_people([0.0, 0.0])
    (3.0, 1.0, 2.0)
    """
    array = np.asarray(values, dtype=np.float64)
    return effective_people_of(float(array.sum()), float((array**2).sum()), len(array))


def effective_people_of(total: float, squares: float, people: int) -> float:
    """The same from the sum of so many people's values, and the sum of their squares."""
    return total**2 / squares if squares > 1e-24 * max(1, people) else float(people)


def rests_on_few(values: ArrayLike) -> bool:
    """Whether a sum over people rests on fewer than `FEW` of them, by more than rounding.

    >>> rests_on_few([0.5] * 5), rests_on_few([0.5, 0.0, 0.0, 0.0, 0.0])
    (False, True)
    """
    return effective_people(values) < FEW - 1e-9


def two_in_fives(some: int, others: int, told: int) -> tuple[int, float]:
    """How many of the `told` people are some of them and not others, in fives, rounded down; and a weight.

    With this weight, the mean of some goes into the mean of the others, as if the people who were rounded away were
    among them. The mean of all and the means of both then give back the told sizes, and not the true ones.

    >>> size, weight = two_in_fives(82, 218, 300)
    >>> size, round(220 * weight, 6)
    (80, 2.0)
    """
    everyone = some + others
    size = fives_below(some * told / everyone)
    return size, (some / everyone - size / told) / (1 - size / told) if size < told else 0.0


def classes_in_fives(sizes: Sequence[int]) -> list[int]:
    """Sizes of neighbouring classes of at least `FEW` people: those above each edge in fives, the first as the rest.

    >>> classes_in_fives([218, 17, 65]), classes_in_fives([7, 6, 6])
    ([220, 15, 65], [9, 5, 5])
    """
    if not sizes:
        return []
    above = [sum(sizes), *(fives_below(sum(sizes[k:])) for k in range(1, len(sizes))), 0]
    return [high - low for high, low in pairwise(above)]


def mean_told(values: ArrayLike, *, up: bool = False) -> float:
    """The mean of some values; a mean of noughts and ones is a number of people, and is told in fives of them.

    >>> mean_told([0.5, 1.0]), mean_told([1.0] * 8 + [0.0] * 12), mean_told([1.0] * 8 + [0.0] * 12, up=True)
    (0.75, 0.25, 0.5)
    """
    array = np.asarray(values, dtype=np.float64)
    sides = array.round(9)
    if not np.isin(sides, (0.0, 1.0)).all():
        return float(array.mean())
    return count_in_fives(int(sides.sum()), len(array), up=up) / len(array)


def in_fives(share: float, people: int) -> float:
    """A share of so many people in steps of `FEW` of them, and no two shares differ by fewer.

    >>> in_fives(7 / 60, 60) * 60, in_fives(1.0, 12)
    (5.0, 1.0)
    """
    if not people or share in (0.0, 1.0):
        return share
    return min(1.0, FEW * round(share * people / FEW) / people)


def fives_below(people: float) -> int:
    """A number of people in fives, rounded down; rounding errors below a five are forgiven.

    >>> fives_below(9.0), fives_below(10 - 1e-12)
    (5, 10)
    """
    return FEW * math.floor(people / FEW + 1e-9)


def fives_above(people: float) -> int:
    """The same rounded up.

    >>> fives_above(6.0), fives_above(5 + 1e-12)
    (10, 5)
    """
    return FEW * math.ceil(people / FEW - 1e-9)


def merged(sizes: ArrayLike, least: int = FEW) -> list[tuple[int, int]]:
    """Neighbouring classes (n,) put together until each holds nobody or at least `least` people: the ends of each.

    >>> merged([9, 2, 0, 3, 0, 7])
    [(0, 1), (1, 4), (4, 5), (5, 6)]
    """
    counts = np.asarray(sizes, dtype=np.int64)
    out, start = [], 0
    for end in range(1, len(counts) + 1):
        inside, after = int(counts[start:end].sum()), int(counts[end:].sum())
        if all(people == 0 or people >= least for people in (inside, after)):
            out.append((start, end))
            start = end
    return out


def merged_sizes(counts: Mapping[str, int]) -> dict[str, int]:
    """Sizes of groups: sizes below `FEW` are raised to `FEW`, and the largest is lowered by as much.

    >>> merged_sizes({"ok": 58, "refused": 2}), merged_sizes({"ok": 60, "refused": 0})
    ({'ok': 55, 'refused': 5}, {'ok': 60, 'refused': 0})
    """
    out, largest = dict(counts), max(counts, key=lambda name: counts[name], default="")
    for name, count in counts.items():
        if name != largest and 0 < count < FEW:
            raised = min(FEW - count, out[largest])
            out[name] += raised
            out[largest] -= raised
    return out


def sizes_in_fives(counts: Mapping[str, int]) -> dict[str, int]:
    """Sizes of groups in fives, rounded up, and the largest as so many less: other pages tell others of these people.

    >>> sizes_in_fives({"ok": 58, "wide": 7, "refused": 2}), sizes_in_fives({"ok": 6, "wide": 6})
    ({'ok': 52, 'wide': 10, 'refused': 5}, {'ok': 7, 'wide': 5})
    """
    out, largest = merged_sizes(counts), max(counts, key=lambda name: counts[name], default="")
    for name, count in out.items():
        if name != largest and count % FEW:
            raised = fives_above(count) - count
            raised = raised if out[largest] - raised >= FEW else fives_below(count) - count
            out[name] += raised
            out[largest] -= raised
    return out
