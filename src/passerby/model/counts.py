"""What a published number counts: people in a zone, people who went from one zone to another, different visitors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.mechanisms.base import Mechanism
from passerby.support.checks import whole

from .count import Count as Count
from .count import Inside as Inside
from .count import Names, Spot, hold
from .count import changed as changed

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Present(Count):
    """How many people are in a zone, a set of places, at a step.

    >>> Present([0, 1], step=2).bits(np.array([[2, 2, 1], [0, 0, 2]])).tolist()
    [True, False]
    """

    places: tuple[int, ...]
    step: int
    snapshot: ClassVar[bool] = True

    def __init__(
        self, places: int | Iterable[int], step: int, *, mechanism: Mechanism | None = None, others: int | None = None
    ) -> None:
        hold(self, places=_zone(places, "places"), step=whole(step, "step", 0), mechanism=mechanism, others=others)
        self.__post_init__()

    @property
    def zones(self) -> tuple[tuple[int, ...], ...]:
        """The sets of places of this count."""
        return (self.places,)

    @property
    def first(self) -> int:
        """The first step relevant to it."""
        return self.step

    @property
    def read(self) -> int:
        """The step of its reading."""
        return self.step

    @property
    def sentence(self) -> str:
        """The deed of a counted person, in words."""
        return f"they are at {_names(self.places)} at step {self.step}"

    @property
    def kind(self) -> str:
        """The word for counts of this kind."""
        return "present"

    @property
    def noun(self) -> str:
        """What it is a number of."""
        return "people at places" if len(self.places) == 1 else "people in zones"

    def asked(self, names: Names, steps: int | None, never: bool) -> str:
        """The words that ask for it."""
        return f"{'never' if never else 'visited'}{_when([self.step], steps)}:{names(self.places)}"

    def said(self, names: Names, steps: int | None, never: bool) -> str:
        """The same for a reader."""
        return f"whether the person was {'not ' * never}at {names(self.places)} at step {self.step + 1}"

    def met(self, inside: Inside) -> Any:
        """Whether somebody is in the zone at the step."""
        return inside(self.places, self.step)

    def progress(self, place_of: Ints, steps: int) -> Ints:
        """Level 1 for people in the zone at the step.

        >>> Present([1], step=1).progress(np.array([0, 1]), steps=2)[1].tolist()
        [[0, 1], [1, 1]]
        """
        levels = _unchanged(steps, len(place_of), 2)
        levels[self.step, np.isin(place_of, self.places), 0] = 1
        return levels


@dataclass(frozen=True)
class Moved(Count):
    """How many people are in one zone at a step and in another one at the next: a flow.

    >>> Moved([0], [1, 2], step=0).bits(np.array([[0, 2], [0, 0]])).tolist()
    [True, False]
    """

    origin: tuple[int, ...]
    destination: tuple[int, ...]
    step: int
    flow: ClassVar[bool] = True
    zone_fields: ClassVar[tuple[str, ...]] = ("origin", "destination")

    def __init__(
        self,
        origin: int | Iterable[int],
        destination: int | Iterable[int],
        step: int,
        *,
        mechanism: Mechanism | None = None,
        others: int | None = None,
    ) -> None:
        ends = {"origin": _zone(origin, "origin"), "destination": _zone(destination, "destination")}
        hold(self, **ends, step=whole(step, "step", 0), mechanism=mechanism, others=others)
        self.__post_init__()

    @property
    def zones(self) -> tuple[tuple[int, ...], ...]:
        """The sets of places of this count."""
        return (self.origin, self.destination)

    @property
    def first(self) -> int:
        """The first step relevant to it."""
        return self.step

    @property
    def read(self) -> int:
        """The step of its reading."""
        return self.step + 1

    @property
    def sentence(self) -> str:
        """The deed of a counted person, in words."""
        ends = f"{_names(self.origin)} to {_names(self.destination)}"
        return f"they go from {ends} between steps {self.step} and {self.step + 1}"

    @property
    def kind(self) -> str:
        """The word for counts of this kind."""
        return "moved"

    @property
    def noun(self) -> str:
        """What it is a number of."""
        return "flows"

    def asked(self, names: Names, steps: int | None, never: bool) -> str:
        """The words that ask for it."""
        ends = f"{names(self.origin)}>{names(self.destination)}"
        return f"{'never ' * never}moved at step {self.step + 1}:{ends}"

    def said(self, names: Names, steps: int | None, never: bool) -> str:
        """The same for a reader."""
        ends = f"from {names(self.origin)} to {names(self.destination)}"
        return f"whether the person {'did not: ' * never}went {ends} after step {self.step + 1}"

    def met(self, inside: Inside) -> Any:
        """Whether somebody is in the one zone at the step, and in the other at the next."""
        return inside(self.origin, self.step) & inside(self.destination, self.step + 1)

    def progress(self, place_of: Ints, steps: int) -> Ints:
        """Level 1 for people in the one zone at the step, level 2 if they then are in the other."""
        levels = _unchanged(steps, len(place_of), 3)
        levels[self.step, np.isin(place_of, self.origin), 0] = 1
        levels[self.step + 1, :, 1] = np.where(np.isin(place_of, self.destination), 2, 0)
        return levels


@dataclass(frozen=True)
class Visitors(Count):
    """How many different people are in a zone at `times` or more of some steps.

    >>> Visitors([1], steps=range(3), times=2).bits(np.array([[1, 0, 1], [1, 0, 0]])).tolist()
    [True, False]
    """

    places: tuple[int, ...]
    steps: tuple[int, ...]
    times: int

    def __init__(
        self,
        places: int | Iterable[int],
        steps: Iterable[int],
        times: int = 1,
        *,
        mechanism: Mechanism | None = None,
        others: int | None = None,
    ) -> None:
        window = tuple(sorted(set(_zone(steps, "steps"))))
        if whole(times, "times", 1) > len(window):
            raise InputError(f"times = {times}: nobody can be there so often in {len(window)} steps")
        hold(self, places=_zone(places, "places"), steps=window, times=int(times), mechanism=mechanism, others=others)
        self.__post_init__()

    @property
    def zones(self) -> tuple[tuple[int, ...], ...]:
        """The sets of places of this count."""
        return (self.places,)

    @property
    def first(self) -> int:
        """The first step relevant to it."""
        return self.steps[0]

    @property
    def read(self) -> int:
        """The step of its reading."""
        return self.steps[-1]

    @property
    def cell(self) -> tuple[Any, ...]:
        """At one step, visitors are the people present."""
        return (Present, self.places) if len(self.steps) == 1 else (Visitors, self.places, self.times)

    @property
    def sentence(self) -> str:
        """The deed of a counted person, in words."""
        often = "ever" if self.times == 1 else f"at {self.times} or more steps"
        return f"they are at {_names(self.places)} {often} of {len(self.steps)} steps"

    @property
    def kind(self) -> str:
        """The word for counts of this kind."""
        return "visitors"

    @property
    def noun(self) -> str:
        """What it is a number of."""
        return "different visitors"

    @property
    def window(self) -> tuple[int, ...]:
        """The steps that matter to it."""
        return self.steps

    @property
    def repeats(self) -> int:
        """At how many of its steps somebody has to be in the zone."""
        return self.times

    @property
    def levels(self) -> int:
        """How many levels `progress` has."""
        return self.times + 1

    @property
    def spots(self) -> frozenset[Spot] | None:
        """A place and a step, where one visit is enough; None for repeated visits."""
        return frozenset((x, t) for x in self.places for t in self.steps) if self.times == 1 else None

    def asked(self, names: Names, steps: int | None, never: bool) -> str:
        """The words that ask for it."""
        often = f" {self.times} times" if self.times > 1 else ""
        return f"{'never' if never else 'visited'}{often}{_when(self.steps, steps)}:{names(self.places)}"

    def said(self, names: Names, steps: int | None, never: bool) -> str:
        """The same for a reader."""
        zone = names(self.places)
        if self.times == 1:
            return f"whether the person was {'never' if never else 'ever'} at {zone}{_when(self.steps, steps)}"
        often = f"at fewer than {self.times}" if never else f"at {self.times} or more"
        return f"whether the person was at {zone} {often} of {len(self.steps)} steps"

    def met(self, inside: Inside) -> Any:
        """Whether somebody is in the zone at so many of the steps."""
        return sum(inside(self.places, step) * 1 for step in self.steps) >= self.times

    def progress(self, place_of: Ints, steps: int) -> Ints:
        """A level for each step in the zone so far, up to `times`."""
        levels = _unchanged(steps, len(place_of), self.times + 1)
        there = np.flatnonzero(np.isin(place_of, self.places))
        more = np.minimum(np.arange(1, self.times + 2), self.times)
        for step in self.steps:
            levels[step, there] = more
        return levels


@lru_cache(maxsize=16)
def of_single_places(
    sensors: tuple[tuple[int, ...], ...], mechanism: Mechanism, others: tuple[tuple[int, ...], ...] | None
) -> tuple[tuple[Count, ...], ...]:
    """The counts of sensors, a place each, by step; `others` in their form. Remembered, but not sent to workers."""
    known: Sequence[Sequence[int | None]] = [(None,) * len(step) for step in sensors] if others is None else others
    return tuple(
        tuple(Present([x], t, mechanism=mechanism, others=n) for x, n in zip(step, numbers, strict=True))
        for t, (step, numbers) in enumerate(zip(sensors, known, strict=True))
    )


def _names(zone: tuple[int, ...]) -> str:
    """A zone in words, by the numbers of its places."""
    return f"place {zone[0]}" if len(zone) == 1 else f"one of the places {', '.join(map(str, zone))}"


def _when(asked: Sequence[int], every: int | None) -> str:
    """At which steps, from 1; nothing for all of them, or where their number is unknown, from the first on."""
    if list(asked) == list(range(len(asked) if every is None else every)):
        return ""
    runs: list[list[int]] = []
    for step in asked:
        if runs and runs[-1][1] == step - 1:
            runs[-1][1] = step
        else:
            runs.append([step, step])
    said = ",".join(f"{a + 1}" if a == b else f"{a + 1}-{b + 1}" for a, b in runs)
    return f" at step{'s' * (len(asked) > 1)} {said}"


def _unchanged(steps: int, states: int, levels: int) -> Ints:
    """The level after each step, equal to the level before (T, M, L)."""
    return np.tile(np.arange(levels, dtype=np.int64), (steps, states, 1))


def _zone(values: Any, name: str) -> tuple[int, ...]:
    """Whole numbers from 0 on, in order and each once; at least one."""
    if isinstance(values, (str, bytes)):
        raise InputError(f"{name} = {values!r}: expected numbers of places")
    numbers = list(values) if isinstance(values, Iterable) else [values]
    if not numbers:
        raise InputError(f"{name}: the list is empty; a count is about one place or step at least")
    return tuple(sorted({whole(number, name, 0) for number in numbers}))
