"""From a table of counts and a limit to its publication: ways within the limit for personas, and their costs.

A way is sure to keep a limit where the upper ends put few enough people above it, refused where the lower ends put too
many above it, unexamined where it is sure but for personas whose hours are hidden or not in the table, and open
otherwise. People are personas with their weights. A place may be left out where it breaks the limit with a mechanism
that keeps it elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from passerby.errors import InputError
from passerby.mechanisms import DiscreteGaussian, Raw, Rounding, Suppression, Then
from passerby.support.checks import shown
from passerby.tables.cast import cast_of
from passerby.tables.check import WEEKS, Ends, presence, remarks_of
from passerby.tables.days import PersonaDays
from passerby.tables.read import CountTable, read_counts
from passerby.tables.ways import ReaderLosses, WayToPublish, reader_losses

from .limit import AGAINST, ROUNDING, Against, Limit

#: The positions of each lever, the least change first.
OFFERS: dict[str, tuple[WayToPublish, ...]] = {
    "suppression": tuple(WayToPublish(f"hidden below {k}", Suppression(k)) for k in (5, 10, 20)),
    "rounding": (
        *(WayToPublish(f"rounded to {k}", Rounding(k)) for k in (5, 10, 20, 50)),
        WayToPublish("hidden below 10, then rounded to 5", Then(Suppression(10), Rounding(5))),
    ),
    "discrete-gaussian": tuple(
        WayToPublish(f"with noise {sigma:g}", DiscreteGaussian(sigma)) for sigma in (1.0, 2.0, 4.0, 8.0)
    ),
}
PLACES = "places"
LEVERS = (*OFFERS, PLACES)
RAW = WayToPublish("as it is", Raw())
Best = Literal["complete", "exact", "least"]
#: What is known of a way: as of releases, or sure but for personas who are not examined.
TableVerdict = Literal["sure", "unexamined", "refused", "open"]


@dataclass(frozen=True)
class TableWay:
    """A way under trial: its mechanism, the places left out, the number of people above the limit, and the cost.

    `leaves` is the largest advantage of the asked adversary, at least and at most, over personas and places that are
    examined; `year` is the same after 52 weeks, and None where the numbers of other weeks would change what is told.
    """

    name: str
    mechanism: str
    left_out: tuple[str, ...]
    at_least: float
    at_most: float
    verdict: TableVerdict
    readers: ReaderLosses
    leaves: Ends | None = None
    year: Ends | None = None

    @property
    def words(self) -> str:
        """The published parts."""
        return f"{self.name}, without {', '.join(self.left_out)}" if self.left_out else self.name


@dataclass(frozen=True, eq=False)
class TablePlan:
    """The ways tried for a table, the cheapest for readers first, and the recommended ones."""

    table: CountTable
    people: tuple[PersonaDays, ...]
    limit: Limit
    against: Against
    tried: tuple[TableWay, ...]
    recommended: Mapping[Best, TableWay]
    remarks: tuple[str, ...]


def plan_table(
    source: Any,
    limit: Limit,
    personas: Any = None,
    *,
    roles: Mapping[str, str] | None = None,
    against: Against = "habits",
    levers: Sequence[str] = LEVERS,
    stay: Sequence[str] = (),
    timezone: str | None = None,
    time_format: str | None = None,
    step: Any = None,
    runs: int = 100,
    seed: int = 0,
) -> TablePlan:
    """Publishable versions of a table, with at most a share of personas, by weight, above a limit of presence.

    The limit is `Limit(share=0, above=0.1)`: the largest advantage, over counted places, of whoever asks whether such a
    person was ever there on one day. `against` is who asks: "habits" or "insider". Places in `stay` are not left out.
    """
    if not isinstance(source, CountTable):
        source = read_counts(source, timezone=timezone, time_format=time_format, step=step)
    if not isinstance(limit, Limit) or limit.above is None:
        raise InputError(f"limit: expected Limit(share=..., above=...) for a table of counts, got {shown(limit)}")
    if not isinstance(against, str) or against not in AGAINST:
        raise InputError(f"against: expected {' or '.join(map(repr, AGAINST))}, got {shown(against)}")
    chosen = _levers(levers)
    kept = _stay(stay, source)
    cast, remarks = cast_of(source, personas, roles)
    people = tuple(PersonaDays(persona, source) for persona in cast)
    tries = _Tries(source, people, limit, against, runs, seed)
    ways = [RAW, *(way for lever in chosen if lever in OFFERS for way in OFFERS[lever])]
    tried = [each for way in ways for each in tries.of(way, PLACES in chosen, kept)]
    tried.sort(key=lambda each: (_cost(each), each.words))
    said = remarks_of(source, remarks, people)
    return TablePlan(source, people, limit, against, tuple(tried), _best(tried) if tries.some else {}, said)


def _levers(levers: Any) -> tuple[str, ...]:
    if isinstance(levers, str) or not isinstance(levers, Sequence):
        raise InputError(f"levers: expected a list of some of {', '.join(LEVERS)}, got {shown(levers)}")
    wrong = next((each for each in levers if not isinstance(each, str) or each not in LEVERS), None)
    if wrong is not None:
        raise InputError(f"levers: a table has no lever {shown(wrong)}; it has {', '.join(LEVERS)}")
    return tuple(levers)


def _stay(stay: Any, table: CountTable) -> frozenset[str]:
    if isinstance(stay, str) or not isinstance(stay, Sequence):
        raise InputError(f"stay: expected a list of places, got {shown(stay)}")
    wrong = next((each for each in stay if each not in table.places), None)
    if wrong is not None:
        raise InputError(f"stay: the table has no place {shown(wrong)}")
    return frozenset(stay)


#: A persona and a place, and how well presence there is told, at least and at most: at once, and after a year.
Told = tuple[PersonaDays, str, Ends, Ends | None]


@dataclass(frozen=True, eq=False)
class _Tries:
    """Tries ways for the same table, people and limit."""

    table: CountTable
    people: tuple[PersonaDays, ...]
    limit: Limit
    against: Against
    runs: int
    seed: int

    def of(self, way: WayToPublish, leave: bool, stay: frozenset[str]) -> Iterator[TableWay]:
        """A way as it is, and without the places above the limit with it."""
        ends = self._ends(way, frozenset())
        yield self._tried(way, frozenset(), ends)
        over = frozenset(place for _, place, (_, upper), _ in ends if upper > self._above) - stay
        if leave and over:
            yield self._tried(way, over, self._ends(way, over))

    @property
    def _above(self) -> float:
        return (self.limit.above or 0.0) + ROUNDING

    @property
    def some(self) -> bool:
        """Whether anybody is examined in full."""
        return not all(who.unknown() for who in self.people)

    def _ends(self, way: WayToPublish, left: frozenset[str]) -> list[Told]:
        """How well presence at each counted place is told of each persona: at least and at most."""
        return [
            (who, x.place, (x.lower, x.upper), x.weeks[WEEKS[-1]] if x.weeks else None)
            for who in self.people
            for x in presence(who, way, self.against, self.runs, self.seed, left)
        ]

    def _tried(self, way: WayToPublish, left: frozenset[str], ends: list[Told]) -> TableWay:
        def share(people: Collection[PersonaDays]) -> float:
            weights = [(who.persona.weight, who in people) for who in self.people]
            return sum(weight for weight, there in weights if there) / sum(weight for weight, _ in weights)

        most = {who for who, _, (_, upper), _ in ends if upper > self._above}
        low = share({who for who, _, (lower, _), _ in ends if lower > self._above})
        unknown = {who for who in self.people if who.unknown(left)}
        allowed = self.limit.share + ROUNDING
        verdict: TableVerdict = "refused" if low > allowed else "open" if share(most) > allowed else "sure"
        if verdict == "sure" and share(most | unknown) > allowed:
            verdict = "unexamined"
        high = share(most | unknown)
        gone, years = tuple(sorted(left)), [year for *_, year in ends if year is not None]
        leaves = _largest([at_once for _, _, at_once, _ in ends])
        year = _largest(years) if len(years) == len(ends) else None
        readers = self._readers(way, left)
        return TableWay(way.name, repr(way.mechanism), gone, low, high, verdict, readers, leaves, year)

    def _readers(self, way: WayToPublish, left: frozenset[str]) -> ReaderLosses:
        """The readers' loss, with the left-out places."""
        gone = np.array([place in left for place in self.table.places])
        counts = self.table.counts
        if not gone.any():
            return reader_losses(counts, way.mechanism)
        found = reader_losses(np.where(gone, np.nan, counts), way.mechanism)
        everything, lost = float(np.nansum(counts)), float(np.nansum(counts[:, gone]))
        share = float((~np.isnan(counts[:, ~gone])).sum()) / float((~np.isnan(counts)).sum())
        kept = (found.total or 0.0) * (everything - lost)
        total = (kept + lost) / everything if everything else None
        return replace(found, shown=found.shown * share, total=total)


def _largest(ends: Sequence[Ends]) -> Ends | None:
    return (max(low for low, _ in ends), max(high for _, high in ends)) if ends else None


def _cost(way: TableWay) -> float:
    return np.inf if way.readers.total is None else way.readers.total


def _best(tried: Sequence[TableWay]) -> dict[Best, TableWay]:
    """What is best at each: all numbers, exact numbers, or the least error in all.

    Where no way is sure, it is the best for the personas that are examined.
    """
    shown = [each for each in tried if each.readers.shown > 0]
    sure = [each for each in shown if each.verdict == "sure"] or [x for x in shown if x.verdict == "unexamined"]
    complete = [each for each in sure if each.readers.shown >= 1 - ROUNDING]
    exact = [each for each in sure if each.readers.error <= ROUNDING]
    out: dict[Best, TableWay] = {}
    if complete:
        out["complete"] = min(complete, key=_cost)
    if exact:
        out["exact"] = min(exact, key=_cost)
    if sure:
        out["least"] = min(sure, key=_cost)
    return out
