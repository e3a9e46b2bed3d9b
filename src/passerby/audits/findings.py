"""What trials without single counts, sensors and steps found, and trials of other mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from passerby.mechanisms import Gaussian, Mechanism, Raw, Rounding

#: The results of each way to publish: everyone's mean ends and their limits, from so many people.
MEANS: dict[str, Any] = {
    "mechanism": pl.String,
    **dict.fromkeys(("lower", "upper", "lowest", "highest", "baseline"), pl.Float64),
    "people": pl.Int64,
}

#: The share of everyone at or above a threshold with each way to publish.
SHARES: dict[str, Any] = {
    "mechanism": pl.String,
    **dict.fromkeys(("threshold", "at_least", "at_most", "lowest", "highest"), pl.Float64),
    "people": pl.Int64,
}

#: The least noise for a release with hardly more people above a threshold than without it.
NOISE: dict[str, Any] = {"threshold": pl.Float64, "allowed": pl.Float64, "sigma": pl.Float64, "people": pl.Int64}


@dataclass(frozen=True)
class Findings:
    """The findings of trials on some `people`.

    `left_out` has a row for each sensor, each step and each single count. `what` is "sensor", "step" or "count".
    `subject` is the number of a place, zone or flow among the subjects of the release, null for a whole step. `step` is
    a number from 0, null for a whole sensor. The row has the mean success of the simple attacks `with_all` counts and
    `without` this, their difference `fall`, and its standard `error` over people. `told` marks a fall that may be
    shared with others (`_told`). The simple attacks are the attacks without a search: the likeliest trace given the
    counts, the likeliest without them, and one place throughout. They use the same series each time.

    `mechanisms`, `shares` and `noise` compare ways to publish the same counts (`passerby.plans.ways`). All values they
    rest on for a person hold together at the `confidence`; None if no series were drawn.
    """

    people: int
    left_out: pl.DataFrame
    mechanisms: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=MEANS))
    shares: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=SHARES))
    noise: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=NOISE))
    confidence: float | None = None


def candidates(sigmas: Sequence[float], bases: Sequence[int]) -> dict[str, Mechanism]:
    """The mechanisms compared in a report, by its words for them.

    >>> list(candidates([0.5], [20]))
    ['raw', 'noise 0.5', 'rounded to 20']
    """
    noisy = {f"noise {sigma:g}": Gaussian(sigma) for sigma in sigmas}
    return {"raw": Raw(), **noisy, **{f"rounded to {base}": Rounding(base) for base in bases}}


#: A release may put so much more of the people above a threshold than are above it without any, or fewer than `FEW`.
MORE = 0.01
