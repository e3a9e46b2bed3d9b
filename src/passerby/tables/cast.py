"""The subjects of a check: personas with roles bound to places of a table, by the given names or by guess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from passerby.errors import InputError
from passerby.personas.persona import ALL, ANYWHERE, ELSEWHERE, HOME, Persona, read_personas
from passerby.support.checks import nearest, shown

from .cells import WORDS
from .columns import key
from .read import CountTable

#: The most personas checked by default.
MOST_GUESSED = 3
#: If no place is like a role, these personas go to the quietest and to the busiest place: their names, and the role.
STRANGERS = (("dialysis", "clinic"), ("office-worker", "office"))
#: The most places in a message.
NAMED = 8


def cast_of(table: CountTable, personas: Any, given_roles: Mapping[str, str] | None) -> tuple[list[Persona], list[str]]:
    """Personas with their roles at places of a table, and the guesses made for it."""
    given = _given(table, given_roles)
    named = personas is not None
    everybody = _read(ALL if personas is None else personas)
    unknown = next((role for role in given if not any(role in (*each.roles, HOME) for each in everybody)), None)
    if unknown is not None:
        roles = sorted({role for each in everybody for role in each.roles if role != ANYWHERE})
        raise InputError(f"roles: nobody has a role {shown(unknown)}; roles are {', '.join(roles)}")
    guessed: dict[str, str] = {}
    bound = [_bound(each, table, given, guessed) for each in everybody]
    there = [each for each in bound if _counted(each, table)]
    missing = [each for each in bound if not _counted(each, table)]
    if named and missing:
        raise InputError(_nowhere(missing[0], table))
    remarks = []
    if not there:
        there, guessed = _strangers(table)
        remarks.append("No role is called like a place of the table. ")
    if not named:
        there, left = _fewest(there, table, given)
        guessed = {role: place for role, place in guessed.items() if any(place in each.places for each in there)}
        if left:
            remarks.append(f"More personas at counted places: {', '.join(left)}. Name them to ask about them.")
    if guessed:
        said = ", ".join(f"{role} is {place}" for role, place in guessed.items())
        more = remarks.pop(0) if remarks and remarks[0].endswith(" ") else ""
        remarks.insert(0, f"{more}Guessed by name: {said}." if not more else f"{more}Taken as an example: {said}.")
    return there, remarks


def _read(personas: Any) -> list[Persona]:
    """Personas by name, from files, or as they are."""
    if isinstance(personas, (str, Path)):
        return read_personas(personas)
    if isinstance(personas, Persona):
        return [personas]
    if not isinstance(personas, Sequence):
        raise InputError(f"personas: expected names, files or personas, got {shown(personas)}")
    out = [each for one in personas for each in ([one] if isinstance(one, Persona) else read_personas(one))]
    if not out:
        raise InputError("personas: the list is empty; name one at least, such as 'nurse'")
    names = [each.name for each in out]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"personas: {twice!r} is there twice; give each a name of its own")
    return out


def _given(table: CountTable, places: Any) -> dict[str, str]:
    if places is None:
        return {}
    if not isinstance(places, Mapping):
        raise InputError(f"roles: expected roles with their places, got {shown(places)}")
    for role, place in places.items():
        if not isinstance(role, str) or not isinstance(place, str):
            raise InputError(f"roles: expected roles with their places, got {shown(role)} with {shown(place)}")
        if place not in table.places:
            near = nearest(place, table.places)
            hint = f" (did you mean {near}?)" if near else ""
            raise InputError(f"roles: nobody counts at {shown(place)}{hint}; the table has {_some(table.places)}")
    return dict(places)


def _some(places: Sequence[str]) -> str:
    more = f" and {len(places) - NAMED:,} more" if len(places) > NAMED else ""
    return f"{', '.join(places[:NAMED])}{more}"


def _bound(persona: Persona, table: CountTable, given: Mapping[str, str], guessed: dict[str, str]) -> Persona:
    """A persona with its roles at places of the table."""
    new: dict[str, str] = {}
    for role in (*persona.roles, HOME):
        if role == ANYWHERE or persona.place_of(role) in table.places:
            continue
        place = given.get(role)
        if place is None and role != HOME and (place := _like(role, table)) is not None:
            guessed[role] = place
        if place is not None:
            new[role] = place
    return persona.bound(new) if new else persona


def _like(role: str, table: CountTable) -> str | None:
    """The quietest place with a name like a role."""
    own = dict.fromkeys(WORDS["roles"].get(role, [key(role)]), role)
    every = {word: name for name, words in WORDS["roles"].items() for word in words} | own

    def meant(place: str) -> str | None:
        """The role of the longest word in the name of a place."""
        words = [word for word in every if word in key(place)]
        return every[max(words, key=len)] if words else None

    found = [place for place in table.places if meant(place) == role]
    return min(found, key=lambda place: _mean(table, place), default=None)


def _mean(table: CountTable, place: str) -> float:
    column = table.counts[:, table.places.index(place)]
    return float(np.nanmean(column)) if not np.isnan(column).all() else np.inf


def _counted(persona: Persona, table: CountTable) -> list[str]:
    """Counted places of a persona."""
    return [
        place
        for place in persona.places
        if place != ELSEWHERE and place in table.places and np.isfinite(_mean(table, place))
    ]


def _nowhere(persona: Persona, table: CountTable) -> str:
    roles = [role for role in persona.roles if role != ANYWHERE]
    role = roles[0]
    return (
        f"{persona.name}: the table counts at none of its places ({', '.join(roles)}); say which place is which, as in "
        f"roles={{{role!r}: {table.places[0]!r}}} (on the command line, --place '{role}={table.places[0]}'). The "
        f"table has {_some(table.places)}"
    )


def _strangers(table: CountTable) -> tuple[list[Persona], dict[str, str]]:
    """Ready personas at the quietest and the busiest place."""
    known = [place for place in table.places if np.isfinite(_mean(table, place))]
    order = sorted(known, key=lambda place: _mean(table, place))
    ends = dict.fromkeys((order[0], order[-1]))
    pairs = list(zip(STRANGERS, ends, strict=False))
    guessed = {role: place for (_, role), place in pairs}
    return [read_personas(name)[0].bound({role: place}) for (name, role), place in pairs], guessed


def _fewest(there: list[Persona], table: CountTable, given: Mapping[str, str]) -> tuple[list[Persona], list[str]]:
    """The personas of the quietest place, the ones with given roles first, and the names of the others."""

    def rank(persona: Persona) -> tuple[bool, float]:
        first = _counted(persona, table)[0]
        return first not in given.values(), _mean(table, first)

    order = sorted(there, key=rank)
    return order[:MOST_GUESSED], [each.name for each in order[MOST_GUESSED:]]
