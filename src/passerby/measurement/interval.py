"""Two numbers between which a value lies."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """Two numbers between which a value lies."""

    lower: float
    upper: float
