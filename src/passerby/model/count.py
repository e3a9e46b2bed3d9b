"""What every published number says of itself: its zones, its steps, and whom it counts.

Of the target, a count sees one bit: whether their trace has the property that is counted. It is known when the last
step that matters to it is over, the step at which the count is *read*. A count of one's own is a frozen dataclass below
`Count`, with the abstract members; the others have defaults that hold for any count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.mechanisms.base import Mechanism
from passerby.mechanisms.checks import MOST_COUNTED, check_hashable
from passerby.support.checks import whole

Ints = NDArray[np.int64]
Bits = NDArray[np.bool_]
Zone = tuple[int, ...]
#: Whether somebody is in a zone at a step; or of many people, whether each of them is.
Inside = Callable[[tuple[int, ...], int], Any]
#: The name of a zone.
Names = Callable[[Zone], str]
#: What has to be done once in how many of the steps: places at a step, or an origin, a destination and a step.
Spot = tuple[int, ...]


@dataclass(frozen=True)
class Count(ABC):
    """A published number. `mechanism` and `others` (people who are counted besides the target) may be its own."""

    mechanism: Mechanism | None = field(default=None, kw_only=True)
    others: int | None = field(default=None, kw_only=True)

    #: Whether it counts those who are in `zones[0]` at the step `read`, whatever they do at others.
    snapshot: ClassVar[bool] = False
    #: Whether it counts those who are in `zones[0]` at the step before `read`, and in `zones[1]` at that step.
    flow: ClassVar[bool] = False
    #: The fields that hold its zones: each a zone, or several.
    zone_fields: ClassVar[tuple[str, ...]] = ("places",)

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
        """The sets of places that it is about."""

    @property
    @abstractmethod
    def first(self) -> int:
        """The first step that matters to it."""

    @property
    @abstractmethod
    def read(self) -> int:
        """The step at which it is read: the last that matters to it."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """Of somebody who is counted, in words: what they did."""

    @property
    def kind(self) -> str:
        """The word for counts of this kind, in tables and settings."""
        return type(self).__name__

    @property
    def noun(self) -> str:
        """What it is a number of, as a list of what is published says it."""
        return f"people in counts {self.kind}"

    @property
    def window(self) -> tuple[int, ...]:
        """The steps that matter to it."""
        return tuple(range(self.first, self.read + 1))

    @property
    def repeats(self) -> int:
        """At how many steps of its window somebody has to be in the zone, where it is a count of visitors."""
        return 1

    @property
    def lasts(self) -> bool:
        """Whether a chain has to remember its levels from step to step."""
        return not self.flow and self.first < self.read

    @property
    def levels(self) -> int:
        """How many levels `progress` has."""
        return int(self.progress(np.zeros(1, dtype=np.int64), self.read + 1).shape[2])

    @property
    def cell(self) -> tuple[Any, ...]:
        """What it is a number of, whichever the step: the cell of a table that is published again and again."""
        return (type(self), *self.zones)

    @abstractmethod
    def met(self, inside: Inside) -> Any:
        """Whether somebody is counted of whom `inside(zone, step)` tells where they were; also of many people."""

    @abstractmethod
    def progress(self, place_of: Ints, steps: int) -> Ints:
        """How far somebody is towards being counted: the level (T, M, L) after a step, by state and by level before.

        Everybody begins at level 0. Those at the last level after the last step are counted.
        """

    def bits(self, traces: Ints) -> Bits:
        """Whether each trace (n, T) is counted (n,)."""
        return np.asarray(self.met(lambda zone, step: np.isin(traces[:, step], zone)))

    @property
    def spots(self) -> frozenset[Spot] | None:
        """What somebody has to do one of: be at a place at a step, or go from one place to another after a step.

        None where there is no such list. A count follows from raw counts that divide its spots among them.
        """
        if self.snapshot:
            return frozenset((place, self.read) for place in self.zones[0])
        if self.flow:
            origin, destination = self.zones
            return frozenset((x, y, self.first) for x in origin for y in destination)
        return None

    @property
    def around(self) -> list[tuple[int, int]]:
        """All places and steps that it is about."""
        if self.flow:
            return [(x, t) for t, zone in enumerate(self.zones, self.first) for x in zone]
        return [(x, t) for t in self.window for zone in self.zones for x in zone]

    def meets(self, other: Count) -> bool:
        """Whether somebody may be counted by both, at a place and a step that both are about."""
        if self.flow and other.flow:
            both = zip(self.zones, other.zones, strict=True)
            return self.first == other.first and all({*one} & {*two} for one, two in both)
        return not {*self.around}.isdisjoint(other.around)

    @property
    def split(self) -> list[tuple[Zone, int]]:
        """Zones and steps from which it follows: whoever knows if somebody is in each knows if they are counted."""
        return [(zone, t) for zone in self.zones for t in self.window]

    def relabelled(self, new: Mapping[Zone, Zone]) -> Count:
        """The same count of other zones, by what its own become."""
        held = {name: getattr(self, name, ()) for name in self.zone_fields}
        each = {name: (value,) if value in self.zones else value for name, value in held.items()}
        if {zone for zones in each.values() for zone in zones} != set(self.zones):
            raise UnsupportedRelease(
                f"{self!r}: its fields {', '.join(held)} are not its zones {self.zones}; name the fields that hold "
                f"them, as {type(self).__name__}.zone_fields"
            )
        values = {
            name: new[value] if value in self.zones else tuple(new[zone] for zone in value)
            for name, value in held.items()
        }
        return changed(self, **values)

    def asked(self, names: Names, steps: int | None, never: bool) -> str:
        """The words that ask whether somebody is counted, or with `never` is not; of a release of so many steps."""
        return f"{'not ' * never}{self.sentence}"

    def said(self, names: Names, steps: int | None, never: bool) -> str:
        """The same for a reader."""
        return f"whether {'not ' * never}{self.sentence}"


def mechanism_of(count: Count) -> Mechanism:
    """The mechanism of a count of a release, in which every count has one."""
    assert count.mechanism is not None, "counts of a release have a mechanism each"
    return count.mechanism


def changed(count: Count, **values: Any) -> Count:
    """The same count with another mechanism or number of others, known to be valid: an audit makes many."""
    out: Count = object.__new__(type(count))
    hold(out, **{**vars(count), **values})
    return out


def hold(count: Count, **values: Any) -> None:
    """Set fields, once."""
    for name, value in values.items():
        object.__setattr__(count, name, value)
