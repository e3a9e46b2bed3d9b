"""A release of any counts: zones, flows and different visitors, each with a mechanism of its own if need be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import InputError
from passerby.mechanisms.base import Mechanism
from passerby.mechanisms.composition import grouped
from passerby.mechanisms.rules import Raw
from passerby.others.crowd import Crowd, channel_of, same_people
from passerby.support import checks
from passerby.support.checks import MOST_STEPS, whole

from .count import Count, changed, mechanism_of
from .forms import checked_mechanism, checked_series, checked_size, in_words, known_others, of_size
from .memory import Watch, remember
from .prior import MarkovPrior
from .release import Release
from .signals import MOST_OUTCOMES, Channel, Channels, by_channel, merge_rows, single_table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Counts = tuple[tuple[Count, ...], ...]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class CountRelease(Release):
    """Counts of any kind, by the step of their reading; `sensors` numbers them, in the order given.

    Over the states of a chain (`over`), `watch` tells the states seen by each count.
    """

    by_step: tuple[tuple[Count, ...], ...]
    watch: Watch | None
    #: A zone, a flow or a window of visitors does not show the place.
    reveals: ClassVar[bool] = False

    @classmethod
    def of(
        cls,
        counts: Iterable[Count] | None,
        steps: int | None,
        sensors: Iterable[int | Iterable[int]] | None = None,
        mechanism: Mechanism | None = None,
        others: Iterable[int | Iterable[int]] | Crowd | None = None,
        size: int = 1,
    ) -> Release:
        """The release of such counts; if all are of single places, it is one of sensors."""
        mechanism = checked_mechanism(mechanism)
        if sensors is not None or not (others is None or isinstance(others, Crowd)):
            raise InputError(
                "counts: give the places and the number of others of each count in it, not sensors or others beside; "
                "others that are known by their habits alone are others=Crowd(...)"
            )
        if steps is None:
            raise InputError("steps: how many steps there are must be said beside counts=[...]")
        whole(steps, "steps", 1, MOST_STEPS)
        if isinstance(counts, (str, bytes)) or not isinstance(counts, Iterable):
            raise InputError(f"counts: expected a list such as [Present([0, 1], step=0)], got {counts!r}")
        by_step: list[list[Count]] = [[] for _ in range(steps)]
        for i, count in enumerate(counts):
            if not isinstance(count, Count):
                raise InputError(f"counts[{i}] = {count!r}: expected Present(...), Moved(...) or Visitors(...)")
            if count.read >= steps:
                raise InputError(f"counts[{i}] = {count!r}: it needs step {count.read}, but there are {steps} steps")
            if others is not None and count.others is not None:
                raise InputError(f"counts[{i}] = {count!r}: its others are given, and beside it others={others!r}")
            # From here on every count has its own mechanism: the release's mechanism is no more than a default.
            by_step[count.read].append(count if count.mechanism is not None else replace(count, mechanism=mechanism))
        found = drawn_once(tuple(tuple(step) for step in by_step))
        size = checked_size(size, others)
        made = _as_sensors(found, others, size) or cls._made(found, None, others, size)
        if others is not None and made.crowd is not None:
            made.crowd.check(made.sensors)
        return made

    @classmethod
    def _made(cls, counts: Counts, watch: Watch | None, crowd: Crowd | None = None, size: int = 1) -> CountRelease:
        """Counts with a mechanism each.

        The mechanism of the release is theirs if they share one, else the mechanism of one of them.
        """
        out = object.__new__(cls)
        ways = _ways(counts)
        numbers = iter(range(sum(map(len, counts))))
        object.__setattr__(out, "by_step", counts)
        object.__setattr__(out, "watch", watch)
        sensors = tuple(tuple(next(numbers) for _ in step) for step in counts)
        out._hold(sensors, next(iter(ways), Raw()), None if crowd is None else crowd.of_counts(counts), size)
        return out

    @property
    def counts(self) -> Counts:
        """The counts that are read at each step, each with its mechanism and its number of others."""
        return self.by_step

    def _same(self, counts: Counts, watch: Watch | None) -> CountRelease:
        """Other counts, of the same people."""
        return self._made(counts, watch, self.crowd, self.size)

    @cached_property
    def plain(self) -> bool:
        """Whether every count is published as it is, of known others."""
        return self.crowd is None and all(mechanism.raw for mechanism in self.ways)

    @property
    def words(self) -> str:
        """The published counts, in words."""
        return in_words(f"{', '.join(map(repr, self.ways))} of zones, flows or visitors", self.crowd, self.size)

    @property
    def ways(self) -> tuple[Mechanism, ...]:
        """The mechanisms in use, each once."""
        return _ways(self.counts)

    @cached_property
    def channels(self) -> Channels:
        """The evidence of each count, in the order of `counts`."""
        self._check_counted()
        if self.crowd is not None:
            both = (zip(*pair, strict=True) for pair in zip(self.counts, self.crowd.laws(self.sensors), strict=True))
            return tuple(tuple(channel_of(mechanism_of(count), law) for count, law in step) for step in both)
        return tuple(tuple(told_by(count, self.size) for count in step) for step in self.counts)

    @property
    def numbers(self) -> tuple[tuple[int, ...], ...]:
        """How many others each count counts."""
        return tuple(tuple(count.others or 0 for count in step) for step in self.counts)

    def _check_counted(self) -> None:
        if self.crowd is not None:
            self.crowd.check_said()
            return
        for step in self.counts:
            for count in step:
                if count.others is None and not mechanism_of(count).shift_invariant:
                    raise InputError(
                        f"others: {mechanism_of(count)!r} treats small and large counts differently, so the number "
                        f"of other people is needed: others=... in {count!r}"
                    )

    def check_places(self, prior: MarkovPrior) -> None:
        """Refuse, with an `InputError`, a prior of other steps or places."""
        prior.check_steps(self.steps)
        for step in self.counts:
            for count in step:
                for zone in count.zones:
                    if zone[-1] >= prior.places:
                        raise InputError(
                            f"{count!r}: place {zone[-1]}, but the prior has {prior.places} places, numbered 0 to "
                            f"{prior.places - 1}"
                        )

    def over(self, prior: MarkovPrior) -> tuple[MarkovPrior, Release]:
        """The chain with the memory of counts, and this release over its states; once is enough."""
        if self.watch is not None and self.watch.classes.shape[1] == prior.states:
            return prior, self
        chain, watch = remember(prior, self.counts)
        return chain, self._same(self.counts, watch)

    def of_states(self, states: Ints) -> Release:
        """The release over some states of the chain it is measured over; -1 are states without anybody."""
        classes = np.ascontiguousarray(self.told.classes[:, np.maximum(states, 0)])
        return self._same(self.counts, replace(self.told, classes=classes))

    @property
    def told(self) -> Watch:
        """The states told apart; only over the states of a chain."""
        assert self.watch is not None, "ask for `over` a prior first"
        return self.watch

    def classes(self, prior: MarkovPrior) -> Ints:
        """The class of each state at each step (T, M)."""
        return self.told.classes

    @property
    def sees(self) -> Ints:
        """Whether each count of a step counts the people of each class (T, C, S): 1 or 0."""
        return self.told.sees

    def kinds(self, prior: MarkovPrior) -> list[int]:
        """How many classes the counts of each step can tell apart."""
        return [int(kind) for kind in self.told.kinds]

    def with_others(self, others: Iterable[int | Iterable[int]] | Crowd | None) -> Release:
        """The same counts with these numbers of other people, in the form of `sensors`, or in this crowd."""
        if others is None or isinstance(others, Crowd):
            bare = tuple(tuple(changed(count, others=None) for count in step) for step in self.counts)
            return self._made(bare, self.watch, others, checked_size(self.size, others))
        known = known_others(others)
        if [len(step) for step in known] != [len(step) for step in self.counts]:
            raise InputError("others: expected one number for each count of each step, in the form of sensors")
        return self._made(
            tuple(
                tuple(changed(count, others=number) for count, number in zip(step, numbers, strict=True))
                for step, numbers in zip(self.counts, known, strict=True)
            ),
            self.watch,
            size=self.size,
        )

    def through(self, mechanism: Mechanism) -> Release:
        """The same counts, all of them published by this mechanism."""
        mechanism = checked_mechanism(mechanism)
        counts = tuple(tuple(changed(count, mechanism=mechanism) for count in step) for step in self.counts)
        return self._same(counts, self.watch)

    def of_groups(self, size: int) -> Release:
        """The same counts, if the target is one of a group of so many people moving as one."""
        return self._made(self.counts, self.watch, self.crowd, checked_size(size, self.crowd))

    def relabelled(self, state_of: Mapping[int, int] | Ints) -> Release:
        """The same counts over other place numbers, `state_of[place]`: merged places are in the same zones."""
        new = {zone: tuple(sorted({int(state_of[place]) for place in zone})) for zone in self.zones}
        counts = tuple(tuple(count.relabelled(new) for count in step) for step in self.counts)
        # The others go by the old numbers, which the crowd knows.
        return self._same(counts, None)

    def as_raw(self) -> Release:
        """The same counts, published as they are, of known others."""
        return self._made(
            tuple(tuple(changed(count, mechanism=Raw()) for count in step) for step in self.counts),
            self.watch,
            size=self.size,
        )

    def there(self, traces: ArrayLike) -> NDArray[np.bool_]:
        """Whether each count counts somebody with each of these traces (n, T): an array (n, T, S)."""
        places = checks.traces(traces, "traces", self.steps)
        out = np.zeros((len(places), *self.grid.shape), dtype=bool)
        for t, step in enumerate(self.counts):
            for j, count in enumerate(step):
                out[:, t, j] = count.bits(places)
        return out

    @cached_property
    def of_nobody(self) -> Release:
        """The release without others whose number does not matter."""
        if self.crowd is not None:
            return self
        return self._made(
            tuple(
                tuple(changed(c, others=None) if mechanism_of(c).shift_invariant else c for c in step)
                for step in self.counts
            ),
            self.watch,
            size=self.size,
        )

    def published(self, counts: Ints, rng: np.random.Generator) -> Floats:
        """Draw the published values for true counts (n, T, S), each by its own mechanism."""
        out = np.full(counts.shape, np.nan)
        for t, step in enumerate(self.counts):
            for j, count in enumerate(step):
                out[:, t, j] = mechanism_of(count).sample(counts[:, t, j], rng)
        return out

    def likelihoods(self, published: ArrayLike) -> tuple[Floats, Floats]:
        """Log-likelihoods of each value (n, T, S): without the target, and with."""
        self._check_counted()
        return by_channel(self.channels, checked_series(published, self.grid.shape))

    def by_class(self, absent: Floats, present: Floats) -> Floats:
        """The log-likelihoods of all counts of a step together, for each class (n, T, C)."""
        sees = self.sees
        out = np.zeros((*absent.shape[:2], sees.shape[1]))
        for t, step in enumerate(self.counts):
            for j in range(len(step)):
                out[:, t] += np.where(sees[t, :, j], present[:, t, j, None], absent[:, t, j, None])
        return out

    def raw_of(self, kept: Sequence[Sequence[int]]) -> Release:
        """Some of its counts alone, published as they are."""
        counts = tuple(tuple(step[j] for j in chosen) for step, chosen in zip(self.counts, kept, strict=True))
        watch = self.told
        sees = np.zeros((*watch.sees.shape[:2], max(map(len, kept), default=0)), dtype=np.int64)
        for t, chosen in enumerate(kept):
            sees[t, :, : len(chosen)] = watch.sees[t][:, chosen]
        return self._made(counts, Watch(watch.classes, sees, watch.kinds), size=self.size).as_raw()

    def stacked_signals(self) -> tuple[Floats, Ints] | None:
        """Likelihoods of each step's outcomes (T, outcomes, C), and how many outcomes (T,)."""
        return _stacked(self.channels, self.sees.tobytes(), self.sees.shape)

    def signals(self) -> list[Floats] | None:
        """The same, step by step."""
        found = self.stacked_signals()
        return None if found is None else [table[:size] for table, size in zip(*found, strict=True)]

    def __repr__(self) -> str:
        ways = self.ways
        how = f"mechanism={self.mechanism!r}" if len(ways) < 2 else f"mechanisms={len(ways)}"
        return f"Release(steps={self.steps}, counts={sum(map(len, self.counts))}, {how}{of_size(self.size)})"

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, CountRelease) and (self.counts, self.size) == (other.counts, other.size)
        return same and same_people(self.crowd, other.crowd)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.counts)


def of_steps(counts: Counts, size: int = 1) -> Release:
    """The release of counts that have a mechanism each, by the step at which each is read; never one of sensors."""
    return CountRelease._made(counts, None, size=size)


def told_by(count: Count, size: int) -> Channel:
    """The evidence of a count about a group of a size; nobody else is assumed if others do not matter."""
    others = count.others or 0
    return Channel(grouped(mechanism_of(count), others, size), others)


def _ways(counts: Counts) -> tuple[Mechanism, ...]:
    return tuple(dict.fromkeys(mechanism_of(count) for step in counts for count in step))


def _as_sensors(counts: Counts, crowd: Crowd | None, size: int) -> Release | None:
    """The same as sensors: if every count is of one place at one step, a different one for each, in the same way."""
    every = [count for step in counts for count in step]
    single = all(count.snapshot and len(count.zones[0]) == 1 for count in every)
    ways = _ways(counts)
    others = {count.others is None for count in every}
    places = [[zone[0] for count in step for zone in count.zones] for step in counts]
    twice = any(len(set(step)) < len(step) for step in places)
    if not single or twice or len(ways) > 1 or len(others) > 1:
        return None
    known = None if others != {False} else [[count.others for count in step] for step in counts]
    return Release(places, next(iter(ways), Raw()), known if crowd is None else crowd, size=size)  # type: ignore[arg-type]


def drawn_once(counts: Counts) -> Counts:
    """Counts with each number of a reused draw listed once; a cell drawn once is one number.

    The same people counted twice, such as a zone in two tables, get the same draw. So the second tells nothing.
    """
    out = tuple(
        tuple(c for j, c in enumerate(step) if not (mechanism_of(c).persistent and c in step[:j])) for step in counts
    )
    kept = [count for step in out for count in step if mechanism_of(count).persistent]
    for mechanism in dict.fromkeys(map(mechanism_of, kept)):
        mechanism.check_cells([(count.cell, count) for count in kept])
    return out


@lru_cache(maxsize=16)
def _stacked(channels: Channels, sees: bytes, shape: tuple[int, int, int]) -> tuple[Floats, Ints] | None:
    """Likelihoods of each step's outcomes by class (T, outcomes, C), padded with zeros, and how many outcomes (T,)."""
    seen = np.frombuffer(sees, dtype=np.int64).reshape(shape)
    tables = []
    for t, step in enumerate(channels):
        if any(channel.continuous for channel in step):
            return None
        table = np.ones((1, shape[1]))
        for j, channel in enumerate(step):
            single = single_table(channel)[:, seen[t, :, j]]
            if len(table) * len(single) > MOST_OUTCOMES:
                return None
            table = merge_rows((table[:, None] * single[None]).reshape(-1, shape[1]))
        tables.append(table)
    out = np.zeros((len(tables), max(map(len, tables)), shape[1]))
    for t, table in enumerate(tables):
        out[t, : len(table)] = table
    sizes = np.array([len(table) for table in tables], dtype=np.int64)
    out.flags.writeable = sizes.flags.writeable = False
    return out, sizes
