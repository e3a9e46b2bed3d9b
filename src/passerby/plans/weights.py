"""How much each number matters to readers, from a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.people.habits import People
from passerby.people.sensors import place_number, step_number
from passerby.visits.delimited import read_table


def read_weights(people: People, path: Path) -> NDArray[np.float64]:
    """Weights (T, M) from a table with a column `weight`, and `place`, `step` (from 1) or both; all others weigh 1.

    Rows about a place and rows about a step multiply.
    """
    columns, rows = read_table(path)
    if "weight" not in columns or not {"place", "step"} & set(columns):
        raise InputError(f"{path}: weights need the columns weight, and place or step; it has {', '.join(columns)}")
    out = np.ones(people.counts.shape)
    for line, row in rows:
        where = f"{path}, {line}"
        steps = slice(None) if _empty(row.get("step")) else step_number(people, {"step": row["step"]}, where)
        places = slice(None) if _empty(row.get("place")) else place_number(people, row["place"], where)
        try:
            weight = float(str(row["weight"]))
        except ValueError:
            weight = -1.0
        if not 0 <= weight < np.inf:
            raise InputError(f"{where}: weight is {row['weight']!r}; expected a number of at least 0")
        out[steps, places] *= weight
    return out


def _empty(value: object) -> bool:
    return value is None or str(value).strip() == ""
