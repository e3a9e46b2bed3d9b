"""Noise as raw counts shown at random.

Let a count have the laws `W_0` without the target and `W_1` with them, `τ` apart. Then `W_b = (1 - τ) C + τ D_b`, and C
does not depend on the target. So the published value follows from "the raw count with probability τ, else nothing",
independently for each count. An observer knowing the raw counts shown is better informed. Take a measure that is a mean
of convex functions of the evidence. Its mean over the sets of raw counts shown is an upper end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from passerby.model.release import Release

#: Sets of counts are listed if there are at most so many.
MOST_LISTED = 64
#: A number added to seeds, so no other draw is alike.
STREAM = 0x0E7A5


@dataclass(frozen=True, eq=False)
class Erasure:
    """A release as raw counts, each shown with the chance `apart` of its channel."""

    release: Release

    @cached_property
    def apart(self) -> list[list[float]]:
        """The chance of showing each count of each step."""
        return [[float(channel.apart) for channel in step] for step in self.release.channels]

    @property
    def open(self) -> int:
        """How many counts are neither always shown nor never."""
        return sum(0 < value < 1 for step in self.apart for value in step)

    @property
    def listable(self) -> bool:
        """Whether all sets of counts can be looked at one by one."""
        return bool(2**self.open <= MOST_LISTED)

    @property
    def shown(self) -> float:
        """How many counts are shown, on average."""
        return sum(map(sum, self.apart))

    def listed(self) -> Iterator[tuple[float, Release]]:
        """Every possible set of raw counts shown, and its probability."""
        either = [[(0, 1 - value), (1, value)] for step in self.apart for value in step]
        for choice in product(*[[(bit, chance) for bit, chance in pair if chance > 0] for pair in either]):
            yield math.prod(chance for _, chance in choice), self._raw([bit for bit, _ in choice])

    def drawn(self, seed: int | tuple[int, ...], count: int) -> Iterator[Release]:
        """Sets of raw counts shown, drawn at random: the same for everybody whose seeds begin alike."""
        first = seed if isinstance(seed, int) else seed[0]
        rng = np.random.default_rng([first, STREAM])
        chances = np.array([value for step in self.apart for value in step])
        for _ in range(count):
            yield self._raw((rng.random(len(chances)) < chances).tolist())

    def _raw(self, bits: list[int]) -> Release:
        each = iter(bits)
        return self.release.raw_of([[j for j in range(len(step)) if next(each)] for step in self.apart])
