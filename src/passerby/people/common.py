"""The common part of a day: a shift of all habits at the published steps, inferred from the others' real places.

A holiday, a strike, or absent people change everybody's day. An adversary with the others' places knows of it. Habits
then have a common part θ. It multiplies the odds of being elsewhere at each published step by `e^θ`:

    P_θ(x, y) = P(x, y) e^(θ [y is elsewhere]) / (1 + P(x, elsewhere) (e^θ - 1))

θ is normal around 0; its spread is learnt at earlier origins. For each person it is conditioned on the others' steps,
and the remaining uncertainty is a mixture. Log-likelihoods on a lattice of θ are kept as whole numbers. A person's own
part is thus subtracted from the sum exactly: their own steps do not change a bit of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import pi, sqrt
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from passerby.support.rule_of_five import FEW

from .origins import spread

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The lattice of θ, and how finely it is read between.
LATTICE: Floats = np.linspace(-6.0, 6.0, 97)
FINE = 16
#: Whole numbers in a nat.
UNIT = float(2**24)
#: The spreads under trial, and the spread counted as seen once before any origin.
SPREADS, FIRST = (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0), 0.5
#: People by whom θ is told at most: with more it is known as well as it needs to be.
MOST = 300
#: A day with a common part beyond this is like none before.
EXTREME = 3.0
#: The most people of an earlier origin in this reckoning.
MOST_EARLIER = 100
#: Below this spread θ counts as known: it changes the chance of being elsewhere by half a point at most.
NARROW = 0.3
#: The others must narrow θ to this share of its spread at some earlier origin, or they are no evidence of it.
TELLING = 0.9
#: The common part may predict an earlier origin worse by this many nats and still be believed. It may do so by as much
#: again for each of so many people. Learning one number costs as much even without an event (Akaike 1974); the others
#: are the evidence of an event now.
WORSE, EACH = 1.0, 100


class Lived(Protocol):
    """People with habits, and where they really were: `People`."""

    @property
    def ids(self) -> Any:
        """The names of people (N,), a series."""

    @property
    def actual(self) -> NDArray[np.int32]:
        """The place of each at each held-out step (N, h)."""

    @property
    def elsewhere(self) -> int:
        """The number of the place that stands for everywhere else."""

    def in_modes(self, person: int, sensed: Sequence[int]) -> Any:
        """The chains of one person's modes."""

    def __len__(self) -> int: ...


@dataclass(frozen=True, eq=False, repr=False)
class Common:
    """Evidence on θ of the people `ids` (n,), in order: log-likelihoods `told` (n, K) on the lattice, in whole numbers.

    `deviation` is the spread of θ before anything is told.
    """

    ids: NDArray[Any]
    told: Ints
    deviation: float

    def __repr__(self) -> str:
        return f"Common(people={len(self.told)}, deviation={self.deviation:g})"

    @classmethod
    def of(cls, people: Lived, deviation: float) -> Common:
        """From where people really were at the steps to find, or some of them, evenly spread."""
        rows = spread(len(people), MOST)
        return cls(people.ids.gather(rows.tolist()).to_numpy(), told(people, rows), deviation)

    @cached_property
    def total(self) -> Ints:
        """The evidence of all of them together (K,)."""
        return np.asarray(self.told.sum(axis=0))

    @cached_property
    def _row(self) -> dict[Any, int]:
        return {name: row for row, name in enumerate(self.ids.tolist())}

    def without(self, name: object) -> Ints:
        """The evidence of all but one (K,)."""
        row = self._row.get(name)
        return self.total if row is None else self.total - self.told[row]

    def nodes(self, name: object) -> tuple[tuple[float, float], ...]:
        """Weights and values of θ for one person: one value if the others leave little open, else three.

        They have the mean and the spread of the remaining law (Gauss and Hermite's rule of three nodes).
        """
        mean, deviation = moments(self.without(name), self.deviation)
        if deviation <= NARROW:
            return ((1.0, mean),)
        reach = sqrt(3.0) * deviation
        return ((1 / 6, mean - reach), (2 / 3, mean), (1 / 6, mean + reach))

    @cached_property
    def everybody(self) -> tuple[float, float]:
        """Mean and spread of θ as all of them tell it."""
        return moments(self.total, self.deviation)

    @property
    def words(self) -> str:
        """The evidence of the others, in a shareable sentence."""
        odds = float(np.exp(self.everybody[0]))
        if 0.95 < odds < 1.05:
            return "At the published steps everybody was elsewhere about as often as habits expect."
        times = f"{max(odds, 1 / odds):.2g} times {'higher' if odds > 1 else 'lower'}"
        return f"At the published steps the odds of being elsewhere were {times} than habits expect, as {self.source}."

    @property
    def source(self) -> str:
        """The people behind the evidence."""
        return "the others show"

    @property
    def remarks(self) -> tuple[str, ...]:
        """Warnings to read before believing it."""
        told = []
        if len(self.told) < FEW:
            told.append(
                f"What everybody did at the published steps is told by fewer than {FEW} people, and of a single person "
                "it rests on nobody: their habits are uncertain by as much as they varied before."
            )
        if abs(self.everybody[0]) > EXTREME:
            told.append(
                f"At the published steps nearly {'everybody' if self.everybody[0] > 0 else 'nobody'} was elsewhere, "
                "unlike at any fitted time. Habits know how often, and nothing else of such a day."
            )
        return tuple(told)


@cache
def _finer() -> tuple[Floats, Floats]:
    """θ on a finer lattice (F,), and the cubic splines through values on the lattice, as a matrix (F, K)."""
    from scipy.interpolate import CubicSpline

    theta = np.linspace(LATTICE[0], LATTICE[-1], FINE * (len(LATTICE) - 1) + 1)
    return theta, np.asarray(CubicSpline(LATTICE, np.eye(len(LATTICE)))(theta))


def _fine(whole: Ints, deviation: float) -> tuple[Floats, Floats]:
    """θ on a finer lattice, and its probabilities given the evidence (K,)."""
    theta, finer = _finer()
    logs = finer @ (whole / UNIT) - (theta / deviation) ** 2 / 2
    chances = np.exp(logs - logs.max())
    return theta, chances / chances.sum()


def moments(whole: Ints, deviation: float) -> tuple[float, float]:
    """Mean and standard deviation of θ given the evidence (K,).

    >>> mean, left = moments(np.zeros(len(LATTICE), dtype=np.int64), 0.5)
    >>> round(abs(mean), 6), round(left, 6)
    (0.0, 0.5)
    """
    theta, chances = _fine(whole, deviation)
    mean = float(chances @ theta)
    return mean, sqrt(max(0.0, float(chances @ (theta - mean) ** 2)))


def told(people: Lived, rows: NDArray[np.int64]) -> Ints:
    """Log-likelihoods (n, K) of what some people really did, over the lattice of θ, less that of 0, in whole numbers.

    Steps with probability 0 under the habits are no evidence.
    """
    found = [likelihoods(people, int(person)) for person in rows]
    return np.rint(np.array(found).reshape(len(rows), len(LATTICE)) * UNIT).astype(np.int64)


def likelihoods(people: Lived, person: int) -> Floats:
    """The log-likelihood (K,) of what a person really did over the lattice of θ, less that of 0."""
    actual = people.actual[person].astype(np.int64)
    weights, chains, number, last = people.in_modes(person, actual.tolist())
    trace, away, after = number[actual], int(number[people.elsewhere]), np.arange(len(actual) - 1)
    still = [(trace == place).all() for place in (last, away)]
    logs = []
    with np.errstate(divide="ignore"):
        for weight, (start, moves) in zip(np.log(weights[:2]), chains, strict=False):
            matrices = moves[None] if moves.ndim == 2 else moves
            rows = np.vstack([start, matrices[after % len(matrices), trace[:-1]]])
            tilt = LATTICE * float((trace == away).sum())
            tilt = tilt - np.log1p(rows[:, away, None] * np.expm1(LATTICE)).sum(axis=0)
            logs.append(weight + np.log(rows[np.arange(len(trace)), trace]).sum() + tilt)
        logs += [
            np.full(len(LATTICE), weight if stays else -np.inf)
            for weight, stays in zip(np.log(weights[2:]), still, strict=True)
        ]
    found = np.logaddexp.reduce(logs, axis=0)
    middle = found[len(LATTICE) // 2]
    return np.asarray(found - middle) if np.isfinite(middle) else np.zeros(len(LATTICE))


def tilted(chain: tuple[Floats, Floats], away: int, theta: float) -> tuple[Floats, Floats]:
    """Start (R,) and moves with the odds of the state `away` multiplied by `e^θ` in each row.

    >>> tilted((np.array([0.5, 0.5]), np.array([[0.2, 0.8], [1.0, 0.0]])), 1, np.log(4))[0].tolist()
    [0.2, 0.8]
    """
    out = []
    for rows in chain:
        total = 1.0 + rows[..., away] * np.expm1(theta)
        changed = rows / total[..., None]
        changed[..., away] = rows[..., away] * np.exp(theta) / total
        out.append(changed / changed.sum(axis=-1, keepdims=True))
    return out[0], out[1]


def learnt(origins: Sequence[tuple[Ints, float]]) -> float:
    """The spread of θ learnt at earlier origins; 0 without evidence, or if it predicted single people's steps worse.

    Each origin has the evidence of its people (n, K) and a weight. The spread maximises the likelihood of this
    evidence, with one more origin at which θ was `FIRST`. Each person is predicted by the others of their origin.
    """
    if not origins:
        return 0.0
    deviation = max(SPREADS, key=lambda each: _evidence(origins, each))
    if all(moments(rows.sum(axis=0), deviation)[1] > TELLING * deviation for rows, _ in origins):
        return 0.0
    gained = sum(count * float(gains(rows, deviation).sum()) for rows, count in origins)
    cost = sum(count * WORSE * max(1.0, len(rows) / EACH) for rows, count in origins)
    return deviation if gained >= -cost else 0.0


def _evidence(origins: Sequence[tuple[Ints, float]], deviation: float) -> float:
    """The log-likelihood of a spread of θ."""
    total = -np.log(deviation) - (FIRST / deviation) ** 2 / 2
    theta, finer = _finer()
    step = theta[1] - theta[0]
    for rows, count in origins:
        logs = finer @ (rows.sum(axis=0) / UNIT) - (theta / deviation) ** 2 / 2
        total += count * (np.logaddexp.reduce(logs) + np.log(step / (deviation * sqrt(2 * pi))))
    return float(total)


def gains(told: Ints, deviation: float) -> Floats:
    """The gain in log-likelihood of each person's steps (n,) from all others' evidence on θ (n, K), in nats.

    >>> gains(np.zeros((2, len(LATTICE)), dtype=np.int64), 0.5).tolist()
    [0.0, 0.0]
    """
    theta, finer = _finer()
    own = (told / UNIT) @ finer.T
    others = ((told.sum(axis=0) - told) / UNIT) @ finer.T - (theta / deviation) ** 2 / 2
    top, most = own.max(axis=1), others.max(axis=1)
    chances = np.exp(others - most[:, None])
    with np.errstate(divide="ignore"):
        likelier = np.log((chances * np.exp(own - top[:, None])).sum(axis=1)) + top
    return np.asarray(np.round(likelier - np.log(chances.sum(axis=1)), 12) + 0.0)
