"""The published series that a measurement looks at: all of those that matter, or a sample.

Averages over what could be published are taken over a `Series`: each member carries the evidence it gives and the
probability (enumerated) or weight (sampled) it stands for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, UnsupportedRelease
from .prior import MarkovPrior
from .release import Release, joined
from .standins import CUTS, stand_ins

Floats = NDArray[np.float64]
How = Literal["auto", "enumerate", "sample"]

#: More series than this are not enumerated.
MAX_SERIES = 4096


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


def bracketing_series(
    prior: MarkovPrior, release: Release, max_series: int, most_left: float
) -> tuple[Series, Series] | None:
    """For a mechanism with a continuum of outputs: the series of stand-ins that tell less and that tell more.

    The sensors that the person is likeliest to be at get the finest cuts, as far as `max_series` go. None where the
    mechanism has no stand-ins, or where too much would be left over.
    """
    chance = np.take_along_axis(prior.marginals(release.steps), np.maximum(release.grid, 0), axis=1)
    chance = np.where(release.grid >= 0, chance, 0.0)
    there = [(t, j) for t, j in np.argwhere(chance > 0).tolist()]
    cuts = dict.fromkeys(there, 1)
    if len(there) * math.log(3) > math.log(max_series):
        return None
    while True:
        finer = [cell for cell in there if cuts[cell] < len(CUTS)]
        size = math.prod(count + 2 for count in cuts.values())
        # The cell that gains most: likely to be sighted, and cut coarsely so far.
        finer = [cell for cell in finer if size / (cuts[cell] + 2) * (cuts[cell] + 3) <= max_series]
        if not finer:
            break
        cuts[max(finer, key=lambda cell: chance[cell] / (cuts[cell] + 1) ** 2)] += 1
    both: list[list[Floats]] = [[], []]
    for t, crowd in enumerate(release.others):
        tables = [np.ones((1, 1)), np.ones((1, 1))]
        for j, count in enumerate(crowd):
            pair = stand_ins(release.mechanism, count, cuts[t, j]) if (t, j) in cuts else (np.ones((1, 2)),) * 2
            if pair is None:
                return None
            tables = [joined(table, single) for table, single in zip(tables, pair, strict=True)]
        for side, table in zip(both, tables, strict=True):
            side.append(table)
    less, more = (list_series(prior, release, side, max_series, most_left) for side in both)
    return None if less is None or more is None else (less, more)


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
