"""The search: bisection over positions in order of evidence, otherwise a grid, and items left out one by one."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from passerby.model.release import Release
from passerby.support.workers import Progress, silent

from .cost import Cost
from .guard import AtPlace, Guard
from .lever import Cell, Choice, Dial, Family, Item, Lever, Scene, Setting, cells_of, without
from .limit import Tally, Verdict, joint
from .panels import AnyPanel

#: The least confidence in a plan keeping the limits, from the drawn people, for a measurement on everyone.
LEAN = 0.8
#: The first budget of one-person measurements for finding an order; with more items, fewer people are used.
SCREEN = 400
#: Of people, no fewer than these.
FEWEST = 8
#: The first sample for a release: if they leave no doubt about a refusal, the others are not measured.
FIRST = 20
#: Items put back one by one if they turn out not to matter.
BACK = 6


@dataclass(frozen=True)
class Plan:
    """A release under trial: its levers, the number of people above each limit, and its cost.

    `stronger` makes the next stronger plan of the same kind, if there is one. `people` were measured one by one to find
    the tallies; the others are on the same side of each limit under all plans. `presence` holds the results on presence
    at counted places, if there is a limit on it.
    """

    settings: tuple[Setting, ...]
    release: Release
    tallies: tuple[Tally, ...]
    cost: Cost
    people: int
    everyone: bool = False
    stronger: Callable[[], Plan | None] | None = field(default=None, compare=False, repr=False)
    presence: tuple[AtPlace, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict on all limits, with the limit on presence at counted places: sure, refused or open."""
        return joint([*self.tallies, *self.presence])

    @property
    def kept(self) -> Verdict:
        """Whether it keeps the limits on people alone."""
        return joint(self.tallies)

    @property
    def words(self) -> str:
        """The published parts, in words."""
        if not cells_of(self.release):
            return "nothing"
        return in_words([setting.words for setting in self.settings]) if self.settings else "all that is wanted"


def in_words(said: Sequence[str]) -> str:
    """The mechanisms on counts, one after another, as one phrase.

    >>> in_words(["counts of 7 of 12 places", "counts rounded to multiples of 5"])
    'counts of 7 of 12 places, rounded to multiples of 5'
    >>> in_words(["counts of 7 of 12 places", "counts with normal noise of standard deviation 2"])
    'counts of 7 of 12 places with normal noise of standard deviation 2'
    """
    first, *rest = said
    for more in rest:
        last = more.removeprefix("counts")
        first += last if last.startswith((",", " with ")) else f",{last}" if last != more else f", {more}"
    return first


class Search:
    """Tries plans on a panel of people, each once, until a deadline."""

    def __init__(
        self,
        panel: AnyPanel,
        wanted: Release,
        scene: Scene,
        cost: Callable[[Release], Cost],
        deadline: float = math.inf,
        progress: Progress | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.guard = guard
        self.panel, self.wanted, self.scene, self.deadline = panel, wanted, scene, deadline
        self.cost = cache(cost)  # what is begun from is asked for with each item that may go
        self.progress = progress or silent
        self.done = self.expected = 0
        self.tried: dict[Release, Plan] = {}
        self.bisections: list[tuple[str, int, int]] = []
        self.refused: dict[str, str] = {}
        self.out_of_time = False

    def attempt(self, settings: tuple[Setting, ...], release: Release) -> Plan:
        """A plan with its tallies on the panel; the second time, the known one."""
        if release not in self.tried:
            self.done += 1
            self.note()
            drawn = len(self.panel.drawn)
            for count in dict.fromkeys((min(FIRST, drawn), drawn)):
                tallies = tuple(self.panel.tallies(release, count=count))
                if joint(tallies) == "refused":
                    break
            there = () if self.guard is None else self.guard.screened(release)
            self.tried[release] = Plan(settings, release, tallies, self.cost(release), count, presence=there)
        return self.tried[release]

    def passes(self, plan: Plan) -> bool:
        """Whether it is likely enough to keep the limits; certain if the panel is everybody affected.

        For strict limits a sample leaves doubt in any case: the demand is then nobody above in it.
        """
        if plan.verdict == "refused":
            return False
        tallies = self.panel.tallies(plan.release, LEAN)
        nobody = [tally.possibly <= stratum.above for tally, stratum in zip(tallies, self.panel.strata, strict=True)]
        kept = [tally.most <= tally.limit.edges(tally.people)[0] for tally in tallies]
        return all(fine or none for fine, none in zip(kept, nobody, strict=True))

    @property
    def over(self) -> bool:
        """Whether the time is up."""
        self.out_of_time = self.out_of_time or time.monotonic() > self.deadline
        return self.out_of_time

    def along(
        self, family: Family, base: Release, before: tuple[Setting, ...] = (), stop: float = np.inf
    ) -> Plan | None:
        """The mildest passing plan of a family, of the positions below `stop`; None without one."""
        positions = [position for position in family.positions if position < stop]

        def at(rank: int) -> Plan:
            settings = (*before, family.setting(positions[rank]))
            plan = self.attempt(settings, family.build(base, positions[rank]))
            if plan.stronger is None and rank + 1 < len(positions):
                plan = replace(plan, stronger=lambda: at(rank + 1))
                self.tried[plan.release] = plan
            return plan

        if not positions or self.over:
            return None
        return (
            self._bisected(family, at, len(positions))
            if family.monotone and self.panel.monotone
            else self._scanned(family, at, positions, base)
        )

    def _bisected(self, family: Family, at: Callable[[int], Plan], size: int) -> Plan | None:
        """Each position is less informative than the one before: passing positions are at the end."""
        before, low, high = len(self.tried), 0, size
        found: Plan | None = None
        while low < high and not self.over:
            middle = (low + high) // 2
            plan = at(middle)
            low, high, found = (low, middle, plan) if self.passes(plan) else (middle + 1, high, found)
        self.bisections.append((family.lever, size, len(self.tried) - before))
        return found

    def _scanned(self, family: Family, at: Callable[[int], Plan], positions: list[float], base: Release) -> Plan | None:
        """The cheapest passing position, tried in order of the cost for readers."""
        cost = [self.cost(family.build(base, position)).total for position in positions]
        for rank in sorted(range(len(positions)), key=lambda rank: cost[rank]):
            if self.over:
                return None
            plan = at(rank)
            if self.passes(plan):
                return plan
        return None

    def family(self, lever: Lever, base: Release) -> Family | None:
        """The family of a lever; None if it does not apply, with the reason recorded."""
        if isinstance(lever, Dial):
            reason = lever.refuses(base, self.scene)
            if reason is None:
                return lever.family(base, self.scene)
            self.refused[lever.name] = reason
            return None
        items = lever.items(base, self.scene)
        if not items or self.over:
            self.refused[lever.name] = "all of its counts must stay"
            return None
        return lever.family(self.ordered(items, base), self._of(lever, base))

    def _of(self, lever: Choice, base: Release) -> int:
        """The number of items, including items that must stay."""
        return len(lever.items(base, replace(self.scene, stay=frozenset())))

    def ordered(self, items: list[Item], base: Release) -> list[Item]:
        """Items in order of leaving out: by the approach to the limits for each bit of cost.

        Greedy and lazy (Minoux 1978): the last gain of an item stands for its present gain. It is found anew only for
        the item in front. Once the limits are kept on the people in use, the rest follows as it is.
        """
        if len(items) * FEWEST > SCREEN:
            return self._by_lines(items, base)
        among = self._some(len(items))
        price = {item: self._price(item, base) for item in items}
        start = self._excess(base, among)
        heap = [
            (-(start - self._excess(without(base, item.cells), among)) / price[item], 0, rank)
            for rank, item in enumerate(items)
        ]
        heapq.heapify(heap)
        gone, now, out = frozenset[Cell](), start, list[Item]()
        while heap:
            _, stamp, rank = heapq.heappop(heap)
            item = items[rank]
            if stamp < len(out) and now > 0 and not self.over:
                gain = now - self._excess(without(base, gone | item.cells), among)
                heapq.heappush(heap, (-gain / price[item], len(out), rank))
                continue
            out.append(item)
            gone |= item.cells
            now = self._excess(without(base, gone), among) if now > 0 and not self.over else now
        return out

    def _by_lines(self, items: list[Item], base: Release) -> list[Item]:
        """The order of many items, each by the gains of its whole step and of its whole place, for each bit of cost."""
        lines: dict[object, set[Cell]] = {}
        for item in items:
            for cell in item.cells:
                lines.setdefault(cell.read, set()).add(cell)
                lines.setdefault(cell.zones, set()).add(cell)
        among = self._some(len(lines))
        start = self._excess(base, among)
        worth = {}
        for line, cells in lines.items():
            gain = start - self._excess(without(base, frozenset(cells)), among)
            worth[line] = max(gain, 0.0) / self._price(Item("", frozenset(cells)), base)
        return sorted(items, key=lambda item: -max(worth[cell.read] * worth[cell.zones] for cell in item.cells))

    def _excess(self, release: Release, among: np.ndarray[tuple[int], np.dtype[np.int64]]) -> float:
        self.done += 1
        self.note()
        return self.panel.excess(release, among) + (0.0 if self.guard is None else self.guard.excess(release))

    def note(self) -> None:
        """Report the progress of the search: releases so far, and about how many there will be."""
        self.expected = max(self.expected, self.done + 1)
        self.progress(self.done, self.expected)

    def _some(self, items: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Drawn people on whom an order is found, evenly spread."""
        drawn = self.panel.drawn
        count = min(len(drawn), max(FEWEST, SCREEN // max(1, items)))
        return drawn[np.linspace(0, len(drawn) - 1, count).round().astype(int)] if count else drawn

    def _price(self, item: Item, base: Release) -> float:
        """The readers' loss by an item; a count of nobody still costs something."""
        share = len(item.cells) / max(1, len(cells_of(base)))
        return self.cost(without(base, item.cells)).total - self.cost(base).total + 0.01 * share

    def put_back(self, plan: Plan, lever: Choice, base: Release) -> Plan:
        """The plan with unneeded removals undone, the dearest items first."""
        items = lever.items(base, self.scene)
        everything, kept = self._of(lever, base), {*cells_of(plan.release)}
        gone = [item for item in items if not item.cells & kept]
        for item in sorted(gone, key=lambda item: -self._price(item, base))[:BACK]:
            if self.over or len(gone) < 2:
                break
            fewer = [other for other in gone if other != item]
            release = without(base, frozenset().union(*(other.cells for other in fewer)))
            setting = Setting(lever.name, float(len(fewer)), lever.kept(everything - len(fewer), everything))
            tried = self.attempt((*plan.settings[:-1], setting), release)
            if self.passes(tried):
                plan, gone = replace(tried, stronger=_giving(plan)), fewer
        return plan


def _giving(plan: Plan) -> Callable[[], Plan]:
    """A function with an existing plan as its result."""
    return lambda: plan
