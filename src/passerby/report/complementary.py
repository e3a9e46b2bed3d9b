"""Complementary suppression on a page: numbers withheld beside small ones, so these do not follow from the rest.

A zone less its other parts gives away a withheld part. So the smallest number that may count the same people is
withheld, too. Then the next follows, until two values or more remain possible (`tables.recover`). If there are too many
counts for this search, all such numbers are withheld. Nor does a zone less some of its parts leave one to four people,
even if the rest is not published by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from passerby.errors import PasserbyError
from passerby.mechanisms import Mechanism, Suppression, Then
from passerby.model.count import mechanism_of
from passerby.model.counts import Count, changed
from passerby.model.release import Release
from passerby.support.rule_of_five import FEW
from passerby.tables.recover import Table

#: The most counts in one search, among counts that may be about the same people.
MOST = 40


def kept_back(counts: Sequence[Count], values: Sequence[float | None], steps: int) -> set[int]:
    """The numbers of counts, published by rules without chance, whose values are kept back; None is not told anyway.

    >>> from passerby import Present, Raw
    >>> counts = [Present(zone, 0, mechanism=Raw()) for zone in ([0], [1], [2], [0, 1])]
    >>> kept_back(counts, [None, 9, 7, 12], 1), kept_back(counts, [8, 9, 7, 17], 1)
    ({3}, set())
    """
    out = _follow(counts, values, steps)
    while few := next(_few_left(counts, [None if i in out else value for i, value in enumerate(values)]), None):
        out.add(min(few, key=lambda i: (values[i] or 0.0, i)))
    return out


def _few_left(counts: Sequence[Count], values: Sequence[float | None]) -> Iterator[list[int]]:
    """Zones with one to four people left without one part, or without as many disjoint parts as possible.

    Of each, the numbers of the counts of the zone and of its parts.

    >>> from passerby import Present
    >>> list(_few_left([Present(zone, 0) for zone in ([0], [1, 2], [0, 1, 2, 3])], [7, 9, 18]))
    [[2, 1, 0]]
    """
    zones = [(i, each) for i, each in enumerate(counts) if each.snapshot and values[i] is not None]
    told = [(i, {*each.zones[0]}, each.read) for i, each in zones]
    for i, zone, step in told:
        parts = [(j, part) for j, part, at in told if at == step and part < zone]
        packed, covered = list[int](), set[int]()
        for j, part in sorted(parts, key=lambda each: -len(each[1])):
            if not part & covered:
                packed.append(j)
                covered |= part
        for inside in (*([j] for j, _ in parts), packed):
            if 0 < (values[i] or 0.0) - sum(values[j] or 0.0 for j in inside) < FEW:
                yield [i, *inside]


def _follow(counts: Sequence[Count], values: Sequence[float | None], steps: int) -> set[int]:
    """Numbers withheld so no withheld count has one possible value."""
    small = [i for i, value in enumerate(values) if value is None]
    beside = {i for i, value in enumerate(values) if value is not None and _any(counts, i, small)}
    if not beside:
        return set()
    ruled = [changed(count, mechanism=_as_told(mechanism_of(count))) for count in counts]
    number = {count: i for i, count in enumerate(ruled)}
    release = Release(counts=ruled, steps=steps)
    given = [math.nan if value is None else value for value in values]
    table = Table.of(release, [[given[number[count]] for count in step] for step in release.counts])
    out: set[int] = set()
    for g, group in enumerate(table.groups):
        members = [number[table.counts[k]] for k in group]
        spare = [i for i in members if i in beside]
        try:
            out |= _least(table, g, members, spare, values, counts) if len(members) <= MOST else {*spare}
        except PasserbyError:
            out |= {*spare}
    return out


def _least(
    table: Table,
    group: int,
    members: list[int],
    spare: list[int],
    values: Sequence[float | None],
    counts: Sequence[Count],
) -> set[int]:
    """Of one group, the smallest numbers first, as long as a withheld count has one possible value."""

    def bare(back: set[int]) -> list[int]:
        possible = [table.possible(k, i in back) for k, i in zip(table.groups[group], members, strict=True)]
        found = zip(members, table.ranges(group, possible), strict=True)
        return [i for i, (low, high) in found if values[i] is None and low == high]

    out: set[int] = set()
    while follow := bare(out):
        left = [i for i in spare if i not in out and _any(counts, i, follow)]
        if not left:
            break
        out.add(min(left, key=lambda i: (values[i], i)))
    for i in sorted(out):
        if not bare(out - {i}):
            out.remove(i)  # another one was enough
    return out


def least_told(rule: Mechanism) -> float:
    """The smallest number shown of a deterministic rule's values: `FEW`, and the rule's value of it.

    >>> from passerby import Raw, Rounding, Scaled
    >>> least_told(Raw()), least_told(Rounding(10)), least_told(Scaled(2.5))
    (5.0, 10.0, 12.5)
    """
    return float(np.fmax(FEW, rule.law(FEW)[0][0]))


def _as_told(rule: Mechanism) -> Mechanism:
    """A rule followed by the page's own."""
    return Then(rule, Suppression(math.ceil(least_told(rule))))


def _any(counts: Sequence[Count], i: int, others: Sequence[int]) -> bool:
    return any(counts[i].meets(counts[other]) for other in others)
