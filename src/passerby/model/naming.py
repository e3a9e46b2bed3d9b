"""The names of a guess, if it does not name the place itself: its zone, or a place near enough."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_whole

from .chains import Nameable, frozen

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Naming:
    """The names of guesses: `right[g, x]` (G, P) tells whether name g is right for somebody at place x.

    `name_of` (P,) is the name for a guess of each place. `usable` (G,) marks the names in use, and `constant` (G,) the
    names tried by the attack `constant`.
    """

    right: Flags
    name_of: Ints
    usable: Flags
    constant: Flags

    @cached_property
    def apart(self) -> bool:
        """Whether one name alone is right at each place: then places are grouped, and each group has a name."""
        alone = bool((self.right.sum(axis=0) == 1).all())
        return alone and bool(self.right[self.name_of, np.arange(len(self.name_of))].all())

    @cached_property
    def right_as_numbers(self) -> NDArray[np.float64]:
        """The same table as numbers, 1 and 0, as kernels take it."""
        return frozen(np.ascontiguousarray(self.right, dtype=np.float64))

    @cached_property
    def usable_as_numbers(self) -> NDArray[np.float64]:
        """1 for each usable name, and 0 for others."""
        return frozen(self.usable.astype(np.float64))

    def wrong(self, guesses: Ints, traces: Ints) -> Flags:
        """Whether each step of guesses (..., T) is wrong for traces (..., T) of places."""
        return np.asarray(~self.right[guesses, traces])


def of_zones(prior: Nameable, zones: Iterable[Any]) -> Naming | None:
    """A guess names the zone of the place, by `zones` (P,); None where each place is a zone of its own number."""
    each = _zones(prior, zones)
    if (each == np.arange(prior.places)).all():
        return None
    right = np.arange(each.max() + 1)[:, None] == each
    usable = (right & prior.guessable).any(axis=1)
    here = prior.guessable.copy()
    if prior.elsewhere is not None:
        here[prior.elsewhere] = False
    constant = (right & here).any(axis=1)
    return Naming(right, each, usable, constant if constant.any() else usable)


def of_near(prior: Nameable, within: Any) -> Naming | None:
    """A guess names a place, and is right near it, by a table (P, P) or a set for each place; None for no distance."""
    right = _near(prior, within)
    if (right == np.eye(prior.places, dtype=bool)).all():
        return None
    usable = prior.guessable.copy()
    constant = usable.copy()
    if prior.elsewhere is not None and usable.sum() > 1:
        constant[prior.elsewhere] = False
    return Naming(right, np.arange(prior.places), usable, constant)


def _zones(prior: Nameable, zones: Iterable[Any]) -> Ints:
    """The zone of each place, as whole numbers from 0 on."""
    listed = list(zones)
    if len(listed) != prior.places:
        raise InputError(f"zones: expected the zone of each of the {prior.places} places, got {len(listed)} of them")
    for place, zone in enumerate(listed):
        if not is_whole(zone) or not 0 <= zone < prior.places:
            raise InputError(
                f"zones[{place}] = {zone!r}: expected the number of a zone, from 0 to {prior.places - 1}, for place "
                f"{place}"
            )
    each = np.array(listed, dtype=np.int64)
    missing = np.setdiff1d(np.arange(each.max() + 1), each)
    if len(missing):
        raise InputError(f"zones: no place is in zone {missing[0]}; number the zones from 0 on, with none left out")
    return each


def _near(prior: Nameable, within: Any) -> Flags:
    """Whether naming each place is right at each other one, as a table."""
    rows = list(within)
    if len(rows) != prior.places:
        raise InputError(
            f"within: expected a row of truth values or a set of places for each of the {prior.places} places, got "
            f"{len(rows)} of them"
        )
    out = np.zeros((prior.places, prior.places), dtype=bool)
    for place, row in enumerate(rows):
        out[place] = (
            _of_set(place, row, prior.places)
            if isinstance(row, (set, frozenset))
            else _of_row(place, row, prior.places)
        )
    if not out.diagonal().all():
        place = int(np.flatnonzero(~out.diagonal())[0])
        raise InputError(f"within[{place}]: place {place} is near itself; put it there")
    return out


def _of_set(place: int, near: Iterable[Any], places: int) -> Flags:
    """The row of a set of places."""
    row = np.zeros(places, dtype=bool)
    for other in near:
        if not is_whole(other) or not 0 <= other < places:
            raise InputError(f"within[{place}]: expected places from 0 to {places - 1}, got {other!r}")
        row[int(other)] = True
    return row


def _of_row(place: int, values: Any, places: int) -> Flags:
    """The row of truth values, also written as 0 and 1."""
    try:
        row = np.asarray(values)
        fits = row.shape == (places,) and row.dtype.kind in "buif" and bool(np.isin(row, (0, 1)).all())
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InputError(
            f"within[{place}]: expected {places} truth values, one for each place, or a set of places; got {values!r}"
        )
    return np.asarray(row.astype(bool))
