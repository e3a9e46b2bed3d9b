"""The published counts: the sensors of each step, and the mechanism applied to the counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError
from passerby.mechanisms.base import Mechanism
from passerby.mechanisms.rules import Raw
from passerby.others.crowd import Crowd, same_crowd
from passerby.support import checks

from . import forms, signals
from .counts import Count, of_single_places
from .forms import Numbers
from .prior import MarkovPrior, check_prior
from .signals import Channels, telling

if TYPE_CHECKING:
    from .adaptive import Policy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Release:
    """The sensors counting at each step, the mechanism, and the number of other people counted by each sensor.

    `sensors` has an entry per step: a place, several places, or an empty list for a step with no sensor. `others` has
    the same form and holds the number of other people known to the adversary. It may be left out (None) for mechanisms
    treating all counts alike (raw counts, additive noise). It may also be left out in an audit: there it is counted
    from the traces. With a `Crowd`, the adversary knows the others only by their habits. With a `size`, the target is
    one of a group of so many people moving as one, and everybody else is known.

    >>> Release(sensors=[7, [2, 3], []]).sensors
    ((7,), (2, 3), ())

    Zones, flows and different visitors are `counts` (`Present`, `Moved`, `Visitors`), over so many `steps`. Each may be
    given a mechanism and a number of others of its own.

    >>> from passerby import Moved, Present, Visitors
    >>> Release(counts=[Present([0, 1], step=0), Moved([0], [2], step=0), Visitors([2], steps=range(3))], steps=3)
    Release(steps=3, counts=3, mechanism=Raw())
    """

    sensors: Numbers
    mechanism: Mechanism
    others: Numbers | Crowd | None
    size: int
    #: Whether it is known in advance what is counted, and not chosen as one goes.
    fixed: ClassVar[bool] = True
    #: Whether each count is of a single place, so that somebody who is seen is seen where they are.
    reveals: ClassVar[bool] = True
    #: All counts that a policy may choose among, if that is known.
    among: ClassVar[Release | None] = None

    def __new__(
        cls,
        sensors: Iterable[int | Iterable[int]] | None = None,
        mechanism: Mechanism | None = None,
        others: Iterable[int | Iterable[int]] | Crowd | None = None,
        *,
        counts: Iterable[Count] | None = None,
        steps: int | None = None,
        size: int = 1,
    ) -> Release:
        """Counts of any kind are a release of another class, with the same methods."""
        if counts is None and steps is None:
            return object.__new__(cls)
        from .count_release import CountRelease

        return CountRelease.of(counts, steps, sensors, mechanism, others, size)

    def __init__(
        self,
        sensors: Iterable[int | Iterable[int]] | None = None,
        mechanism: Mechanism | None = None,
        others: Iterable[int | Iterable[int]] | Crowd | None = None,
        *,
        counts: Iterable[Count] | None = None,
        steps: int | None = None,
        size: int = 1,
    ) -> None:
        if counts is not None or steps is not None:
            return  # made by `__new__`
        mechanism = forms.checked_mechanism(mechanism)
        where = forms.checked_sensors(sensors)
        mechanism.check_sensors(where)
        if isinstance(others, Crowd):
            others.check(where)
        elif others is not None:
            others = forms.checked_others(others, where)
        self._hold(where, mechanism, others, forms.checked_size(size, others))

    def _hold(self, sensors: Numbers, mechanism: Mechanism, others: Numbers | Crowd | None, size: int) -> None:
        """Set the fields, once."""
        for name, value in (("sensors", sensors), ("mechanism", mechanism), ("others", others), ("size", size)):
            object.__setattr__(self, name, value)

    @classmethod
    def _valid(cls, sensors: Numbers, mechanism: Mechanism, others: Numbers | Crowd | None, size: int) -> Release:
        """Without the checks: in an audit, checking valid input again takes its time."""
        out = object.__new__(cls)
        out._hold(sensors, mechanism, others, size)
        return out

    @classmethod
    def silent(cls, steps: int) -> Release:
        """The release publishing nothing for `steps` steps: the adversary's knowledge without any counts."""
        return _numbered(((),) * checks.steps(steps), Raw(), None, 1)

    @classmethod
    def raw(cls, sensors: Numbers, size: int = 1) -> Release:
        """Raw counts from sensors known to be valid."""
        return cls._valid(sensors, Raw(), None, size)

    @classmethod
    def adaptive(
        cls,
        policy: Policy,
        steps: int,
        mechanism: Mechanism | None = None,
        *,
        among: Iterable[Count] | None = None,
        size: int = 1,
    ) -> Release:
        """The release of the counts, or places, named by `policy(history)` for each step as one goes.

        `history` has a tuple of published values for each step so far. `among` may hold all counts that can be named.
        If histories are too many to list, the evidence of these together bounds the evidence of the release.

        >>> Release.adaptive(lambda history: [0] if not history or history[-1] == (1.0,) else [1], steps=3)
        Release.adaptive(<lambda>, steps=3)
        """
        from .adaptive import AdaptiveRelease

        return AdaptiveRelease.of(policy, steps, mechanism, among, size)

    def named(self, history: tuple[tuple[float, ...], ...]) -> tuple[Count, ...]:
        """The counts of the step after a history: here, whatever it was."""
        return tuple(count for count in self.listed if count.read == len(history))

    def after(self, published: Iterable[float | Iterable[float]]) -> Release:
        """The release after these values were published: itself, unless counts are chosen adaptively."""
        return self

    @property
    def steps(self) -> int:
        """The number of steps, `T`."""
        return len(self.sensors)

    @cached_property
    def crowd(self) -> Crowd | None:
        """The others, if the adversary does not know their number."""
        return self.others if isinstance(self.others, Crowd) else None

    @cached_property
    def plain(self) -> bool:
        """Whether each value tells the target's presence for certain: raw counts, and known others."""
        return self.mechanism.raw and self.crowd is None

    @cached_property
    def independent(self) -> bool:
        """Whether, given the target's trace, values at different sensors and steps are independent of each other.

        They are not if the others counted are unknown to the adversary: the same people are in several counts.
        """
        return self.crowd is None or self.crowd.independent(self.sensors)

    @property
    def words(self) -> str:
        """The published counts and their subject, in words."""
        return forms.in_words(self.mechanism, self.crowd, self.size)

    @property
    def ways(self) -> tuple[Mechanism, ...]:
        """The mechanisms in use, each once."""
        return (self.mechanism,)

    @cached_property
    def grid(self) -> Ints:
        """The sensors as an array (T, S), padded with -1."""
        return forms.padded(self.sensors, -1)

    @cached_property
    def channels(self) -> Channels:
        """The evidence of each count, in the form of the sensors. Numbers of a crowd are told each by itself."""
        self._check_counted()
        if self.crowd is not None:
            return self.crowd.channels(self.sensors, self.mechanism)
        return signals.alike(self.mechanism, self.numbers, self.size)

    @cached_property
    def apart(self) -> Floats:
        """Total variation between the laws of each count without the target and with them (T, S), 0 for no count."""
        return signals.apart(self.channels, self.grid.shape)

    @property
    def numbers(self) -> Numbers:
        """How many others are known to be at each sensor; nobody is as good as any number where it does not matter."""
        return self.others if isinstance(self.others, tuple) else tuple((0,) * len(step) for step in self.sensors)

    def over(self, prior: MarkovPrior) -> tuple[MarkovPrior, Release]:
        """The chain and the release in the form for measuring: with the memory of counts (`model.memory`)."""
        return prior, self

    def of_states(self, states: Ints) -> Release:
        """The release over some states of the chain it is measured over; -1 are states without anybody."""
        return self

    def classes(self, prior: MarkovPrior) -> Ints:
        """The class of each state at each step (T, M), 0 at no sensor and 1 + j at sensor j: columns of evidence."""
        return signals.seen_at(self.sensors, prior)

    @property
    def sees(self) -> Ints:
        """Whether each count of a step counts the people of each class (T, C, S): 1 or 0."""
        return signals.each_its_own(*self.grid.shape)

    def kinds(self, prior: MarkovPrior) -> list[int]:
        """The number of possible classes told apart by the counts of each step."""
        chance = np.take_along_axis(prior.marginals(self.steps), np.maximum(self.grid, 0), axis=1)
        return [int(kind) for kind in 1 + ((chance > 0) & (self.grid >= 0)).sum(axis=1)]

    @property
    def counts(self) -> tuple[tuple[Count, ...], ...]:
        """The counts that are read at each step, each with its mechanism and its number of others; a sensor is one."""
        known = None if self.others is None or self.crowd is not None else self.numbers
        return of_single_places(self.sensors, self.mechanism, known)

    @property
    def listed(self) -> tuple[Count, ...]:
        """Every count by itself."""
        return tuple(count for step in self.counts for count in step)

    @cached_property
    def zones(self) -> tuple[tuple[int, ...], ...]:
        """The sets of places that counts are about, each once."""
        return tuple(dict.fromkeys(zone for step in self.counts for count in step for zone in count.zones))

    def alike(self, places: int) -> Ints:
        """A label for each place (places,): those of one label are in the same zones, and 0 is for those in none."""
        return forms.zone_labels(self.zones, places)

    def __add__(self, other: Release) -> Release:
        """Both releases about the same people: the view of somebody with both.

        >>> from passerby import Present
        >>> Release([0, 1]) + Release(counts=[Present([0, 1], step=1)], steps=2)
        Release(steps=2, counts=3, mechanism=Raw())
        """
        if not isinstance(other, Release) or not other.fixed:
            return NotImplemented
        if other.steps != self.steps:
            raise InputError(f"releases of {self.steps} and {other.steps} steps cannot be put together")
        forms.check_sizes(self.size, other.size)
        counts, crowd = [*self.listed, *other.listed], same_crowd(self.crowd, other.crowd)
        return Release(counts=counts, steps=self.steps, others=crowd, size=self.size)

    def as_raw(self) -> Release:
        """Raw counts from the same sensors."""
        return Release.raw(self.sensors, self.size)

    def check(self, prior: MarkovPrior) -> None:
        """Refuse, with an `InputError`, a prior that does not fit this release, or a release without its counts."""
        check_prior(prior)
        self._check_counted()
        self.check_places(prior)

    def check_places(self, prior: MarkovPrior) -> None:
        """Refuse, with an `InputError`, a prior of other steps or places."""
        prior.check_steps(self.steps)
        if self.grid.max(initial=-1) >= prior.places:
            forms.check_within(self.sensors, prior.places)

    def _check_counted(self) -> None:
        if self.crowd is not None:
            self.crowd.check_said()
        if self.others is None and not self.mechanism.shift_invariant and any(self.sensors):
            raise InputError(
                f"others: {self.mechanism!r} treats small and large counts differently, so the number of "
                "other people at each sensor is needed: others=[...], in the form of sensors"
            )

    def with_others(self, others: Iterable[int | Iterable[int]] | Crowd | None) -> Release:
        """The same release with these numbers of other people."""
        return Release(self.sensors, self.mechanism, others, size=self.size)

    def through(self, mechanism: Mechanism) -> Release:
        """The same counts of the same people, published by this mechanism."""
        return Release(self.sensors, mechanism, self.others, size=self.size)

    def of_groups(self, size: int) -> Release:
        """The same counts, if the target is one of a group of so many people moving as one."""
        size = forms.checked_size(size, self.others)
        return self if size == self.size else self._valid(self.sensors, self.mechanism, self.others, size)

    def check_misses(self, misses: int) -> int:
        """`misses`, if it is within 0..T-1; an `InputError` otherwise."""
        return forms.checked_misses(misses, self.steps)

    def relabelled(self, state_of: Mapping[int, int] | Ints) -> Release:
        """The same release over other place numbers, `state_of[place]` for each sensor."""
        sensors = tuple(tuple(int(state_of[place]) for place in step) for step in self.sensors)
        if self.crowd is None:
            return _numbered(sensors, self.mechanism, self.others, self.size)
        # The others go by the old numbers.
        return self._valid(sensors, self.mechanism, self.crowd.at(self.sensors), self.size)

    def publish(self, traces: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw the published values for each trace (n, T): an array (n, T, S), NaN without a sensor."""
        self._check_counted()
        checks.generator(rng)
        there = self.size * self.there(traces)
        others = forms.padded(self.numbers, 0) if self.crowd is None else self.crowd.draw(self.sensors, len(there), rng)
        return self.published(others + there, rng)

    def drawn(self, traces: ArrayLike, rng: np.random.Generator | Sequence[int]) -> Floats:
        """Evidence (n, T, C) of drawn publications for traces (n, T). Raw counts need no `rng`; it may be a seed."""
        if self.plain and self.reveals:
            return signals.sightings(self.there(traces))
        return self.of_nobody.evidence(self.of_nobody.publish(traces, np.random.default_rng(rng)))

    @cached_property
    def of_nobody(self) -> Release:
        """The release without others whose number does not matter: values then keep all their digits."""
        same = self.crowd is None and self.mechanism.shift_invariant
        return self._valid(self.sensors, self.mechanism, None, self.size) if same else self

    def there(self, traces: ArrayLike) -> NDArray[np.bool_]:
        """Whether each count counts somebody with each of these traces (n, T): an array (n, T, S)."""
        return np.asarray(checks.traces(traces, "traces", self.steps)[:, :, None] == self.grid)

    def published(self, counts: Ints, rng: np.random.Generator) -> Floats:
        """Draw the published values for true counts (n, T, S): an array of the same shape, NaN without a sensor."""
        return np.where(self.grid >= 0, self.mechanism.sample(counts, rng), np.nan)

    def evidence(self, published: ArrayLike) -> Floats:
        """Log-likelihoods of published series (n, T, S) by the class of the target's state: an array (n, T, C)."""
        return self.by_class(*self.likelihoods(published))

    def by_class(self, absent: Floats, present: Floats) -> Floats:
        """Log-likelihoods of each value (n, T, S), without and with the target, put together for each class."""
        return signals.combined(absent, present)

    def likelihoods(self, published: ArrayLike) -> tuple[Floats, Floats]:
        """Log-likelihoods of each published value (n, T, S): with the target away from its sensor, and at it."""
        self._check_counted()
        return signals.by_channel(self.channels, forms.checked_series(published, self.grid.shape))

    @cached_property
    def revealed(self) -> Release | None:
        """The raw counts telling the same as this release, if there are such.

        They exist if each published value either gives the target's presence away or does not depend on it. Any rule
        without chance (rounding, suppression) is of this kind. The raw counts are the revealing ones.
        """
        if self.plain or not self.independent:
            return self if self.plain else None
        return None if (kept := telling(self.channels)) is None else self.raw_of(kept)

    def raw_of(self, kept: Sequence[Sequence[int]]) -> Release:
        """Some of its counts alone, published as they are: `kept` has their numbers at each step."""
        chosen = zip(self.sensors, kept, strict=True)
        return Release.raw(tuple(tuple(step[j] for j in which) for step, which in chosen), self.size)

    def signals(self) -> list[Floats] | None:
        """For each step, the likelihoods of each possible outcome: arrays (outcomes, sensors at the step + 1).

        Each column sums to one. Outcomes that tell the same (proportional rows) are merged, which loses nothing. None
        where there are too many, or a continuum.
        """
        return signals.tables(self.channels)

    def stacked_signals(self) -> tuple[Floats, Ints] | None:
        """The same as one array (T, outcomes, S + 1), padded with zeros, and how many outcomes each step has (T,)."""
        return signals.stacked(self.channels)

    def __repr__(self) -> str:
        total = sum(map(len, self.sensors))
        return f"Release(steps={self.steps}, sensors={total}, mechanism={self.mechanism!r}{forms.of_size(self.size)})"


@lru_cache(maxsize=16)
def _numbered(sensors: Numbers, mechanism: Mechanism, others: Numbers | Crowd | None, size: int) -> Release:
    """Remembered, with its memory: for many people of an audit, sensors have the same numbers."""
    return Release._valid(sensors, mechanism, others, size)
