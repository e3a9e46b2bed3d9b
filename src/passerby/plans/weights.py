"""How much each number matters to readers, from a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.people.habits import People
from passerby.people.sensors import given, place_number, step_number
from passerby.visits.small_tables import Header, read_table

Floats = NDArray[np.float64]
#: The columns of a table of weights.
HEADER = Header(
    "weights",
    ("weight", "place", "step"),
    needs=((frozenset({"weight"}),), (frozenset({"place"}), frozenset({"step"}))),
    needed="the columns weight, and place or step",
)


def read_weights(people: People, path: Path) -> Floats:
    """Weights (T, M) from a table with a column `weight`, and `place`, `step` (from 1) or both; all others weigh 1.

    Rows about a place, about a step and about one place at one step multiply; each subject has one row. The largest
    weight becomes 1: only the ratios of weights matter.
    """
    _, rows = read_table(path, HEADER)
    out = np.ones(people.counts.shape)
    seen: dict[tuple[object, object], str] = {}
    for line, row in rows:
        where = f"{path}, {line}"
        steps = step_number(people, {"step": row["step"]}, where) if given(row.get("step")) else slice(None)
        places = place_number(people, row["place"], where) if given(row.get("place")) else slice(None)
        try:
            weight = float(str(row["weight"]))
        except ValueError:
            weight = -1.0
        if not 0 <= weight < np.inf:
            raise InputError(f"{where}: weight is {row['weight']!r}; expected a number of at least 0")
        about = (None if isinstance(steps, slice) else steps, None if isinstance(places, slice) else places)
        if about in seen:
            raise InputError(f"{where}: the same place and step as in {seen[about]}; give one weight")
        seen[about] = line
        with np.errstate(over="ignore"):
            out[steps, places] *= weight
    if not np.isfinite(out).all():
        raise InputError(f"{path}: weights of places and steps multiply to more than any number; give smaller ones")
    return scaled(out)


def scaled(weights: Floats) -> Floats:
    """The same weights with 1 for the largest, so sums of them are numbers."""
    return weights / weights.max() if weights.any() else weights
