"""The published series that a measurement looks at: all of those that matter, or a sample.

Averages over what could be published are taken over a `Series`: each member carries the evidence it gives and the
probability (enumerated) or weight (sampled) it stands for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, UnsupportedRelease
from .prior import MarkovPrior
from .release import Release
from .standins import stand_ins

Floats = NDArray[np.float64]
How = Literal["auto", "enumerate", "sample"]

#: More series than this are not enumerated.
MAX_SERIES = 4096
#: Outcomes are not told apart for less than this.
FINEST = 1e-13


@dataclass(frozen=True)
class Series:
    """Published series: `evidence` (n, T, S + 1) as log-likelihoods, `mass` (n,).

    Enumerated series are distinct and carry their probabilities, in decreasing order; `left_over` is the probability
    of those not listed. Sampled ones carry 1 / n each, and `left_over` is 0.
    """

    evidence: Floats
    mass: Floats
    sampled: bool
    left_over: float

    def __len__(self) -> int:
        return len(self.mass)

    def mean(self, values: Floats) -> tuple[float, float]:
        """The average of a value per series, and its standard error (0 where all series are listed)."""
        mean = min(1.0, float(self.mass @ values))  # rounding must not make it more than certain
        if not self.sampled or len(values) < 2:
            return mean, 0.0
        return mean, float(values.std(ddof=1) / np.sqrt(len(values)))


def series_of(
    prior: MarkovPrior,
    release: Release,
    rng: np.random.Generator,
    *,
    how: How = "auto",
    runs: int = 1000,
    max_series: int = MAX_SERIES,
    enough: float = 1e-3,
) -> Series:
    """List the series that a release can publish about this person, or draw `runs` of them.

    With "auto", series are listed where at most `max_series` of them leave no more than a probability of `enough` over.
    """
    if how != "sample":
        listed = enumerate_series(prior, release, max_series, 1.0 if how == "enumerate" else enough)
        if listed is not None:
            return listed
        if how == "enumerate":
            raise UnsupportedRelease(
                f"{release.mechanism!r} publishes from a continuum of values: its series cannot be listed; sample them"
            )
    return sample_series(prior, release, rng, runs)


def given_series(prior: MarkovPrior, release: Release, published: Iterable[float | Iterable[float]]) -> Series:
    """The one series that was really published, in the form of the release's sensors.

    A series that cannot have been published about a person with this prior is an `InputError`.
    """
    from .kernels import chain

    values = _as_published(release, published)
    evidence = release.evidence(values[None])
    # A mechanism has no likelihood for an empty cell that it never leaves empty.
    evidence = np.where(np.isnan(evidence), -np.inf, evidence)
    logs = evidence[0] - np.where(np.isfinite(top := evidence[0].max(axis=1, keepdims=True)), top, 0.0)
    with np.errstate(divide="ignore"):
        _, reached = chain.decode(
            np.log(prior.initial), np.log(prior.matrices), np.empty((0, 0)), release.grid, logs[None]
        )
    if reached[0] == -np.inf:
        raise InputError(
            "published: this series has probability zero for a person with this prior; "
            "check the values, the sensors and the numbers of other people"
        )
    return Series(evidence, np.ones(1), sampled=False, left_over=0.0)


def _as_published(release: Release, published: Iterable[float | Iterable[float]]) -> Floats:
    """Values (T, S), NaN where there is no sensor."""
    steps = [list(step) if isinstance(step, Iterable) else [step] for step in published]
    if [len(step) for step in steps] != [len(step) for step in release.sensors]:
        raise InputError("published: expected one value for each sensor of each step, in the form of sensors")
    out = np.full(release.grid.shape, np.nan)
    for t, step in enumerate(steps):
        for j, value in enumerate(step):
            if value is None or not (np.isfinite(value) or np.isnan(value)):
                raise InputError(f"published[{t}] = {value!r}: expected a number, or NaN for a cell left empty")
            out[t, j] = value
    return out


def sample_series(prior: MarkovPrior, release: Release, rng: np.random.Generator, runs: int) -> Series:
    """Draw traces from the prior and what is published for them."""
    traces = prior.sample(runs, release.steps, rng)
    evidence = release.evidence(release.publish(traces, rng))
    return Series(evidence, np.full(runs, 1 / runs), sampled=True, left_over=0.0)


def enumerate_series(
    prior: MarkovPrior, release: Release, max_series: int = MAX_SERIES, most_left: float = 1.0
) -> Series | None:
    """The likeliest `max_series` series in decreasing probability.

    None for mechanisms with a continuum of outputs, and where a probability of more than `most_left` is left over.
    """
    tables = release.signals()
    return None if tables is None else list_series(prior, release, tables, max_series, most_left)


def bracketing_series(prior: MarkovPrior, release: Release, most: int, faint: float) -> tuple[Series, Series] | None:
    """For a mechanism with many outputs or a continuum: the series of stand-ins that tell less and that tell more.

    None where the mechanism has no stand-ins, or where even the coarsest one that tells more has over `most` series.
    """
    laws = [stand_ins(release.mechanism, count) for crowd in release.others for count in crowd]
    pairs = [pair for pair in laws if pair is not None]
    if len(pairs) < len(laws):
        return None
    more = grown_series(prior, release, [pair[1] for pair in pairs], most, faint, more=True)
    if more is None:
        return None
    # What telling less costs is found out with fewer series than what telling more gains.
    less = grown_series(prior, release, [pair[0] for pair in pairs], max(1, most // 4), 0.0, more=False)
    return None if less is None else (less, more)


def grown_series(
    prior: MarkovPrior, release: Release, laws: Sequence[Floats], most: int, faint: float, *, more: bool
) -> Series | None:
    """Series of stand-ins for the sensors' `laws`, told apart as finely as `most` series allow (`kernels.growth`).

    Beginnings less likely than `faint` are left over. None where `most` do not suffice.
    """
    from .kernels import growth

    active = release.grid.reshape(-1) >= 0
    cells = np.zeros((active.size, max(map(len, laws), default=1), 2))
    sizes = np.zeros(active.size, dtype=np.int64)
    for cell, law in zip(np.flatnonzero(active), laws, strict=True):
        cells[cell, : len(law)] = law
        sizes[cell] = len(law)
    # Telling apart early costs as many series as follow.
    later = (len(laws) - np.cumsum(active)) / max(1, len(laws))
    dear = float(most) ** later

    def grown(limit: float) -> tuple[Floats, Floats, float]:
        found: tuple[Floats, Floats, float] = growth.grow(
            prior.initial, prior.matrices, release.grid, cells, sizes, limit * dear, more, faint, most
        )
        return found

    best = grown(0.0)
    if not len(best[1]):
        best = grown(1.0)
        low, high = math.log(FINEST), 0.0
        while 0 < len(best[1]) < 0.8 * most and high - low > 0.1:
            middle = (low + high) / 2
            found = grown(math.exp(middle))
            if len(found[1]):
                best, high = found, middle
            else:
                low = middle
    likelihood, mass, dropped = best
    if not len(mass):
        return None
    with np.errstate(divide="ignore"):
        return Series(np.log(likelihood), mass, sampled=False, left_over=dropped)


def list_series(
    prior: MarkovPrior, release: Release, tables: list[Floats], max_series: int, most_left: float
) -> Series | None:
    """The likeliest series of outcomes, given the likelihoods of each step's outcomes as in `Release.signals`.

    Beginnings of series are extended step by step with their forward vectors, and the least likely beginnings are
    dropped when there are too many.
    """
    width = release.grid.shape[1] + 1
    belief = prior.initial[None]
    chosen = np.empty((1, 0), dtype=np.int64)
    dropped = 0.0
    for t, table in enumerate(tables):
        if t:
            belief = belief @ prior.matrices[0 if prior.homogeneous else t - 1]
        weight = np.repeat(table[:, :1], prior.places, axis=1)
        weight[:, list(release.sensors[t])] = table[:, 1:]
        belief = (belief[:, None, :] * weight[None]).reshape(-1, prior.places)
        outcome = np.tile(np.arange(len(table)), len(chosen))
        chosen = np.column_stack([np.repeat(chosen, len(table), axis=0), outcome])
        mass = belief.sum(axis=1)
        order = np.argsort(-mass, kind="stable")
        order = order[mass[order] > 0]
        dropped += float(mass[order[max_series:]].sum())
        if dropped > most_left:
            return None
        order = order[:max_series]
        belief, chosen, mass = belief[order], chosen[order], mass[order]
    evidence = np.full((len(chosen), release.steps, width), -np.inf)
    with np.errstate(divide="ignore"):
        for t, table in enumerate(tables):
            evidence[:, t, : table.shape[1]] = np.log(table)[chosen[:, t]]
    return Series(evidence, mass, sampled=False, left_over=max(dropped, 0.0))
