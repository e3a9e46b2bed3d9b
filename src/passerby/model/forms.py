"""The forms of releases: a number for each sensor of each step, a mechanism, and the size of a group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.mechanisms.base import Mechanism
from passerby.mechanisms.checks import LARGEST, MOST_COUNTED, MOST_PEOPLE, check_hashable
from passerby.mechanisms.rules import Raw
from passerby.others.crowd import Crowd
from passerby.support.checks import is_whole, numbers, shown, whole

Ints = NDArray[np.int64]
#: A number for each sensor of each step.
Numbers = tuple[tuple[int, ...], ...]


def checked_mechanism(mechanism: Mechanism | None) -> Mechanism:
    """A usable mechanism, raw counts by default; else an `InputError`."""
    mechanism = Raw() if mechanism is None else mechanism
    if not isinstance(mechanism, Mechanism):
        raise InputError(f"mechanism: expected a Mechanism such as Raw() or Gaussian(sigma=1.0), got {mechanism!r}")
    check_hashable(mechanism)
    return mechanism


def checked_sensors(sensors: Iterable[Any] | None) -> Numbers:
    """The places of each step, each once; else an `InputError`."""
    if sensors is None:
        raise InputError("sensors: expected a list with an entry per step; or give counts=[...] and steps=...")
    where = per_step(sensors, "sensors", "a place number")
    if not where:
        raise InputError("sensors: the list is empty; give an entry for each step ([] for a step without a sensor)")
    for t, step in enumerate(where):
        if len(set(step)) < len(step):
            raise InputError(f"sensors[{t}] = {list(step)}: a place is listed twice at the same step")
    return where


def checked_others(others: Iterable[Any], where: Numbers) -> Numbers:
    """A number of people for each sensor; else an `InputError`."""
    numbers = known_others(others)
    if [len(step) for step in numbers] != [len(step) for step in where]:
        raise InputError("others: expected one number for each sensor of each step, in the form of sensors")
    return numbers


def known_others(others: Iterable[Any]) -> Numbers:
    """Numbers of people of each step, none too large for the laws; else an `InputError`."""
    numbers = per_step(others, "others", "a number of people")
    for t, step in enumerate(numbers):
        for number in step:
            if number > MOST_COUNTED:
                raise InputError(
                    f"others[{t}] = {number}: expected at most {MOST_COUNTED:,} people, since what is published of "
                    "more is not told digit by digit; check the number"
                )
    return numbers


def check_within(sensors: Numbers, places: int) -> None:
    """Refuse, with an `InputError`, a sensor at none of so many places."""
    for t, step in enumerate(sensors):
        for place in step:
            if place >= places:
                raise InputError(f"sensors[{t}] = {place}: the prior has {places} places, numbered 0 to {places - 1}")


def checked_misses(misses: Any, steps: int) -> int:
    """A number of misses within 0..T-1; else an `InputError`."""
    if not is_whole(misses) or not 0 <= misses < steps:
        raise InputError(
            f"misses: expected a whole number from 0 to {steps - 1} (one less than the {steps} steps), got {misses!r}"
        )
    return int(misses)


def checked_series(published: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Series (n, T, S) of published values; else an `InputError`."""
    values = numbers(published, "published")
    if values.ndim != 3 or values.shape[1:] != shape:
        raise InputError(
            f"published: expected series in a shape (n, {shape[0]}, {shape[1]}), a value for each count of each step; "
            f"got {shown(published)}"
        )
    return values


@lru_cache(maxsize=1000)
def padded(steps: Numbers, rest: int) -> Ints:
    """Numbers of each step as an array (T, S), filled up with `rest`."""
    width = max(map(len, steps))
    rows = [[*step, *[rest] * (width - len(step))] for step in steps]
    out = np.array(rows, dtype=np.int64).reshape(len(steps), width)
    out.flags.writeable = False
    return out


def per_step(values: Iterable[Any], name: str, what: str) -> Numbers:
    """A number for each sensor of each step, as tuples; an `InputError` names a wrong one."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InputError(f"{name}: expected a list with an entry per step, got {values!r}")
    return tuple(
        tuple(_whole(v, f"{name}[{t}]", what) for v in (step if isinstance(step, (Sequence, np.ndarray)) else [step]))
        for t, step in enumerate(values)
    )


def _whole(value: Any, where: str, what: str) -> int:
    if not is_whole(value) or value < 0:
        raise InputError(f"{where} = {value!r}: expected {what}, a whole number of at least 0")
    if value >= LARGEST:
        raise InputError(f"{where} = {value!r}: expected {what} below 2**53; larger ones cannot be told apart")
    return int(value)


def checked_size(size: Any, others: object) -> int:
    """The number of people moving as one, if possible; else an error. In a crowd, everybody moves by themselves."""
    number: int = whole(size, "size", 1, MOST_PEOPLE)
    if number > 1 and isinstance(others, Crowd):
        raise UnsupportedRelease(
            f"size: a group of {number} beside {others!r} is not modelled: its numbers of others are of people who "
            "move by themselves; give the numbers of others, which is an upper end for whoever knows less"
        )
    return number


def check_sizes(one: int, two: int) -> None:
    """Refuse releases about groups of two sizes."""
    if one != two:
        raise InputError(
            f"size: releases about the same people are about groups of one size, not of {one} and of {two}; give both "
            "the same"
        )


def of_size(size: int) -> str:
    """A size as it is written; nothing for one person."""
    return "" if size == 1 else f", size={size}"


def in_words(published: Mechanism | str, crowd: Crowd | None, size: int) -> str:
    """The published counts and their subject."""
    beside = "" if crowd is None else f" with {crowd!r}"
    group = "" if size == 1 else f" of groups of {size}"
    return f"{published if isinstance(published, str) else repr(published)}{beside}{group}"


def zone_labels(zones: Sequence[tuple[int, ...]], places: int) -> Ints:
    """A label for each place (places,): those of one label are in the same zones, and 0 is for those in none."""
    # The row of no zone is the first of all in order.
    inside = np.zeros((1 + places, len(zones)), dtype=bool)
    for k, zone in enumerate(zones):
        inside[1 + np.array(zone), k] = True
    rows, label = np.unique(inside, axis=0, return_inverse=True)
    assert not rows[0].any()
    return np.asarray(label.reshape(-1)[1:], dtype=np.int64)
