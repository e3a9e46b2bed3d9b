"""What is remembered of mechanisms: in an audit, the same counts come up again and again."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from passerby.errors import InputError
from passerby.support.checks import numbers, shown

from .domain import Domain
from .law import HIDDEN, MOST_VALUES, SUMS, Floats, Law, trimmed

if TYPE_CHECKING:
    from .base import Mechanism


@lru_cache(maxsize=20_000)
def table(mechanism: Mechanism, count: float) -> Law:
    """The law of a mechanism at a count, remembered; an empty cell stays empty."""
    if math.isnan(count):
        return np.array([HIDDEN]), np.ones(1)
    values, chances = _two_lists(mechanism.law(count), f"{mechanism!r} at a count of {count:g}: its law")
    wrong = _wrong_with(values, chances, mechanism.gives(mechanism.takes))
    if wrong:
        raise InputError(f"{mechanism!r} at a count of {count:g}: {wrong}")
    # Rounding goes; a law without an end keeps what its list lacks.
    return trimmed(values, chances if mechanism.endless else chances / chances.sum())


def _two_lists(law: object, name: str) -> Law:
    """What a law says, as two arrays; an `InputError` where it is anything else."""
    if not isinstance(law, tuple | list) or len(law) != 2:
        raise InputError(f"{name} is {shown(law)}, instead of two lists: values and their probabilities")
    return numbers(law[0], f"{name}: values"), numbers(law[1], f"{name}: probabilities")


def _wrong_with(values: Floats, chances: Floats, domain: Domain) -> str:
    """What makes values and probabilities no law over a domain; nothing if they are one."""
    if values.size > MOST_VALUES:
        return (
            f"its law has {values.size:,} values, of which at most {MOST_VALUES:,} are listed; publish coarser values, "
            "or say how likely they are without a list (a Mechanism with log_likelihood, and outputs of None)"
        )
    if values.ndim != 1 or values.shape != chances.shape:
        return f"its law has {values.shape} values and {chances.shape} probabilities, instead of two lists as long"
    if not (chances >= 0).all():
        return f"its law has a probability of {chances[~(chances >= 0)][0]:g}"
    if not abs(chances.sum() - 1) < SUMS:
        return f"the probabilities of its law sum to {chances.sum():.12g}, not to one"
    # An empty cell, which is not a number, comes last.
    if not (np.diff(values[~np.isnan(values)]) > 0).all() or np.isnan(values[:-1]).any():
        return "the values of its law are not in increasing order"
    if not domain.holds(values).all():
        return f"its law has a value of {values[~domain.holds(values)][0]:g}, but it says that it gives {domain}"
    return ""


def paired(mechanism: Mechanism, count: int) -> Floats:
    """`Mechanism.pair`, remembered: in an audit, the same counts come up again and again."""
    return _paired(mechanism, mechanism.like(count))


@lru_cache(maxsize=4_000)
def _paired(mechanism: Mechanism, count: int) -> Floats:
    return mechanism.pair(count)


def stood_in(mechanism: Mechanism, count: int) -> tuple[Floats, Floats] | None:
    """`Mechanism.stand_ins`, remembered for as long as one person is looked at."""
    return _stood_in(mechanism, mechanism.like(count))


@lru_cache(maxsize=500)
def _stood_in(mechanism: Mechanism, count: int) -> tuple[Floats, Floats] | None:
    return mechanism.stand_ins(count)


@lru_cache(maxsize=20_000)
def apart(mechanism: Mechanism, count: int) -> float:
    """The total variation of stand-ins that keep it, remembered."""
    stand_ins = stood_in(mechanism, count)
    pair = paired(mechanism, count) if stand_ins is None else stand_ins[0]
    return min(1.0, float(np.abs(pair[:, 0] - pair[:, 1]).sum() / 2))
