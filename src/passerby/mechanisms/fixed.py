"""Two bases of mechanisms: values with a list of probabilities, and rules without chance."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from .base import Mechanism, table
from .checks import Record
from .laws import (
    REALS,
    Domain,
    Floats,
    Law,
    Pieces,
    Rule,
    Spans,
    log_sum,
    same,
)


class Discrete(Mechanism):
    """A mechanism with finitely many outputs at each count: everything follows from its `law`.

    If a law has no end, `law` lists the part that matters, and `log_likelihood` must be exact for the rest too.
    """

    discrete = True

    @abstractmethod
    def law(self, count: float) -> Law:
        """The possible values at `count`, in increasing order (empty cells last), and probabilities."""

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """By inversion of each count's law."""
        counts = np.asarray(count, dtype=np.float64)
        where = rng.random(counts.shape)
        out = np.empty(counts.shape)
        for n in np.unique(counts):
            values, chances = table(self, float(n))
            here = same(counts, n)
            edges = np.cumsum(chances)
            index = np.searchsorted(edges, where[here] * edges[-1], side="right")
            out[here] = values[np.minimum(index, len(values) - 1)]
        return out

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """Looked up in each count's law; minus infinity for values outside it."""
        outputs, counts = np.broadcast_arrays(np.asarray(output, np.float64), np.asarray(count, np.float64))
        out = np.full(outputs.shape, -np.inf)
        for n in np.unique(counts):
            values, chances = table(self, float(n))
            here = same(counts, n)
            wanted = outputs[here]
            index = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
            with np.errstate(divide="ignore"):
                out[here] = np.where(same(values[index], wanted), np.log(chances[index]), -np.inf)
        return out

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """Added up over the law."""
        lows, highs, counts = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (low, high, count)))
        out = np.empty(lows.shape)
        for where in np.ndindex(lows.shape):
            values, chances = table(self, float(counts[where]))
            inside = (values >= lows[where]) & (values < highs[where])
            out[where] = log_sum(np.log(chances[inside]))
        return out

    def outputs(self, count: int) -> Floats | None:
        """All possible values at `count` or `count + 1`."""
        return np.unique(np.concatenate([table(self, float(count))[0], table(self, count + 1.0)[0]]))


class Fixed(Record, Discrete):
    """No chance is in it, so only a change of the published value by the target matters."""

    takes = REALS

    def gives(self, taken: Domain) -> Domain:
        """Its domain, or less."""
        return taken

    def noise(self) -> None:
        """There is none."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Itself."""
        return (self,)

    @abstractmethod
    def apply(self, values: Floats) -> Floats:
        """The published value of each value; an empty cell stays empty."""

    @abstractmethod
    def pieces(self, low: float, high: float) -> Pieces:
        """The pieces of the line from `low` to `high`, in increasing order."""

    @abstractmethod
    def preimage(self, low: Floats, high: Floats) -> list[Spans]:
        """The origins of values from `low` to below `high`: disjoint intervals, empty ones among them."""

    def hidden(self) -> list[tuple[float, float]]:
        """The origins of empty cells."""
        return []

    @property
    def hides(self) -> bool:
        """Whether empty cells have an origin."""
        return bool(self.hidden())

    def law(self, count: float) -> Law:
        """One value."""
        return self.apply(np.array([count], dtype=np.float64)), np.ones(1)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """The value of each count: nothing is drawn."""
        return np.array(self.apply(np.asarray(count, dtype=np.float64)))
