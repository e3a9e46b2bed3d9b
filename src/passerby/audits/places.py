"""Which places an audit keeps: those that are named or most visited, and those of zones."""

from __future__ import annotations

from collections.abc import Sequence

from passerby.visits.everybody import Everybody
from passerby.visits.names import name_of
from passerby.visits.table import Visits
from passerby.visits.traces import ELSEWHERE
from passerby.visits.windows import visited

from .settings import AuditSettings


def chosen_places(settings: AuditSettings, visits: Visits | Everybody, zoned: Sequence[str]) -> int | tuple[str, ...]:
    """The places to keep: by name or the most visited, and those of zones that anybody visits."""
    if not zoned:
        return _named(settings) or settings.places
    known = set(visited(Everybody.of(visits))["place"].to_list())
    more = (name for name in zoned if name in known and name != ELSEWHERE)
    return tuple(dict.fromkeys([*place_names(settings, visits), *more]))


def _named(settings: AuditSettings) -> tuple[str, ...]:
    """The names that are given, as those of visits are read."""
    return tuple(map(name_of, settings.place_names))


def place_names(settings: AuditSettings, visits: Visits | Everybody) -> tuple[str, ...]:
    """The names of the places to keep, without zones: as given, or the most visited."""
    if settings.place_names:
        return _named(settings)
    ranked = (
        visited(Everybody.of(visits)).sort("n", descending=True, maintain_order=True)["place"].head(settings.places)
    )
    return tuple(name for name in ranked.to_list() if name != ELSEWHERE)
