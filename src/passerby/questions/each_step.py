"""When a person is easiest to find: each step by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.kernels.chain import events
from passerby.measurement.setup import Setup
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.histories import drawn_histories, listed_histories
from passerby.outcomes.series import MAX_SERIES, Series, enumerate_series, relative
from passerby.outcomes.stand_ins import bracketing_series, log_outcomes
from passerby.support.numbers import exceeds
from passerby.support.statistics import lower_limit, upper_limit

from .crowd_told import told_of_crowd
from .event_looks import MOST_COUNTS, STAND_INS, WORTH_LISTING
from .question import Question

Floats = NDArray[np.float64]

#: The most numbers kept for finding the sightings after each step.
MOST_KEPT = 5e7
#: Below this remaining probability, a series is worked out in logarithms.
FAINTEST = 1e-250


@dataclass(frozen=True, eq=False)
class Curve:
    """The chance of the best guess of each step by itself: between `lower` and `upper` (T,), certain unless `level`.

    `baseline` (T,) is the same chance without the release. With `published` counts, chances are conditional on them. If
    series were drawn, all ends of the curve hold together at the confidence `level`.
    """

    lower: Floats
    upper: Floats
    baseline: Floats
    level: float | None = None
    methods: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def easiest(self) -> int:
        """The step with the highest chance of finding the person."""
        return int(np.argmax(self.lower))


@dataclass(frozen=True)
class EachStep(Question):
    """How likely the best guess of each single step is right.

    >>> import passerby as pb
    >>> prior = pb.MarkovPrior.stationary([[0.9, 0.1], [0.5, 0.5]])
    >>> pb.measure(prior, pb.Release([1, [], []]), pb.EachStep()).lower.round(3)
    array([1.   , 0.833, 0.833])
    """

    kind: ClassVar[str] = "each_step"

    @property
    def sentence(self) -> str:
        """The question, in words."""
        return "where the person is at each step"

    def check(self, prior: MarkovPrior, release: Release) -> None:
        """It fits every release."""

    def answer(self, setup: Setup) -> Curve:
        """Both ends of the curve."""
        started = time.perf_counter()
        prior, steps = (setup.given or (setup.prior, None))[0], setup.steps
        baseline = (prior.marginals(steps) * prior.named).max(axis=1)
        found = list(_curves(setup, baseline))
        certain = [curve for curve in found if curve.level is None]
        best = _together(certain, baseline)
        if any(curve.level is not None for curve in found) and not _close(best, setup.tolerance):
            both = _together(found, baseline)
            if (both.lower <= both.upper).all():
                best = replace(both, level=setup.confidence)
        return replace(best, upper=np.maximum(best.lower, best.upper), seconds=time.perf_counter() - started)


def _together(curves: list[Curve], baseline: Floats) -> Curve:
    """The intersection of all curves. Without published counts of one series, the baseline can always be guessed."""
    lower = np.max([curve.lower for curve in curves], axis=0, initial=0.0) if curves else np.zeros(len(baseline))
    upper = np.min([curve.upper for curve in curves], axis=0, initial=1.0) if curves else np.ones(len(baseline))
    if not any("published" in curve.methods for curve in curves):
        lower = np.maximum(lower, baseline)
    methods = tuple(dict.fromkeys(name for curve in curves for name in curve.methods))
    return Curve(np.minimum(lower, 1.0), np.minimum(upper, 1.0), baseline, None, methods)


def _close(curve: Curve, tolerance: float) -> bool:
    return bool((curve.upper <= curve.lower * (1 + tolerance)).all())


def _curves(setup: Setup, baseline: Floats) -> Iterator[Curve]:
    """Looks, one after another until both ends are close."""
    release = setup.release
    if setup.published is not None:
        values = chances(setup.prior, release, setup.published)[0]
        yield Curve(values, values, baseline, None, ("published",))
    elif not release.fixed:
        yield from _by_histories(setup, release, baseline)
    elif release.independent:
        yield from _independent(setup, baseline)
    else:
        yield from _against_crowd(setup, baseline)


def _independent(setup: Setup, baseline: Floats) -> Iterator[Curve]:
    """Counts independent of each other, given the trace."""
    prior, equivalent = setup.prior, setup.equivalent
    if setup.series != "sample":
        points = 1 + equivalent.grid.size
        work = points**2 * prior.states * setup.steps
        kept = points * prior.states * setup.steps
        if equivalent.plain and equivalent.reveals and prior.single and kept <= MOST_KEPT and work <= setup.budget:
            values = np.asarray(events.best_of_raw(prior.initial, prior.matrices, equivalent.grid, prior.named))
            yield Curve(values, values, baseline, None, ("sightings",))
            return
        for curve in _listed(setup, baseline):
            yield curve
            if _close(curve, setup.tolerance):
                return
    if setup.series != "enumerate":
        rng = setup.rng()
        weights = setup.weights_of(prior.sample(setup.runs, setup.steps, rng), rng)
        with np.errstate(divide="ignore"):
            yield _drawn(setup, chances_of(prior, setup.release, weights, np.log(weights)), baseline, "sample")


def _listed(setup: Setup, baseline: Floats) -> Iterator[Curve]:
    """Few series, or few stand-ins for them."""
    prior, release = setup.prior, setup.equivalent
    wanted, most = setup.series == "enumerate", _affordable(setup)
    if wanted or not exceeds(log_outcomes(release), WORTH_LISTING * most):
        series = enumerate_series(prior, release, most, 1.0 if wanted else 0.2 * setup.tolerance * baseline.min())
        if series is not None:
            yield _between(prior, release, series, series, baseline, "list")
            return
    if release.plain or sum(map(len, release.sensors)) > MOST_COUNTS:
        return
    for count in STAND_INS:
        pair = bracketing_series(prior, setup.release, count, 1e-6 / count) if count <= most else None
        if pair is not None:
            yield _between(prior, setup.release, *pair, baseline, "stand-ins")


def _between(prior: MarkovPrior, release: Release, less: Series, more: Series, baseline: Floats, name: str) -> Curve:
    """Between averages over less telling series and over more telling ones."""
    low = less.mass @ chances(prior, release, less)
    high = more.mass @ chances(prior, release, more) + more.left_over
    return Curve(np.asarray(low), np.minimum(high, 1.0), baseline, None, (name,))


def _by_histories(setup: Setup, release: Release, baseline: Floats) -> Iterator[Curve]:
    """Counts that are chosen as one goes: histories are listed, or drawn."""
    if setup.series != "sample":
        wanted = setup.series == "enumerate"
        left = 1.0 if wanted else 0.2 * setup.tolerance * baseline.min()
        listed = listed_histories(setup.prior, release, _affordable(setup), left, strict=wanted)
        if listed is not None:
            chain, union, series = listed
            yield _between(chain, union, series, series, baseline, "list")
            return
    chain, union, series = drawn_histories(setup.prior, release, setup.rng(), setup.runs)
    yield _drawn(setup, chances(chain, union, series), baseline, "sample")


def _against_crowd(setup: Setup, baseline: Floats) -> Iterator[Curve]:
    """Others known by their habits: between habits alone, and a better informed adversary."""
    release = setup.release
    if all(rule.raw or rule.shift_invariant for rule in release.ways):
        for known in _independent(replace(setup, release=release.with_others(None)), baseline):
            yield replace(known, lower=baseline)
    rng = setup.rng()
    told = told_of_crowd(release, setup.runs, rng)
    prior = (setup.given or (setup.prior, None))[0]
    evidence = told.evidence(release, told.publish(release, prior.sample(len(told), setup.steps, rng), rng))
    series = Series(evidence, np.full(len(told), 1 / len(told)), sampled=True, left_over=0.0)
    found = _drawn(setup, chances(setup.prior, release, series), baseline, "crowd")
    yield replace(found, lower=baseline)


def _drawn(setup: Setup, values: Floats, baseline: Floats, name: str) -> Curve:
    """Confidence limits for the mean of drawn chances (n, T), all together at the confidence asked for."""
    level = 1 - (1 - setup.confidence) / (2 * setup.steps)
    lower = [lower_limit(column, level) for column in values.T]
    upper = [upper_limit(column, level) for column in values.T]
    return Curve(np.array(lower), np.array(upper), baseline, level, (name,))


def chances(prior: MarkovPrior, release: Release, series: Series) -> Floats:
    """The chance of the best guess of each step given each series (n, T)."""
    return chances_of(prior, release, relative(series.evidence), series.evidence)


def chances_of(prior: MarkovPrior, release: Release, weights: Floats, evidence: Floats) -> Floats:
    """The same, from likelihoods (n, T, C) and their logarithms."""
    case = prior.initial, prior.matrices, release.classes(prior), weights
    found = np.asarray(events.best_given(*case, prior.place_of, prior.named, FAINTEST))
    for i in np.flatnonzero(np.isnan(found).any(axis=1)):
        found[i] = _in_logs(prior, release, evidence[i])
    return found


def _in_logs(prior: MarkovPrior, release: Release, evidence: Floats) -> Floats:
    """The same for one very unlikely series: every pass in logarithms."""
    with np.errstate(divide="ignore"):
        weight = np.take_along_axis(evidence, release.classes(prior), axis=1)
        moves, ahead = prior.log_moves(len(weight)), np.zeros_like(weight)
        for t in range(len(weight) - 1, 0, -1):
            ahead[t - 1] = np.logaddexp.reduce(moves[t - 1] + weight[t] + ahead[t], axis=1)
        row = np.log(prior.initial) + weight[0]
        out = np.empty(len(weight))
        for t in range(len(weight)):
            if t:
                row = np.logaddexp.reduce(row[:, None] + moves[t - 1], axis=0) + weight[t]
            both = row + ahead[t]
            top = both.max()
            if top == -np.inf:
                raise InputError(
                    "published: this series has probability zero for a person with this prior; check the values, the "
                    "sensors and the numbers of other people"
                )
            chance = np.exp(both - top)
            out[t] = (prior.by_place(chance) * prior.named).max() / chance.sum()
    return out


def _affordable(setup: Setup) -> int:
    """How many series can be looked at."""
    states = setup.prior.states
    return max(2, min(MAX_SERIES, int(setup.budget / (2 * setup.steps * states * (states + 4)))))
