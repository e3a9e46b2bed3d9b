"""Which days of a table are looked at for a persona, and what an adversary sees of one of them.

Each place has a day of its own: of the days on which the persona is likely there, the one whose shown counts tell most.
Where no shown count is at an hour when they may be there, nothing is examined, and nothing reassuring may be said.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.mechanisms import Mechanism
from passerby.model.counts import Count, Present
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.personas.persona import ELSEWHERE, Persona
from passerby.personas.week import WEEK, Calendar

from .read import CountTable
from .ways import HABITS, INSIDER, Comers, KnownComers

Floats = NDArray[np.float64]

#: Steps of one look at most.
MOST_LOOKED = 96
#: Days with this share of the time of the likeliest day are looked at as well, and so many of them at most.
ALSO, MOST_DAYS = 0.1, 12
#: Somebody may well be at a place at a step with this chance, and next to never with that.
WELL, NEVER = 0.05, 0.001
#: A place is examined if the chance at some shown count is this share of the largest chance in their week.
FAR = 0.2
#: Less than this share of somebody's time at a place in the table is at counts that are shown: it is said.
MUCH = 0.8
#: Counts that a prediction may exceed by chance: standard deviations.
DEVIATIONS = 3.0
#: Masses below this are next to nothing; and what rounding may take from a certain end.
FAINT, SLACK = 1e-200, 1e-12
#: Where weeks are laid out for the largest chance in them: every so many minutes.
GRID = 15


@dataclass(frozen=True, eq=False)
class PersonaDay:
    """One persona on one day of the table: the steps, the habits then, and the places that are counted."""

    persona: Persona
    table: CountTable
    prior: MarkovPrior
    #: Counted places where they may be.
    places: tuple[str, ...]
    #: Whether the day has more steps than are looked at.
    cut: bool = False

    @property
    def day(self) -> str:
        """The day in words."""
        first, last = self.table.clock[0], self.table.clock[-1]
        if first.date() != last.date():
            return f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
        return f"{first:%A %Y-%m-%d}{f', {first:%H:%M} to {last:%H:%M}' if self.cut else ''}"

    def number(self, place: str) -> int:
        """The number of a place among those of the persona."""
        return self.persona.places.index(place)

    def counts(self, place: str) -> Floats:
        """The counts of a place (T,)."""
        return self.table.counts[:, self.table.places.index(place)]

    @property
    def shown(self) -> bool:
        """Whether any of the counts is shown."""
        return any(bool((~np.isnan(self.counts(place))).any()) for place in self.places)

    @cached_property
    def law(self) -> Floats:
        """How likely each place is at each step (T, places)."""
        return self.prior.marginals(self.table.steps)

    def others(self, way: Mechanism, against: str, count: float, counted: float = 0.0) -> tuple[Mechanism, int]:
        """What one of the adversaries sees of a count of which so many people are the persona: a law, and the others.

        The insider knows the others. Of an expected size it is the number who comes that the insider knows.
        """
        if against == HABITS:
            return Comers(count, way), 0
        if self.table.expected and not way.shift_invariant:
            return KnownComers(max(0.0, count - counted), way), 0
        return way, max(0, round(count) - (counted > 0))

    def release(self, way: Mechanism, against: str, counted: int = 0) -> Release:
        """What one of the adversaries sees of the counts, of which so many are the persona's own."""
        counts: list[Count] = []
        for place in self.places:
            number = self.number(place)
            for t, count in enumerate(self.counts(place).tolist()):
                if not np.isnan(count):
                    own = self._own(number, t) if counted else 0.0
                    law, others = self.others(way, against, count, own)
                    counts.append(Present([number], t, mechanism=law, others=others))
        return Release(counts=counts, steps=self.table.steps)

    def _own(self, number: int, step: int) -> float:
        """What the persona adds to a count: themselves, and to an expected size their chance."""
        return float(self.law[step, number]) if self.table.expected else 1.0

    def releases(self, way: Mechanism, against: str) -> list[Release]:
        """The same, for a persona who comes in addition, and for one who is in the counts, where that matters."""
        often = 1 if against != INSIDER or way.shift_invariant else 2
        return [self.release(way, against, counted) for counted in range(often)]

    def apart(self, way: Mechanism, against: str) -> Floats:
        """How well each single count tells of one person more (T, places), 0 for what is not counted or not shown.

        It is the worse of a persona who comes in addition and of one who is in the counts.
        """
        out = np.zeros((self.table.steps, len(self.persona.places)))
        for place in self.places:
            number = self.number(place)
            for t, count in enumerate(self.counts(place).tolist()):
                if not np.isnan(count):
                    both = {self.others(way, against, count, own) for own in (0.0, self._own(number, t))}
                    out[t, number] = max(_apart(*each) for each in both)
        return out

    def repeats(self, way: Mechanism, against: str) -> bool:
        """Whether another week tells as much: to an insider what is rounded or hidden depends on its numbers."""
        return against != INSIDER or way.shift_invariant or self.table.expected

    def alone(self, place: str, way: Mechanism, against: str) -> float | None:
        """How well the most telling single count of a place tells of presence, where they may well be there.

        Somebody who is rarely there may well be there when it is half as likely as it ever is at a shown count. None
        where they are next to never there.
        """
        number, seen = self.number(place), ~np.isnan(self.counts(place))
        chance = self.law[:, number] * seen
        most = float(chance.max(initial=0.0))
        if most <= NEVER:
            return None
        return float(self.apart(way, against)[chance >= min(WELL, most / 2), number].max())

    def at_most(self, apart: Floats, place: str | None = None) -> float:
        """An end above the advantage of whoever asks if they were ever at a place, or else if they are counted at all.

        It is certain. Let a count tell of one person more by τ: its laws with and without them agree with chance
        1 - τ, so that all counts agree but with chance 1 - Π (1 - τ), over the counts that differ. Two traces are
        taken that are independent of each other, one that comes to the place and one that does not (section 26 of the
        mathematics: raw counts that are sometimes shown).
        """
        quiet, moves = 1 - apart, self.prior.transition
        steps = [moves[t - 1] if moves.ndim == 3 else moves for t in range(1, self.table.steps)]
        now = self.prior.initial
        if place is None:
            now = now * quiet[0]
            for t, move in enumerate(steps, 1):
                now = (now @ move) * quiet[t]
            return float(min(1.0, max(0.0, 1 - now.sum()) + SLACK))
        there = np.arange(len(now)) == self.number(place)
        both, both_free = (_pair_of_traces(now, steps, there, each) for each in (quiet, np.ones_like(quiet)))
        return float(min(1.0, max(0.0, 1 - both / both_free) + SLACK)) if both_free > FAINT else 1.0

    def impossible(self, place: str) -> list[str]:
        """What cannot be: counts that are smaller than what the persona would add to them."""
        weight, chance = self.persona.weight, self.law[:, self.number(place)]
        expected = weight * chance
        least = expected - DEVIATIONS * np.sqrt(expected * (1 - chance))
        column = self.table.places.index(place)
        shown, most = self.table.counts[:, column], self.table.most[:, column]
        short = np.flatnonzero((np.where(np.isnan(shown), most, shown) < least) & (expected >= 0.5))
        if not len(short):
            return []
        t = int(short[0])
        count = f"{most[t]:g} at most" if np.isnan(shown[t]) else f"{shown[t]:g}"
        who = "Somebody" if weight == 1 else f"{weight:,.0f} people"
        return [
            f"{who} like {self.persona.name} cannot have been counted at {place} on {self.day}: at "
            f"{self.table.clock[t]:%H:%M} they would add {expected[t]:.2g} on average, and the table counts {count} "
            "there."
        ]


def _pair_of_traces(initial: Floats, moves: list[Floats], there: NDArray[np.bool_], quiet: Floats) -> float:
    """The mass of two traces, of which one comes to a place and the other one does not, times what agrees of both."""
    away = ~there
    laws = [np.where(np.eye(len(initial), dtype=bool), 1.0, np.outer(each, each)) * away for each in quiet]
    start = np.outer(initial, initial) * laws[0]
    before, after = start * away[:, None], start * there[:, None]
    for move, law in zip(moves, laws[1:], strict=True):
        before, after = (move.T @ each @ move * law for each in (before, after))
        before, after = before * away[:, None], after + before * there[:, None]
    return float(after.sum())


@lru_cache(maxsize=100_000)
def _apart(law: Mechanism, others: int) -> float:
    return float(law.total_variation(others))


@dataclass(frozen=True, eq=False)
class PersonaDays:
    """One persona in a whole table: on which day of it each of their places is looked at."""

    persona: Persona
    table: CountTable
    _made: dict[tuple[int, str], PersonaDay] = field(default_factory=dict, repr=False)
    _examined: dict[str, bool] = field(default_factory=dict, repr=False)
    _chosen: dict[tuple[object, ...], int] = field(default_factory=dict, repr=False)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """Their places that are counted, in the order of the persona."""
        return tuple(place for place in self.persona.places if place in self.table.places and place != ELSEWHERE)

    @cached_property
    def law(self) -> Floats:
        """How likely each place is at each step of the table (T, places)."""
        return self.persona.law(self.table.calendar)

    @cached_property
    def number_of_day(self) -> NDArray[np.int64]:
        """The day of each step (T,); the week, where steps are days."""
        calendar = self.table.calendar
        long = int(np.median(calendar.ends - calendar.begins)) >= 24 * 60
        return np.array([(each.toordinal() - 1) // 7 if long else each.toordinal() for each in self.table.clock])

    def _chance(self, place: str) -> Floats:
        return self.law[:, self.persona.places.index(place)]

    def _counts(self, place: str) -> Floats:
        return self.table.counts[:, self.table.places.index(place)]

    def examined(self, place: str) -> bool:
        """Whether a shown count of the place is at an hour when they are about as likely there as they ever are."""
        if place not in self._examined:
            self._examined[place] = self._examine(place)
        return self._examined[place]

    def _examine(self, place: str) -> bool:
        shown = self._chance(place)[~np.isnan(self._counts(place))].max(initial=0.0)
        return bool(shown > max(NEVER, FAR * max(self._ever(place), self._chance(place).max(initial=0.0))))

    def _ever(self, place: str) -> float:
        """The largest chance to be at a place in the persona's week, over steps as long as those of the table."""
        calendar = self.table.calendar
        begins = np.arange(0, WEEK, GRID, dtype=np.int64)
        length = int(np.median(calendar.ends - calendar.begins))
        week = self.persona.law(Calendar(begins, begins + length, "UTC"))
        return float(week[:, self.persona.places.index(place)].max())

    def unknown(self, left: Collection[str] = frozenset()) -> bool:
        """Whether what the table tells of them is not known: their hours are hidden, or none of their places examined.

        A place where they never are in the hours of the table is no reason, if another one is examined.
        """
        shown = [place for place in self.places if place not in left]
        if not any(self.examined(place) for place in shown):
            return bool(shown)
        return any(self._obscure(place) for place in shown)

    def _obscure(self, place: str) -> bool:
        """Whether somebody may well be there in hours of the table, of which too much is hidden or not shown."""
        chance, hidden = self._chance(place), self.table.hidden[:, self.table.places.index(place)]
        if chance.max(initial=0.0) <= max(NEVER, FAR * self._ever(place)):
            return False
        return not self.examined(place) or bool(chance[hidden].sum() > (1 - MUCH) * chance.sum())

    def left_out(self) -> list[str]:
        """Places, in words, that are not examined, or of which much is hidden or not in the table."""
        out = []
        for place in self.places:
            chance, there = self._chance(place), ~np.isnan(self._counts(place))
            if not self.examined(place):
                out.append(
                    f"{self.persona.name} at {place}: not examined. The hours when they are there are hidden or not in "
                    "the table."
                )
            elif chance[there].sum() < MUCH * chance.sum():
                out.append(
                    f"{self.persona.name} at {place}: {chance[there].sum() / chance.sum():.0%} of their time there is "
                    "in hours that are shown, and only these are looked at.".replace("%", " %")
                )
        return out

    def likeliest(self, place: str) -> PersonaDay:
        """The day with most of their time at a place, shown or not; of several the one with the quietest counts."""
        chance, column = self._chance(place), self._counts(place)
        quiet = np.where(np.isnan(column), 0.0, column)

        def worth(day: int) -> tuple[float, float, float]:
            there = self.number_of_day == day
            seen = there & ~np.isnan(column)
            return float(chance[there].sum().round(6)), float(chance[seen].sum().round(6)), -float(quiet[there].sum())

        return self.on(max(np.unique(self.number_of_day).tolist(), key=worth), place)

    def most_telling(self, place: str, way: Mechanism, against: str) -> PersonaDay:
        """Of the days on which they are likely at a place, the one whose counts there tell most in this way."""
        key = (place, way, against)
        if key not in self._chosen:
            number = self.persona.places.index(place)

            def told(each: int) -> list[float]:
                """By this adversary; where days are alike, by whoever knows the habits."""
                day = self.on(each, place)
                both = dict.fromkeys((against, HABITS))
                chance = day.law[:, number] / max(day.law[:, number].max(), NEVER)
                return [float((chance * day.apart(way, x)[:, number]).sum().round(6)) for x in both]

            self._chosen[key] = max(self._candidates(place), key=told)
        return self.on(self._chosen[key], place)

    def _candidates(self, place: str) -> list[int]:
        """Days that are looked at, the likeliest first, then by how much raw counts tell; of many an even share."""
        chance, column = self._chance(place), self._counts(place)
        days, where = np.unique(self.number_of_day, return_inverse=True)
        seen = np.where(np.isnan(column), 0.0, chance)
        time = np.bincount(where, seen, len(days))
        most = np.array([max(seen[where == k].max(initial=0.0), NEVER) for k in range(len(days))])
        # Of whoever is there on that day.
        told = np.bincount(where, seen / np.sqrt(1 + np.where(np.isnan(column), 0.0, column)), len(days)) / most
        order = [k for k in np.lexsort((-time, -told)).tolist() if time[k] >= ALSO * time.max()]
        if len(order) > MOST_DAYS:
            order = [order[k] for k in np.linspace(0, len(order) - 1, MOST_DAYS).round().astype(int).tolist()]
        likeliest = self.number_of(self.likeliest(place))
        return [*dict.fromkeys([*([likeliest] if time[days == likeliest] > 0 else []), *(int(days[k]) for k in order)])]

    def number_of(self, day: PersonaDay) -> int:
        """The number of a day."""
        return int(self.number_of_day[np.searchsorted(self.table.calendar.begins, day.table.calendar.begins[0])])

    def on(self, day: int, place: str) -> PersonaDay:
        """A day; if it has many steps, the part with most of their time at a place."""
        steps = np.flatnonzero(self.number_of_day == day)
        cut = len(steps) > MOST_LOOKED
        key = (day, place if cut else "")
        if key not in self._made:
            chance = self._chance(place)
            while len(steps) > MOST_LOOKED:
                steps = steps[1:] if chance[steps[0]] < chance[steps[-1]] else steps[:-1]
            part = self.table.between(int(steps[0]), int(steps[-1]) + 1)
            self._made[key] = PersonaDay(self.persona, part, self.persona.over(part.calendar), self.places, cut)
        return self._made[key]

    @property
    def on_part(self) -> bool:
        """Whether a day has more steps than are looked at."""
        return bool(np.unique(self.number_of_day, return_counts=True)[1].max() > MOST_LOOKED)

    @property
    def first(self) -> str | None:
        """The place that is told about first: the first one that is examined."""
        return next((place for place in self.places if self.examined(place)), None)

    def impossible(self) -> list[str]:
        """What cannot be, for each place on the likeliest day there."""
        return [each for place in self.places for each in self.likeliest(place).impossible(place)]
