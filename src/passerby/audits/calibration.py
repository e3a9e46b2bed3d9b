"""Promised against really right: tables, intervals, and a verdict in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.support.numerals import percent

Floats = NDArray[np.float64]

ATTACKS = ("map", "prior")
#: Promises and outcomes that differ by less are taken to agree.
CLOSE = 0.05
#: Resamples of origins and people, and the level of the intervals.
RESAMPLES, LEVEL = 1000, 0.95
#: Classes of the promise, at most, and the fewest people in one.
CLASSES, FEWEST = 10, 5


@dataclass(frozen=True)
class Tried:
    """One origin: `promised` and `right` (N, 2, T) by attack and misses, and the log probability of a step (N,)."""

    start: str
    habits: str
    promised: Floats
    right: Floats
    logs: Floats


@dataclass(frozen=True, eq=False)
class Calibration:
    """What habits promised, and what came true.

    `by_misses` has a row for each attack and number of misses: the mean promise, the share that was really right, and
    their `difference` with an interval of 95 % from resampling origins, and people within them. `by_promise` has a row
    for each attack and tenth of the promises, at `misses`. `by_origin` tells which habits were in use from where on,
    for how many people, and `score`, the mean log probability that they gave to a step that was really made.

    `gap` is the mean of |promised - right| over attacks and misses. `promised` and `right` are those of `map` at
    `misses`, and `nats` is the smallest divergence between what people do and their habits, on average over people,
    that explains so many being right.
    """

    by_misses: pl.DataFrame
    by_promise: pl.DataFrame
    by_origin: pl.DataFrame
    misses: int
    people: int
    origins: int
    gap: float
    promised: float
    right: float
    nats: float
    came_true: bool

    @property
    def sentence(self) -> str:
        """The verdict."""
        wrong = f"{self.misses} of {len(self.by_misses) // 2} steps wrong"
        numbers = f"promised {percent(self.promised)}, came true for {percent(self.right)}"
        basis = f"{self.people:,} people at {self.origins} origins, at most {wrong}"
        if self.came_true:
            return f"Such predictions came true: {numbers} ({basis})."
        return f"Such predictions did not come true: {numbers} ({basis})."


def calibrate(tried: Sequence[Tried], misses: int, seed: int = 0) -> Calibration:
    """The tables of several origins."""
    promised, right = (np.concatenate([getattr(each, name) for each in tried]) for name in ("promised", "right"))
    lower, upper = _interval(tried, seed)
    said, was = promised.mean(axis=0), right.mean(axis=0)
    rows = [
        (name, s, said[a, s], was[a, s], was[a, s] - said[a, s], lower[a, s], upper[a, s])
        for a, name in enumerate(ATTACKS)
        for s in range(said.shape[1])
    ]
    columns = ["attack", "misses", "promised", "right", "difference", "lower", "upper"]
    close = abs(was[0, misses] - said[0, misses]) <= CLOSE
    possible = lower[0, misses] <= 0 <= upper[0, misses]
    return Calibration(
        by_misses=pl.DataFrame(rows, schema=columns, orient="row"),
        by_promise=_by_promise(promised[:, :, misses], right[:, :, misses]),
        by_origin=pl.DataFrame(
            [(each.start, len(each.logs), float(each.logs.mean()), each.habits) for each in tried],
            schema=["start", "people", "score", "habits"],
            orient="row",
        ),
        misses=misses,
        people=len(promised),
        origins=len(tried),
        gap=float(np.abs(said - was).mean()),
        promised=float(said[0, misses]),
        right=float(was[0, misses]),
        nats=divergence(float(was[0, misses]), float(said[0, misses])),
        came_true=bool(close or possible),
    )


def _interval(tried: Sequence[Tried], seed: int) -> tuple[Floats, Floats]:
    """Ends of intervals for right minus promised (2, T): people share drift, so origins are resampled first."""
    rng = np.random.default_rng(seed)
    apart = [each.right - each.promised for each in tried]
    means = []
    for _ in range(RESAMPLES):
        drawn = [apart[k] for k in rng.integers(0, len(apart), len(apart))]
        means.append(np.concatenate([each[rng.integers(0, len(each), len(each))] for each in drawn]).mean(axis=0))
    lower, upper = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return lower, upper


def _by_promise(promised: Floats, right: Floats) -> pl.DataFrame:
    """Tenths of the promises of each attack, or fewer classes where people are few."""
    rows = []
    classes = max(1, min(CLASSES, len(promised) // FEWEST))
    for a, name in enumerate(ATTACKS):
        order = np.argsort(promised[:, a], kind="stable")
        for k, part in enumerate(np.array_split(order, classes), start=1):
            rows.append((name, k, float(promised[part, a].mean()), float(right[part, a].mean()), len(part)))
    return pl.DataFrame(rows, schema=["attack", "class", "promised", "right", "people"], orient="row")


def divergence(right: float, promised: float) -> float:
    """`kl(right ‖ promised)` where more were right than promised, else 0; infinite where nothing was promised.

    >>> round(divergence(0.5, 0.25), 4), divergence(0.2, 0.6)
    (0.1438, 0.0)
    """
    if right <= promised:
        return 0.0
    if promised <= 0:
        return float("inf")
    rest = (1 - right) * log((1 - right) / (1 - promised)) if right < 1 else 0.0
    return right * log(right / promised) + rest
