"""The cost of a release for its readers: the distance of its numbers from the counts, and their number."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.mechanisms import Mechanism
from passerby.model.release import Release
from passerby.others.counted import numbers
from passerby.people.habits import People
from passerby.support.rule_of_five import FEW

from .lever import Cell, cells_of, spots, ways_of

Floats = NDArray[np.float64]
#: A count of a release, and the number of equal ones before it: fresh draws may be published twice.
Number = tuple[Cell, int]

#: The largest error of a table stays below `Cost.worst` with this chance.
OFTEN = 0.95


@dataclass(frozen=True)
class Cost:
    """The readers' loss against the true counts.

    `mean` is the expected absolute error of a published number. `worst` bounds the largest error of the whole table,
    with a chance of 95 % if it is random. Both are None if nothing is published. `published` is the published share of
    the wanted numbers. `total` is the expected sum of all errors as a share of the sum of all counts (of one person, if
    nobody is counted): 0 is the table itself, and 1 is nothing. An unpublished number is taken for an even share of the
    smallest published number around it, of a larger zone or a longer time. Without one it is taken for zero. With
    weights, mean, share and total are weighted; `numbers` is the mean number of published values. One person more or
    less in a count changes `total` by `person` at most, and one number more or less `published` by `number`.
    """

    mean: float | None
    worst: float | None
    published: float
    total: float
    numbers: float
    person: float = 0.0
    number: float = 0.0


NOTHING = Cost(None, None, 0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Truth:
    """The numbers of a release without any mechanism, and the importance of each (T, M)."""

    numbers: Callable[[Release], Sequence[int]]
    weights: Floats | None = None

    @classmethod
    def about(cls, people: People, weights: Floats | None = None) -> Truth:
        """The true counts of these people, in memory: each release asks for the wanted numbers."""
        return cls(lru_cache(maxsize=64)(lambda release: numbers(people, release).tolist()), weights)

    def as_told(self, wanted: Release) -> Truth:
        """The same, with numbers below `FEW` taken for their mean over the wanted ones, or for 0 if they add up to few.

        Otherwise the errors of many releases, compared with all published numbers, would reveal the unpublished ones.

        >>> wanted = Release([[0, 1, 2]])
        >>> [list(Truth(lambda _: some).as_told(wanted).numbers(wanted)) for some in ([9, 1, 3], [9, 2, 4])]
        [[9, 0, 0], [9, 3, 3]]
        """
        small = [number for number in self.numbers(wanted) if number < FEW]
        taken = round(sum(small) / len(small)) if sum(small) >= FEW else 0
        return replace(
            self,
            numbers=lru_cache(maxsize=64)(
                lambda release: [number if number >= FEW else taken for number in self.numbers(release)]
            ),
        )

    def of(self, release: Release) -> dict[Number, int]:
        """The true number of each count."""
        return dict(zip(_each(release), map(int, self.numbers(release)), strict=True))

    def weight(self, cell: Cell) -> float:
        """The importance of a count: the mean over its places and steps."""
        if self.weights is None:
            return 1.0
        return float(np.mean([self.weights[t, x] for x, t in cell.around]))


def cost_of(release: Release, wanted: Release, truth: Truth) -> Cost:
    """The cost of a release, for readers of the wanted counts.

    Laws are the laws of the mechanisms: an empty number is not published.

    >>> from passerby.mechanisms import Gaussian
    >>> wanted = Release([[0, 1], [0, 1]])
    >>> ten = Truth(lambda release: [10] * len(cells_of(release)))
    >>> cost_of(Release([[0], [0]], Gaussian(2.0)), wanted, ten)
    Cost(mean=1.59..., worst=4.47..., published=0.5, total=0.57..., numbers=2.0, person=0.025, number=0.25)
    """
    cells, kept = truth.of(wanted), truth.of(release)
    ways = dict(zip(_each(release), ways_of(release), strict=True))
    weight = {cell: truth.weight(cell[0]) for cell in {**cells, **kept}}
    whole = sum(weight[cell] for cell in cells)
    if not kept or whole == 0:
        return NOTHING
    told = {cell: error_of(ways[cell], number) for cell, number in kept.items()}
    shown = sum(weight[cell] * told[cell][0] for cell in kept)
    if shown == 0:
        return NOTHING
    off = sum(weight[cell] * told[cell][1] for cell in kept)
    itself = sum(weight[cell] * told[cell][0] for cell in cells if cell in kept)
    lost, parts = 0.0, _parts(tuple(cells), tuple(kept))
    for cell, number in cells.items():
        chance, error = (0.0, 0.0)
        if cell in kept:
            chance, error = told[cell]
        elif cell in parts:
            larger, share = parts[cell]
            chance, error = error_of(ways[larger], kept[larger], share * number)
            error /= share
        lost += weight[cell] * (error + (1 - chance) * number)
    most = max(weight[cell] for cell in cells)
    sum_of = sum(weight[cell] * number for cell, number in cells.items()) or most
    return Cost(
        off / shown,
        _worst_of_all(ways, kept),
        itself / whole,
        lost / sum_of,
        sum(chance for chance, _ in told.values()),
        most / sum_of,
        most / whole,
    )


@lru_cache(maxsize=256)
def _each(release: Release) -> tuple[Number, ...]:
    """All counts of a release, in its order."""
    before: Counter[Cell] = Counter()
    out = []
    for cell in cells_of(release):
        out.append((cell, before[cell]))
        before[cell] += 1
    return tuple(out)


@lru_cache(maxsize=256)
def _parts(wanted: tuple[Number, ...], published: tuple[Number, ...]) -> dict[Number, tuple[Number, int]]:
    """For each unpublished wanted count, the smallest published one around it, and its number of parts.

    A number wanted twice and published once counts as published.
    """
    there, known = {*published}, {cell: spots(cell) for cell, _ in wanted}
    new = {each: where for each in published if each[0] not in known and (where := spots(each[0])) is not None}
    inside = {each: sum(part is not None and part <= whole for part in known.values()) for each, whole in new.items()}
    out: dict[Number, tuple[Number, int]] = {}
    for cell, before in wanted:
        where = known[cell]
        holding = [each for each, whole in new.items() if where is not None and where <= whole]
        if (cell, before) in there:
            continue
        if (cell, 0) in there:
            out[cell, before] = (cell, 0), 1
        elif holding:
            smallest = min(holding, key=lambda each: len(new[each]))
            out[cell, before] = smallest, inside[smallest]
    return out


@lru_cache(maxsize=4096)
def error_of(mechanism: Mechanism, count: int, wanted: int | None = None) -> tuple[float, float]:
    """The chance of a number being published at this count, and its expected absolute error in this case.

    The second is the mean over all possible values, with an empty cell as no error: `E[|Y - c|; published]`. Here c is
    the count, or the number `wanted` instead. It uses closed forms for normal and Laplace noise, sums over the law if
    it can be listed, and integrals over densities for others.

    >>> from passerby.mechanisms import Laplace, Rounding, Suppression
    >>> error_of(Rounding(5), 7), error_of(Suppression(10), 7), error_of(Laplace(3.0), 7)
    ((1.0, 2.0), (0.0, 0.0), (1.0, 3.0))
    """
    aim = count if wanted is None else wanted
    off = abs(count - aim)
    if mechanism.rules is not None:
        value = np.array([float(count)])
        for rule in mechanism.rules:
            value = rule.apply(value)
        return (0.0, 0.0) if np.isnan(value[0]) else (1.0, abs(float(value[0]) - aim))
    known = mechanism.reader_error(off)
    if known is not None:
        return 1.0, known
    values, chances = _law(mechanism, count)
    shown = ~np.isnan(values)
    return min(1.0, float(chances[shown].sum())), float(chances[shown] @ np.abs(values[shown] - aim))


@lru_cache(maxsize=4096)
def _law(mechanism: Mechanism, count: int) -> tuple[Floats, Floats]:
    """The possible values, with their chances; for a continuum, nodes of an integration and their shares of it."""
    if mechanism.outputs(count) is not None:
        return mechanism.law(count)
    values, weights = mechanism.quadrature(count)
    return values, weights * np.exp(mechanism.log_likelihood(values, count))


def _worst_of_all(ways: dict[Number, Mechanism], counts: dict[Number, int]) -> float:
    """The worst of all mechanisms, each at a level high enough for 95 % for all together."""
    groups: dict[Mechanism, list[int]] = {}
    for cell, count in counts.items():
        groups.setdefault(ways[cell], []).append(count)
    level = OFTEN ** (1 / len(groups))
    return max(_worst(mechanism, some, level) for mechanism, some in groups.items())


def _worst(mechanism: Mechanism, counts: list[int], level: float) -> float:
    """The smallest e with `Π Pr[|Y_i - c_i| <= e] >= level` over all counts; an empty cell has no error."""
    if mechanism.rules is not None:
        return max(error_of(mechanism, count)[1] for count in counts)
    distinct, times = np.unique(counts, return_counts=True)
    if mechanism.shift_invariant:
        distinct, times = distinct[:1], np.array([len(counts)])
    if mechanism.outputs(int(distinct[0])) is None:
        with suppress(UnsupportedRelease):  # a mechanism of one's own may not say how likely values lie between two
            return _worst_of_continuum(mechanism.unfolded(), distinct, times, level)
    within = [_within(mechanism, int(count)) for count in distinct]
    errors = np.unique(np.concatenate([some for some, _ in within]))
    logs = np.zeros(len(errors))
    for (some, chance), n in zip(within, times, strict=True):
        at = np.searchsorted(some, errors, side="right") - 1
        with np.errstate(divide="ignore"):
            logs += n * np.log(np.where(at < 0, 0.0, chance[np.maximum(at, 0)]))
    enough = np.flatnonzero(logs >= math.log(level))
    # The lists leave out next to nothing: their last error is always enough.
    return float(errors[enough[0] if enough.size else -1])


def _worst_of_continuum(
    mechanism: Mechanism, counts: NDArray[np.int64], times: NDArray[np.int64], level: float
) -> float:
    """The same by bisection."""
    at = counts.astype(np.float64)
    empty = np.zeros(len(at))
    if mechanism.hides:
        empty = np.exp(mechanism.log_likelihood(np.full(len(at), np.nan), at))

    def enough(error: float) -> bool:
        with np.errstate(divide="ignore"):
            inside = np.exp(mechanism.log_between(at - error, np.nextafter(at + error, np.inf), at))
            return float(times @ np.log(np.minimum(1.0, empty + inside))) >= math.log(level)

    ends = [mechanism.extent(count, math.log(1e-12)) for count in at]
    low, high = 0.0, max(max(count - a, b - count) for count, (a, b) in zip(at, ends, strict=True))
    if enough(low):
        return low
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def _within(mechanism: Mechanism, count: int) -> tuple[Floats, Floats]:
    """Listed errors, in increasing order, and the chance of the error being at most each."""
    values, chances = _law(mechanism, count)
    errors = np.where(np.isnan(values), 0.0, np.abs(values - count))
    order = np.argsort(errors, kind="stable")
    return errors[order], np.minimum(1.0, np.cumsum(chances[order]))
