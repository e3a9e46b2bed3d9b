"""What published totals tell of the common part of a day, to an adversary who knows the others by their habits alone.

They see how many people are counted at all steps together, S. At earlier times a share of all person-steps at any place
was counted, so S tells how many are at any place now. Under a common part θ, a person is so at a number of steps whose
mean and variance follow from their chain, tilted by θ. The sum over people is taken for normal, with the variance of
what is done to counts, and of how the share varied. The target is taken out of S, a whole number, and out of the sums,
which follow from fitted steps. So what they do themselves changes no bit of what is known of their day.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from passerby.model.count import mechanism_of
from passerby.model.release import Release

from . import cycles
from .common import LATTICE, MOST, UNIT, Common
from .habits import People
from .origins import spread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: Draws by which the error of a published count is told, and the variance of a number that is rounded to whole ones.
DRAWS, WHOLE = 400, 1 / 12
#: How much the share that is counted varies before any of it is seen, as a standard deviation of its logarithm.
SPLIT = 0.1


@dataclass(frozen=True)
class Share:
    """The share of person-steps at any place that is counted, and the standard deviation of its logarithm."""

    mean: float
    deviation: float

    @classmethod
    def before(cls, people: People, rows: Ints, cells: Ints) -> Share | None:
        """At fitted steps of the same times of the day, some people's `rows`; None where nobody was counted."""
        steps, fitted = np.arange(len(cells)), people.fitted[rows]
        day = max(1, cycles.length("hour", people.window))
        apart = day * -(-len(cells) // day)
        found = []
        for first in range(fitted.shape[1] - apart, -1, -apart):
            there = fitted[:, first + steps]
            found.append((int(cells[steps, there].sum()), int((there != people.elsewhere).sum())))
        counted, known = np.array(found, dtype=np.int64).reshape(-1, 2).sum(axis=0).tolist()
        if not counted:
            return None
        some = np.array([(of, among) for of, among in found if of], dtype=np.float64)
        apart_logs = np.diff(np.log(some[:, 0] / some[:, 1]))
        varied = (SPLIT**2 + float((apart_logs**2).sum()) / 2) / (1 + len(apart_logs))
        return cls(counted / known, sqrt(varied))


@dataclass(frozen=True, eq=False, repr=False)
class Totals(Common):
    """What the total of the people `ids` tells of θ; `told` (n, 1) is in how many counts each of them is.

    `means` and `variances` (n, K) are those of the number of steps at which they are at any place, over the lattice of
    θ. `noise` is the variance of what is done to all counts together, and `share` is the part of all that is counted.
    """

    means: Floats
    variances: Floats
    noise: float
    share: Share

    @property
    def total(self) -> Ints:
        """What the total of all of them tells (K,)."""
        return self._logs(int(self.told.sum()), self.means.sum(axis=0), self.variances.sum(axis=0))

    def without(self, name: object) -> Ints:
        """What the total of all but one tells (K,)."""
        row = self._row.get(name)
        if row is None:
            return self.total
        means, variances = (each.sum(axis=0) - each[row] for each in (self.means, self.variances))
        return self._logs(int(self.told.sum()) - int(self.told[row, 0]), means, variances)

    @property
    def source(self) -> str:
        """Who shows it."""
        return "the published totals show"

    def _logs(self, counted: int, means: Floats, variances: Floats) -> Ints:
        of, split = self.share.mean, (self.share.deviation * means) ** 2
        drawn = np.maximum(means, 0.0) * max(0.0, 1 - of) / of
        wide = np.maximum(variances, 0.0) + drawn + (self.noise + WHOLE) / of**2 + split * max(0.0, 1 - of)
        logs = -((counted / of - means) ** 2) / (2 * wide) - np.log(wide) / 2
        return np.asarray(np.rint((logs - logs[len(LATTICE) // 2]) * UNIT), dtype=np.int64)


def told_by_totals(people: People, release: Release) -> Totals | None:
    """What the totals of a release tell of the day of these people; None where they tell nothing.

    So it is where habits have no common part, where nobody was counted at earlier times, and for flows and visitors.

    >>> from passerby import Crowd, fit_people, simulate_city
    >>> city = simulate_city(people=30, places=20, days=3)
    >>> people = fit_people(city, window="2h", places=9, min_active=1, holdout=2, common="none")
    >>> told_by_totals(people, Release([0, [1, 2]], others=Crowd())) is None
    True
    """
    cells = counted_at(release, len(people.places))
    if people.common is None or cells is None or not len(people):
        return None
    rows = spread(len(people), MOST)
    share = Share.before(people, rows, cells)
    if share is None:
        return None
    anywhere = np.ones_like(cells)
    anywhere[:, people.elsewhere] = 0
    found = np.array([moments_of(people, int(person), anywhere) for person in rows])
    own = cells[np.arange(len(cells)), people.actual[rows]].sum(axis=1)
    return Totals(
        people.ids.gather(rows.tolist()).to_numpy(),
        own[:, None],
        people.common.deviation,
        found[:, 0],
        found[:, 1],
        _noise(release, share.mean * float(found[:, 0, len(LATTICE) // 2].sum())),
        share,
    )


def counted_at(release: Release, places: int) -> Ints | None:
    """How many counts of each step count each place (T, M); None where people are counted over several steps.

    >>> counted_at(Release([0, [1, 2]]), 4).tolist()
    [[1, 0, 0, 0], [0, 1, 1, 0]]
    """
    cells = np.zeros((release.steps, places), dtype=np.int64)
    for count in release.listed:
        if not count.snapshot:
            return None
        cells[count.read, list(count.zones[0])] += 1
    return cells


def _noise(release: Release, expected: float) -> float:
    """The variance of what is done to all counts, where so many people are expected in them together.

    By draws of each mechanism at the mean count; an empty cell tells of nobody.
    """
    ways = [mechanism_of(each) for each in release.listed]
    total, mean = 0.0, round(expected / max(1, len(ways)))
    for way in set(ways):
        drawn = np.nan_to_num(way.sample(np.full(DRAWS, mean), np.random.default_rng(0)))
        total += ways.count(way) * float(((drawn - mean) ** 2).mean())
    return total


def moments_of(people: People, person: int, cells: Ints) -> tuple[Floats, Floats]:
    """Mean and variance (K,) of how often one person is counted by `cells` (T, M), over the lattice of θ."""
    weights, chains, number, last = people.in_modes(person, [])
    away = int(number[people.elsewhere])
    once, twice = (_by_state(people, number, each) for each in (cells, cells**2))
    first, second = np.zeros(len(LATTICE)), np.zeros(len(LATTICE))
    for weight, chain in zip(weights[:2], chains, strict=False):
        if weight:
            mean, square = _moving(chain, away, once, twice)
            first, second = first + weight * mean, second + weight * square
    for weight, place in zip(weights[2:], (last, away), strict=True):
        always = float(once[:, place].sum())
        first, second = first + weight * always, second + weight * always**2
    return first, second - first**2


def _by_state(people: People, number: Ints, cells: Ints) -> Floats:
    """The mean over the places of each state (T, R): places that a person never visited share one, spread by b."""
    b = np.maximum(people.familiarity, 1e-300)
    share = b / np.bincount(number, b)[number]
    out = np.zeros((len(cells), int(number.max()) + 1))
    np.add.at(out.T, number, (cells * share).T)
    return out


def _moving(chain: tuple[Floats, Floats], away: int, once: Floats, twice: Floats) -> tuple[Floats, Floats]:
    """The first two moments (K,) of how often somebody is counted who moves by a chain, over the lattice of θ.

    `once` and `twice` (T, R) are those of being counted in a state. Kept are the law of the state (K, R), and the
    moments so far in each of them.
    """
    start, moves = chain
    matrices, odds = moves[None] if moves.ndim == 2 else moves, np.exp(LATTICE)[:, None]
    kept = np.zeros((3, len(LATTICE), len(start)))
    for t, (one, two) in enumerate(zip(once, twice, strict=True)):
        if t:
            rows = matrices[(t - 1) % len(matrices)]
            kept = (kept / (1.0 + rows[:, away] * (odds - 1.0))) @ rows
        else:
            kept[0] = start / (1.0 + start[away] * (odds - 1.0))
        kept[:, :, away] *= odds[:, 0]
        law, first, second = kept
        kept = np.array([law, first + one * law, second + 2 * one * first + two * law])
    return kept[1].sum(axis=1), kept[2].sum(axis=1)
