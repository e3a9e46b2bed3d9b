"""The evidence of single counts about the target, and the evidence of all counts of a step together."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.mechanisms.base import Mechanism, paired
from passerby.mechanisms.composition import grouped
from passerby.support.statistics import by_ratio, without_faintest

from .chains import frozen
from .prior import MarkovPrior

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: More outcomes of one step than this are not listed.
MOST_OUTCOMES = 20_000


class Channel(NamedTuple):
    """One published count: two laws of its value, at `others` people (without the target) and at one more.

    These are the known others there. If there may be more of them, the `mechanism` adds an unknown number to the count
    first (`others.numbers.Headcount`). If a group moves as one, one more stands for all of it
    (`mechanisms.composition.Group`).
    """

    mechanism: Mechanism
    others: int

    @property
    def apart(self) -> float:
        """Total variation between the two laws."""
        return _apart(self.mechanism, self.others)

    @property
    def continuous(self) -> bool:
        """Whether values are published from a continuum."""
        return self.mechanism.outputs(self.others) is None

    def information(self, presence: float) -> float:
        """The information of the value, in nats, about a target present with this probability."""
        return self.mechanism.information(presence, self.others)

    def informations(self, presence: Floats) -> Floats:
        """The same for several probabilities (n,)."""
        return self.mechanism.informations(presence, self.others)


#: The channels of all counts of a release, step by step.
Channels = tuple[tuple[Channel, ...], ...]


@lru_cache(maxsize=1000)
def alike(mechanism: Mechanism, others: tuple[tuple[int, ...], ...], size: int = 1) -> Channels:
    """The channels of counts published by one mechanism, with so many others each, of groups of a size."""
    return tuple(tuple(Channel(grouped(mechanism, count, size), count) for count in step) for step in others)


def counts_of(channels: Channels) -> Iterator[tuple[Channel, tuple[Ints, Ints]]]:
    """Each channel, and its counts: their steps, and their numbers at these."""
    # By identity: to compare mechanisms hundreds of times takes longer than all the rest.
    found: dict[tuple[int, int], tuple[Channel, list[int], list[int]]] = {}
    for t, step in enumerate(channels):
        for j, channel in enumerate(step):
            _, steps, numbers = found.setdefault((id(channel.mechanism), channel.others), (channel, [], []))
            steps.append(t)
            numbers.append(j)
    for channel, steps, numbers in found.values():
        yield channel, (np.array(steps), np.array(numbers))


def apart(channels: Channels, shape: tuple[int, ...]) -> Floats:
    """Total variation between the two laws of each count, in an array of such a shape (T, S), 0 for no count."""
    out = np.zeros(shape)
    for channel, cells in counts_of(channels):
        out[cells] = channel.apart
    return out


def by_channel(channels: Channels, values: Floats) -> tuple[Floats, Floats]:
    """Log-likelihoods of each value (n, T, S), without and with the target, from each count by itself.

    Without a count, no mechanism is asked: this is not the same as a cell left empty.
    """
    absent, present = np.zeros(values.shape), np.full(values.shape, -np.inf)
    unknown: list[tuple[Channel, tuple[Ints, Ints]]] = []
    for channel, (steps, numbers) in counts_of(channels):
        mechanism, count = channel
        if mechanism.adds is not None:
            unknown.append((channel, (steps, numbers)))
            continue
        for out, bit in ((absent, 0), (present, 1)):
            out[:, steps, numbers] = mechanism.log_likelihood(values[:, steps, numbers], count + bit)
    if unknown:
        _beside_unknown(unknown, values, absent, present)
    return absent, present


def _beside_unknown(
    found: list[tuple[Channel, tuple[Ints, Ints]]], values: Floats, absent: Floats, present: Floats
) -> None:
    """Fill in log-likelihoods of raw counts beside unknown people, all at once: there is a channel for each of them."""
    laws = [law_of_added(channel.mechanism) for channel, _ in found]
    table = np.full((len(laws), max(map(len, laws))), -np.inf)
    for row, law in zip(table, laws, strict=True):
        with np.errstate(divide="ignore"):
            row[: len(law)] = np.log(law)
    which = np.repeat(np.arange(len(found)), [len(steps) for _, (steps, _) in found])
    steps, numbers = (np.concatenate([cells[k] for _, cells in found]) for k in (0, 1))
    least = np.array([channel.others for channel, _ in found])[which]
    for out, bit in ((absent, 0), (present, 1)):
        more = values[:, steps, numbers] - (least + bit)
        at = np.clip(np.nan_to_num(more), 0, table.shape[1] - 1).astype(np.int64)
        out[:, steps, numbers] = np.where(at == more, table[which, at], -np.inf)


def law_of_added(mechanism: Mechanism) -> Floats:
    """How likely 0, 1, 2, ... unknown people are, where a mechanism adds them to a raw count, without its rounding."""
    assert mechanism.adds is not None
    there = mechanism.adds > 0
    return np.where(there, mechanism.adds / mechanism.adds[there].sum(), 0.0)


def log_ratios(channels: Channels, values: Floats) -> Floats:
    """The log-likelihood ratio of each value (n, T, S) with and without the target; 0 without a count."""
    every = list(counts_of(channels))
    if len(every) == 1 and len(every[0][1][0]) == values[0].size:
        mechanism, count = every[0][0]
        return mechanism.log_ratio(values, count)
    out = np.zeros(values.shape)
    for (mechanism, count), (steps, numbers) in every:
        out[:, steps, numbers] = mechanism.log_ratio(values[:, steps, numbers], count)
    return out


@lru_cache(maxsize=16)
def watched(sensors: tuple[tuple[int, ...], ...], places: int) -> Ints:
    """The class of each of so many places at each step (T, places): 0 at no sensor, 1 + j at sensor j of the step.

    Remembered for the current releases: it is asked again and again.
    """
    out = np.zeros((len(sensors), places), dtype=np.int64)
    for t, step in enumerate(sensors):
        for j, place in enumerate(step):
            out[t, place] = 1 + j
    out.flags.writeable = False
    return out


@lru_cache(maxsize=8)
def seen_at(sensors: tuple[tuple[int, ...], ...], prior: MarkovPrior) -> Ints:
    """The class of each state of a chain at each step (T, M): 0 at no sensor, 1 + j at sensor j of the step.

    >>> from passerby import MarkovPrior
    >>> prior = MarkovPrior([0.5, 0.5, 0], [[1, 0, 0], [0, 0, 1], [0, 1, 0]], place_of=[0, 0, 1])
    >>> seen_at(((0,), (), (1, 0)), prior)
    array([[1, 1, 0],
           [0, 0, 0],
           [2, 2, 1]])
    """
    found = watched(sensors, prior.places)
    return found if prior.single else np.asarray(frozen(found.take(prior.place_of, axis=1)))


@lru_cache(maxsize=64)
def each_its_own(steps: int, sensors: int) -> Ints:
    """Whether each sensor of a step counts each class (T, S + 1, S): class 1 + j is counted by sensor j."""
    out = np.zeros((steps, sensors + 1, sensors), dtype=np.int64)
    out[:, 1:] = np.eye(sensors, dtype=np.int64)
    out.flags.writeable = False
    return out


@lru_cache(maxsize=20_000)
def _apart(mechanism: Mechanism, count: int) -> float:
    """Remembered: in an audit, the same counts of others come up again and again."""
    if mechanism.adds is None:
        return mechanism.total_variation(count)
    with np.errstate(divide="ignore"):
        law = np.exp(np.log(law_of_added(mechanism)))  # as it is listed, to the last digit
    pair = np.stack([np.append(law, 0.0), np.append(0.0, law)], axis=1)
    pair = pair[pair.any(axis=1)]
    return min(1.0, float(np.abs(pair[:, 0] - pair[:, 1]).sum() / 2))


@lru_cache(maxsize=20_000)
def _table(step: tuple[Channel, ...]) -> Floats | None:
    """Outcomes of one step, remembered likewise."""
    if any(channel.continuous for channel in step):
        return None
    table = np.ones((1, 1))
    for channel in step:
        single = single_table(channel)
        if len(table) * len(single) > MOST_OUTCOMES:
            return None
        table = joined(table, single)
    table.flags.writeable = False
    return table


def single_table(channel: Channel) -> Floats:
    """Outcomes of one count (outcomes, 2): likelihoods without the target, and with."""
    return merge_rows(paired(*channel))


def tables(channels: Channels) -> list[Floats] | None:
    """Outcomes of all steps, arrays (outcomes, sensors + 1); None if there are too many at one of them."""
    found = [_table(step) for step in channels]
    return None if any(table is None for table in found) else [table for table in found if table is not None]


@lru_cache(maxsize=16)
def stacked(channels: Channels) -> tuple[Floats, Ints] | None:
    """The same in one array. Remembered for the releases of the moment only, since they may be large."""
    found = tables(channels)
    if found is None:
        return None
    out = np.zeros((len(found), *np.max([table.shape for table in found], axis=0)))
    for t, table in enumerate(found):
        out[t, : table.shape[0], : table.shape[1]] = table
    sizes = np.array([len(table) for table in found], dtype=np.int64)
    out.flags.writeable = sizes.flags.writeable = False
    return out, sizes


def joined(table: Floats, single: Floats) -> Floats:
    """Add a sensor to a step: rows are pairs of outcomes, the target is at one of the sensors at most."""
    absent = table[:, None, :] * single[None, :, :1]
    present = table[:, None, :1] * single[None, :, 1:]
    return merge_rows(np.concatenate([absent, present], axis=2).reshape(-1, table.shape[1] + 1))


def merge_rows(rows: Floats) -> Floats:
    """Add up proportional rows: outcomes with the same likelihood ratios leave the same posterior.

    With several sensors, rows are products of the rows of each sensor, merged already. Then rows are the same only if
    one sensor gives the target away, and the others' values do not matter any more.
    """
    if rows.shape[1] == 2:
        return by_ratio(rows)[::-1]
    rows = without_faintest(rows)
    rows = rows[rows.any(axis=1)]
    shape = rows / rows.sum(axis=1, keepdims=True)
    _, index = np.unique(shape, axis=0, return_inverse=True)
    out = np.zeros((index.max() + 1, rows.shape[1]))
    np.add.at(out, index.reshape(-1), rows)
    return out


def combined(absent: Floats, present: Floats) -> Floats:
    """Log-likelihoods by the target's place, (..., S + 1), from the log-likelihoods of each sensor's value (..., S).

    Entry 0 is for "at none of the sensors", entry 1 + j for "at sensor j" and so at no other one.
    """
    out = np.zeros((*absent.shape[:-1], absent.shape[-1] + 1))
    if not absent.any():
        out[..., 1:] = present
        return out
    # The others are added up from both sides and not subtracted: a log-likelihood may be minus infinity.
    before, after = np.zeros((2, *out.shape))
    absent.cumsum(axis=-1, out=before[..., 1:])
    absent[..., ::-1].cumsum(axis=-1, out=after[..., -2::-1])
    out[..., 0] = before[..., -1]
    out[..., 1:] = before[..., :-1] + after[..., 1:] + present
    return out


def sightings(there: NDArray[np.bool_]) -> Floats:
    """The same of raw counts, from whether the target is at each sensor (..., S)."""
    out = np.empty((*there.shape[:-1], there.shape[-1] + 1))
    out[..., 0] = np.where(there.any(axis=-1), -np.inf, 0.0)
    out[..., 1:] = np.where(there, 0.0, -np.inf)
    return out


def telling(channels: Channels) -> list[list[int]] | None:
    """The counts of each step giving presence away, if no other depends on it; None if one tells a part."""
    every = [[channel.apart for channel in step] for step in channels]
    if not {0.0, 1.0}.issuperset(value for step in every for value in step):
        return None
    return [[j for j, value in enumerate(step) if value] for step in every]
