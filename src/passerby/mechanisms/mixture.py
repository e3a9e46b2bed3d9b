"""A mechanism after another one with listable values: sums over the possible values of the first."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from passerby.errors import UnsupportedRelease

from .base import Mechanism, table
from .fixed import Discrete
from .laws import LOG_TAIL, Floats, Law, after, gathered, log_gathered, log_sum

#: More values of the first than this are not gone through one by one.
MOST_GIVEN = 7_000
#: More pairs of a value of the first and one of the second than this are not added up.
MOST_PAIRS = 20_000_000
#: The most numbers held at a time.
CHUNK = 2_000_000
#: The part left out of a sum is at most this share of it, in logarithms.
LOG_SHARE = math.log(1e-13)
#: Lists get longer by this factor (in the logarithm of the part left out) until they are long enough, up to the last.
LONGER, LONGEST = 4.0, 30_000.0


class Both(Mechanism):
    """Two mechanisms; the values of the first can be listed."""

    def __init__(self, first: Mechanism, second: Mechanism, join: Callable[[Mechanism, Mechanism], Mechanism]) -> None:
        self.first, self.second, self._join = first, second, join

    def __repr__(self) -> str:
        return f"Then({self.first!r}, {self.second!r})"

    @property
    def endless(self) -> bool:
        """Whether one of them is."""
        return self.first.endless or self.second.endless

    def followed_by(self, second: Mechanism) -> Mechanism:
        """The first, and then the second with the mechanism after it, if a list of the second would not be exact."""
        if self.second.endless or self.second.outputs(0) is None:
            return self._join(self.first, self._join(self.second, second))
        return Chain(self, second, self._join)

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """One draw after another; an empty cell stays empty."""
        given = self.first.sample(count, rng)
        empty = np.isnan(given)
        return np.where(empty, np.nan, self.second.sample(np.where(empty, 0.0, given), rng))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """`log Σ_v Pr[first gives v] Pr[second gives y from v]`, with as many v as it takes."""
        outputs, counts = np.broadcast_arrays(np.asarray(output, np.float64), np.asarray(count, np.float64))
        out = np.full(outputs.shape, -np.inf)
        domain = self.second.gives(self.second.takes)
        for n in np.unique(counts[~np.isnan(counts)]):
            here = (counts == n) & domain.holds(outputs)
            values, index = np.unique(outputs[here], return_inverse=True)
            out[here] = self._log_exact(values, float(n))[index.reshape(-1)]
        return out

    def _log_exact(self, wanted: Floats, count: float) -> Floats:
        """For outputs (k,) at one count, from lists made longer if it matters."""
        out = np.full(len(wanted), -np.inf)
        open_ = np.arange(len(wanted))
        log_tail = LOG_TAIL
        while len(open_):
            given, logs = self._given(count, log_tail, 4 * MOST_GIVEN if log_tail < LOG_TAIL else MOST_GIVEN)
            out[open_] = self._log_mixed(wanted[open_], given, logs)
            if self.first.complete(count, log_tail):
                break
            left = log_tail + math.log(2) + self._log_peak(wanted[open_])
            rough = out[open_] < left - LOG_SHARE
            rough &= ~(np.isneginf(out[open_]) & self._covered(wanted[open_], given))
            open_ = open_[rough]
            log_tail *= LONGER
            if len(open_) and log_tail < -LONGEST:
                raise self._too_far(wanted[open_[0]], count)
        return out

    def _given(self, count: float, log_tail: float, most: int = MOST_GIVEN) -> Law:
        """The possible values of the first, with probabilities in logarithms."""
        given, logs = self.first.listing(count, log_tail)
        if len(given) > most:
            raise UnsupportedRelease(
                f"{self!r} at a count of {count:g}: the first gives {len(given):,} values that matter, more than the "
                f"{most:,} that are gone through; with so wide a spread, leave out one of the two (upper ends "
                "hold without the second, since what is done afterwards tells no more)"
            )
        return given, logs

    def _too_far(self, value: float, count: float) -> UnsupportedRelease:
        return UnsupportedRelease(
            f"{self!r}: a value of {value:g} is so far from what is published at a count of {count:g} that its "
            "probability cannot be told; check the value and the number of other people"
        )

    def _log_peak(self, wanted: Floats) -> Floats:
        """The largest log density of an output, whatever the first gives; 0 for probabilities."""
        if self.second.outputs(0) is not None:
            return np.zeros(len(wanted))
        return np.maximum(self.second.log_likelihood(wanted, wanted), 0.0)

    def _covered(self, wanted: Floats, given: Floats) -> NDArray[np.bool_]:
        """Whether the list of the first holds all values from which the second can make an output."""
        inside = np.ones(len(wanted), dtype=bool)
        shown = given[~np.isnan(given)]
        low, high = (shown.min(), shown.max()) if len(shown) else (math.inf, -math.inf)
        for first, last in self.second.preimage(wanted, after(wanted)):
            inside &= (first >= last) | ((first >= low) & (last <= high))
        return inside

    def _log_mixed(self, wanted: Floats, given: Floats, logs: Floats) -> Floats:
        """For outputs (k,), the sum over the values of the first (n,)."""
        hidden = np.isnan(given)
        out = np.full(len(wanted), -np.inf)
        empty = np.isnan(wanted)
        if hidden.any():
            out[empty] = logs[hidden][0]
        given, logs = given[~hidden], logs[~hidden]
        size = max(1, CHUNK // max(1, len(given)))
        for start in range(0, len(wanted), size):
            part = slice(start, start + size)
            each = self.second.log_likelihood(wanted[part, None], given)
            each = np.where(np.isnan(each), -np.inf, each)  # no likelihood for a cell never left empty
            out[part] = np.logaddexp(out[part], log_sum(each + logs))
        return out


class Chain(Both, Discrete):
    """Listable values, after others."""

    def law(self, count: float) -> Law:
        """`Pr[y] = Σ_v Pr[first gives v] Pr[second gives y from v]`."""
        given, logs = self._given(count, LOG_TAIL)
        sizes = [len(table(self.second, float(given[i]))[0]) for i in (0, len(given) // 2, -1)]
        if len(given) * max(sizes) > MOST_PAIRS // 10:
            raise UnsupportedRelease(
                f"{self!r} at a count of {count:g}: there are too many ways to come to a value; leave out one of the "
                "two (upper ends hold without the second, since what is done afterwards tells no more)"
            )
        parts = [table(self.second, float(value)) for value in given]
        values = np.concatenate([part[0] for part in parts])
        return gathered(values, np.concatenate([w * part[1] for w, part in zip(np.exp(logs), parts, strict=True)]))

    def listing(self, count: float, log_tail: float) -> Law:
        """The same in logarithms, of as much as is asked for."""
        given, logs = self._given(count, log_tail)
        shown = ~np.isnan(given)
        parts = [self.second.listing(float(value), log_tail) for value in given[shown]]
        values = np.concatenate([given[~shown], *(part[0] for part in parts)])
        sums = [w + part[1] for w, part in zip(logs[shown], parts, strict=True)]
        return log_gathered(values, np.concatenate([logs[~shown], *sums]))

    def complete(self, count: float, log_tail: float) -> bool:
        """Whether both are, for all possible values of the first."""
        if not self.first.complete(count, log_tail):
            return False
        given = self._given(count, log_tail)[0]
        return not self.second.endless or all(self.second.complete(float(v), log_tail) for v in given[~np.isnan(given)])

    def pair(self, count: int) -> Floats:
        """From the two lists: nothing in them is far out."""
        laws = [table(self, float(count + bit)) for bit in (0, 1)]
        values = np.unique(np.concatenate([law[0] for law in laws]))
        out = np.zeros((len(values), 2))
        for column, (given, chances) in zip(out.T, laws, strict=True):
            column[np.searchsorted(values, given)] = chances
        return out


class Mixture(Both):
    """A continuum after listable values: a mixture of densities."""

    def _mixed(self, count: int) -> tuple[Floats, Floats, Floats]:
        """Possible values of the first (n,), weights (2, n), and the weights (1, 2) of an empty cell, if any."""
        laws = [self._given(float(count + bit), LOG_TAIL) for bit in (0, 1)]
        values = np.unique(np.concatenate([law[0] for law in laws]))
        weights = np.zeros((2, len(values)))
        for row, (given, logs) in zip(weights, laws, strict=True):
            row[np.searchsorted(values, given)] = np.exp(logs)
        hidden = np.isnan(values)
        return values[~hidden], weights[:, ~hidden], weights[:, hidden].T

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """Nodes around all possible values of the first, and values with a probability of their own."""
        centres, shares, empty = self._mixed(count)
        nodes, weights = np.empty(0), np.empty(0)
        if len(centres):
            nodes, weights = self.second.around(centres, self.second.crossing(centres, shares))
        if len(nodes) * len(centres) > MOST_PAIRS:
            raise UnsupportedRelease(
                f"{self!r} at a count of {count}: densities would have to be added up over {len(nodes):,} values for "
                f"each of {len(centres):,} others; more noise or fewer people take less"
            )
        return np.append(nodes, [np.nan] * len(empty)), np.append(weights, np.ones(len(empty)))

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """Added up over the possible values of the first, but for next to nothing."""
        lows, highs, counts = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (low, high, count)))
        out = np.full(lows.shape, -np.inf)
        for n in np.unique(counts):
            given, logs = self._given(float(n), LOG_TAIL)
            here, shown = counts == n, ~np.isnan(given)
            if shown.any():
                each = self.second.log_between(lows[here][:, None], highs[here][:, None], given[shown])
                out[here] = log_sum(each + logs[shown])
        return out

    def pair(self, count: int) -> Floats:
        """From the lists of the first: nothing in them is far out."""
        centres, shares, empty = self._mixed(count)
        if not len(centres):
            return empty
        self.quadrature(count)  # refused now if there are too many
        origin = float(centres[0])
        cuts = self.second.crossing(centres - origin, shares)
        return np.concatenate([self.second.mixed(origin, centres - origin, shares, cuts)[1], empty])

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """Bins of the line, and an empty cell."""
        centres, weights, empty = self._mixed(count)
        if not len(centres):
            return empty, empty
        pair = self.second.bins(centres, weights)
        return pair and (np.concatenate([pair[0], empty]), np.concatenate([pair[1], empty]))
