"""A fingerprint changes with everything that results depend on, and with nothing else."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.support import fingerprint as module
from passerby.support.fingerprint import fingerprint


@dataclass(frozen=True)
class Record:
    a: Any
    b: int = 0


class Plain:
    """Looks like its address."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Slotted:
    __slots__ = ()


DIFFERENT: tuple[Any, ...] = (
    None,
    0,
    0.0,
    False,
    "0",
    "",
    (),
    [],
    {},
    (0,),
    [0],
    ("ab", "c"),
    ("a", "bc"),
    {"a": 1},
    {"a": 2},
    np.arange(6),
    np.arange(6).reshape(2, 3),
    np.arange(6.0),
    np.array(["2024-01-01"], dtype="datetime64[us]"),
    np.array(["a", None], dtype=object),
    np.zeros((0, 3)),
    pl.Series("x", [1, 2]),
    pl.Series("x", [1, 3]),
    pl.DataFrame({"x": [1, 2], "y": [1, 2]}),
    pl.DataFrame({"x": [1, 2], "y": [1, 3]}),
    Record(1),
    Record(1, 1),
    Record(np.arange(3)),
    Plain(1),
    Plain(2),
    Slotted(),
    Path("a"),
    range(3),
    np.float64(2),
    pb.Gaussian(1.0),
    pb.Gaussian(2.0),
    pb.Release([0, 1]),
    pb.Release([0, 1], pb.Rounding(5), [3, 4]),
    pb.Release([0, 1], pb.Rounding(5), [3, 5]),
)


def test_all_are_told_apart() -> None:
    marks = [fingerprint(part) for part in DIFFERENT]
    assert len(set(marks)) == len(marks)
    assert len({fingerprint(part, part) for part in DIFFERENT} | set(marks)) == 2 * len(marks)


def test_the_same_is_the_same_again() -> None:
    for part in (Record(np.arange(3)), Plain([1, Plain(2)]), pb.Release([0], pb.Then(pb.Raw(), pb.Rounding(5)))):
        assert fingerprint(part) == fingerprint(part)
    assert fingerprint(Plain([1])) == fingerprint(Plain([1]))
    turned = np.arange(6).reshape(2, 3).T
    assert fingerprint(turned) == fingerprint(np.ascontiguousarray(turned))


def test_people_count_by_their_traces() -> None:
    people = pb.fit_people(random_traces(5, 8, 9, 6), holdout=3)
    again = pb.fit_people(random_traces(5, 8, 9, 6), holdout=3)
    assert fingerprint(people) == fingerprint(again)
    moved = people.actual.copy()
    moved[0, 0] += 1
    for other in (replace(people, actual=moved), replace(people, smoothing=2.0), replace(people, ids=people.ids + "x")):
        assert fingerprint(people) != fingerprint(other)


def test_another_version_gives_another(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(1)
    monkeypatch.setattr(module, "__version__", "0.0.0")
    assert fingerprint(1) != before
