"""Raw counts: a sighting makes the chain start afresh, and stretches between sightings say all.

Without misses the loss itself is one recursion. If series are too many to list, both ends are for all at once.

The gap between guesses for the stretches between sightings and ceilings for them, and raw series drawn from it.

The success `p` of one guess for each stretch over all series is known exactly, and so is their success `h(y)` given a
series y. Of ceilings for the stretches, `q >= loss` over all series and `U(y) >= B(y)` given one are known alike, with
`B(y)` the success of the best guess. So the loss is `p + E[B - h] = p + (q - p) E'[(B - h) / (U - h)]`. The last mean
is over series drawn with density `(U - h) / (q - p)`, so only the open part is left to chance.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from passerby.kernels.renewal.sightings import stretches
from passerby.measurement.finding import Finding, Known, Look, exact, limit
from passerby.measurement.roots import rounded_up
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.model.signals import sightings as sighted_states
from passerby.outcomes.series import Series
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.guess import MEMORY_LIMIT, bracket_series
from passerby.questions.trace.stretches import bracket_stretches, dense, log_all_right
from passerby.questions.trace.subsample import PILOT, stretches_leave
from passerby.questions.trace.ways import FAR, by_sightings, by_stretches, looks, refuses_others, resolution, searched

if TYPE_CHECKING:
    from passerby.kernels.renewal.best_guess import Stretchwise


#: The share of the budget for all series at once, before any are drawn: normally, and if it is dear.
SHARE, LITTLE = 0.5, 0.45


def run_no_misses(goal: Goal, known: Known) -> Iterator[Finding]:
    """The loss itself."""
    log_value = log_all_right(goal.prior, goal.release, goal.misses)
    if log_value is not None:
        value = min(1.0, math.exp(log_value))
        yield exact("map", value)
        yield exact("ascent", value)
        yield limit("posterior", rounded_up(log_value))


def refuses_no_misses(goal: Goal) -> str | None:
    """Only a sighting makes the chain start afresh, and only without misses is the likeliest trace the best guess."""
    if goal.misses or not goal.release.plain:
        return "the recursion over sightings is for raw counts and no misses"
    return refuses_others(goal)


NO_MISSES = Method(
    "no_misses",
    "finds the loss itself by a recursion over sightings",
    run_no_misses,
    attacks=("map", "ascent"),
    bounds=("posterior",),
    refuses=refuses_no_misses,
    of_places=True,
)


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """A sighting makes the chain start afresh (`kernels.renewal.best_guess`); nothing if its tables are too big.

    Of a mixture, for an adversary knowing the mode: `Σ_k w_k loss_k`. If this leaves the ends far apart, series are
    drawn. The best guess for each is between the guesses and the ceilings for its stretches, known over all series. If
    stretches are dear, they get all of the budget, or two rounds with the rest for drawn series.
    """
    prior, told, misses, budget = goal.prior, goal.told, goal.misses, goal.budget
    dear, drawing = dense(prior, told, misses), True

    def more(found: Stretchwise) -> float | None:
        nonlocal drawing
        drawing = worth_drawing(goal, found)
        return None if drawing else (1 - LITTLE) * budget

    first = (LITTLE if dear else SHARE) * budget
    found = bracket_stretches(prior, told, misses, goal.tolerance, first, more=more if dear else None)
    if found is not None:
        look = Look(found.refined, nodes=found.nodes, operations=found.operations)
        yield exact("ascent", found.lower, look=look)
        if goal.prior.modes == 1:
            yield exact("map", found.ways)
            yield exact("marginal", found.places)
        yield limit("posterior" if goal.prior.modes == 1 else "modes", found.upper, look)
        drawn = drawn_from_gap(goal, known, found, dear) if drawing else None
        if drawn is not None:
            # The success of plain guesses over all series is known.
            ends = searched(goal, goal.told, drawn, known.spent)
            yield from (end for end in ends if end.name not in ("map", "marginal"))


def worth_drawing(goal: Goal, found: Stretchwise) -> bool:
    """Whether looks at drawn series will leave a smaller gap than stretches will."""
    prior, told = goal.prior, goal.told
    few = sample(goal, found, goal.other_rngs(2)[0], PILOT)
    if few is None or goal.steps * prior.states**2 > MEMORY_LIMIT:
        return False
    looked = bracket_series(prior, told, few, goal.misses, goal.tolerance, 0.0)
    low, high = (few.beyond(end).mean() for end in (looked.lower, looked.upper))
    finest = resolution(goal, 0.0, looks(goal, goal.budget - found.operations))
    return bool(high - low + finest < stretches_leave(goal))


def drawn_from_gap(goal: Goal, known: Known, found: Stretchwise, dear: bool) -> Series | None:
    """A sample of series; None if it would not help."""
    lower, upper, runs = known.floor.floor, known.ceiling.ceiling, looks(goal, goal.budget - known.spent)
    near = not dear and upper - lower <= FAR * resolution(goal, lower, runs)
    if near or goal.within(lower, upper):
        return None
    return sample(goal, found, goal.rng(), runs)


def sample(goal: Goal, found: Stretchwise, rng: np.random.Generator, runs: int) -> Series | None:
    """Series drawn from the gap between guesses and ceilings for stretches; None if there is no gap."""
    if found.law is None or found.ceilings is None or found.law.shape[1] != goal.told.grid.size + 1:
        return None
    gap = gap_of(goal.prior, goal.told, found.law, found.ceilings)
    return sample_gap(goal.told, gap, found.lower, rng, runs)


def refuses(goal: Goal) -> str | None:
    """If a sighting does not reveal the place, nothing starts afresh. Few series are better looked at one by one."""
    if not by_sightings(goal):
        return "published values are no sightings"
    if not by_stretches(goal):
        return "its series can be looked at one by one"
    return refuses_others(goal)


RENEWAL = Method(
    "renewal",
    "bounds the best guess for all series of raw counts at once, stretch by stretch between sightings",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda goal: SHARE * goal.budget,
    of_places=True,
)


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
