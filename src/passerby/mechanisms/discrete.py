"""Mechanisms of which all values can be listed."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from .base import Mechanism
from .law import Floats, Law, same
from .log_chance import log_sum
from .memory import table


class Discrete(Mechanism):
    """A mechanism with finitely many outputs at each count: everything follows from its `law`.

    Where a law has no end, `law` lists what matters of it, and `log_likelihood` must be exact for the rest too.
    """

    @abstractmethod
    def law(self, count: float) -> Law:
        """The values that can be published at `count`, in increasing order (empty cells last), and probabilities."""

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
        """Looked up in each count's law; minus infinity for values that are not in it."""
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
        """All values that can be published at `count` or `count + 1`."""
        return np.unique(np.concatenate([table(self, float(count))[0], table(self, count + 1.0)[0]]))
