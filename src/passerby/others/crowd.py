"""Other people whom the adversary knows only by their habits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.mechanisms.base import Mechanism
from passerby.mechanisms.composition import Then
from passerby.mechanisms.laws import Sum
from passerby.model.prior import MarkovPrior
from passerby.model.signals import Channel, Channels

from .bridges import Counts, covariance_of, drawn_numbers, presences
from .numbers import Headcount, poisson_binomial

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: For each step, the law of the number of others at each of its sensors.
Laws = tuple[tuple[Sum, ...], ...]

#: Laws with this rounding of their sum are normalised, others are refused.
ROUNDING = 1e-9


class Side(Protocol):
    """Side information about the others in counts of any kind (`side_information.SideInformation`)."""

    def draw(self, size: int, rng: np.random.Generator) -> Any:
        """So many draws, with the numbers of `others` (n, T, S)."""


@dataclass(frozen=True, eq=False, repr=False)
class Crowd:
    """The number of other people at a sensor is not known; its law follows from the habits of each one.

    `priors` are the habits of the others, over the same places. Alternatively `laws` gives the probabilities of 0, 1,
    2, ... others at each sensor, in the form of the release's sensors. `Crowd()` stands, in an audit, for everyone
    else with the habits fitted to them.

    The number at one sensor and step is Poisson-binomial: each of the others is there with a probability of their own,
    independently of the rest. Numbers at different steps and sensors are *not* independent, since they are about the
    same people. With `priors`, both ends of an interval are for their true law (`others.bridges`,
    `others.side_information`). This holds for all counts: single places, zones, flows or different visitors. With
    `laws`, the dependence of the numbers is unknown, and the ends hold for every dependence; `told=laws` declares them
    independent. In general, `told` are laws, independent of each other, for an adversary with side information on the
    others.

    >>> Crowd([MarkovPrior([0.5, 0.5], [[1, 0], [0, 1]])] * 2)
    Crowd(2 people)
    """

    priors: tuple[MarkovPrior, ...] | None
    given: Laws | None
    told: Laws | None
    #: The sensors in the numbers of the priors, if the release has changed its own.
    where: tuple[tuple[int, ...], ...] | None
    #: The covariance of all counts (counts, counts), if it is known without the priors.
    spread: Floats | None
    #: Counts of any kind, in the numbers of the priors, and the side information of a better informed adversary.
    counts: Counts | None
    side: Side | None

    def __init__(
        self,
        priors: Iterable[MarkovPrior] | None = None,
        *,
        laws: Sequence[Sequence[Any]] | None = None,
        told: Sequence[Sequence[Any]] | None = None,
    ) -> None:
        if priors is not None and not isinstance(priors, Iterable):
            raise InputError(f"Crowd: expected a list of priors, one for each of the others, got {priors!r}")
        people = None if priors is None else tuple(priors)
        for i, prior in enumerate(people or ()):
            if not isinstance(prior, MarkovPrior):
                raise InputError(f"Crowd: priors[{i}] = {prior!r}: expected a MarkovPrior")
            if not prior.single:
                raise InputError(
                    f"Crowd: priors[{i}] = {prior!r}: of the others, a state must be a place; give one chain"
                )
        if people is not None and laws is not None:
            raise InputError("Crowd: give the priors of the others or the laws of their numbers, not both")
        if told is not None and laws is None:
            raise InputError("Crowd: told goes with laws, what is known of the same numbers without being told")
        given = None if laws is None else _checked(laws, "laws")
        self._hold(people, given, given if told is laws else None if told is None else _checked(told, "told"), None)

    def _hold(
        self,
        priors: tuple[MarkovPrior, ...] | None,
        given: Laws | None,
        told: Laws | None,
        where: tuple[tuple[int, ...], ...] | None,
        spread: Floats | None = None,
        counts: Counts | None = None,
        side: Side | None = None,
    ) -> None:
        """Set the fields, once."""
        held = {"priors": priors, "given": given, "told": told, "where": where, "spread": spread}
        for name, value in {**held, "counts": counts, "side": side}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def told_of(cls, laws: Laws, told: Laws, spread: Floats | None = None) -> Crowd:
        """By laws known to be valid, as in an audit, and the covariance of the numbers without side information."""
        out = object.__new__(cls)
        out._hold(None, laws, told, None, spread)
        return out

    @classmethod
    def of_side_information(cls, laws: Laws, side: Side, spread: Floats | None = None) -> Crowd:
        """The same of counts of any kind."""
        out = object.__new__(cls)
        out._hold(None, laws, None, None, spread, None, side)
        return out

    def __repr__(self) -> str:
        if self.priors is not None:
            return f"Crowd({len(self.priors)} people)"
        return "Crowd()" if self.given is None else "Crowd(laws=...)"

    @property
    def open(self) -> bool:
        """Whether the others are still to be named."""
        return self.priors is None and self.given is None

    def check_said(self) -> None:
        """Refuse, with an `InputError`, a crowd of unnamed others."""
        if self.open:
            raise InputError("others: Crowd() is everyone else in an audit; here, give their priors: Crowd([...])")

    def at(self, sensors: tuple[tuple[int, ...], ...]) -> Crowd:
        """The same people at these sensors, whatever their numbers in the release."""
        if self.priors is None or self.where is not None:
            return self
        out = object.__new__(Crowd)
        out._hold(self.priors, None, None, sensors)
        return out

    def of_counts(self, counts: Counts) -> Crowd:
        """The same people in these counts, numbered as sensors by a release; it stays with the first ones."""
        if self.priors is None or self.counts is not None:
            return self
        out = object.__new__(Crowd)
        out._hold(self.priors, None, None, None, None, counts)
        return out

    def check(self, sensors: Sequence[Sequence[int]]) -> None:
        """Refuse, with an `InputError`, sensors not suited to this crowd."""
        for name, laws in (("laws", self.given), ("told", self.told)):
            if laws is not None and [len(step) for step in laws] != [len(step) for step in sensors]:
                raise InputError(
                    f"Crowd: {name} must hold one law for each sensor of each step, in the form of sensors"
                )
        if self.counts is not None:
            zones = (zone for step in self.counts for count in step for zone in count.zones)
            most = max((zone[-1] for zone in zones), default=0)
        else:
            most = max((place for step in self.where or sensors for place in step), default=0)
        for prior in self.priors or ():
            prior.check_steps(len(sensors))
            if most >= prior.places:
                what = "a sensor is at" if self.counts is None else "a count is of"
                raise InputError(f"Crowd: {what} place {most}, but one of the priors has {prior.places} places")

    def independent(self, sensors: Sequence[Sequence[int]]) -> bool:
        """Whether numbers at different counts are independent for certain, and the law of each by itself says all."""
        if sum(map(len, sensors)) < 2 or self.priors == ():
            return True
        return self.told is not None and self.given is not None and _same(self.told, self.given)

    def as_if_independent(self, sensors: Sequence[Sequence[int]]) -> Crowd:
        """Independent numbers, each with its own law."""
        laws = self.laws(sensors)
        return Crowd.told_of(laws, laws)

    def laws(self, sensors: Sequence[Sequence[int]]) -> Laws:
        """The law of the number of others at each sensor of each step, by itself."""
        self.check(sensors)
        if self.given is not None:
            return self.given
        people = self.priors or ()
        if self.counts is not None:
            there = presences(people, self.counts)
        else:
            there = [presence(prior, self.where or sensors) for prior in people]
        return tuple(
            tuple(poisson_binomial([person[t][j] for person in there]) for j in range(len(step)))
            for t, step in enumerate(sensors)
        )

    def covariance(self, sensors: Sequence[Sequence[int]]) -> Floats | None:
        """The covariance of all counts (counts, counts); None if it is not known."""
        if self.priors is None:
            return self.spread
        if self.counts is not None:
            return covariance_of(self.priors, self.counts)
        distinct = {id(prior): prior for prior in self.priors}
        times = Counter(id(prior) for prior in self.priors)
        cells = sum(map(len, sensors))
        return sum(
            (times[name] * together(prior, self.where or sensors) for name, prior in distinct.items()),
            np.zeros((cells, cells)),
        )

    def channels(self, sensors: Sequence[Sequence[int]], mechanism: Mechanism) -> Channels:
        """The evidence of each count by itself, if its law is known: the certain part, and the rest unknown."""
        return tuple(tuple(channel_of(mechanism, law) for law in step) for step in self.laws(sensors))

    def draw(self, sensors: Sequence[Sequence[int]], size: int, rng: np.random.Generator) -> Ints:
        """How many others are at each sensor, (n, T, S): from traces, or from the laws as if independent."""
        out = np.zeros((size, len(sensors), max(map(len, sensors), default=0)), dtype=np.int64)
        if self.priors is not None and self.counts is not None:
            return drawn_numbers(self.priors, self.counts, size, rng)
        if self.side is not None:
            return np.asarray(self.side.draw(size, rng).others)
        if self.priors is not None:
            where = self.where or sensors
            for prior in self.priors:
                traces = prior.sample(size, len(sensors), rng)
                for t, step in enumerate(where):
                    out[:, t, : len(step)] += traces[:, t, None] == np.array(step, dtype=np.int64)
            return out
        for t, laws in enumerate(self.told or self.laws(sensors)):
            for j, (least, chances) in enumerate(laws):
                out[:, t, j] = least + rng.choice(len(chances), size, p=chances / chances.sum())
        return out


def same_people(one: Crowd | None, two: Crowd | None) -> bool:
    """Whether the others are the same people, known in the same way."""
    if one is None or two is None:
        return one is two
    return one.priors == two.priors and one.given is two.given and one.told is two.told and one.side is two.side


def same_crowd(one: Crowd | None, two: Crowd | None) -> Crowd | None:
    """The others of two releases about the same people; an error if they are known in two ways."""
    if one is None and two is None:
        return None
    if one is None or two is None or not same_people(one, two):
        raise InputError(
            "releases about the same people have the same others: give the same Crowd to both or to none; "
            f"got {one!r} and {two!r}"
        )
    if one.given is not None:
        raise UnsupportedRelease(f"{one!r}: laws of numbers do not say how the counts of two releases go together")
    return Crowd(one.priors)


def channel_of(mechanism: Mechanism, law: Sum) -> Channel:
    """The evidence of a count to an adversary knowing the law of the number of others in it."""
    least, chances = law
    return Channel(mechanism if len(chances) == 1 else Then(Headcount(chances), mechanism), least)


def presence(prior: MarkovPrior, sensors: Sequence[Sequence[int]]) -> list[Floats]:
    """For each step, the probabilities of being at each of its sensors."""
    marginals = prior.marginals(len(sensors))
    return [marginals[t][list(step)] for t, step in enumerate(sensors)]


def together(prior: MarkovPrior, sensors: Sequence[Sequence[int]]) -> Floats:
    """The covariance of one person's presence at all sensors of all steps (counts, counts)."""
    marginals, cell = prior.marginals(len(sensors)), np.cumsum([0, *map(len, sensors)])
    out = np.zeros((cell[-1], cell[-1]))
    for t, step in enumerate(sensors):
        ahead = np.zeros((len(step), prior.places))
        ahead[np.arange(len(step)), list(step)] = marginals[t][list(step)]
        for later in range(t, len(sensors) if step else t):
            ahead = ahead @ prior.matrix(later - 1) if later > t else ahead
            block = ahead[:, list(sensors[later])]
            out[cell[t] : cell[t + 1], cell[later] : cell[later + 1]] = block
            out[cell[later] : cell[later + 1], cell[t] : cell[t + 1]] = block.T
    there = np.concatenate([np.empty(0), *presence(prior, sensors)])
    return np.asarray(out - there[:, None] * there)


def _same(left: Laws, right: Laws) -> bool:
    if left is right:
        return True
    pairs = zip(chain.from_iterable(left), chain.from_iterable(right), strict=True)
    return all(a[0] == b[0] and np.array_equal(a[1], b[1]) for a, b in pairs)


def _checked(laws: Any, name: str) -> Laws:
    if isinstance(laws, (str, bytes)) or not isinstance(laws, Iterable):
        raise InputError(f"Crowd: {name}: expected a list with an entry per step, got {laws!r}")
    out = []
    for t, step in enumerate(laws):
        if isinstance(step, (str, bytes)) or not isinstance(step, (Sequence, np.ndarray)):
            raise InputError(f"Crowd: {name}[{t}] = {step!r}: expected a law for each sensor of the step")
        single = len(step) and not isinstance(step[0], (Sequence, np.ndarray))
        out.append(tuple(_law(law, f"Crowd: {name}[{t}]") for law in ([step] if single else step)))
    return tuple(out)


def _law(law: Any, where: str) -> Sum:
    """Probabilities of 0, 1, 2, ..., from the first above zero to the last."""
    try:
        values = np.asarray(law, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not values.size or not np.all(values >= 0) or not abs(values.sum() - 1) <= ROUNDING:
        raise InputError(f"{where} = {law!r}: expected probabilities of 0, 1, 2, ... others that sum to one")
    there = np.flatnonzero(values)
    return int(there[0]), values[there[0] : there[-1] + 1] / values.sum()
