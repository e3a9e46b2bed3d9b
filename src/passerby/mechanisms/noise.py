"""Additive noise from a continuum: its laws, rounded and clamped if wanted, and bins of the line as stand-ins."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from passerby.errors import InputError

from .base import BINS, Mechanism
from .checks import MOST_NOISE, Record, above_zero, flag
from .fixed import PostProcessing, pieces_of
from .laws import AS_IT_IS, REALS, Domain, Floats, Law, Pieces, Rule, panels
from .rules import AtLeast, Nearest

#: The largest scale of noise in whole numbers.
MOST_WHOLE = 1000


@dataclass(frozen=True, repr=False)
class Additive(Record, Mechanism):
    """The count plus noise, of a size named by the subclass; with `clamped`, negative values are published as zero.

    With `persistent`, the noise of a place is drawn once and used again whenever the place is published. It is accepted
    only if no place is published again (`Mechanism.check_sensors`).
    """

    clamped: bool = field(default=False, kw_only=True)
    persistent: bool = field(default=False, kw_only=True)

    hides = False

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            check = flag if f.kw_only else above_zero
            check(self, f.name, value)
            if not f.kw_only and self.whole and value > MOST_WHOLE:
                raise InputError(
                    f"{self!r}: {f.name} must be at most {MOST_WHOLE:,} for noise in whole numbers, whose values are "
                    "listed; wider noise from a continuum (Gaussian, Laplace) cannot be told from it"
                )

    @property
    def takes(self) -> Domain:
        """Any numbers."""
        return REALS

    @property
    @abstractmethod
    def whole(self) -> bool:
        """Whether values are published in whole numbers."""

    @property
    def shift_invariant(self) -> bool:
        """Unless clamped."""
        return not self.clamped

    @property
    def plain(self) -> bool:
        """Whether nothing is done to the noisy counts, and each is drawn afresh."""
        return not (self.clamped or self.persistent)

    def noise(self) -> Mechanism:
        """The noise before clamping."""
        return replace(self, clamped=False) if self.clamped else self


#: The noise is around the count of the others alone, or around the next one.
ALONE = np.eye(2)
#: Weights below this share are given away: whoever gets them is told whether the target was there.
FAINT = 1e-10


def cut(
    noise: Noise, steps: Sequence[Rule], centres: Floats, weights: Floats, bins: int = BINS
) -> tuple[Floats, Floats] | None:
    """Stand-ins for noise around one of several centres, of `weights` (2, centres) without and with the target.

    Telling only the bin of a value tells less. All likelihood ratios in a bin lie between the ratios at its ends.
    Densities of the noise are log-concave, so the ratio increases along the line if it does from centre to centre
    (Karlin 1968, "Total positivity", chapter 3). One of the two ends may be told instead of the bin, at random and with
    both laws kept. This can be undone by chance, and so tells more. None if the ratio does not increase from centre to
    centre.

    The more telling stand-in gives away faint weights, telling the truth with them. It also gives away weights that
    keep the ratio from increasing within rounding.
    """
    # Noise is the same around any count: relative to the first of them, no digit is lost for large counts.
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
    """Weights (2, centres) of at most these, with an increasing ratio; None if little would be left."""
    share = weights[1] / weights.sum(axis=0)
    wanted = np.maximum.accumulate(share)
    if (wanted - share > FAINT).any():
        return None
    less = np.divide(weights[1] * (1 - wanted), wanted, out=weights[0].copy(), where=wanted > share)
    return np.stack([np.minimum(less, weights[0]), weights[1]])


def _bins(steps: Sequence[Rule], origin: float, low: float, high: float, grid: Floats) -> tuple[Floats, Floats, Floats]:
    """Both ends of each bin from the origin, and its published value; infinite if it is left as it is."""
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
    """Pieces relative to the origin: the first begins at `low` and the last ends at `high`."""
    first, last = pieces.low == pieces.low.min(), pieces.high == pieces.high.max()
    return Pieces(np.where(first, low, pieces.low - origin), np.where(last, high, pieces.high - origin), pieces.value)


def _by_value(values: Floats, mass: Floats) -> Floats:
    """The mass (bins, 2) of bins with the same published value, added up."""
    index = np.unique(values, return_inverse=True)[1].reshape(-1)
    out = np.zeros((index.max(initial=-1) + 1, 2))
    np.add.at(out, index, mass)
    return out


def crossing(noise: Noise, centres: Floats, weights: Floats) -> float:
    """Points with equal densities without and with the target: cut there, bins keep the total variation."""
    low, high = centres[0] - noise.reach, centres[-1] + noise.reach
    for _ in range(10):
        points = np.linspace(low, high, 33)
        above = int(np.argmax(_share(noise, points, centres, weights) >= 0.5))
        low, high = points[max(above - 1, 0)], points[above]
    return float(high)


def _share(noise: Noise, at: Floats, centres: Floats, weights: Floats) -> Floats:
    """The density with the target, as a share of the sum of both densities, at points of the line."""
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


#: The most numbers held at a time.
CHUNK = 2_000_000


@dataclass(frozen=True, repr=False)
class Noise(Additive):
    """The count plus noise from a continuum, symmetric and of a log-concave density.

    With `rounded`, the sum is rounded to a whole number before it is clamped.
    """

    rounded: bool = field(default=False, kw_only=True)

    @property
    def whole(self) -> bool:
        """Whether it is rounded."""
        return self.rounded

    @property
    @abstractmethod
    def width(self) -> float:
        """The scale of the noise."""

    @property
    @abstractmethod
    def reach(self) -> float:
        """The distance with less than `TAIL` of the noise beyond it on either side."""

    @abstractmethod
    def reach_of(self, log_tail: float) -> float:
        """The distance with at most `exp(log_tail)` of the noise beyond it on either side."""

    @abstractmethod
    def log_within(self, low: Floats, high: Floats) -> Floats:
        """The log probability of noise between two values."""

    @abstractmethod
    def log_density(self, noise: Floats) -> Floats:
        """The log density of the noise."""

    @abstractmethod
    def draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Fresh noise."""

    def times(self, weight: float) -> Noise:
        """Noise multiplied by a weight."""
        return replace(self, **{f.name: getattr(self, f.name) * weight for f in fields(self) if not f.kw_only})

    def gives(self, taken: Domain) -> Domain:
        """Whole numbers if rounded, nothing below zero if clamped."""
        return Domain(whole=self.rounded, negative=not self.clamped)

    @property
    def plain(self) -> bool:
        """Whether it is not rounded either."""
        return super().plain and not self.rounded

    def divided(self, size: int) -> Noise | None:
        """Noise of a fraction of the scale."""
        return self.times(1 / size) if self.processed is None and self.width * MOST_NOISE >= size else None

    @cached_property
    def _plain(self) -> Noise:
        return replace(self, clamped=False, rounded=False)

    @cached_property
    def processed(self) -> PostProcessing | None:
        """Plain noise with rounding and clamping, if there is any."""
        steps = (*([Nearest()] if self.rounded else []), *([AtLeast(0)] if self.clamped else []))
        return PostProcessing(self._plain, steps) if steps else None

    @property
    def endless(self) -> bool:
        """Always."""
        return True

    def unfolded(self) -> Mechanism:
        """Plain noise and the rules after it."""
        return self.processed or self

    def noise(self) -> Mechanism:
        """The noise before rounding and clamping."""
        return self._plain if self.processed else self

    def sample(self, count: ArrayLike, rng: np.random.Generator) -> Floats:
        """The count plus a fresh draw, rounded and clamped if wanted."""
        if self.processed:
            return self.processed.sample(count, rng)
        count = np.asarray(count, dtype=np.float64)
        return np.asarray(count + self.draw(count.shape, rng))

    def log_likelihood(self, output: ArrayLike, count: ArrayLike) -> Floats:
        """The log density of the noise at "output minus count"; log probabilities if rounded or clamped."""
        if self.processed:
            return self.processed.log_likelihood(output, count)
        return self.log_density(np.asarray(output, dtype=np.float64) - np.asarray(count, dtype=np.float64))

    def outputs(self, count: int) -> Floats | None:
        """None, unless rounded."""
        return self.processed.outputs(count) if self.processed else None

    def log_between(self, low: ArrayLike, high: ArrayLike, count: ArrayLike) -> Floats:
        """By the law of plain noise."""
        low, high, count = (np.asarray(part, dtype=np.float64) for part in (low, high, count))
        return self.log_within(low - count, high - count)

    def listing(self, count: float, log_tail: float) -> Law:
        """The law of rounded noise."""
        return self.processed.listing(count, log_tail) if self.processed else super().listing(count, log_tail)

    def complete(self, count: float, log_tail: float) -> bool:
        """Never: noise has no end."""
        return False

    def extent(self, count: float, log_tail: float) -> tuple[float, float]:
        """The reach of the noise around the count."""
        reach = max(self.reach, self.reach_of(log_tail)) + 1
        return count - reach, count + reach

    def around(self, centres: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """Panels for densities with kinks at the centres, as a mixture of counts has."""
        if self.processed:
            return self.processed.around(centres, cuts)
        return panels(centres, self.reach, self.width, cuts)

    def mixed(self, origin: float, centres: Floats, weights: Floats, cuts: Floats) -> tuple[Floats, Floats]:
        """Plain noise is the same around any count."""
        if self.processed:
            return self.processed.mixed(origin, centres, weights, cuts)
        nodes, lengths = panels(centres, self.reach, self.width, cuts)
        out = np.empty((len(nodes), len(weights)))
        size = max(1, CHUNK // len(centres))
        for start in range(0, len(nodes), size):
            part = slice(start, start + size)
            out[part] = np.exp(self.log_density(nodes[part, None] - centres)) @ weights.T
        return nodes, lengths[:, None] * out

    def crossing(self, centres: Floats, weights: Floats) -> Floats:
        """The points of equal densities."""
        return np.array([crossing(self._plain, centres, weights)])

    def bins(
        self, centres: Floats, weights: Floats, steps: Sequence[Rule] = (), bins: int = BINS
    ) -> tuple[Floats, Floats] | None:
        """Bins of the line."""
        return (
            self.processed.bins(centres, weights, bins=bins)
            if self.processed
            else cut(self, steps, centres, weights, bins)
        )

    def stand_ins(self, count: int) -> tuple[Floats, Floats] | None:
        """The values if rounded, and bins of the line otherwise."""
        return (
            self.processed.stand_ins(count) if self.processed else cut(self, (), np.array([count, count + 1.0]), ALONE)
        )

    def total_variation(self, count: int = 0) -> float:
        """`Pr[-1/2 < noise < 1/2]`: the densities cross half way between the counts."""
        return self.processed.total_variation(count) if self.processed else self.half()

    @abstractmethod
    def half(self) -> float:
        """The probability of noise from -1/2 to 1/2."""
