"""One guess for each stretch between sightings, as what a sample of raw series is anchored at.

The success `p` of such guesses over all series is known exactly, and so is their success `h(y)` given a series y. With
`B(y)` that of the best guess, the loss is `p + E[B - h] = p + (1 - p) E'[(B - h) / (1 - h)]`, where the last mean is
over series drawn with density `(1 - h) / (1 - p)`. Where the guesses are nearly as good as any, hardly anything is left
to chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.kernels.renewal import stretches
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import MOST_ANCHORED, MOST_ANCHORED_GIVEN, Series

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Policy:
    """Guesses for the stretches of a release of raw counts.

    `given` (N, T S + 1, K) is the chance of k wrong steps between a restart point and the next sighting, given both
    (see `kernels.renewal`), and `success` that of at most K - 1 wrong steps in all.
    """

    given: Floats
    success: float

    def successes(self, seen: Ints) -> Floats:
        """The success given each series (n,), by the sensor at which somebody is seen at each step (n, T), or -1."""
        n, steps = seen.shape
        sensors = (self.given.shape[1] - 1) // steps
        last = np.zeros(n, dtype=np.int64)
        wrong = np.zeros((n, self.given.shape[2]))
        wrong[:, 0] = 1.0
        for t in range(steps):
            here = np.flatnonzero(seen[:, t] >= 0)
            point = t * sensors + seen[here, t]
            wrong[here] = _added(wrong[here], self.given[last[here], point])
            last[here] = 1 + point
        return np.asarray(_added(wrong, self.given[last, -1]).sum(axis=1))


def _added(a: Floats, b: Floats) -> Floats:
    """The laws (n, K) of sums of two numbers, as far as they are below K."""
    out = np.zeros_like(a)
    for k in range(a.shape[1]):
        out[:, k:] += a[:, k, None] * b[:, : a.shape[1] - k]
    return out


def policy_of(prior: MarkovPrior, release: Release, law: Floats, success: float) -> Policy:
    """The policy whose guesses have this law (N, T S + 1, K): the chance of the next sighting and of k wrong steps."""
    ways, stay = stretches(prior.initial, prior.matrices, release.grid, np.ones(release.grid.shape))
    sensors = release.grid.shape[1]
    # From the last step on, nothing follows.
    end = np.append(stay[: len(stay) - sensors, -1], np.zeros(sensors))
    chance = np.exp(np.concatenate([ways, end[:, None]], axis=1))[:, :, None]
    return Policy(np.minimum(1.0, np.divide(law, chance, out=np.zeros_like(law), where=chance > 0)), success)


def sensor_of(release: Release, traces: Ints) -> Ints:
    """The sensor (n, T) at which each trace is seen at each step, or -1."""
    out = np.full(traces.shape, -1)
    for j in range(release.grid.shape[1]):
        out[traces == release.grid[:, j]] = j
    return out


def sample_beyond(
    prior: MarkovPrior, release: Release, policy: Policy, rng: np.random.Generator, runs: int
) -> Series | None:
    """Draw series with density `(1 - h) / (1 - p)`; None where the policy nearly always succeeds."""
    if policy.success > MOST_ANCHORED:
        return None
    kept, known = np.empty((0, release.steps), dtype=np.int64), np.empty(0)
    while len(kept) < runs:
        traces = prior.sample(int(1.2 * (runs - len(kept)) / (1 - policy.success)) + 8, release.steps, rng)
        success = np.clip(policy.successes(sensor_of(release, traces)), 0.0, MOST_ANCHORED_GIVEN)
        chosen = rng.random(len(traces)) < 1 - success
        kept, known = np.concatenate([kept, traces[chosen]]), np.append(known, success[chosen])
    kept, known = kept[:runs], known[:runs]
    mass = (1 - policy.success) / (1 - known) / runs
    evidence = release.drawn(kept, rng)
    return Series(evidence, mass, sampled=True, left_over=0.0, success=policy.success, anchored=known)
