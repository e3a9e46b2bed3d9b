"""People who are seen too seldom to have a trace: they are in the published counts all the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Seldom:
    """How many `people` there are, and at which `place` each `person` (from 0) is seen at which `step`, (n,) each.

    At all other steps they are elsewhere. As they are seen seldom, this is small beside the traces of the others.
    """

    people: int
    person: NDArray[np.uint32]
    step: NDArray[np.uint32]
    place: NDArray[np.int32]

    @classmethod
    def nobody(cls) -> Seldom:
        """Nobody is seen too seldom."""
        return cls(0, np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.int32))

    @classmethod
    def among(cls, seen: pl.DataFrame, kept: pl.Series) -> Seldom:
        """Of all who are `seen` (person, step, place), those who are not `kept`."""
        rows = seen.filter(~pl.col("person").is_in(kept.implode()))
        ids, person = np.unique(rows["person"].to_numpy(), return_inverse=True)
        step, place = rows["step"].to_numpy().astype(np.uint32), rows["place"].to_numpy().astype(np.int32)
        return cls(len(ids), person.astype(np.uint32), step, place)

    def between(self, first: int, stop: int, elsewhere: int) -> NDArray[np.int32]:
        """Where those are who are seen in some steps, (n, stop - first); the rest are elsewhere at all of them.

        >>> few = Seldom(3, np.array([0, 0, 2]), np.array([1, 4, 5]), np.array([7, 8, 9]))
        >>> few.between(4, 6, elsewhere=20)
        array([[ 8, 20],
               [20,  9]], dtype=int32)
        """
        inside = (self.step >= first) & (self.step < stop)
        who, row = np.unique(self.person[inside], return_inverse=True)
        out = np.full((len(who), stop - first), elsewhere, dtype=np.int32)
        out[row, self.step[inside].astype(np.int64) - first] = self.place[inside]
        return out
