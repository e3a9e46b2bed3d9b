"""What a lever is: a way to publish less of what is wanted, or less exactly.

There are two kinds. A `Dial` has positions from mild to strong. A `Choice` has items that can be left out, and the
search finds the order in which they go. Either way a lever is one file below `levers`, and one line in the list there.
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
    """What levers may look at: the names of places, which counts must stay, and what a limit lets a release add.

    `levels` are ways to put places together, each a list of zones with a name.
    """

    places: tuple[str, ...]
    stay: frozenset[Cell] = frozenset()
    added: float | None = None
    levels: tuple[Mapping[str, Zone], ...] = ()

    def name(self, cell: Cell) -> str:
        """What a count is of, in words: a place, a zone, or from where to where."""
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
    """Releases from mild to strong, one for each position; where `monotone`, each tells less than the one before.

    Others than those that are tried may be asked for where positions are `kind` "numbers" (of at least 0) or "whole"
    (of at least 1), and not where they are "listed".
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
    """A lever with positions. `refuses` says why a release cannot be changed by it, where that is so.

    Where nobody says which levers are moved, the `usual` ones are; some only for releases that they are quick for.
    """

    name: str
    says: str
    kind: Kind
    family: Callable[[Release, Scene], Family]
    refuses: Callable[[Release, Scene], str | None]
    usual: bool | Callable[[Release], bool] = True


@dataclass(frozen=True)
class Item:
    """Something that can be left out: what it is called, and its counts."""

    name: str
    cells: frozenset[Cell]


@dataclass(frozen=True)
class Choice:
    """A lever that leaves out some of its items. `kept` says in words that so many of them, of so many, are left."""

    name: str
    says: str
    items: Callable[[Release, Scene], list[Item]]
    kept: Callable[[int, int], str]
    kind: Kind = "sensors"
    usual: bool | Callable[[Release], bool] = True

    def family(self, ordered: Sequence[Item], everything: int) -> Family:
        """The first so many of some items left out, which tells less the more of them there are."""

        def build(release: Release, position: float) -> Release:
            return without(release, frozenset().union(*(item.cells for item in ordered[: int(position)])))

        positions = tuple(float(n) for n in range(1, len(ordered) + 1))
        return Family(self.name, positions, build, lambda n: self.kept(everything - int(n), everything), True)


Lever = Dial | Choice


def is_usual(lever: Lever, release: Release) -> bool:
    """Whether a lever is moved where nobody says which."""
    return lever.usual if isinstance(lever.usual, bool) else lever.usual(release)
