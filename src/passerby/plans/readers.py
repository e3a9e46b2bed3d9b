"""The most common wishes of readers: small counts hidden, counts rounded, or both. These ways are always tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from passerby.errors import PasserbyError
from passerby.mechanisms import Mechanism, Rounding, Suppression, Then
from passerby.model.release import Release

from .lever import Setting
from .levers.rules import followed
from .search import Plan, Search

#: The ways by name; their values follow from the count.
WAYS: dict[str, Mechanism] = {
    "hidden below 5": Suppression(5),
    "hidden below 10": Suppression(10),
    "rounded to 5": Rounding(5),
    "rounded to 10": Rounding(10),
    "hidden to 7, then rounded to 5": Then(Suppression(8), Rounding(5)),
}
#: Their names among levers.
ALWAYS = "asked for"


def readers_ask(search: Search, base: Release) -> Iterator[Plan]:
    """Each way, if counts are wanted raw, on some people; and both ends of presence at counted places."""
    if not all(way.raw for way in base.ways):
        return
    for number, (name, way) in enumerate(WAYS.items()):
        try:
            release = followed(base, way)
        except PasserbyError:
            continue
        plan = search.attempt((Setting(ALWAYS, float(number), f"counts {name}"),), release)
        if search.guard is not None:
            plan = replace(plan, presence=search.guard.told(release))
            search.tried[release] = plan
        yield plan
