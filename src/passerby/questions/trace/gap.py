"""The gap between guesses for the stretches between sightings and ceilings for them, and raw series drawn from it.

The success `p` of one guess for each stretch over all series is known exactly, and so is their success `h(y)` given a
series y. Of ceilings for the stretches, `q >= loss` over all series and `U(y) >= B(y)` given one are known alike, with
`B(y)` the success of the best guess. So the loss is `p + E[B - h] = p + (q - p) E'[(B - h) / (U - h)]`. The last mean
is over series drawn with density `(U - h) / (q - p)`, so only the open part is left to chance.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from passerby.kernels.renewal.sightings import stretches
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.model.signals import sightings as sighted_states
from passerby.outcomes.series import Series

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: If less than this share of the draws would be open, or losses have too few digits, nothing is drawn.
LEAST_OPEN, FAINTEST = 1e-3, 1e-200


@dataclass(frozen=True)
class Gap:
    """Both are (N, T S + 1, K).

    An entry is the joint chance of a sighting being next after a restart point (see `kernels.renewal`), and of k wrong
    steps between. Both are (N, T S + 1, K). An entry is the chance of k wrong steps before a sighting, for the next
    sighting after a restart point (see `kernels.renewal`). `chance` (N, T S + 1) is the chance of the sighting alone.
    """

    law: Floats
    most: Floats
    chance: Floats

    def ends(self, seen: Ints) -> tuple[Floats, Floats]:
        """`h` and `U` (n,) given each series, by the sensor of the sighting at each step (n, T), or -1."""
        low, high = (self._given(table, seen) for table in (self.law, self.most))
        return low, np.clip(high, low, 1.0)

    def _given(self, table: Floats, seen: Ints) -> Floats:
        """The chance of at most K - 1 wrong steps given each series, by the laws of a table."""
        n, steps = seen.shape
        sensors = (table.shape[1] - 1) // steps
        last = np.zeros(n, dtype=np.int64)
        wrong = np.zeros((n, table.shape[2]))
        wrong[:, 0] = 1.0
        for t in range(steps):
            here = np.flatnonzero(seen[:, t] >= 0)
            point = t * sensors + seen[here, t]
            wrong[here] = _added(wrong[here], self._of_stretch(table, last[here], point))
            last[here] = 1 + point
        return np.asarray(_added(wrong, self._of_stretch(table, last, -1)).sum(axis=1))

    def _of_stretch(self, table: Floats, u: Ints, v: Ints | int) -> Floats:
        """The law of each stretch from u to v, given both."""
        chance = self.chance[u, v, None]
        law = np.divide(table[u, v], chance, out=np.zeros_like(table[u, v]), where=chance > 0)
        return np.asarray(np.minimum(1.0, law))

    @cached_property
    def later(self) -> Floats:
        """A ceiling on all guesses after each restart point, with r misses left (N + 1, K); the last is 1."""
        points, _, numbers = self.most.shape
        later = np.ones((points + 1, numbers))
        for u in range(points - 1, -1, -1):
            each = self.most[u].T @ later[1:]  # (k, r): k wrong in the stretch, at most r after it
            later[u] = 0.0
            for k in range(numbers):
                later[u, k:] += each[k, : numbers - k]
        return later

    def draw(self, rng: np.random.Generator, runs: int, steps: int) -> Ints:
        """Series (runs, T) of density `U / q`, by the sensor of the sighting at each step, or -1.

        With r misses left at a sighting, the next one and the number of wrong steps before it are drawn together.
        """
        end = self.most.shape[1] - 1
        seen = np.full((runs, steps), -1)
        sums: dict[tuple[int, int], list[float]] = {}
        for row in seen:
            u, r = 0, self.most.shape[2] - 1
            for uniform in rng.random(steps + 1).tolist():
                if (u, r) not in sums:
                    sums[u, r] = (self.most[u, :, : r + 1] * self.later[1:, r::-1]).cumsum().tolist()
                line = sums[u, r]
                v, k = divmod(bisect_right(line, uniform * line[-1]), r + 1)
                if v >= end:
                    break
                row[v * steps // end] = v % (end // steps)
                u, r = 1 + v, r - k
        return seen


def _added(a: Floats, b: Floats) -> Floats:
    """The laws (n, K) of sums of two numbers, as far as they are below K."""
    out = np.zeros_like(a)
    for k in range(a.shape[1]):
        out[:, k:] += a[:, k, None] * b[:, : a.shape[1] - k]
    return out


def gap_of(prior: MarkovPrior, release: Release, law: Floats, ceilings: Floats) -> Gap:
    """The gap between guesses of this law and ceilings (N, T S + 1, K): chances of v next with at most k wrong."""
    ways, stay = stretches(prior.initial, prior.matrices, release.grid, np.ones(release.grid.shape))
    sensors = release.grid.shape[1]
    # From the last step on, nothing follows.
    end = np.append(stay[: len(stay) - sensors, -1], np.zeros(sensors))
    chance = np.exp(np.concatenate([ways, end[:, None]], axis=1))
    return Gap(law, np.maximum(0.0, np.diff(ceilings, axis=2, prepend=0.0)), chance)


def sample_gap(release: Release, gap: Gap, success: float, rng: np.random.Generator, runs: int) -> Series | None:
    """Draw series with density `(U - h) / (q - p)`; None if hardly anything is open.

    They are drawn with density `U / q`, and kept with chance `1 - h / U`.
    """
    most, found = min(1.0, float(gap.later[0, -1])), np.empty((0, release.steps), dtype=np.int64)
    if most - success <= max(FAINTEST, LEAST_OPEN * most):
        return None
    while len(found) < runs:
        seen = gap.draw(rng, int(1.2 * (runs - len(found)) * most / (most - success)) + 8, release.steps)
        low, high = gap.ends(seen)
        found = np.concatenate([found, seen[rng.random(len(seen)) * high < high - low]])
    low, high = gap.ends(found[:runs])
    mass = (most - success) / (high - low) / runs
    there = found[:runs, :, None] == np.arange(release.grid.shape[1])
    evidence, known = sighted_states(there), {"anchored": low, "capped": high}
    return Series(evidence, mass, sampled=True, left_over=0.0, success=success, most=most, **known)
