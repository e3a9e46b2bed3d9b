"""A persona: somebody described by their week, without any trace."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.prior import MarkovPrior
from passerby.support import checks
from passerby.support.checks import is_number, nearest, shown
from passerby.visits.steps import parse_instant, parse_length
from passerby.visits.times import check_timezone

from .week import Calendar, Habit, chances, check_chance, check_place

Floats = NDArray[np.float64]

#: An uncounted place in a file, and its name among the places of a prior.
ANYWHERE, ELSEWHERE = "*", "elsewhere"
HOME = "home"
#: The file of passerby's own personas, and the word for all of them.
READY, ALL = Path(__file__).with_name("ready.toml"), "ready"
#: The longest step, numbers in all matrices of a prior, and bytes of a file, at most.
LONGEST, MOST_NUMBERS, MOST_BYTES = timedelta(days=7), 50_000_000, 10_000_000
#: The entries of a persona in a file.
KEYS = ("about", "weight", "home", "week", "else", "stays")


@dataclass(frozen=True, eq=False)
class Persona:
    """Somebody described in words: their week, and how likely they are to stay.

    `week` has entries of time, place and chance. `otherwise` has the places at all other times, and sums to one: "home"
    is their `home`, and "*" an uncounted place. `stays` is the chance of staying from one hour to the next, beyond the
    demands of the week. It is 0 for a fresh choice at each step, and 1 for somebody who moves only with the week.
    `weight` is the number of such people, for figures about a population.

    >>> nurse = Persona("nurse", [("Mon-Fri 07:00-15:00", "clinic", 0.9)], {"home": 0.9, "*": 0.1}, stays=0.7)
    >>> nurse.places
    ('clinic', 'home', 'elsewhere')
    >>> prior = nurse.prior(start="2024-01-15", step="1h", steps=168)
    >>> prior.marginals(168)[7].round(3).tolist()
    [0.9, 0.09, 0.01]
    """

    name: str
    week: tuple[Habit, ...]
    otherwise: Mapping[str, float]
    home: str
    stays: float
    weight: float
    about: str
    #: The file's names of some places, by their names in the release.
    roles: tuple[str, ...] = field(repr=False)

    def __init__(
        self,
        name: str,
        week: Sequence[Any] = (),
        otherwise: Mapping[str, float] | None = None,
        *,
        home: str = HOME,
        stays: float = 0.9,
        weight: float = 1.0,
        about: str = "",
    ) -> None:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"Persona: name is {shown(name)}; expected a name such as 'nurse'")
        check_place(home, f"{name}: home")
        if isinstance(week, str) or not isinstance(week, Sequence):
            raise InputError(f"{name}: week: expected a list of [when, where, how likely], got {shown(week)}")
        entries = tuple(
            row if isinstance(row, Habit) else Habit.read(row, f"{name}: week, entry {number}")
            for number, row in enumerate(week, 1)
        )
        rest = _checked_rest({HOME: 1.0} if otherwise is None else otherwise, name)
        if not is_number(stays) or not 0 <= stays <= 1:
            raise InputError(f"{name}: stays is {shown(stays)}; expected a number from 0 to 1")
        if not is_number(weight) or not 0 < weight < math.inf:
            raise InputError(
                f"{name}: weight is {shown(weight)}; expected how many people are like this, a number above 0 (leave "
                "the persona out if there are none)"
            )
        checks.text(about, f"{name}: about")
        names = dict.fromkeys([*(entry.place for entry in entries), *rest])
        values = {"week": entries, "otherwise": rest, "home": home, "stays": float(stays), "weight": float(weight)}
        for key, value in {"name": name, "about": about, "roles": tuple(names), **values}.items():
            object.__setattr__(self, key, value)
        if not [place for place in self.places if place != ELSEWHERE]:
            raise InputError(f"{name}: it is nowhere but at '*', so that no count can be about it; name a place")
        _ = self._minutely

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The names of the places of its prior, in their order; the last one is the uncounted place."""
        named = dict.fromkeys(self._place(role) for role in self.roles)
        ends = (ELSEWHERE,) if named.pop(ANYWHERE, 0) is None else ()
        return (*named, *ends)

    def place_of(self, role: str) -> str:
        """The place named by a role or place of the file."""
        if not isinstance(role, str) or role not in (*self.roles, HOME):
            raise InputError(f"{self.name}: it has no role {shown(role)}; it has {', '.join(self.roles)}")
        place = self._place(role)
        return ELSEWHERE if place == ANYWHERE else place

    def bound(self, places: Mapping[str, str]) -> Persona:
        """The same persona with its roles at places of a release: `bound({"clinic": "hospital 001"})`.

        >>> Persona("ann", [("Sat", "market", 0.5)]).bound({"market": "market 01"}).places
        ('market 01', 'home')
        """
        if not isinstance(places, Mapping):
            raise InputError(f"{self.name}: places: expected roles with their places, got {shown(places)}")
        for role, place in places.items():
            check_place(place, f"{self.name}: the place of {shown(role)}")
            if role not in self.roles and role != HOME:
                raise InputError(f"{self.name}: it has no role {shown(role)}; it has {', '.join(self.roles)}")
        new = {role: places.get(role, role) for role in (*self.roles, HOME)}
        week = tuple(replace(entry, place=new[entry.place]) for entry in self.week)
        rest: dict[str, float] = {}
        for role, chance in self.otherwise.items():
            rest[new[role]] = rest.get(new[role], 0.0) + chance
        home = places.get(HOME, self.home)
        return Persona(self.name, week, rest, home=home, stays=self.stays, weight=self.weight, about=self.about)

    def prior(
        self, start: str | datetime, step: str | timedelta = "1h", steps: int = 168, timezone: str = "UTC"
    ) -> MarkovPrior:
        """The habits over so many steps of a release, from `start` on: one matrix from each step to the next.

        At each step the chance of each place is the chance in the week, on average over the step, by the clock of
        `timezone`; steps of whole days are days of its calendar. The chain keeps to these chances exactly.
        """
        check_timezone(timezone)
        begin, length = parse_instant(start, "start", timezone), parse_length(step, "step")
        if length > LONGEST:
            raise InputError(f"step is {shown(step)}; a persona's steps are a week at most")
        count = checks.steps(steps)
        self._check_room(count)
        return self.over(Calendar.regular(begin, length, count, timezone))

    def over(self, steps: Calendar) -> MarkovPrior:
        """The same over steps with possible gaps between them."""
        self._check_room(len(steps.begins))
        law = steps.average(self._minutely)
        moves = transitions(law, self.stays**steps.hours) if len(law) > 1 else np.eye(law.shape[1])
        last = len(self.places) - 1
        away = self.places[last] == ELSEWHERE
        return MarkovPrior(
            law[0],
            moves,
            guessable=[place != ELSEWHERE for place in self.places],
            elsewhere=last if away else None,
        )

    def law(self, steps: Calendar) -> Floats:
        """How likely each place is at each step, on average over it (T, places)."""
        return steps.average(self._minutely)

    @property
    def shares(self) -> dict[str, float]:
        """The share of the week at each place."""
        return dict(zip(self.places, self._minutely.mean(axis=0).tolist(), strict=True))

    @cached_property
    def _minutely(self) -> Floats:
        """How likely it is at each place at each minute of the week (10080, places)."""
        week = [replace(entry, place=self.place_of(entry.place)) for entry in self.week]
        rest: dict[str, float] = {}
        for role, chance in self.otherwise.items():
            rest[self.place_of(role)] = rest.get(self.place_of(role), 0.0) + chance
        return chances(week, rest, self.places, self.name)

    def _place(self, role: str) -> str:
        return self.home if role == HOME else role

    def _check_room(self, steps: int) -> None:
        if steps * len(self.places) ** 2 > MOST_NUMBERS:
            most = MOST_NUMBERS // len(self.places) ** 2
            raise InputError(f"steps: {steps:,} are too many for {len(self.places)} places; the most are {most:,}")


def transitions(law: Floats, stays: Floats) -> Floats:
    """Matrices (T-1, M, M) leading from each row of `law` (T, M) to the next exactly.

    With a chance `stays` (T-1,) somebody stays unless the week moves them. This is the maximal coupling: no chain with
    these marginals keeps a larger share (Lindvall, Lectures on the Coupling Method, 1992, I.5). Otherwise the place is
    chosen afresh by the next row. Both lead to the next row, and so does their mixture.

    >>> transitions(np.array([[1.0, 0.0], [0.4, 0.6]]), np.array([0.5]))[0]
    array([[0.4, 0.6],
           [0.2, 0.8]])
    """
    now, then = law[:-1], law[1:]
    kept = np.where(now > 0, np.minimum(1.0, then / np.where(now > 0, now, 1.0)), 1.0)
    gained = np.maximum(0.0, then - now)
    total = gained.sum(axis=1, keepdims=True)
    moved = np.where(total > 0, gained / np.where(total > 0, total, 1.0), then)
    coupled = (1 - kept)[:, :, None] * moved[:, None, :]
    places = np.arange(law.shape[1])
    coupled[:, places, places] += kept
    share = stays[:, None, None]
    return np.asarray(share * coupled + (1 - share) * then[:, None, :])


def _checked_rest(rest: object, name: str) -> dict[str, float]:
    """Somebody's places at all other times: chances with the sum one."""
    if not isinstance(rest, Mapping) or not rest:
        raise InputError(f'{name}: else: expected places with chances, as in {{ "home" = 1.0 }}; got {shown(rest)}')
    for place, chance in rest.items():
        check_place(place, f"{name}: else")
        check_chance(chance, f"{name}: else: the chance of {place!r}")
    total = sum(rest.values())
    if abs(total - 1) > 1e-6:
        raise InputError(
            f'{name}: else: the chances add up to {total:g}, not to 1; somewhere that nobody counts is "*"'
        )
    return {place: chance / total for place, chance in rest.items()}


def read_personas(source: str | Path) -> list[Persona]:
    """Personas from a TOML file, or one of passerby's own by its name; "ready" are all of these.

    >>> read_personas("nurse")[0].places
    ('clinic', 'market', 'home', 'park', 'elsewhere')
    """
    if isinstance(source, str) and source in (ready := ready_texts()):
        return _personas(ready[source], f"the persona {source}")
    if isinstance(source, str) and source == ALL:
        return [persona for text in ready_texts().values() for persona in _personas(text, "the ready personas")]
    path = checks.path(source, "personas")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: a file of personas has {MOST_BYTES:,} bytes at most")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        near = nearest(str(source), [*ready_texts()])
        raise InputError(
            f"personas: {str(source)!r} is no file of text that can be read, and no persona that comes with passerby"
            f"{f' (did you mean {near}?)' if near else ''}; those are {', '.join(ready_texts())}"
        ) from None
    return _personas(text, str(path))


@cache
def ready_texts() -> dict[str, str]:
    """The text of each of passerby's own personas, by its name."""
    parts = READY.read_text(encoding="utf-8").split("\n[")[1:]
    return {part.partition("]")[0]: f"[{part.rstrip()}\n" for part in parts}


def _personas(text: str, where: str) -> list[Persona]:
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{where}: it is no TOML: {error}") from None
    if not tables:
        raise InputError(f"{where}: it has no personas; each is a table with its name in brackets, as in [nurse]")
    return [_persona(name, table, where) for name, table in tables.items()]


def _persona(name: str, table: object, where: str) -> Persona:
    if not isinstance(table, dict):
        raise InputError(f"{where}: {name!r} belongs to no persona; each is a table with its name in brackets")
    unknown = next((key for key in table if key not in KEYS), None)
    if unknown is not None:
        near = nearest(unknown, KEYS)
        raise InputError(
            f"{where}: {name}: it has no {unknown!r}{f' (did you mean {near}?)' if near else ''}; a persona has "
            f"{', '.join(KEYS)}"
        )
    values = {"otherwise" if key == "else" else key: value for key, value in table.items()}
    try:
        return Persona(name, **values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
