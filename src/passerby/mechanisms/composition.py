"""One mechanism after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError, UnsupportedRelease

from .base import HIDDEN, Discrete, Floats, Law, Mechanism, Record, gathered, table
from .chance import Sampling
from .real_noise import Noise
from .rules import Raw, Rule
from .shaped import Shaped, crossing, cut


@dataclass(frozen=True, repr=False)
class Then(Record, Mechanism):
    """`first`, and then `second` done to what `first` gives; a cell that `first` leaves empty stays empty.

    Whole numbers may be followed by anything, noise from a continuum by fixed rules. What a fixed or random rule does
    after noise cannot undo the noise: differential privacy is that of the noise.

    >>> from passerby.mechanisms import Rounding, Suppression
    >>> ten_five = Then(Suppression(10), Rounding(5))
    >>> ten_five.sample([3, 9, 11, 14], np.random.default_rng()).tolist()
    [nan, nan, 10.0, 15.0]
    >>> [ten_five.total_variation(others) for others in (8, 9, 10, 11, 12)]
    [0.0, 1.0, 0.0, 0.0, 1.0]
    """

    first: Mechanism
    second: Mechanism

    def __post_init__(self) -> None:
        for name in ("first", "second"):
            if not isinstance(getattr(self, name), Mechanism):
                raise InputError(f"Then: {name} = {getattr(self, name)!r}: expected a Mechanism such as Rounding(5)")
        _ = self._joined  # refused now where the two do not go together

    @cached_property
    def _joined(self) -> Mechanism:
        if isinstance(self.second, Then):
            return Then(Then(self.first, self.second.first), self.second.second)._joined
        first, second = _unfolded(self.first), self.second
        if isinstance(first, (Noise, Shaped)) and first.outputs(0) is None:
            if not isinstance(second, Rule):
                raise UnsupportedRelease(
                    f"Then({self.first!r}, {self.second!r}): after noise from a continuum only fixed rules are "
                    "modelled; let the noise be rounded (rounded=True)"
                )
            noise, rules = first.parts
            return Shaped(noise, (*rules, second))
        if first.outputs(0) is None:
            raise UnsupportedRelease(
                f"Then({self.first!r}, ...): only what is done to whole numbers or to plain noise is modelled"
            )
        return Chained(first, second) if second.outputs(0) is not None else Blurred(first, second)

    @property
    def shift_invariant(self) -> bool:
        """Where both are."""
        return self.first.shift_invariant and self.second.shift_invariant

    @property
    def persistent(self) -> bool:
        """Where one of them is."""
        return self.first.persistent or self.second.persistent

    def check_sensors(self, sensors: Sequence[Sequence[int]]) -> None:
        """Each refuses what it refuses."""
        self.first.check_sensors(sensors)
        self.second.check_sensors(sensors)

    def noise(self) -> Mechanism | None:
        """That of the first: what is done afterwards does not weaken it.

        Raw counts leave that of the second. So do sampled ones, to which a person adds at most one; a fresh sample for
        each count makes it stronger. Given how many others were sampled, the laws are those at counts 0 and 1 but for a
        shift, so that those two are the worst pair.
        """
        if not isinstance(self.first, (Raw, Sampling)):
            return self.first.noise()
        noise = self.second.noise()
        fresh = isinstance(self.first, Sampling) and not self.first.persistent
        return Then(self.first, noise) if fresh and noise is not None else noise

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """Draw from the first, then from the second."""
        return self._joined.sample(count, rng)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """Added up over what the first may have given."""
        return self._joined.log_likelihood(output, count)

    def outputs(self, count: int) -> Floats | None:
        """Where the second publishes from a continuum, None."""
        return self._joined.outputs(count)

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """That of the two together."""
        return self._joined.quadrature(count)

    def pair(self, count: int) -> Floats:
        """That of the two together."""
        return self._joined.pair(count)

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """Those of the two together."""
        return self._joined.stand_ins(count)


def _unfolded(mechanism: Mechanism) -> Mechanism:
    return mechanism._joined if isinstance(mechanism, Then) else mechanism


class _Both(Mechanism):
    """Two mechanisms, of which the first has finitely many outputs."""

    def __init__(self, first: Mechanism, second: Mechanism) -> None:
        self.first, self.second = first, second

    def __repr__(self) -> str:
        return f"Then({self.first!r}, {self.second!r})"


class Chained(_Both, Discrete):
    """Finitely many outputs after finitely many."""

    def law(self, count: float) -> Law:
        """`Pr[y] = Σ_v Pr[first gives v] Pr[second gives y from v]`."""
        given, weights = table(self.first, count)
        laws = [table(self.second, float(value)) for value in given]
        values = np.concatenate([law[0] for law in laws])
        return gathered(values, np.concatenate([w * law[1] for w, law in zip(weights, laws, strict=True)]))


class Blurred(_Both):
    """Noise from a continuum after finitely many outputs: a mixture of densities."""

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """An empty cell stays empty."""
        return self.second.sample(self.first.sample(count, rng), rng)

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """`log Σ_v Pr[first gives v] density(y from v)`, and the probability of an empty cell."""
        outputs, counts = np.broadcast_arrays(np.asarray(output, np.float64), np.asarray(count, np.float64))
        out = np.full(outputs.shape, -np.inf)
        for n in np.unique(counts[~np.isnan(counts)]):
            here = counts == n
            wanted = outputs[here]
            values, weights = table(self.first, float(n))
            each = self.second.log_likelihood(wanted[:, None], np.where(np.isnan(values), 0.0, values))
            empty = np.where(np.isnan(wanted), 0.0, -np.inf)
            each = np.where(np.isnan(values), empty[:, None], np.where(np.isnan(wanted)[:, None], -np.inf, each))
            top = each.max(axis=1)
            top = np.where(top > -np.inf, top, 0.0)
            with np.errstate(divide="ignore"):
                out[here] = top + np.log(np.exp(each - top[:, None]) @ weights)
        return out

    def _mixed(self, count: int) -> tuple[Floats, Floats, Floats]:
        """What the first may give (n,), its weights (2, n), and the weights (1, 2) of an empty cell if there is one."""
        laws = [table(self.first, float(count + bit)) for bit in (0, 1)]
        values = np.unique(np.concatenate([law[0] for law in laws]))
        weights = np.zeros((2, len(values)))
        for row, (given, chances) in zip(weights, laws, strict=True):
            row[np.searchsorted(values, given)] = chances
        hidden = np.isnan(values)
        return values[~hidden], weights[:, ~hidden], weights[:, hidden].T

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """Panels around all that the first may give, and values that have a probability of their own."""
        centres, shares, empty = self._mixed(count)
        nodes, weights = np.empty(0), np.empty(0)
        if len(centres):
            if not isinstance(self.second, (Noise, Shaped)):
                raise UnsupportedRelease(f"{self!r}: densities are added up for the noise of this package only")
            nodes, weights = self.second.around(np.append(centres, crossing(self.second.parts[0], centres, shares)))
        return np.append(nodes, [HIDDEN] * len(empty)), np.append(weights, np.ones(len(empty)))

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """Bins of the line, and an empty cell."""
        centres, weights, empty = self._mixed(count)
        if not len(centres):
            return empty, empty
        pair = cut(*self.second.parts, centres, weights) if isinstance(self.second, (Noise, Shaped)) else None
        return pair and (np.concatenate([pair[0], empty]), np.concatenate([pair[1], empty]))
