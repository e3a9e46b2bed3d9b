"""Two bases of mechanisms: values with a list of probabilities, and rules without chance.

A law without an end, such as noise, followed by fixed mechanisms.

Some values get a probability of their own: the probability of all the numbers mapped to them. It is taken from those
numbers and not from a list, so it is right however far out the value lies.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from .base import BINS, Mechanism, table
from .checks import Record
from .laws import (
    AS_IT_IS,
    LOG_TAIL,
    REALS,
    Domain,
    Floats,
    Law,
    Pieces,
    Rule,
    Spans,
    after,
    cut_line,
    log_gathered,
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


class PostProcessing(Mechanism):
    """`first`, followed by fixed mechanisms."""

    endless = True

    def __init__(self, first: Mechanism, steps: tuple[Rule, ...]) -> None:
        self.first, self.steps = first, steps
        self._continuum = first.outputs(0) is None
        self.outputs(0)  # refused now if it cannot be found

    def __repr__(self) -> str:
        return reduce(lambda so_far, step: f"Then({so_far}, {step!r})", self.steps, repr(self.first))

    def followed_by(self, second: Mechanism) -> PostProcessing:
        """With one more."""
        return PostProcessing(self.first, (*self.steps, *(second.rules or ())))

    def apply(self, values: Floats) -> Floats:
        """The values after the fixed mechanisms."""
        return reduce(lambda so_far, step: step.apply(so_far), self.steps, values)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """A draw, passed through the fixed mechanisms."""
        return self.apply(self.first.sample(count, rng))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """Log probability of values with a probability of their own, log density of the rest."""
        outputs, counts = np.broadcast_arrays(np.asarray(output, np.float64), np.asarray(count, np.float64))
        out = np.full(outputs.shape, -np.inf)
        empty = np.isnan(outputs)
        shown, there = outputs[~empty], counts[~empty]
        logs = self._log_total(spans_of(self.steps, shown), there)
        if self._continuum:
            # If a neighbour is published as it is, this value is, too.
            neighbour = after(shown)
            plain = np.isneginf(logs) & (self.apply(neighbour) == neighbour)
            logs[plain] = self.first.log_likelihood(shown[plain], there[plain])
        out[~empty] = logs
        out[empty] = self._log_total(hidden_spans(self.steps), counts[empty])
        return out

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """The log probability of all numbers mapped to such values."""
        lows, highs, counts = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (low, high, count)))
        return self._log_total(spans_between(self.steps, lows, highs), counts)

    def _log_total(self, spans: list[Spans], counts: Floats) -> Floats:
        """Log probability of all intervals; single numbers have none in a continuum."""
        out = np.full(counts.shape, -np.inf)
        for low, high in spans:
            part = self.first.log_between(low, high, counts)
            out = np.logaddexp(
                out, np.where(high > np.nextafter(low, np.inf), part, -np.inf) if self._continuum else part
            )
        return out

    def _atoms(self, low: float, high: float, log_tail: float) -> Floats | None:
        """The possible values at counts from `low` to `high`; None if some are from a continuum."""
        if not self._continuum:
            listed = [self.first.listing(count, log_tail)[0] for count in (low, high)]
            return np.unique(self.apply(np.concatenate(listed)))
        pieces = pieces_of(self.steps, self.first.extent(low, log_tail)[0], self.first.extent(high, log_tail)[1])
        return None if pieces.left_alone else pieces.values

    def outputs(self, count: int) -> Floats | None:
        """The values, if all of them have a probability of their own."""
        return self._atoms(count, count + 1, LOG_TAIL)

    def law(self, count: float) -> Law:
        """Around the count itself, possibly scaled and then no whole number."""
        if self.outputs(0) is None:
            return super().law(count)
        values, logs = self.listing(count, LOG_TAIL)
        return values, np.exp(logs)

    def listing(self, count: float, log_tail: float) -> Law:
        """Their law."""
        values = self._atoms(count, count, log_tail)
        if values is None:
            return super().listing(count, log_tail)
        logs = self.log_likelihood(values, count)
        return log_gathered(values, logs)

    def complete(self, count: float, log_tail: float) -> bool:
        """Whether the first law is listed as a whole."""
        if not self._continuum:
            return self.first.complete(count, log_tail)
        low, high = self.first.extent(count, log_tail)
        beyond = self.first.log_between(np.array([-np.inf, high]), np.array([low, np.inf]), count)
        return bool(np.isneginf(beyond).all())

    def around(self, centres: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """Values with a probability of their own, and nodes for the rest."""
        low, high = (self.first.extent(float(end), LOG_TAIL)[i] for i, end in enumerate((centres.min(), centres.max())))
        pieces = pieces_of(self.steps, low, high)
        nodes, weights = self.first.around(centres, np.append(cuts, pieces.left_alone))
        inside = np.zeros(len(nodes), dtype=bool)
        for start, end in pieces.left_alone:
            inside |= (nodes > start) & (nodes < end)
        atoms = pieces.values
        return np.append(nodes[inside], atoms), np.append(weights[inside], np.ones(len(atoms)))

    def mixed(self, origin: float, centres: Floats, weights: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """The densities of the first law on the parts left alone, and values with a probability of their own."""
        counts = origin + centres
        low, high = (self.first.extent(float(end), LOG_TAIL)[i] for i, end in enumerate((counts.min(), counts.max())))
        pieces = pieces_of(self.steps, low, high)
        alone = np.array(pieces.left_alone).reshape(-1, 2) - origin
        nodes, densities = self.first.mixed(origin, centres, weights, np.append(cuts, alone))
        inside = ((nodes[:, None] > alone[:, 0]) & (nodes[:, None] < alone[:, 1])).any(axis=1)
        atoms = pieces.values
        chances = np.exp(self.log_likelihood(atoms[:, None], counts)) @ weights.T
        return np.append(nodes[inside], atoms - origin), np.concatenate([densities[inside], chances])

    def crossing(self, centres: Floats, weights: Floats) -> Floats:
        """The crossings of the first law."""
        return self.first.crossing(centres, weights)

    def bins(
        self, centres: Floats, weights: Floats, steps: Sequence[Rule] = (), bins: int = BINS
    ) -> tuple[Floats, Floats] | None:
        """Bins of the line, if the first law has them."""
        return self.first.bins(centres, weights, self.steps, bins)

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """The values, if all of them have a probability of their own, and bins of the line otherwise."""
        return super().stand_ins(count) or self.bins(np.array([count, count + 1.0]), np.eye(2))


def pieces_of(steps: Sequence[Rule], low: float, high: float) -> Pieces:
    """The pieces of the line made by fixed mechanisms one after another."""
    pieces = cut_line(low, high, [], [AS_IT_IS])
    for step in steps:
        alone = np.isinf(pieces.value)
        kept = Pieces(pieces.low[~alone], pieces.high[~alone], step.apply(pieces.value[~alone]))
        parts = [kept, *(step.pieces(*span) for span in pieces.left_alone)]
        starts, ends, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(starts)
        pieces = Pieces(starts[order], ends[order], values[order])
    return pieces


def spans_of(steps: Sequence[Rule], values: Floats) -> list[Spans]:
    """The origins of values; empty cells come from `hidden_spans`."""
    return spans_between(steps, values, after(values))


def spans_between(steps: Sequence[Rule], low: Floats, high: Floats) -> list[Spans]:
    """The origins of values from `low` to below `high`."""
    spans = [(low, high)]
    for step in reversed(steps):
        spans = [part for low, high in spans for part in step.preimage(low, high)]
    return spans


def hidden_spans(steps: Sequence[Rule]) -> list[Spans]:
    """The origins of empty cells: each step hides some, and hidden cells stay so."""
    spans: list[Spans] = []
    for step in reversed(steps):
        spans = [part for low, high in spans for part in step.preimage(low, high)]
        spans += [(np.array([low]), np.array([float(high)])) for low, high in step.hidden()]
    return spans
