"""Levers: ways to publish less than wanted, or less exactly.

There are two kinds. A `Dial` has positions from mild to strong. A `Choice` has items to leave out, and the search finds
their order. Either way a lever is one file below `levers`, and one line in the list there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from passerby.model.release import Release

from .cells import Cell, without

#: A set of places.
Zone = tuple[int, ...]
Kind = Literal["mechanism", "sensors"]


@dataclass(frozen=True)
class Scene:
    """The data open to levers: the names of places, the counts that must stay, and the gain that a limit allows.

    `levels` are ways to put places together, each a list of zones with a name.
    """

    places: tuple[str, ...]
    stay: frozenset[Cell] = frozenset()
    added: float | None = None
    levels: tuple[Mapping[str, Zone], ...] = ()

    def name(self, cell: Cell) -> str:
        """The subject of a count, in words: a place, a zone, or the two ends of a flow."""
        return " to ".join(map(self.zone, cell.zones))

    def zone(self, places: Zone) -> str:
        """The name of a zone."""
        if len(places) == 1:
            return self.places[places[0]]
        named = (name for level in self.levels for name, zone in level.items() if zone == places)
        return next(named, f"{len(places)} places around {self.places[places[0]]}")


@dataclass(frozen=True)
class Setting:
    """A lever in one of its positions, in words."""

    lever: str
    position: float
    words: str


@dataclass(frozen=True)
class Family:
    """Releases from mild to strong, one for each position; if `monotone`, each is less informative than the one before.

    Positions of `kind` "numbers" (of at least 0) or "whole" (of at least 1) may be others than the tried ones; "listed"
    positions may not.
    """

    lever: str
    positions: tuple[float, ...]
    build: Callable[[Release, float], Release]
    words: Callable[[float], str]
    monotone: bool
    kind: Literal["numbers", "whole", "listed"] = "whole"

    def has(self, position: float) -> bool:
        """Whether there is such a position."""
        if self.kind == "listed":
            return position in self.positions
        return 0 < position < math.inf and (self.kind == "numbers" or position == int(position))

    def setting(self, position: float) -> Setting:
        """A position in words."""
        return Setting(self.lever, position, self.words(position))


@dataclass(frozen=True)
class Dial:
    """A lever with positions. `refuses` says why it cannot change a release, if it cannot.

    By default the `usual` levers are moved; some only for releases they are quick for.
    """

    name: str
    says: str
    kind: Kind
    family: Callable[[Release, Scene], Family]
    refuses: Callable[[Release, Scene], str | None]
    usual: bool | Callable[[Release], bool] = True


@dataclass(frozen=True)
class Item:
    """A removable thing: its name, and its counts."""

    name: str
    cells: frozenset[Cell]


@dataclass(frozen=True)
class Choice:
    """A lever that leaves out some of its items. `kept` has the words for so many of all of them being left."""

    name: str
    says: str
    items: Callable[[Release, Scene], list[Item]]
    kept: Callable[[int, int], str]
    kind: Kind = "sensors"
    usual: bool | Callable[[Release], bool] = True

    def family(self, ordered: Sequence[Item], everything: int) -> Family:
        """The first so many of some items left out; the more of them, the less informative the release."""

        def build(release: Release, position: float) -> Release:
            return without(release, frozenset().union(*(item.cells for item in ordered[: int(position)])))

        positions = tuple(float(n) for n in range(1, len(ordered) + 1))
        return Family(self.name, positions, build, lambda n: self.kept(everything - int(n), everything), True)


Lever = Dial | Choice


def is_usual(lever: Lever, release: Release) -> bool:
    """Whether a lever is moved by default."""
    return lever.usual if isinstance(lever.usual, bool) else lever.usual(release)
