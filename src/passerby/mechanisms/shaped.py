"""Noise from a continuum followed by fixed rules, and the line cut into bins that stand in for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .base import Floats, Law, Mechanism, gathered, same
from .quadrature import panels
from .rules import Piece, Rule, pieces_of

if TYPE_CHECKING:
    from .real_noise import Noise

#: Bins across the reach of the noise, and a quarter as many again between the outermost centres.
BINS = 256
#: The noise is around the count of the others alone, or around the next one.
ALONE = np.eye(2)
#: Weights below this may come from rounding.
FAINT = 1e-10


class Shaped(Mechanism):
    """Noise from a continuum, followed by fixed rules: some values get a probability of their own."""

    def __init__(self, first: Noise, rules: tuple[Rule, ...]) -> None:
        self.first, self.rules = first, rules
        self._laws: dict[float, tuple[Law, list[Piece]]] = {}

    def __repr__(self) -> str:
        return reduce(lambda so_far, rule: f"Then({so_far}, {rule!r})", self.rules, repr(self.first))

    @property
    def parts(self) -> tuple[Noise, tuple[Rule, ...]]:
        """Plain noise, and the rules that follow it."""
        return self.first, self.rules

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """Noise, then the rules."""
        out = self.first.sample(count, rng)
        for rule in self.rules:
            out = rule.sample(out, rng)
        return out

    def _parts(self, count: float) -> tuple[Law, list[Piece]]:
        """Values with a probability of their own, and the pieces of the line that are published as they are."""
        if count not in self._laws:
            reach = self.first.reach + 1
            pieces = pieces_of(self.rules, count - reach, count + reach)
            atoms = [piece for piece in pieces if piece.value is not None]
            values = np.array([piece.value for piece in atoms], dtype=np.float64)
            low, high = (np.array([piece[i] for piece in atoms], dtype=np.float64) for i in (0, 1))
            chances = self.first.between(low - count, high - count)
            self._laws[count] = gathered(values, chances), [piece for piece in pieces if piece.value is None]
        return self._laws[count]

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """Log probability of values that have one, log density of the rest."""
        outputs, counts = np.broadcast_arrays(np.asarray(output, np.float64), np.asarray(count, np.float64))
        out = np.full(outputs.shape, -np.inf)
        for n in np.unique(counts[~np.isnan(counts)]):
            (values, chances), left = self._parts(float(n))
            here = counts == n
            wanted = outputs[here]
            found = np.full(wanted.shape, -np.inf)
            for piece in left:
                inside = (wanted > piece.low) & (wanted < piece.high)
                found[inside] = self.first.log_density(wanted[inside] - n)
            if len(values):
                index = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
                atom = same(values[index], wanted)
                found[atom] = np.log(chances[index[atom]])
            out[here] = found
        return out

    def outputs(self, count: int) -> Floats | None:
        """The values, where all of them have a probability of their own."""
        if self._parts(count)[1] or self._parts(count + 1)[1]:
            return None
        return self._atoms(count)

    def _atoms(self, count: int) -> Floats:
        return np.unique(np.concatenate([self._parts(count)[0][0], self._parts(count + 1)[0][0]]))

    def quadrature(self, count: int) -> tuple[Floats, Floats]:
        """Values with a probability of their own, and panels over the rest."""
        return self.around(np.array([count, count + 0.5, count + 1]))

    def around(self, centres: Floats) -> tuple[Floats, Floats]:
        """The same for densities with kinks at the centres, as a mixture of counts has."""
        parts = [self._parts(float(centre)) for centre in centres]
        atoms = np.unique(np.concatenate([law[0] for law, _ in parts]))
        left = [piece for _, pieces in parts for piece in pieces]
        nodes, weights = panels(centres, self.first.reach, self.first.width, {e for p in left for e in p[:2]})
        inside = np.zeros(len(nodes), dtype=bool)
        for low, high in {piece[:2] for piece in left}:
            inside |= (nodes > low) & (nodes < high)
        return np.append(nodes[inside], atoms), np.append(weights[inside], np.ones(len(atoms)))

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """The values, where all of them have a probability of their own, and bins of the line otherwise."""
        return super().stand_ins(count) or cut(*self.parts, np.array([count, count + 1.0]), ALONE)


def cut(
    noise: Noise, rules: Sequence[Rule], centres: Floats, weights: Floats, bins: int = BINS
) -> tuple[Floats, Floats] | None:
    """Stand-ins for noise around one of several centres, of `weights` (2, centres) without and with the target.

    Telling only the bin of a value tells less. All likelihood ratios in a bin lie between those at its ends: densities
    of the noise are log-concave, so the ratio increases along the line if it does from centre to centre (Karlin 1968,
    "Total positivity", chapter 3). Telling one of the two ends instead of the bin, at random so that both laws are
    kept, can be undone by chance, and so tells more. None where the ratio does not increase from centre to centre.

    Weights that may be nothing but rounding errors are given away: with them goes the truth.
    """
    sure = weights.sum(axis=0) > FAINT
    bulk, share = weights[:, sure], weights[1, sure] / weights[:, sure].sum(axis=0)
    if (np.diff(share) < -FAINT).any():
        return None
    first, last = centres[0] - noise.reach - 1, centres[-1] + noise.reach + 1
    grid = [*np.linspace(first, last, bins + 1), *np.linspace(centres[0], centres[-1], bins // 4 + 1)]
    grid.append(crossing(noise, centres[sure], bulk))
    low, high, values = _bins(rules, first, last, np.array(grid))
    chances = noise.between(low[:, None] - centres, high[:, None] - centres)
    told, hinted = chances @ weights.T, chances[:, sure] @ bulk.T
    plain = np.isinf(values)
    ends = [_share(noise, edge[plain], centres[sure], bulk) for edge in (low, high)]
    less = [_by_value(values[~plain], told[~plain]), told[plain]]
    more = [_by_value(values[~plain], hinted[~plain]), *_at_the_ends(hinted[plain], *ends)]
    return np.concatenate(less), np.concatenate([*more, np.diag(weights[:, ~sure].sum(axis=1))])


def _bins(rules: Sequence[Rule], low: float, high: float, grid: Floats) -> tuple[Floats, Floats, Floats]:
    """Both ends of each bin, and the value that it is published as; infinite where it is published as it is."""
    left, right, values = [], [], []
    for piece in pieces_of(rules, low, high):
        edges = np.array([piece.low, piece.high])
        if piece.value is None:
            edges = np.unique(np.append(grid[(grid > piece.low) & (grid < piece.high)], edges))
        left.append(edges[:-1])
        right.append(edges[1:])
        values.append(np.full(len(edges) - 1, np.inf if piece.value is None else piece.value))
    left[0][0], right[-1][-1] = -np.inf, np.inf
    return np.concatenate(left), np.concatenate(right), np.concatenate(values)


def _by_value(values: Floats, mass: Floats) -> Floats:
    """The mass (bins, 2) of bins that are published as the same value, added up."""
    index = np.unique(values, return_inverse=True)[1].reshape(-1)
    out = np.zeros((index.max(initial=-1) + 1, 2))
    np.add.at(out, index, mass)
    return out


def crossing(noise: Noise, centres: Floats, weights: Floats) -> float:
    """Where the densities without and with the target are equal: cut there, bins keep the total variation."""
    low, high = centres[0] - noise.reach, centres[-1] + noise.reach
    for _ in range(10):
        points = np.linspace(low, high, 33)
        above = int(np.argmax(_share(noise, points, centres, weights) >= 0.5))
        low, high = points[max(above - 1, 0)], points[above]
    return float(high)


def _share(noise: Noise, at: Floats, centres: Floats, weights: Floats) -> Floats:
    """The density with the target, as a share of those with and without, at points of the line."""
    inside = np.isfinite(at)
    logs = noise.log_density(np.where(inside, at, 0.0)[:, None] - centres)
    absent, present = weights @ np.exp(logs - logs.max(axis=1, keepdims=True)).T
    return np.where(inside, present / (absent + present), at > 0)


def _at_the_ends(mass: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Split the mass (bins, 2) of each bin between its ends, given the share of the second column at each."""
    total = mass.sum(axis=1)
    middle = np.divide(mass[:, 1], total, out=low.copy(), where=total > 0)
    up = np.divide(middle - low, high - low, out=np.zeros(len(low)), where=high > low).clip(0.0, 1.0) * total
    at_low, at_high = np.stack([1 - low, low], axis=1), np.stack([1 - high, high], axis=1)
    return (total - up)[:, None] * at_low, up[:, None] * at_high
