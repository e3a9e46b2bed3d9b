"""Side information on the others (see `bridges`), drawn at random with the unknown rest, or listed in full."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.model.signals import combined

from .bridges import Sensors, Walk, assigned, coins, remaining, turns, walks
from .crowd import Laws
from .numbers import add_person, poisson_binomial

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: The most table entries for the laws of all numbers together: with more people, everything is told of the rest.
_WORK = 4e9
#: Fewer unknown people than this are never asked for.
_FEWEST = 16
#: More ways of one person to be told are not listed.
_MOST_WAYS = 2000


@dataclass(frozen=True, eq=False)
class SensorInformation:
    """For each of n draws: the number of `others` at each sensor (n, T, S), and the side information on it.

    `known` (n, T, S) are told to be there; `laws[t]` (n, sensors at t, numbers) holds the probabilities of 0, 1, 2, ...
    more. Given the side information, the numbers of all sensors and steps are independent.
    """

    others: Ints
    known: Ints
    laws: list[Floats]

    @classmethod
    def of(cls, release: Release, told: Laws, size: int, rng: np.random.Generator) -> SensorInformation:
        """Draws of the unknown numbers given fixed side information: the same laws for all draws."""
        known = np.zeros((size, *release.grid.shape), dtype=np.int64)
        others, laws = known.copy(), [np.ones((size, len(step), 1)) for step in told]
        for t, step in enumerate(told):
            most = max((len(chances) for _, chances in step), default=1)
            laws[t] = np.zeros((size, len(step), most))
            for j, (least, chances) in enumerate(step):
                known[:, t, j], laws[t][:, j, : len(chances)] = least, chances
                others[:, t, j] = least + rng.choice(len(chances), size, p=chances / chances.sum())
        return cls(others, known, laws)

    def __len__(self) -> int:
        return len(self.others)

    def publish(self, release: Release, traces: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw the published values for a trace of the target (n, T) and each draw of the others: (n, T, S)."""
        return release.published(self.others + (np.asarray(traces)[:, :, None] == release.grid), rng)

    def evidence(self, release: Release, published: Floats) -> Floats:
        """Log-likelihoods (n, T, S + 1) of series (n, T, S), by the target's place, given the side information."""
        absent, present = np.zeros(published.shape), np.full(published.shape, -np.inf)
        for t, step in enumerate(release.sensors):
            if not step:
                continue
            here = np.s_[:, t, : len(step)]
            law, known = self.laws[t], self.known[here]
            counts = known[..., None] + np.arange(law.shape[2] + 1)
            each = release.mechanism.log_likelihood(published[here][..., None], counts)
            with np.errstate(divide="ignore"):
                log_law = np.log(law)
            absent[here] = np.logaddexp.reduce(log_law + each[..., :-1], axis=2)
            present[here] = np.logaddexp.reduce(log_law + each[..., 1:], axis=2)
        return combined(absent, present)


def draw_at_sensors(
    priors: Sequence[MarkovPrior], sensors: Sensors, size: int, rng: np.random.Generator
) -> SensorInformation:
    """Draw everybody's traces, and their side information."""
    active = [t for t, step in enumerate(sensors) if step]
    width = max(map(len, sensors))
    others, known = (np.zeros((size, len(sensors), width), dtype=np.int64) for _ in range(2))
    people = walks(priors, sensors)
    cells = max(1, sum(map(len, sensors)))
    turn = turns(people, max(_FEWEST, int(math.sqrt(_WORK / (size * cells)))))
    coin = coins(len(people), len(active))
    unknown = [sum(int(told >= 0 and k % 2 != told) for told in turn) for k in range(len(active))]
    laws = [np.ones((size, len(step), 1)) for step in sensors]
    for k, t in enumerate(active):
        laws[t] = np.zeros((size, len(sensors[t]), unknown[k] + 1))
        laws[t][..., 0] = 1.0
    nowhere = np.zeros(size, dtype=np.int64)
    for i, person in enumerate(people):
        trace = person.prior.sample(size, len(sensors), rng)
        for k, t in enumerate(active):
            there = trace[:, t, None] == person.watched[k]
            here = np.s_[:, t, : there.shape[1]]
            others[here] += there
            if turn[i] < 0 or k % 2 == turn[i]:
                known[here] += there
                continue
            before = trace[:, active[k - 1]] if k else nowhere
            after = trace[:, active[k + 1]] if k + 1 < len(active) else nowhere
            told, chance = told_between(person.bridge(k, before, after), there, float(coin[i, k]))
            known[here] += told
            add_person(laws[t], chance)
    return SensorInformation(others, known, laws)


def told_between(bridge: Floats, there: NDArray[np.bool_], coin: float) -> tuple[NDArray[np.bool_], Floats]:
    """For a person at a step between told ones: their told presences, and the remaining chances (n, S).

    They are `there` (n, S) at one sensor or at none; if at another one than the one assigned to them, it is told.
    """
    chosen = assigned(bridge, coin)
    mine = np.arange(bridge.shape[1]) == chosen[:, None]
    told = there & ~mine
    chance = np.where(told.any(axis=1), 0.0, remaining(bridge, chosen))
    return told, mine * chance[:, None]


def list_at_sensors(priors: Sequence[MarkovPrior], sensors: Sensors, most: int) -> list[tuple[float, Laws]] | None:
    """All possible side information, with its probability and the laws of numbers given it; None if over `most`.

    Side information leaving the same laws is lumped.
    """
    people = walks(priors, sensors)
    turn = turns(people, len(people))
    cells = sum(map(len, sensors))
    coin = coins(len(people), sum(1 for step in sensors if step))
    #: By the known number at each count, and the chances of more people there.
    ways: dict[tuple[tuple[int, tuple[float, ...]], ...], float] = {((0, ()),) * cells: 1.0}
    for i, person in enumerate(people):
        mine = _ways(person, int(turn[i]), coin[i])
        if mine is None:
            return None
        after: dict[tuple[tuple[int, tuple[float, ...]], ...], float] = {}
        for (told, p), (own, q) in product(ways.items(), mine.items()):
            key = tuple(_one_more(cell, chance) for cell, chance in zip(told, own, strict=True))
            after[key] = after.get(key, 0.0) + p * q
        if len(after) > most:
            return None
        ways = after
    return [(p, _in_form(told, sensors)) for told, p in ways.items()]


def _one_more(cell: tuple[int, tuple[float, ...]], chance: float) -> tuple[int, tuple[float, ...]]:
    known, rest = cell
    if chance in (0.0, 1.0):
        return known + int(chance), rest
    return known, tuple(sorted((*rest, chance)))


def _in_form(told: Sequence[tuple[int, tuple[float, ...]]], sensors: Sensors) -> Laws:
    cells = iter(told)

    def law() -> tuple[int, Floats]:
        known, rest = next(cells)
        least, chances = poisson_binomial(rest)
        return known + least, chances

    return tuple(tuple(law() for _ in step) for step in sensors)


def _ways(person: Walk, turn: int, coin: Floats) -> dict[tuple[float, ...], float] | None:
    """Possible side information on one person: chances at each sensor (0 and 1 if told), and its probability."""
    m, places = len(person.active), person.prior.places
    told = [k for k in range(m) if k % 2 == turn]
    if places ** len(told) > _MOST_WAYS:
        return None
    out: dict[tuple[float, ...], float] = {}
    for where in product(range(places), repeat=len(told)):
        at = dict(zip(told, where, strict=True))
        p = _chance(person, at)
        if p > 0:
            steps = [list(_between(person, k, at, float(coin[k]))) for k in range(m)]
            if math.prod(map(len, steps)) > _MOST_WAYS:
                return None
            for parts in product(*steps):
                key = tuple(chance for _, chances in parts for chance in chances)
                out[key] = out.get(key, 0.0) + p * math.prod(q for q, _ in parts)
    return out


def _chance(person: Walk, at: dict[int, int]) -> float:
    """The probability of being at these places at these active steps."""
    law = person.start.copy()
    for k in range(len(person.active)):
        law = law @ person.moves[k - 1] if k else law
        if k in at:
            law = np.where(np.arange(len(law)) == at[k], law, 0.0)
    return float(law.sum())


def _between(person: Walk, k: int, at: dict[int, int], coin: float) -> Iterator[tuple[float, tuple[float, ...]]]:
    """Possible side information at the k-th active step: probabilities, and the remaining chances for each sensor."""
    if k in at:
        yield 1.0, tuple(float(place == at[k]) for place in person.watched[k])
        return
    bridge = person.bridge(k, *(np.array([at.get(j, 0)]) for j in (k - 1, k + 1)))
    chosen = int(assigned(bridge, coin)[0])
    rest = 1.0
    for j, p in enumerate(bridge[0].tolist()):
        if j != chosen and p > 0:
            rest -= p
            yield p, tuple(float(i == j) for i in range(bridge.shape[1]))
    if rest > 1e-15:
        chance = float(f"{remaining(bridge, np.array([chosen]))[0]:.14g}")  # alike but for rounding
        yield rest, tuple(chance if i == chosen else 0.0 for i in range(bridge.shape[1]))
