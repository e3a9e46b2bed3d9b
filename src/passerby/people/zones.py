"""Zones: named sets of places, at one level or at several, as a table tells them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from passerby.errors import InputError
from passerby.visits.names import name_of
from passerby.visits.small_tables import Header, read_table

from .habits import People

#: The names of places by zone, and these by level; one level without a name for a table without levels.
Levels = dict[str, dict[str, list[str]]]
Zone = tuple[int, ...]
#: The columns of a table of zones.
HEADER = Header(
    "zones",
    ("place", "zone", "level"),
    needs=((frozenset({"place", "zone"}),),),
    needed="the columns place and zone (and level, where there are several kinds of zones)",
)
#: The most names in a message.
QUOTED = 5


def read_zones(path: str | Path) -> Levels:
    """Read a table (CSV or Parquet) with the columns `place`, `zone` and, for several kinds of zones, `level`.

    A place may be in several zones, also of one level. The order is the order of the rows.
    """
    file = Path(path)
    columns, rows = read_table(file, HEADER)
    out: Levels = {}
    for line, row in rows:
        place, zone, level = (name_of(row.get(name)) for name in ("place", "zone", "level"))
        if not place or not zone:
            raise InputError(f"{file}, {line}: it names no {'zone' if place else 'place'}")
        if "level" in columns and not level:
            raise InputError(
                f"{file}, {line}: zone {zone!r} has no level; name one in each row, or leave the column out"
            )
        members = out.setdefault(level, {}).setdefault(zone, [])
        if place not in members:
            members.append(place)
    if not out:
        raise InputError(f"{file}: it holds no zone; give a row for each place of a zone")
    return out


def places_of(levels: Levels) -> list[str]:
    """The names of all places of zones, each once."""
    return list(dict.fromkeys(name for zones in levels.values() for names in zones.values() for name in names))


@dataclass(frozen=True)
class Zones:
    """Sets of place numbers by zone and level, their names, and the number of places unknown to the table."""

    levels: Mapping[str, Mapping[str, Zone]]
    unknown: tuple[str, ...] = ()

    @classmethod
    def among(cls, people: People, levels: Levels, path: str | Path) -> Zones:
        """Zones of the places of these people; a zone without any known place is refused."""
        number = {name: k for k, name in enumerate(people.places[:-1])}
        found: dict[str, dict[str, Zone]] = {}
        for level, zones in levels.items():
            for zone, names in zones.items():
                known = tuple(sorted(number[name] for name in names if name in number))
                if not known:
                    raise InputError(
                        f"{path}: zone {zone!r} is empty: nobody visits any of its places ({_some(names)}); correct "
                        "their spelling, or leave the zone out"
                    )
                found.setdefault(level, {})[zone] = known
        return cls(found, tuple(name for name in places_of(levels) if name not in number))

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings to read before believing the zones."""
        if not self.unknown:
            return ()
        these = "1 place" if len(self.unknown) == 1 else f"{len(self.unknown):,} places"
        return (
            f"Zones: nobody visits {these} of theirs ({_some(self.unknown)}). Check the spelling; zones are counted "
            "without them.",
        )

    def named(self) -> dict[str, Zone]:
        """Zones by name: if zones of several levels share a name, with the level before it.

        >>> Zones({"ward": {"a": (0,), "b": (1,)}, "city": {"a": (0, 1)}}).named()
        {'ward: a': (0,), 'b': (1,), 'city: a': (0, 1)}
        """
        names = [zone for zones in self.levels.values() for zone in zones]
        return {
            zone if names.count(zone) == 1 else f"{level}: {zone}": places
            for level, zones in self.levels.items()
            for zone, places in zones.items()
        }


def _some(names: list[str] | tuple[str, ...]) -> str:
    return ", ".join(map(repr, names[:QUOTED])) + " ..." * (len(names) > QUOTED)
