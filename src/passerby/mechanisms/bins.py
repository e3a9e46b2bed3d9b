"""Bins of the line that stand in for noise from a continuum, and for what fixed mechanisms make of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .fixed import Fixed
from .law import Floats
from .line import AS_IT_IS, Pieces
from .post_processing import pieces_of

if TYPE_CHECKING:
    from .real_noise import Noise

#: Bins across the reach of the noise, and a quarter as many again between the outermost centres.
BINS = 256
#: The noise is around the count of the others alone, or around the next one.
ALONE = np.eye(2)
#: Weights below this share are given away: whoever gets them is told whether the target was there.
FAINT = 1e-10


def cut(
    noise: Noise, steps: Sequence[Fixed], centres: Floats, weights: Floats, bins: int = BINS
) -> tuple[Floats, Floats] | None:
    """Stand-ins for noise around one of several centres, of `weights` (2, centres) without and with the target.

    Telling only the bin of a value tells less. All likelihood ratios in a bin lie between those at its ends: densities
    of the noise are log-concave, so the ratio increases along the line if it does from centre to centre (Karlin 1968,
    "Total positivity", chapter 3). Telling one of the two ends instead of the bin, at random so that both laws are
    kept, can be undone by chance, and so tells more. None where the ratio does not increase from centre to centre.

    Weights that are faint, or that keep the ratio from increasing by so little that it may be rounding, are given away
    in what tells more: with them goes the truth.
    """
    # Noise is the same around any count: told from the first of them, no digit is lost where they are large.
    origin, centres = float(centres[0]), centres - centres[0]
    sure = weights.sum(axis=0) > FAINT * weights.sum() / 2  # cells may be empty nearly always
    bulk = _increasing(weights[:, sure])
    if bulk is None:
        return None
    given_away = weights[:, ~sure].sum(axis=1) + (weights[:, sure] - bulk).sum(axis=1)
    first, last = centres[0] - noise.reach - 1, centres[-1] + noise.reach + 1
    grid = [*np.linspace(first, last, bins + 1), *np.linspace(centres[0], centres[-1], bins // 4 + 1)]
    grid.append(crossing(noise, centres[sure], bulk))
    low, high, values = _bins(steps, origin, first, last, np.array(grid))
    chances = np.exp(noise.log_between(low[:, None], high[:, None], centres))
    told, hinted = chances @ weights.T, chances[:, sure] @ bulk.T
    plain = np.isinf(values)
    ends = [_share(noise, edge[plain], centres[sure], bulk) for edge in (low, high)]
    less = [_by_value(values[~plain], told[~plain]), told[plain]]
    more = [_by_value(values[~plain], hinted[~plain]), *_at_the_ends(hinted[plain], *ends)]
    return np.concatenate(less), np.concatenate([*more, np.diag(given_away)])


def _increasing(weights: Floats) -> Floats | None:
    """Weights (2, centres) that are at most these, with a ratio that increases; None where little would be left."""
    share = weights[1] / weights.sum(axis=0)
    wanted = np.maximum.accumulate(share)
    if (wanted - share > FAINT).any():
        return None
    less = np.divide(weights[1] * (1 - wanted), wanted, out=weights[0].copy(), where=wanted > share)
    return np.stack([np.minimum(less, weights[0]), weights[1]])


def _bins(
    steps: Sequence[Fixed], origin: float, low: float, high: float, grid: Floats
) -> tuple[Floats, Floats, Floats]:
    """Both ends of each bin from the origin, and the value it is published as; infinite where it is left as it is."""
    pieces = _from(origin, pieces_of(steps, origin + low, origin + high), low, high)
    alone = np.isinf(pieces.value)
    left, right, values = [pieces.low[~alone]], [pieces.high[~alone]], [pieces.value[~alone]]
    for start, end in pieces.left_alone:
        edges = np.unique(np.append(grid[(grid > start) & (grid < end)], [start, end]))
        left.append(edges[:-1])
        right.append(edges[1:])
        values.append(np.full(len(edges) - 1, AS_IT_IS))
    starts, ends = np.concatenate(left), np.concatenate(right)
    starts[starts == low], ends[ends == high] = -np.inf, np.inf
    return starts, ends, np.concatenate(values)


def _from(origin: float, pieces: Pieces, low: float, high: float) -> Pieces:
    """Pieces told from the origin, of which the first begins at `low` and the last ends at `high`."""
    first, last = pieces.low == pieces.low.min(), pieces.high == pieces.high.max()
    return Pieces(np.where(first, low, pieces.low - origin), np.where(last, high, pieces.high - origin), pieces.value)


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
