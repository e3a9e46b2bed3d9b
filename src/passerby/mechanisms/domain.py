"""What a mechanism takes and what it gives, so that two of them can be told to fit together before they are used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Domain(NamedTuple):
    """Numbers: whole ones only or any, and with or without those below zero. An empty cell belongs to every domain.

    >>> COUNTS.within(REALS), REALS.within(COUNTS)
    (True, False)
    """

    whole: bool
    negative: bool

    def within(self, other: Domain) -> bool:
        """Whether all numbers of this domain belong to another."""
        return self.whole >= other.whole and self.negative <= other.negative

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which values belong to the domain."""
        inside = np.isnan(values) | (self.negative | (values >= 0))
        return inside & (np.isnan(values) | (values == np.floor(values))) if self.whole else inside

    def __str__(self) -> str:
        kind = "whole numbers" if self.whole else "real numbers"
        return kind if self.negative else f"{kind} of at least 0"


#: Whole numbers of at least 0.
COUNTS = Domain(whole=True, negative=False)
WHOLE = Domain(whole=True, negative=True)
REALS = Domain(whole=False, negative=True)
