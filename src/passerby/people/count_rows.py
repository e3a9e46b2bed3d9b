"""Counts from rows of a table: the kind of each count, its place, and its published steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import numpy as np

from passerby.errors import InputError, PasserbyError
from passerby.mechanisms import Mechanism
from passerby.model.counts import Count, Moved, Present, Visitors
from passerby.visits.delimited import DistinctRows, Header
from passerby.visits.names import name_of
from passerby.visits.steps import written

from .habits import People
from .sensors import Zone, by_number, edge_number, given, step_number

#: The kinds of counts, by the words for them.
KINDS = ("present", "moved", "visitors")
#: Columns for the counted thing; a table has one of them.
WHERE = ("zone", "place", "zones", "places")
#: Columns of a row of counts.
COLUMNS = ("kind", *WHERE, "origin", "destination", "step", "time", "times", "mechanism", "draw")
#: The subject of a row of counts: one of these sets of columns.
ABOUT = (*(frozenset({name}) for name in WHERE), frozenset({"origin", "destination"}))
#: Other names for the same columns.
MEANT = {"type": "kind", "typ": "kind", "window": "step", "from": "origin", "to": "destination"}
#: The columns of a file of counts.
COUNTS = Header(
    "counts",
    COLUMNS,
    needs=(ABOUT,),
    needed="a column place or zone, or for flows the columns origin and destination",
    hints={**MEANT, "count": "kind"},
)
#: The columns of a file of published counts.
PUBLISHED = Header(
    "published counts",
    ("count", *COLUMNS),
    needs=((frozenset({"count"}),), (frozenset({"step"}), frozenset({"time"})), ABOUT),
    needed="the columns step (or time), place and count (or zone, or for flows origin and destination)",
    hints=MEANT,
)
#: A Monday: windows are aligned to the clock, and windows of weeks to Mondays.
MONDAY = np.datetime64("1970-01-05", "us")


def windows(people: People, every: timedelta | None) -> list[list[int]]:
    """The published steps (from 0) of each window of this length, by the clock; all in one without a length."""
    held = people.actual.shape[1]
    if every is None:
        return [list(range(held))]
    if every % people.window or every < people.window:
        raise InputError(
            f"every is {written(every)!r}, which is no multiple of the step length, {written(people.window)}"
        )
    if every > held * people.window:
        raise InputError(
            f"every is {written(every)!r}, but {written(held * people.window)} are published: all windows would be cut "
            "short; publish more steps, or choose shorter windows"
        )
    first = people.fitted.shape[1]
    starts = people.starts[first : first + held].astype("datetime64[us]")
    number = (starts - MONDAY) // np.timedelta64(every)
    return [np.flatnonzero(number == each).tolist() for each in dict.fromkeys(number.tolist())]


def zone_counts(
    kind: str, zones: Sequence[Zone], steps: int, among: Sequence[Sequence[int]], times: int
) -> list[Count]:
    """All counts of a kind: of each zone at each step, of each pair of zones at each move, or of each zone and window.

    >>> len(zone_counts("moved", [(0,), (1, 2)], 4, [], 1))
    12
    """
    if kind == "present":
        return [Present(zone, t) for t in range(steps) for zone in zones]
    if kind == "moved":
        return [Moved(left, came, t) for t in range(steps - 1) for left in zones for came in zones]
    long = [window for window in among if len(window) >= times]
    if not long:
        most = max(map(len, among))
        raise InputError(f"times is {times}, but windows of visitors hold {most} step{'s' * (most != 1)} at most")
    return [Visitors(zone, window, times) for window in long for zone in zones]


@dataclass(frozen=True)
class RowReader:
    """Reads rows: `kind` and `times` for rows without them, the `zones` by name, the `windows` of visitors.

    `mechanism` makes one from its text.
    """

    people: People
    mechanism: Callable[[str], Mechanism]
    zones: Mapping[str, Zone] = field(default_factory=dict)
    kind: str = "present"
    windows: Sequence[Sequence[int]] = ()
    times: int = 1

    def counts(self, row: Mapping[str, Any], where: str) -> list[Count]:
        """The counts of one row: several if it names no step, or a range of them."""
        kind = self._kind(row, where)
        own: dict[str, Any] = {}
        if given(row.get("mechanism")):
            own["mechanism"] = self._mechanism(str(row["mechanism"]), where)
        if kind == "moved":
            for name in ("origin", "destination"):
                if not given(row.get(name)):
                    raise InputError(f"{where}: a flow needs an origin and a destination; it has no {name}")
            self._check_used(kind, row, where)
            left, came = (self.zone(row[name], where) for name in ("origin", "destination"))
            return [Moved(left, came, t, **own) for t in self._moves(row, where)]
        self._check_used(kind, row, where)
        zone = self.zone(next((row[name] for name in WHERE if given(row.get(name))), None), where)
        if kind == "present":
            return [Present(zone, t, **own) for t in self._steps(row, where) or range(self._held)]
        times = self._times(row, where)
        return [Visitors(zone, window, times, **own) for window in self._windows(row, times, where)]

    def say(self, once: DistinctRows, line: str, row: Mapping[str, Any], counts: Sequence[Count]) -> None:
        """Refuse a row's counts if an earlier row gave them, with the same name, mechanism and draw.

        The same places may be counted under two names, as a ward and a district: these are two counts.
        """
        draw = str(row.get("draw") or "1").strip()
        if not draw.isdecimal() or not 1 <= int(draw[:9]) < 10**6:
            raise InputError(
                f"{once.source}, {line}: draw is {row['draw']!r}; expected a whole number from 1 on, one for "
                "each number that is published of the same"
            )
        called = [(name, str(row[name]).strip()) for name in (*WHERE, "origin", "destination") if given(row.get(name))]
        # A place may stand in a column of zones.
        about = tuple((name not in WHERE and name, *sorted(self._parts(name_of(text)))) for name, text in called)
        words = " to ".join(repr(text) for _, text in called)
        for count in counts:
            once.add(line, (about, count, int(draw)), f"the count of {words} at step {count.first + 1}")

    def _check_used(self, kind: str, row: Mapping[str, Any], where: str) -> None:
        """Refuse a value for another kind of count: it would not be read."""
        named = [name for name in WHERE if given(row.get(name))]
        idle = {
            "moved": [*named, "times"],
            "present": ["origin", "destination", "times", *named[1:]],
            "visitors": ["origin", "destination", *named[1:]],
        }[kind]
        told = next((name for name in idle if given(row.get(name))), None)
        if told is not None:
            beside = f" beside {named[0]}" if told in named[1:] else ""
            raise InputError(
                f"{where}: the column {told} holds {row[told]!r}{beside}, which says nothing of a row of kind {kind}; "
                "leave it empty"
            )

    @property
    def _held(self) -> int:
        return int(self.people.actual.shape[1])

    def _kind(self, row: Mapping[str, Any], where: str) -> str:
        if not given(row.get("kind")):
            return "moved" if given(row.get("origin")) or given(row.get("destination")) else self.kind
        kind = str(row["kind"]).strip().lower()
        if kind not in KINDS:
            raise InputError(f"{where}: kind is {row['kind']!r}; expected {', '.join(KINDS[:-1])} or {KINDS[-1]}")
        return kind

    def zone(self, called: object, where: str) -> Zone:
        """The places of a zone, of a place, or of several of them with semicolons between."""
        text = name_of(called)
        if not text:
            raise InputError(f"{where}: it names no place or zone")
        parts = [self._one(part) for part in self._parts(text)]
        if None in parts:
            known = f"neither a zone ({len(self.zones)} are known) nor" if self.zones else "not"
            raise InputError(
                f"{where}: {text!r} is {known} one of the {self.people.elsewhere} chosen places "
                f"(such as {', '.join(map(repr, self.people.places[:3]))}); choose it, or correct its spelling"
            )
        return tuple(sorted({place for part in parts for place in part or ()}))

    def _parts(self, text: str) -> list[str]:
        """The names in a text: it is one itself, or has several with semicolons between."""
        return [text] if self._one(text) else [name_of(part) for part in text.split(";")]

    def _one(self, name: str) -> Zone | None:
        if name in self.zones:
            return self.zones[name]
        places = self.people.places[:-1]
        return (places.index(name),) if name in places else None

    def _mechanism(self, text: str, where: str) -> Mechanism:
        try:
            return self.mechanism(text.strip())
        except PasserbyError as reason:
            raise InputError(f"{where}: its mechanism: {reason}") from None

    def _times(self, row: Mapping[str, Any], where: str) -> int:
        if not given(row.get("times")):
            return self.times
        text = str(row["times"]).strip()
        if not text.isdecimal() or not 1 <= int(text[:9]) <= self._held:
            raise InputError(
                f"{where}: the number of times is {row['times']!r}; expected a whole number from 1 to {self._held}"
            )
        return int(text)

    def _steps(self, row: Mapping[str, Any], where: str) -> list[int]:
        """The steps of a row: one, some `1;3`, a range `3-8`, a time, or from one time to before another.

        None are all of them.
        """
        step, time = (str(row[name]).strip() if given(row.get(name)) else "" for name in ("step", "time"))
        if not step and not time:
            return []
        if ";" in step and not time:
            some = sorted({by_number(part, self._held, where) for part in step.split(";")})
            if some[-1] >= self._held:
                raise InputError(f"{where}: {step} is outside the {self._held} steps that are published")
            return some
        first, dash, last = step.partition("-")
        begin, _, end = time.partition("/")
        if not dash and time.count("/") != 1:  # a date may hold two
            return [step_number(self.people, dict(row), where)]
        if step and time:
            raise InputError(f"{where}: give the steps by number, or by time, not both")
        if dash and not (first.strip() and last.strip()):
            raise InputError(
                f"{where}: step is {step!r}; expected a number from 1 to {self._held}, or a range as in 1-2"
            )
        if dash:
            ends = [by_number(part, self._held, where) for part in (first, last)]
        else:
            ends = [edge_number(self.people, begin, where), edge_number(self.people, end, where) - 1]
        if not 0 <= ends[0] <= ends[1] < self._held:
            raise InputError(
                f"{where}: {step or time} is outside the {self._held} steps that are published, or ends early"
            )
        return list(range(ends[0], ends[1] + 1))

    def _moves(self, row: Mapping[str, Any], where: str) -> list[int]:
        steps = self._steps(row, where) or list(range(self._held - 1))
        if not steps or steps[-1] >= self._held - 1:
            raise InputError(
                f"{where}: a flow goes from a step to the next one, and step {self._held} is the last that is published"
            )
        return steps

    def _windows(self, row: Mapping[str, Any], times: int, where: str) -> list[Sequence[int]]:
        steps, several = self._steps(row, where), len(self.windows) > 1
        # One step stands for its whole window. A range stands for itself, even if it is one step long.
        ranged = set(";-") & {*str(row.get("step") or "")} or str(row.get("time") or "").count("/") == 1
        if len(steps) == 1 and several and not ranged:
            found: list[Sequence[int]] = [window for window in self.windows if steps[0] in window]
        else:
            found = [steps] if steps else list(self.windows)
        if min(map(len, found)) < times:
            raise InputError(
                f"{where}: nobody can be there {times} times in a window of {min(map(len, found))} "
                f"step{'s' * (min(map(len, found)) != 1)}"
            )
        return found
