"""Recovery of a table's hidden numbers from the shown ones: totals beside parts, and tables beside each other.

Every number counts people of some kinds, so the published numbers bound the number of people of each kind. The range of
a hidden number holds its possible values, given all others. It is the result of a whole-numbered programme with an
unknown for each kind. A number whose range is a single value is not hidden.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.measurement.sensitivity import anybody
from passerby.mechanisms import Mechanism
from passerby.mechanisms.fixed import hidden_spans, spans_of
from passerby.mechanisms.laws import Rule
from passerby.model.count import mechanism_of
from passerby.model.count_release import of_steps
from passerby.model.counts import Count
from passerby.model.release import Release
from passerby.outcomes.series import as_published

Ints = NDArray[np.int64]
#: Whole numbers from the first to the last; the last may be infinity.
Span = tuple[int, float]

#: More kinds of people than this are not told apart.
MOST_KINDS = 5_000
CONTRADICTION = "published: there are no numbers of people for which all of these are published"


@dataclass(frozen=True)
class Cell:
    """A published number: its possible counts, by itself and together with all others."""

    count: Count
    value: float
    alone: Span
    together: Span

    @property
    def recovered(self) -> bool:
        """Whether the other numbers give away the count, although this one does not."""
        return self.alone[0] < self.alone[1] and self.together[0] == self.together[1]


def recovered(
    release: Release, published: Iterable[float | Iterable[float]], *, also: Iterable[Count] = ()
) -> list[Cell]:
    """The range of each count given all published numbers: the fewest and the most people in it.

    For rules without chance (raw counts, suppression, rounding, bands, scaling), in the form of the release's counts.
    Counts hidden `also` are complementary suppressions: their rule is known to show them (`conceal`).

    >>> from passerby import Present, Suppression
    >>> parts = [Present([0], step=0), Present([1], step=0), Present([2], step=0)]
    >>> table = Release(counts=[*parts, Present([0, 1, 2], step=0)], steps=1, mechanism=Suppression(10))
    >>> for cell in recovered(table, [[float("nan"), 40, 31, 76]]):
    ...     print(cell.value, cell.alone, cell.together, cell.recovered)
    nan (0, 9) (5, 5) True
    40.0 (40, 40) (40, 40) False
    31.0 (31, 31) (31, 31) False
    76.0 (76, 76) (76, 76) False
    """
    table = Table.of(release, published)
    cells = table.cells(table.numbers(also, "also"))
    table.check(cells)
    return cells


@dataclass(frozen=True)
class Table:
    """Published numbers: their `counts`, the `values`, and the `groups` of counts that may be about the same people.

    `kinds` has, for each group with an open number, the kinds of people distinguished by its counts.
    """

    counts: tuple[Count, ...]
    values: list[float]
    groups: list[list[int]]
    steps: int

    @classmethod
    def of(cls, release: Release, published: Iterable[float | Iterable[float]]) -> Table:
        """Published values, in the form of the release's counts."""
        if not isinstance(release, Release) or not release.fixed:
            raise InputError(f"release: expected a Release that is fixed in advance, got {release!r}")
        values = as_published(release, published)
        told = [float(values[t, j]) for t, step in enumerate(release.sensors) for j in range(len(step))]
        return cls(release.listed, told, _linked(release.listed), release.steps)

    def numbers(self, counts: Iterable[Count], name: str) -> set[int]:
        """The numbers of these counts."""
        if isinstance(counts, (str, bytes, Count)) or not isinstance(counts, Iterable):
            raise InputError(f"{name}: expected a list of counts, such as release.listed[:1], got {counts!r}")
        found = list(counts)
        for count in found:
            if count not in self.counts:
                raise InputError(f"{name}: {count!r} is none of the counts of the release; take them from listed")
        return {i for i, count in enumerate(self.counts) if count in found}

    @cached_property
    def kinds(self) -> dict[int, Ints]:
        """The kinds of each group, found at the first request."""
        return {}

    def cells(self, also: Collection[int] = ()) -> list[Cell]:
        """The range of each count, with some hidden `also`, though their rule would show them."""
        possible = [self.possible(i, i in also) for i in range(len(self.counts))]
        alone = [ends_of(spans) for spans in possible]
        together = list(alone)
        for g, group in enumerate(self.groups):
            for i, found in zip(group, self.ranges(g, [possible[i] for i in group]), strict=True):
                together[i] = found
        told = [math.nan if i in also else value for i, value in enumerate(self.values)]
        return [Cell(*parts) for parts in zip(self.counts, told, alone, together, strict=True)]

    def check(self, cells: Sequence[Cell]) -> None:
        """Refuse contradictory numbers if nothing is open; otherwise `cells` does.

        Groups with too many kinds of people are believed.
        """
        for g, group in enumerate(self.groups):
            alone = [cells[i].alone for i in group]
            if len(group) > 1 and all(low == high for low, high in alone):
                with suppress(UnsupportedRelease):
                    kinds = self.kinds_of(g)
                    if _least(kinds, np.zeros(len(kinds), dtype=np.int64), [[span] for span in alone]) == math.inf:
                        raise InputError(CONTRADICTION)

    def possible(self, i: int, also: bool) -> list[Span]:
        """The possible counts of a number by itself; a number hidden `also` is known to be a shown one."""
        return _shown(self.counts[i]) if also else _published(self.counts[i], self.values[i])

    def ranges(self, group: int, possible: Sequence[list[Span]]) -> Iterable[Span]:
        """The possible counts of a group's numbers given all of them, from the possible counts of each by itself."""
        alone = [ends_of(spans) for spans in possible]
        if all(low == high for low, high in alone):
            return alone
        return _ranges(self.kinds_of(group), possible)

    def kinds_of(self, group: int) -> Ints:
        """The kinds of people distinguished by the counts of a group."""
        if group not in self.kinds:
            self.kinds[group] = _kinds([self.counts[i] for i in self.groups[group]], self.steps)
        return self.kinds[group]


def ends_of(spans: Sequence[Span]) -> Span:
    """The least and the largest number of some spans in order."""
    return spans[0][0], spans[-1][1]


def _shown(count: Count) -> list[Span]:
    """The counts shown by a rule: with zeros kept, none and the counts from its limit on."""
    try:
        hidden = _published(count, math.nan)
    except InputError:
        hidden = []  # it hides none
    out: list[Span] = []
    first: float = 0
    for low, high in hidden:
        if first < low:
            out.append((int(first), low - 1))
        first = high + 1
    return [*out, (int(first), math.inf)] if math.isfinite(first) else out


def _published(count: Count, value: float) -> list[Span]:
    """The counts published as this value, in order."""
    steps = _fixed(mechanism_of(count))
    spans = hidden_spans(steps) if math.isnan(value) else spans_of(steps, np.array([value]))
    ranges: list[Span] = []
    for low, high in sorted((float(low[0]), float(high[0])) for low, high in spans):
        first, last = math.ceil(max(0.0, low)), _before(high)
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = ranges[-1][0], max(ranges[-1][1], last)
        elif first <= last:
            ranges.append((first, last))
    if not ranges:
        raise InputError(
            f"published: {value:g} is not what {count.mechanism!r} makes of any number of people, in {count!r}"
        )
    return ranges


def _before(end: float) -> float:
    """The largest whole number below an end."""
    return math.inf if math.isinf(end) else math.ceil(end) - 1


def _fixed(rule: Mechanism) -> tuple[Rule, ...]:
    """The deterministic rules within this one."""
    if rule.rules is None:
        raise UnsupportedRelease(f"{rule!r}: what may be behind a number is bounded for rules without chance only")
    return rule.rules


def _linked(counts: Sequence[Count]) -> list[list[int]]:
    """Counts that may be about the same people at the same steps, as groups of their numbers."""
    groups: list[tuple[int, list[int]]] = []
    for i in sorted(range(len(counts)), key=lambda i: counts[i].first):
        if groups and counts[i].first <= groups[-1][0]:
            last, members = groups[-1]
            groups[-1] = max(last, counts[i].read), [*members, i]
        else:
            groups.append((counts[i].read, [i]))
    return [members for _, members in groups]


def _kinds(counts: Sequence[Count], steps: int) -> Ints:
    """All kinds of people distinguished by these counts: the counts of each kind (kinds, counts)."""
    by_step: list[list[Count]] = [[] for _ in range(steps)]
    for count in counts:
        by_step[count.read].append(count)
    release = of_steps(tuple(map(tuple, by_step)))
    chain, told = release.over(anybody(release))
    classes, sees = told.classes(chain), told.sees
    found: list[set[tuple[int, ...]]] = [{()} if start > 0 else set() for start in chain.initial]
    for t, step in enumerate(by_step):
        if t:
            moves = chain.matrix(t - 1) > 0
            found = [set().union(*(found[x] for x in np.flatnonzero(moves[:, y]))) for y in range(chain.states)]
        bits = sees[t][classes[t]][:, : len(step)].tolist()
        found = [{(*before, *bits[y]) for before in each} for y, each in enumerate(found)]
        number = len(set().union(*found))
        if number > MOST_KINDS:
            raise UnsupportedRelease(
                f"these counts tell {number:,} kinds of people or more apart, of which at most {MOST_KINDS:,} are "
                "looked at; look at the counts of fewer steps at a time"
            )
    order = {id(count): i for i, count in enumerate(count for step in by_step for count in step)}
    rows = np.array(sorted(set().union(*found)), dtype=np.int64)
    return rows[rows.any(axis=1)][:, [order[id(count)] for count in counts]]


def _ranges(kinds: Ints, possible: Sequence[list[Span]]) -> Iterator[Span]:
    """The range of each count given the spans of all of them."""
    for column, (low, high) in zip(kinds.T, map(ends_of, possible), strict=True):
        if low == high:
            yield low, high
            continue
        least, most = _least(kinds, column, possible), -_least(kinds, -column, possible)
        if least == math.inf:
            raise InputError(CONTRADICTION)
        yield max(low, int(least)), min(high, most)


def _least(kinds: Ints, aim: Ints, possible: Sequence[list[Span]]) -> float:
    """The least sum of `aim` (kinds,) over numbers of people of each kind with each count in its spans.

    It is infinite without such numbers, and minus infinity without a lower end. A whole-numbered programme takes each
    count to be anywhere from its first span to its last. If a count falls between two spans, each span is tried by
    itself.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    within = LinearConstraint(kinds.T.astype(float), *np.array([*map(ends_of, possible)], dtype=float).T)
    found = milp(
        aim,
        integrality=np.ones(len(kinds), dtype=np.int64),
        bounds=Bounds(0, np.inf),
        constraints=within,
        # By default the solver stops within a ten-thousandth of the least; for a large count this is many people.
        options={"mip_rel_gap": 0.0},
    )
    if found.status:
        return math.inf if found.status == 2 else -math.inf
    for i, n in enumerate(np.rint(found.x) @ kinds):
        spans = possible[i]
        if len(spans) > 1 and not any(low <= n <= high for low, high in spans):
            return min(_least(kinds, aim, [*possible[:i], [span], *possible[i + 1 :]]) for span in spans)
    return round(found.fun)
