"""Questions of yes or no by their definition: the laws of all series where an event holds and where it does not.

Nothing here uses levels, a recursion or a kernel of the package: all traces and all series are listed.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import passerby as pb
from passerby.model.counts import Count
from tests.joint import counted, seen
from tests.oracle import World

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A series that makes an event as likely as asked for, but for this, counts.
ALMOST = 1e-12


@dataclass(frozen=True)
class Truth:
    """The laws of all series (n,) with the event and without, and the chance of both."""

    yes: Floats
    no: Floats
    event: float
    absence: float

    @property
    def advantage(self) -> float:
        """Half of the sum of all differences."""
        return float(np.abs(self.yes - self.no).sum()) / 2

    def power(self, false: float) -> float:
        """The least of all tangents to the trade-off curve, which is their envelope."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            slopes = np.append(self.yes / self.no, 0.0)
        tangents = [np.maximum(self.yes - g * self.no, 0.0).sum() + g * false for g in slopes[np.isfinite(slopes)]]
        if false == 0:
            tangents.append(self.yes[self.no == 0].sum())
        return float(min(tangents))

    def certain(self, chance: float) -> float:
        """How likely a series makes the event so likely, where it holds."""
        return float(self.yes[self.posterior >= chance - ALMOST].sum())

    def absent(self, chance: float) -> float:
        """How likely a series makes its absence so likely, where it does not hold."""
        return float(self.no[self.swapped.posterior >= chance - ALMOST].sum())

    @property
    def posterior(self) -> Floats:
        """The chance of the event given each series; NaN for one that cannot be."""
        held = self.yes * self.event
        with np.errstate(invalid="ignore"):
            return np.asarray(held / (held + self.no * self.absence))

    @property
    def swapped(self) -> "Truth":
        """The same of the complement."""
        return Truth(self.no, self.yes, self.absence, self.event)

    @property
    def guessed(self) -> float:
        """The success of the best guess of yes or no."""
        return float(np.maximum(self.yes * self.event, self.no * self.absence).sum())


def cell(mechanism: pb.Mechanism, others: int) -> Floats:
    """How likely each value is (n, 2) where the target is not counted, and where they are."""
    if isinstance(mechanism, pb.Geometric):
        # P(k) ~ q^|k|: the ratio of both laws is one number up to 0, and another from 1 on.
        q = math.exp(-1 / mechanism.scale)
        return np.array([[1.0, q], [q, 1.0]]) / (1 + q)
    counts = others, others + 1
    values = np.unique(np.concatenate([mechanism.law(n)[0] for n in counts]))
    return np.stack([np.exp(mechanism.log_likelihood(values, n)) for n in counts], axis=1)


def channel(release: pb.Release, bits: Ints) -> Floats:
    """`Pr[series | who is counted]` (series, n) by which counts each trace is in (n, counts); others are known."""
    tables = [cell(count.mechanism or pb.Raw(), count.others or 0) for count in release.listed]
    out = np.ones((1, len(bits)))
    for k, table in enumerate(tables):
        out = (out[:, None] * table[:, bits[:, k]]).reshape(-1, len(bits))
        out = out[(out > 0).any(axis=1)]
    return out


def held(count: Count, traces: Ints) -> NDArray[np.bool_]:
    """Whether a count counts each trace."""
    return np.array([counted(count, trace) for trace in traces.tolist()], dtype=bool)


def truth(prior: pb.MarkovPrior, release: pb.Release, event: pb.Event) -> Truth:
    """What a release tells of an event, if the others are known."""
    world = World(prior, release.steps)
    return split(world, channel(release, seen(release, world.traces)), event)


def split(world: World, series: Floats, event: pb.Event) -> Truth:
    """The same of a table of series (n, traces)."""
    holds = held(event.count, world.traces) != event.never
    chances = [np.where(side, world.chance, 0.0) for side in (holds, ~holds)]
    yes, no = (float(side.sum()) for side in chances)
    with np.errstate(invalid="ignore", divide="ignore"):
        return Truth(series @ (chances[0] / yes), series @ (chances[1] / no), yes, no)


def membership(
    prior: pb.MarkovPrior, release: pb.Release, instead: pb.MarkovPrior | None = None, share: float = 0.5
) -> Truth:
    """What a release tells of who is counted: this person, or nobody, or somebody else."""
    chances, bits = [], []
    for person in (prior, instead):
        if person is None:
            chances.append(np.ones(1))
            bits.append(np.zeros((1, len(release.listed)), dtype=np.int64))
            continue
        world = World(person, release.steps)
        chances.append(world.chance)
        bits.append(seen(release, world.traces))
    series = channel(release, np.concatenate(bits))
    split_at = len(chances[0])
    return Truth(series[:, :split_at] @ chances[0], series[:, split_at:] @ chances[1], share, 1 - share)


def each_step(prior: pb.MarkovPrior, series: Floats, steps: int) -> Floats:
    """The chance of the best guess of each step given series (n, traces), of places that may be named."""
    world = World(prior, steps)
    joint = series * world.chance
    there = [[joint[:, world.traces[:, t] == x].sum(axis=1) for x in range(prior.places)] for t in range(steps)]
    return np.array([np.max(np.array(step)[prior.guessable], axis=0).sum() for step in there])


def contains(interval: pb.Interval, value: float, error: float = 1e-9) -> bool:
    """Whether a value lies in an interval, but for an error."""
    return interval.lower - error <= value <= interval.upper + error
