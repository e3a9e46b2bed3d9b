"""What is published: which sensors count at which step, and what is done to the counts."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError
from passerby.mechanisms import Mechanism, Raw, Then
from passerby.mechanisms.checks import check_hashable
from passerby.mechanisms.law import negligible
from passerby.mechanisms.memory import paired

from .crowd import Crowd, Headcount
from .prior import MarkovPrior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: More outcomes of one step than this are not listed.
MOST_OUTCOMES = 20_000
#: Whole numbers from here on, or the next ones, are not exact in floating point.
LARGEST = 2**53 - 1


@dataclass(frozen=True)
class Release:
    """The sensors that count at each step, the mechanism, and how many other people each sensor counts.

    `sensors` has an entry per step: a place, several places, or an empty list for a step with no sensor.
    `others` has the same form and holds the number of other people that the adversary knows to be there; it may be
    left out for mechanisms that treat all counts alike (raw counts, additive noise), and in an audit, where it is
    counted from the traces. `counted` tells whether it is known. With a `Crowd`, the adversary knows the others only by
    their habits. `rule` is what the publisher does; `mechanism` also holds the uncertainty about a crowd.

    >>> Release(sensors=[7, [2, 3], []]).sensors
    ((7,), (2, 3), ())
    """

    sensors: tuple[tuple[int, ...], ...]
    mechanism: Mechanism
    others: tuple[tuple[int, ...], ...]
    counted: bool
    rule: Mechanism
    habits: Crowd | None

    def __init__(
        self,
        sensors: Iterable[int | Iterable[int]],
        mechanism: Mechanism | None = None,
        others: Iterable[int | Iterable[int]] | Crowd | None = None,
    ) -> None:
        mechanism = Raw() if mechanism is None else mechanism
        if not isinstance(mechanism, Mechanism):
            raise InputError(f"mechanism: expected a Mechanism such as Raw() or Gaussian(sigma=1.0), got {mechanism!r}")
        check_hashable(mechanism)
        where = _per_step(sensors, "sensors", "a place number")
        if not where:
            raise InputError("sensors: the list is empty; give an entry for each step ([] for a step without a sensor)")
        for t, step in enumerate(where):
            if len(set(step)) < len(step):
                raise InputError(f"sensors[{t}] = {list(step)}: a place is listed twice at the same step")
        mechanism.check_sensors(where)
        crowd = tuple(tuple(0 for _ in step) for step in where)
        object.__setattr__(self, "rule", mechanism)
        object.__setattr__(self, "habits", others if isinstance(others, Crowd) else None)
        if isinstance(others, Crowd):
            if not others.open:
                # Sensors are numbered through, and stand for the law of the others there.
                mechanism = Then(Headcount(others.laws(where)), mechanism)
                numbers = itertools.count(0, 2)
                crowd = tuple(tuple(next(numbers) for _ in step) for step in where)
        elif others is not None:
            crowd = _per_step(others, "others", "a number of people")
            if [len(step) for step in crowd] != [len(step) for step in where]:
                raise InputError("others: expected one number for each sensor of each step, in the form of sensors")
        object.__setattr__(self, "sensors", where)
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "others", crowd)
        object.__setattr__(self, "counted", not (others.open if isinstance(others, Crowd) else others is None))

    @classmethod
    @lru_cache
    def silent(cls, steps: int) -> Release:
        """The release that publishes nothing for `steps` steps: what the adversary knows without any counts."""
        return cls([[]] * steps)

    @classmethod
    def raw(cls, sensors: tuple[tuple[int, ...], ...]) -> Release:
        """Raw counts from sensors that are known to be valid: in an audit, checking them again takes its time."""
        out = object.__new__(cls)
        nobody = tuple((0,) * len(step) for step in sensors)
        for name, value in (
            ("sensors", sensors),
            ("mechanism", Raw()),
            ("others", nobody),
            ("counted", False),
            ("rule", Raw()),
            ("habits", None),
        ):
            object.__setattr__(out, name, value)
        return out

    @property
    def steps(self) -> int:
        """The number of steps, `T`."""
        return len(self.sensors)

    @cached_property
    def grid(self) -> Ints:
        """The sensors as an array (T, S), padded with -1."""
        return _padded(self.sensors, -1)

    @property
    def crowd(self) -> Ints:
        """The numbers of other people as an array (T, S), padded with 0."""
        return _padded(self.others, 0)

    def check(self, prior: MarkovPrior) -> None:
        """Refuse, with an `InputError`, a prior that does not fit this release, or a release without its counts."""
        self._check_counted()
        self.check_places(prior)

    def check_places(self, prior: MarkovPrior) -> None:
        """Refuse, with an `InputError`, a prior of other steps or places."""
        prior.check_steps(self.steps)
        if self._last_place < prior.places:
            return
        for t, step in enumerate(self.sensors):
            for place in step:
                if place >= prior.places:
                    raise InputError(
                        f"sensors[{t}] = {place}: the prior has {prior.places} places, numbered 0 to {prior.places - 1}"
                    )

    @cached_property
    def _last_place(self) -> int:
        return max((place for step in self.sensors for place in step), default=-1)

    def _check_counted(self) -> None:
        if self.habits is not None and self.habits.open:
            raise InputError("others: Crowd() is everyone else in an audit; here, give their priors: Crowd([...])")
        if not (self.counted or self.mechanism.shift_invariant) and any(self.sensors):
            raise InputError(
                f"others: {self.rule!r} treats small and large counts differently, so the number of "
                "other people at each sensor is needed: others=[...], in the form of sensors"
            )

    def with_others(self, others: Iterable[int | Iterable[int]] | Crowd | None) -> Release:
        """The same release with these numbers of other people."""
        return Release(self.sensors, self.rule, others)

    def check_misses(self, misses: int) -> int:
        """`misses`, if it is within 0..T-1; an `InputError` otherwise."""
        if isinstance(misses, bool) or not isinstance(misses, (int, np.integer)) or not 0 <= misses < self.steps:
            raise InputError(
                f"misses: expected a whole number from 0 to {self.steps - 1} (one less than the {self.steps} steps), "
                f"got {misses!r}"
            )
        return int(misses)

    def relabelled(self, state_of: Mapping[int, int]) -> Release:
        """The same release over other place numbers, `state_of[place]` for each sensor."""
        out = copy.copy(self)
        sensors = tuple(tuple(state_of[place] for place in step) for step in self.sensors)
        for name in ("grid", "revealed", "_last_place"):
            out.__dict__.pop(name, None)
        object.__setattr__(out, "sensors", sensors)
        return out

    def publish(self, traces: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw what is published for each trace (n, T): an array (n, T, S), NaN where there is no sensor."""
        self._check_counted()
        there = np.asarray(traces)[:, :, None] == self.grid
        return np.where(self.grid >= 0, self.mechanism.sample(self.crowd + there, rng), np.nan)

    def evidence(self, published: ArrayLike) -> Floats:
        """Log-likelihoods of published series (n, T, S) by where the target is: an array (n, T, S + 1).

        Entry 0 is for "at none of this step's sensors", entry 1 + j for "at sensor j".
        """
        return combined(*self.likelihoods(published))

    def likelihoods(self, published: ArrayLike) -> tuple[Floats, Floats]:
        """Log-likelihoods of each published value (n, T, S): with the target away from its sensor, and at it."""
        self._check_counted()
        values = np.asarray(published, dtype=np.float64)
        active = self.grid >= 0
        absent = np.where(active, self.mechanism.log_likelihood(values, self.crowd), 0.0)
        present = np.where(active, self.mechanism.log_likelihood(values, self.crowd + 1), -np.inf)
        return absent, present

    @cached_property
    def revealed(self) -> Release | None:
        """The raw counts that tell the same as this release, where there are such.

        There are if each published value either gives the target's presence away or does not depend on it, as with any
        rule without chance (rounding, suppression): those counts are the revealed ones.
        """
        if isinstance(self.mechanism, Raw):
            return self
        self._check_counted()
        kept: list[tuple[int, ...]] = []
        for step, crowd in zip(self.sensors, self.others, strict=True):
            told = [_total_variation(self.mechanism, count) for count in crowd]
            if not {0.0, 1.0}.issuperset(told):
                return None
            kept.append(tuple(place for place, apart in zip(step, told, strict=True) if apart))
        return Release.raw(tuple(kept))

    def signals(self) -> list[Floats] | None:
        """For each step, the likelihoods of each possible outcome: arrays (outcomes, sensors at the step + 1).

        Columns are "at none of the sensors", "at sensor 0", ...; each column sums to one. Outcomes that tell the
        same (proportional rows) are merged, which loses nothing. None where there are too many, or a continuum.
        """
        self._check_counted()
        return _tables(self.mechanism, self.others)

    def stacked_signals(self) -> tuple[Floats, Ints] | None:
        """The same as one array (T, outcomes, S + 1), padded with zeros, and how many outcomes each step has (T,)."""
        self._check_counted()
        return _stacked(self.mechanism, self.others)

    def __repr__(self) -> str:
        total = sum(map(len, self.sensors))
        return f"Release(steps={self.steps}, sensors={total}, mechanism={self.rule!r})"


def combined(absent: Floats, present: Floats) -> Floats:
    """Log-likelihoods by where the target is, (..., S + 1), from those of each sensor's value (..., S).

    Entry 0 is for "at none of the sensors", entry 1 + j for "at sensor j" and so at no other one.
    """
    nothing = np.zeros((*absent.shape[:-1], 1))
    # The others are added up from both sides and not subtracted: a log-likelihood may be minus infinity.
    before = np.concatenate([nothing, np.cumsum(absent, axis=-1)], axis=-1)
    after = np.concatenate([nothing, np.cumsum(absent[..., ::-1], axis=-1)], axis=-1)[..., -2::-1]
    return np.concatenate([before[..., -1:], before[..., :-1] + after + present], axis=-1)


@lru_cache(maxsize=20_000)
def _total_variation(mechanism: Mechanism, count: int) -> float:
    """Remembered: in an audit, the same counts of others come up again and again."""
    return mechanism.total_variation(count)


@lru_cache(maxsize=20_000)
def _table(mechanism: Mechanism, crowd: tuple[int, ...]) -> Floats | None:
    """Outcomes of one step, remembered likewise."""
    if crowd and mechanism.outputs(crowd[0]) is None:
        return None
    table = np.ones((1, 1))
    for count in crowd:
        single = _merged(paired(mechanism, count))
        if len(table) * len(single) > MOST_OUTCOMES:
            return None
        table = joined(table, single)
    table.flags.writeable = False
    return table


def _tables(mechanism: Mechanism, others: tuple[tuple[int, ...], ...]) -> list[Floats] | None:
    """Outcomes of all steps; None where there are too many at one of them."""
    tables = [_table(mechanism, crowd) for crowd in others]
    return None if any(table is None for table in tables) else [table for table in tables if table is not None]


@lru_cache(maxsize=16)
def _stacked(mechanism: Mechanism, others: tuple[tuple[int, ...], ...]) -> tuple[Floats, Ints] | None:
    """The same in one array. Remembered for the releases of the moment only, since they may be large."""
    tables = _tables(mechanism, others)
    if tables is None:
        return None
    out = np.zeros((len(tables), *np.max([table.shape for table in tables], axis=0)))
    for t, table in enumerate(tables):
        out[t, : table.shape[0], : table.shape[1]] = table
    sizes = np.array([len(table) for table in tables], dtype=np.int64)
    out.flags.writeable = sizes.flags.writeable = False
    return out, sizes


@lru_cache(maxsize=1000)
def _padded(steps: tuple[tuple[int, ...], ...], rest: int) -> Ints:
    """Numbers of each step as an array (T, S), filled up with `rest`."""
    width = max(map(len, steps))
    rows = [[*step, *[rest] * (width - len(step))] for step in steps]
    out = np.array(rows, dtype=np.int64).reshape(len(steps), width)
    out.flags.writeable = False
    return out


def joined(table: Floats, single: Floats) -> Floats:
    """Add a sensor to a step: rows are pairs of outcomes, the target is at one of the sensors at most."""
    absent = table[:, None, :] * single[None, :, :1]
    present = table[:, None, :1] * single[None, :, 1:]
    return _merged(np.concatenate([absent, present], axis=2).reshape(-1, table.shape[1] + 1))


def _merged(rows: Floats) -> Floats:
    """Add up proportional rows: outcomes with the same likelihood ratios leave the same posterior."""
    rows = rows[~negligible(rows.sum(axis=1))]
    shape = rows / rows.sum(axis=1, keepdims=True)
    _, index = np.unique(shape.round(12), axis=0, return_inverse=True)
    out = np.zeros((index.max() + 1, rows.shape[1]))
    np.add.at(out, index.reshape(-1), rows)
    return out


def _per_step(values: Iterable[Any], name: str, what: str) -> tuple[tuple[int, ...], ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(f"{name}: expected a list with an entry per step, got {values!r}")
    return tuple(
        tuple(_whole(v, f"{name}[{t}]", what) for v in (step if isinstance(step, (Sequence, np.ndarray)) else [step]))
        for t, step in enumerate(values)
    )


def _whole(value: Any, where: str, what: str) -> int:
    if isinstance(value, (bool, str)) or not isinstance(value, (int, np.integer)) or value < 0:
        raise InputError(f"{where} = {value!r}: expected {what}, a whole number of at least 0")
    if value >= LARGEST:
        raise InputError(f"{where} = {value!r}: expected {what} below 2**53; larger ones cannot be told apart")
    return int(value)
