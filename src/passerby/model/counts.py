"""Kinds of counts: people in a zone, people moving from one zone to another, different visitors.

Of the target, a count sees one bit: whether their trace has the counted property. The bit is known at the end of the
last step relevant to it, the step of its *reading*.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.mechanisms import Mechanism
from passerby.mechanisms.checks import MOST_COUNTED, check_hashable
from passerby.support.checks import whole

Ints = NDArray[np.int64]
Bits = NDArray[np.bool_]
#: Whether somebody is in a zone at a step; or of many people, whether each of them is.
Inside = Callable[[tuple[int, ...], int], Any]


@dataclass(frozen=True)
class Count(ABC):
    """A published number. `mechanism` and `others` (people counted besides the target) may be its own."""

    mechanism: Mechanism | None = field(default=None, kw_only=True)
    others: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.mechanism is not None and not isinstance(self.mechanism, Mechanism):
            raise InputError(f"{self!r}: mechanism must be a Mechanism such as Raw(), got {self.mechanism!r}")
        if self.mechanism is not None:
            check_hashable(self.mechanism)
        if self.others is not None:
            whole(self.others, "others", 0, MOST_COUNTED)

    @property
    @abstractmethod
    def zones(self) -> tuple[tuple[int, ...], ...]:
        """The sets of places of this count."""

    @property
    @abstractmethod
    def first(self) -> int:
        """The first step relevant to it."""

    @property
    @abstractmethod
    def read(self) -> int:
        """The step of its reading: the last step relevant to it."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """The deed of a counted person, in words."""

    @property
    def cell(self) -> tuple[Any, ...]:
        """The subject of the count without the step: the cell of a table published again and again."""
        return (type(self), *self.zones)

    @abstractmethod
    def met(self, inside: Inside) -> Any:
        """Whether somebody is counted, given their presence `inside(zone, step)`; also for many people."""

    @abstractmethod
    def progress(self, place_of: Ints, steps: int) -> Ints:
        """How far somebody is towards being counted: the level (T, M, L) after a step, by state and by level before.

        Everybody begins at level 0. People at the last level after the last step are counted.
        """

    def bits(self, traces: Ints) -> Bits:
        """Whether each trace (n, T) is counted (n,)."""
        return np.asarray(self.met(lambda zone, step: np.isin(traces[:, step], zone)))


@dataclass(frozen=True)
class Present(Count):
    """How many people are in a zone, a set of places, at a step.

    >>> Present([0, 1], step=2).bits(np.array([[2, 2, 1], [0, 0, 2]])).tolist()
    [True, False]
    """

    places: tuple[int, ...]
    step: int

    def __init__(
        self, places: int | Iterable[int], step: int, *, mechanism: Mechanism | None = None, others: int | None = None
    ) -> None:
        _hold(self, places=_zone(places, "places"), step=whole(step, "step", 0), mechanism=mechanism, others=others)
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
        _hold(self, **ends, step=whole(step, "step", 0), mechanism=mechanism, others=others)
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
        _hold(self, places=_zone(places, "places"), steps=window, times=int(times), mechanism=mechanism, others=others)
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


def _names(zone: tuple[int, ...]) -> str:
    """A zone in words, by the numbers of its places."""
    return f"place {zone[0]}" if len(zone) == 1 else f"one of the places {', '.join(map(str, zone))}"


def _unchanged(steps: int, states: int, levels: int) -> Ints:
    """The level after each step, equal to the level before (T, M, L)."""
    return np.tile(np.arange(levels, dtype=np.int64), (steps, states, 1))


def changed(count: Count, **values: Any) -> Count:
    """The same count with another mechanism or number of others, known to be valid: an audit makes many."""
    out: Count = object.__new__(type(count))
    _hold(out, **{**vars(count), **values})
    return out


def moved(count: Count, new: Mapping[tuple[int, ...], tuple[int, ...]]) -> Count:
    """The same count of other zones, each replaced by its image."""
    names = ("origin", "destination") if isinstance(count, Moved) else ("places",)
    return changed(count, **{name: new[getattr(count, name)] for name in names})


def _zone(values: Any, name: str) -> tuple[int, ...]:
    """Whole numbers from 0 on, in order and each once; at least one."""
    if isinstance(values, (str, bytes)):
        raise InputError(f"{name} = {values!r}: expected numbers of places")
    numbers = list(values) if isinstance(values, Iterable) else [values]
    if not numbers:
        raise InputError(f"{name}: the list is empty; a count is about one place or step at least")
    return tuple(sorted({whole(number, name, 0) for number in numbers}))


def _hold(count: Count, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(count, name, value)
