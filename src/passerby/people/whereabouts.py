"""Everybody's places at the steps to find, with people seen too seldom for an audit: for numbers of others.

A published number counts all of them. It is a sum over people, so parts of it can be added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.model.counts import Count
from passerby.visits.traces import Traces

Ints = NDArray[np.int64]

#: People counted at a time.
CHUNK = 1 << 14


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """Place numbers (n, h) in as few bytes as they fit in, and how many more people were `elsewhere` at all steps."""

    steps: NDArray[np.unsignedinteger]
    away: int
    elsewhere: int

    @classmethod
    def of(cls, traces: Traces, first: int, stop: int) -> Whereabouts:
        """From step `first` to before `stop` of traces."""
        elsewhere = len(traces.places) - 1
        few = traces.seldom.between(first, stop, elsewhere)
        kind = np.min_scalar_type(elsewhere)
        steps = np.concatenate([traces.array[:, first:stop].astype(kind), few.astype(kind)])
        return cls(steps, traces.seldom.people - len(few), elsewhere)

    def numbers(self, counts: Sequence[Count]) -> Ints:
        """How many people each count counts."""
        out = np.zeros(len(counts), dtype=np.int64)
        for some in self._chunks():
            inside = Inside(some, self.elsewhere + 1)
            out += [int(count.met(inside).sum()) for count in counts]
        if self.away:
            gone = Inside(np.full((1, self.steps.shape[1]), self.elsewhere), self.elsewhere + 1)
            out += [self.away * int(count.met(gone).sum()) for count in counts]
        return out

    def _chunks(self) -> Iterator[NDArray[np.unsignedinteger]]:
        for first in range(0, len(self.steps), CHUNK):
            yield self.steps[first : first + CHUNK]


class Inside:
    """Whether each of some people is in a zone at a step, looked up once for each."""

    def __init__(self, steps: NDArray[np.integer], places: int) -> None:
        self.steps, self.places = steps, places
        self._known: dict[tuple[tuple[int, ...], int], NDArray[np.bool_]] = {}
        self._zones: dict[tuple[int, ...], NDArray[np.bool_]] = {}

    def __call__(self, zone: tuple[int, ...], step: int) -> NDArray[np.bool_]:
        """An array (n,)."""
        if (zone, step) not in self._known:
            if zone not in self._zones:
                self._zones[zone] = np.isin(np.arange(self.places), zone)
            self._known[zone, step] = self._zones[zone][self.steps[:, step]]
        return self._known[zone, step]
