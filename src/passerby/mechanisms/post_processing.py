"""A law without an end, such as noise, followed by fixed mechanisms.

Some values get a probability of their own: the probability of all the numbers mapped to them. It is taken from those
numbers and not from a list, so it is right however far out the value lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from .base import BINS, Mechanism
from .laws import AS_IT_IS, LOG_TAIL, Floats, Law, Pieces, Rule, Spans, after, cut_line, log_gathered


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
