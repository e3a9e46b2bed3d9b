"""Evidence of published totals on the common part of a day, for an adversary with the others' habits alone.

They see how many people are counted at all steps together, S. At earlier times a share of all person-steps at any place
was counted, so S tells how many are at any place now. Under a common part θ, a person is so at a number of steps whose
mean and variance follow from their chain, tilted by θ. The sum over people is taken for normal, with the variance of
what is done to counts, and of how the share varied. S is of everybody; what everybody would do under θ is told by some
of them, and for all others by a line through what they did before (a regression estimator, Cochran 1977, chapter 7),
with its error. The target is taken out of S, a whole number, and out of the sums, which follow from fitted steps. So
what they do themselves changes no bit of what is known of their day.

Without a file of what was published, S is the true number, with the variance of noise that is still to be drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from passerby.model.count import mechanism_of
from passerby.model.release import Release
from passerby.support.blocks import Blocks

from . import cycles
from .common import LATTICE, MOST, UNIT, Common
from .habits import People
from .origins import spread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: What was published, by step.
Values = Sequence[Sequence[float]]

#: The draws for estimating the error of a published count, and the variance of rounding to whole numbers.
DRAWS, WHOLE = 400, 1 / 12
#: The prior variation of the counted share, as a standard deviation of its logarithm.
SPLIT = 0.1
#: Standard deviations from what the likeliest θ makes of a total, from which on these people cannot have made it.
FAR = 6.0
#: What is said of such totals.
IMPOSSIBLE = (
    "The published totals are impossible for these people by their habits, whatever everybody did that day: the counts "
    "may be of other people or places, or made in another way. What everybody did is not told by them."
)


@dataclass(frozen=True)
class Share:
    """The counted share of person-steps at any place, and the standard deviation of its logarithm."""

    mean: float
    deviation: float

    @classmethod
    def before(cls, found: Ints) -> Share | None:
        """From earlier times (k, 2), how many were counted of those at any place; None where nobody was counted."""
        counted, known = found.reshape(-1, 2).sum(axis=0).tolist()
        if not counted:
            return None
        some = found[found[:, 0] > 0].astype(np.float64)
        apart_logs = np.diff(np.log(some[:, 0] / some[:, 1]))
        varied = (SPLIT**2 + float((apart_logs**2).sum()) / 2) / (1 + len(apart_logs))
        return cls(counted / known, sqrt(varied))


@dataclass(frozen=True, eq=False)
class Tally:
    """What is added up over people: how many they are, how often they are counted `now`, and `before`.

    `before` (k, 2) is how often at fitted steps of the same times of the day, and of how many person-steps at any
    place; `traits` (P,) are sums of what `traits_of` tells of each.
    """

    people: int
    now: int
    before: Ints
    traits: Ints

    @classmethod
    def of(cls, cells: Ints, people: People) -> Tally:
        """Of all of them, where `cells` (T, M) tells in how many counts of a step a place is."""
        steps = np.arange(len(cells))
        found = []
        for first in _stretches(people, len(cells)):
            there = people.fitted[:, first + steps]
            found.append((int(cells[steps, there].sum()), int((there != people.elsewhere).sum())))
        before = np.array(found, dtype=np.int64).reshape(-1, 2)
        return cls(len(people), int(own_cells(cells, people).sum()), before, traits_of(people, len(cells)).sum(axis=0))

    def __add__(self, other: Tally) -> Tally:
        """Of both."""
        both = self.before + other.before
        return Tally(self.people + other.people, self.now + other.now, both, self.traits + other.traits)


def _stretches(people: People, steps: int) -> range:
    """Where earlier stretches of so many steps begin, at the same time of the day, the latest one first."""
    day = max(1, cycles.length("hour", people.window))
    apart = day * -(-steps // day)
    return range(people.fitted.shape[1] - apart, -1, -apart)


def own_cells(cells: Ints, people: People) -> Ints:
    """How often each person is counted now (N,)."""
    return np.asarray(cells[np.arange(len(cells)), people.actual].sum(axis=1), dtype=np.int64)


def traits_of(people: People, steps: int) -> Ints:
    """One, and at how many steps each person was at any place: of all fitted ones, and of the last alike (N, 3)."""
    there = people.fitted != people.elsewhere
    last = next(iter(_stretches(people, steps)), None)
    lately = there[:, last : last + steps].sum(axis=1) if last is not None else np.zeros(len(there), dtype=np.int64)
    return np.stack([np.ones(len(there), dtype=np.int64), there.sum(axis=1), lately], axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class Totals(Common):
    """What the total of everybody tells of θ; `told` (n, 1) is in how many counts each of the people `ids` is.

    `means` and `variances` (m, K) are those of the number of steps at which some of them, of the rows `known` (m,), are
    at any place, over the lattice of θ, and `traits` (n, P) are what tells those of others. `tally` is of everybody,
    with the total `counted`, in parts of `UNIT`. `noise` is the variance of what is done to all counts together, and
    `share` is the part of all that is counted.
    """

    known: Ints
    means: Floats
    variances: Floats
    traits: Ints
    tally: Tally
    counted: int
    noise: float
    share: Share

    @property
    def total(self) -> Ints:
        """What the total of all of them tells (K,)."""
        return self._logs(self.counted, *self._sums)

    def without(self, name: object) -> Ints:
        """The evidence of the total of all but one (K,)."""
        row = self._row.get(name)
        if row is None:
            return self.total
        own = self._known.get(row)
        traits = self.traits[row].astype(np.float64)
        sides = zip(self._sums, (self.means, self.variances), self._lines, strict=True)
        sums = (every - (traits @ line if own is None else side[own]) for every, side, line in sides)
        return self._logs(self.counted - int(UNIT) * int(self.told[row, 0]), *sums)

    @property
    def source(self) -> str:
        """The source of the evidence."""
        return "the published totals show"

    @property
    def impossible(self) -> bool:
        """Whether these people cannot have made the total, whatever everybody did that day."""
        return self._far(self.counted, *self._sums)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What must be known before it is believed."""
        return (IMPOSSIBLE, *super().remarks) if self.impossible else super().remarks

    @cached_property
    def _known(self) -> dict[int, int]:
        return {row: at for at, row in enumerate(self.known.tolist())}

    @cached_property
    def _lines(self) -> tuple[Floats, Floats]:
        """By which traits tell means and variances (P, K), from those of whom both are known."""
        traits = self.traits[self.known].astype(np.float64)
        means, variances = (np.linalg.lstsq(traits, each, rcond=None)[0] for each in (self.means, self.variances))
        return np.asarray(means, dtype=np.float64), np.asarray(variances, dtype=np.float64)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """Mean and variance of everybody together (K,): the variance knows that most of the mean is told by some."""
        traits, some, every = self.traits[self.known].astype(np.float64), len(self.known), self.tally.people
        rest = self.tally.traits - traits.sum(axis=0)
        means, variances = (
            side.sum(axis=0) + (rest @ line if every > some else 0.0)
            for side, line in zip((self.means, self.variances), self._lines, strict=True)
        )
        apart = ((self.means - traits @ self._lines[0]) ** 2).sum(axis=0) / max(1, some - traits.shape[1])
        return means, variances + apart * (every - some) * every / some

    def _wide(self, means: Floats, variances: Floats) -> Floats:
        of, split = self.share.mean, (self.share.deviation * means) ** 2
        drawn = np.maximum(means, 0.0) * max(0.0, 1 - of) / of
        wide = np.maximum(variances, 0.0) + drawn + (self.noise + WHOLE) / of**2 + split * max(0.0, 1 - of)
        return np.asarray(wide)

    def _far(self, counted: int, means: Floats, variances: Floats) -> bool:
        apart = (counted / UNIT / self.share.mean - means) ** 2
        return bool((apart > FAR**2 * self._wide(means, variances)).all())

    def _logs(self, counted: int, means: Floats, variances: Floats) -> Ints:
        if self._far(counted, means, variances):
            return np.zeros(len(LATTICE), dtype=np.int64)
        wide = self._wide(means, variances)
        logs = -((counted / UNIT / self.share.mean - means) ** 2) / (2 * wide) - np.log(wide) / 2
        return np.asarray(np.rint((logs - logs[len(LATTICE) // 2]) * UNIT), dtype=np.int64)


def told_by_totals(
    people: People,
    release: Release,
    published: Values | None = None,
    everybody: Blocks[People] | None = None,
    rows: Ints | None = None,
) -> Totals | None:
    """What the totals of a release tell of the day of these people; None where they tell nothing.

    So it is where habits have no common part, where nobody was counted at earlier times, and for flows and visitors.
    The total is that of what was `published`, if it is given, less people without habits, whose number is taken to be
    known. `people` are all who are asked about, and may be some of `everybody`: then those in `rows` are evenly spread.

    >>> from passerby import Crowd, fit_people, simulate_city
    >>> city = simulate_city(people=30, places=20, days=3)
    >>> people = fit_people(city, window="2h", places=9, min_active=1, holdout=2, common="none")
    >>> told_by_totals(people, Release([0, [1, 2]], others=Crowd())) is None
    True
    """
    cells = counted_at(release, len(people.places), published)
    if people.common is None or cells is None or not len(people):
        return None
    tally = Tally.of(cells, people) if everybody is None else _summed(everybody.map(Tally.of, cells))
    share = Share.before(tally.before)
    if share is None:
        return None
    rows = spread(len(people), MOST) if rows is None else rows
    anywhere = np.ones_like(cells)
    anywhere[:, people.elsewhere] = 0
    found = np.array([moments_of(people, int(person), anywhere) for person in rows])
    expected = share.mean * float(found[:, 0, len(LATTICE) // 2].mean()) * tally.people
    shown = [value for step in published or [] for value in step if not np.isnan(value)]
    counted = tally.now * int(UNIT)
    if published is not None:
        without_habits = int((people.counts * cells).sum()) - tally.now
        counted = sum(round(value * UNIT) for value in shown) - without_habits * int(UNIT)
        expected = float(np.sum(shown))
    return Totals(
        people.ids.to_numpy(),
        own_cells(cells, people)[:, None],
        people.common.deviation,
        rows,
        found[:, 0],
        found[:, 1],
        traits_of(people, len(cells)),
        tally,
        counted,
        _noise(release, expected, published),
        share,
    )


def _summed(found: Sequence[Tally]) -> Tally:
    """All of them together."""
    whole = found[0]
    for each in found[1:]:
        whole = whole + each
    return whole


def counted_at(release: Release, places: int, published: Values | None = None) -> Ints | None:
    """How many counts of each step count each place (T, M); None where people are counted over several steps.

    Counts that were left out of what was `published` tell nothing.

    >>> counted_at(Release([0, [1, 2]]), 4).tolist()
    [[1, 0, 0, 0], [0, 1, 1, 0]]
    >>> counted_at(Release([0, [1, 2]]), 4, [[3], [float("nan"), 8]]).tolist()
    [[1, 0, 0, 0], [0, 0, 1, 0]]
    """
    cells = np.zeros((release.steps, places), dtype=np.int64)
    shown = _shown(release, published)
    if not all(count.snapshot for count in release.listed):
        return None
    for count, there in zip(release.listed, shown, strict=True):
        cells[count.read, list(count.zones[0])] += there
    return cells


def _shown(release: Release, published: Values | None) -> list[bool]:
    """Whether each count was published; all are, where it is not known what was."""
    if published is None:
        return [True] * sum(map(len, release.sensors))
    return [not np.isnan(value) for step in published for value in step]


def _noise(release: Release, expected: float, published: Values | None = None) -> float:
    """The variance of what is done to all counts, where so many people are expected in them together.

    By draws of each mechanism at the mean count; an empty cell tells of nobody.
    """
    ways = [mechanism_of(each) for each in release.listed]
    ways = [way for way, there in zip(ways, _shown(release, published), strict=True) if there]
    total, mean = 0.0, max(0, round(expected / max(1, len(ways))))
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
    """The mean over the places of each state (T, R): places a person never visited share one, spread by b."""
    b = np.maximum(people.familiarity, 1e-300)
    share = b / np.bincount(number, b)[number]
    out = np.zeros((len(cells), int(number.max()) + 1))
    np.add.at(out.T, number, (cells * share).T)
    return out


def _moving(chain: tuple[Floats, Floats], away: int, once: Floats, twice: Floats) -> tuple[Floats, Floats]:
    """The first two moments (K,) of the number of counts of a person moving by a chain, over the lattice of θ.

    `once` and `twice` (T, R) are the moments of being counted in a state. Kept are the law of the state (K, R), and the
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
