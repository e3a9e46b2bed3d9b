"""The bound `crowd`: with side information on each of the others at every second step, counts are independent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import cast

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.measurement.erasure import STREAM
from passerby.measurement.finding import Finding, Known, Look, exact, limit
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.others.bridges import passages
from passerby.others.crowd import Crowd, Laws
from passerby.others.sensors import SensorInformation, draw_at_sensors, list_at_sensors
from passerby.others.side_information import SideInformation, draw_side_information, list_side_information
from passerby.outcomes.series import Anchor, Series, sample_traces, sampled_series, score
from passerby.questions.crowd_told import hidden
from passerby.questions.trace.covariance import believed, neighbour_guesses
from passerby.questions.trace.goal import Goal, Method, pose
from passerby.questions.trace.guess import average_upper, bracket_series
from passerby.questions.trace.loss import Loss
from passerby.questions.trace.ways import FAR, anchor, draws, refuses_one_series
from passerby.support.statistics import lower_limit, standard_error

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Larger lists of side information, or of series together with side information, are not made.
MOST_TOLD = 512
MOST_ROWS = 20_000
#: The log-likelihood, relative to the largest of the step, of counts impossible under the habits.
FAINT = -40.0
#: For each published series, so many of the likeliest pieces of side information suggest guesses.
CANDIDATES = 4


@dataclass(frozen=True)
class Ends:
    """The success of `attacks`, and a `bound` on all attacks; `certain`, or confidence limits from a sample.

    `series` were looked at, with `nodes` and `operations` of search, given what was `told` in draws of it.
    """

    attacks: dict[str, Finding]
    bound: float
    certain: bool
    series: int
    nodes: int
    operations: float
    told: SensorInformation | SideInformation | None = None


@dataclass(frozen=True)
class Aim:
    """The question about one person: the number of `misses` allowed, the precision wanted, and the effort."""

    misses: int
    tolerance: float
    budget: float
    level: float
    runs: int
    anchor: Anchor | None = None


def against_crowd(prior: MarkovPrior, release: Release, aim: Aim, rng: np.random.Generator) -> Ends:
    """Both ends against the crowd of a release: from a list of side information if it is short, else from draws."""
    crowd = release.crowd
    if crowd is None or crowd.priors is None:
        raise UnsupportedRelease(f"{release.words}: how numbers of others at different counts go together is not known")
    rows = max(1, min(MOST_ROWS, aim.runs * 20))
    views = _views(release, crowd, min(MOST_TOLD, rows))
    table = None if views is None else _listed_series(prior, release, views, rows)
    if table is not None:
        return _listed_ends(prior, release, table, aim)
    told: SensorInformation | SideInformation
    if crowd.counts is None:
        told = draw_at_sensors(crowd.priors, crowd.where or release.sensors, aim.runs, rng)
    else:
        told = draw_side_information(passages(crowd.priors, crowd.counts), aim.runs, rng)
    return drawn_ends(prior, release, told, aim, rng)


@dataclass(frozen=True)
class _View:
    """A piece of side information, with its `chance`; the values of each count under it, None for a continuum.

    `evidence` makes log-likelihoods (n, T, C) of published series (n, T, S).
    """

    chance: float
    values: list[Floats | None]
    evidence: Callable[[Floats], Floats]


def _views(release: Release, crowd: Crowd, most: int) -> list[_View] | None:
    """All possible side information; None if it is more than so much."""
    assert crowd.priors is not None
    if crowd.counts is None:
        listed = list_at_sensors(crowd.priors, crowd.where or release.sensors, most)
        return None if listed is None else [_told_view(release, p, laws) for p, laws in listed]
    heard = list_side_information(passages(crowd.priors, crowd.counts), most)
    return None if heard is None else [_heard_view(release, p, one) for p, one in heard]


def _told_view(release: Release, chance: float, laws: Laws) -> _View:
    told = release.with_others(Crowd.told_of(laws, laws))
    return _View(chance, [rule.outputs(count) for step in told.channels for rule, count in step], told.evidence)


def _heard_view(release: Release, chance: float, told: SideInformation) -> _View:
    return _View(chance, told.values(release), partial(told.evidence, release))


def drawn_ends(
    prior: MarkovPrior, release: Release, told: SensorInformation | SideInformation, aim: Aim, rng: np.random.Generator
) -> Ends:
    """Both ends from draws of the side information: confidence limits, each at the chosen level."""
    attacks = blind_attacks(prior, release, told, aim, rng)
    traces = sample_traces(prior, release.steps, rng, len(told), aim.anchor)
    evidence = told.evidence(release, told.publish(release, traces, rng))
    series = sampled_series(prior, release, evidence, aim.anchor)
    found = bracket_series(prior, release, series, aim.misses, aim.tolerance, aim.budget)
    bound = average_upper(series, found, aim.level)
    return Ends(attacks, bound, False, len(series), found.nodes, found.operations, told)


def blind_attacks(
    prior: MarkovPrior, release: Release, told: SensorInformation | SideInformation, aim: Aim, rng: np.random.Generator
) -> dict[str, Finding]:
    """Guesses from habits and the published series alone, with a lower end for the best of them.

    Each guess is scored by its probability given the series and the side information. The guess itself knows nothing of
    the latter. The average over both is its chance of success.
    """
    traces = prior.sample(len(told), release.steps, rng)
    published = told.publish(release, traces, rng)
    evidence = told.evidence(release, published)
    guesses = blind_guesses(prior, release, published, aim.misses)
    known = believed(prior, release, rng)
    if known is not None:
        guesses["covariance"] = neighbour_guesses(prior, release, known, published, aim.misses)
    level = 1 - (1 - aim.level) / 2  # the better one of two is taken
    out = {}
    for name, guess in guesses.items():
        values = np.clip(score(prior, release, evidence, guess, aim.misses), 0.0, 1.0)
        error = standard_error(values)
        floor = lower_limit(values, level) if name in ("ascent", "covariance") else 0.0
        found = "ascent" if name == "covariance" else name
        out[name] = Finding(found, floor=floor, value=float(values.mean()), error=error, level=aim.level)
    if known is not None:
        out["ascent"] = max(out["ascent"], out.pop("covariance"), key=lambda attack: attack.floor)
    return out


def blind_guesses(prior: MarkovPrior, release: Release, published: Floats, misses: int) -> dict[str, Ints]:
    """Guesses (n, T) for published series (n, T, S), as if numbers of others were independent."""
    even = np.full(len(published), 1 / len(published))
    evidence = release.evidence(published)
    # Counts impossible under the habits are taken for nearly impossible. They say nothing if no place explains them.
    top = evidence.max(axis=2, keepdims=True)
    likely = np.where(top > -np.inf, np.maximum(evidence - np.where(top > -np.inf, top, 0.0), FAINT), 0.0)
    series = Series(likely, even, sampled=True, left_over=0.0)
    guesses = bracket_series(prior, release, series, misses, np.inf, 0.0).guesses
    return {name: guesses[:, i].copy() for i, name in enumerate(("map", "marginal", "ascent"))}


@dataclass(frozen=True)
class _Table:
    """All possible side information, with all series possible under it: `series` of rows (n,).

    `published` (series, T, S) are the different series, and `number` (n,) is the index of each row among them.
    """

    series: Series
    published: Floats
    number: Ints

    @property
    def ranked(self) -> Ints:
        """For each published series, the likeliest row, the next one, and so on: (candidates, series)."""
        order = np.lexsort((-self.series.mass, self.number))
        size = np.bincount(self.number)
        first = np.cumsum(size) - size
        most = min(CANDIDATES, int(size.max()))
        return np.stack([order[first + np.minimum(rank, size - 1)] for rank in range(most)])

    def won(self, values: Floats) -> Floats:
        """How likely each published series is together with success, from the success (n,) of each row."""
        won = np.bincount(self.number, self.series.mass * np.clip(values, 0.0, 1.0))
        return np.asarray(won, dtype=np.float64)


def _listed_series(prior: MarkovPrior, release: Release, views: Sequence[_View], most: int) -> _Table | None:
    """None if there are more than so many rows, or a continuum of values."""
    evidence, mass, rows = [], [], []
    for view in views:
        finite = [value for value in view.values if value is not None]
        most -= math.prod(map(len, finite))
        if len(finite) < len(view.values) or most < 0:
            return None
        published = np.full((math.prod(map(len, finite)), *release.grid.shape), np.nan)
        published[:, release.grid >= 0] = np.array(list(product(*finite)))
        evidence.append(view.evidence(published))
        mass.append(view.chance * _probability(prior, release, evidence[-1]))
        rows.append(published.reshape(len(published), -1))
    there = np.concatenate(mass) > 0
    series = Series(np.concatenate(evidence)[there], np.concatenate(mass)[there], sampled=False, left_over=0.0)
    # An empty cell equals an empty cell.
    values = np.nan_to_num(np.concatenate(rows)[there], nan=np.inf)
    _, first, number = np.unique(values, axis=0, return_index=True, return_inverse=True)
    published = np.concatenate(rows)[there][first].reshape(-1, *release.grid.shape)
    return _Table(series, published, number.reshape(-1))


def _probability(prior: MarkovPrior, release: Release, evidence: Floats) -> Floats:
    """`Pr[series]` for each series of evidence (n, T, S + 1), given the side information."""
    weights = np.exp(evidence)
    law = np.repeat(prior.initial[None], len(evidence), axis=0)
    for t, watched in enumerate(release.classes(prior)):
        if t:
            law = law @ prior.matrix(t - 1)
        law = law * weights[:, t, watched]
    return np.asarray(law.sum(axis=1))


def _listed_ends(prior: MarkovPrior, release: Release, table: _Table, aim: Aim) -> Ends:
    """Both ends, certain: the best guess for each series with side information, and for each series alone."""
    series = table.series
    found = bracket_series(prior, release, series, aim.misses, aim.tolerance, aim.budget)
    guesses = blind_guesses(prior, release, table.published, aim.misses)
    guesses |= {str(rank): found.guesses[rows, 2] for rank, rows in enumerate(table.ranked)}
    if aim.anchor is not None:
        guesses["anchor"] = np.repeat(aim.anchor.guess[None], len(table.published), axis=0)
    won = {
        name: table.won(score(prior, release, series.evidence, guess[table.number], aim.misses))
        for name, guess in guesses.items()
    }
    attacks = {name: exact(name, min(1.0, float(won[name].sum()))) for name in ("map", "marginal")}
    attacks["ascent"] = exact("ascent", min(1.0, float(np.max(list(won.values()), axis=0).sum())))
    bound = average_upper(series, found, aim.level)
    return Ends(attacks, bound, True, len(series), found.nodes, found.operations)


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """Both ends under the true law of all counts together, or given an audit's side information on the others."""
    crowd = goal.release.crowd
    assert crowd is not None
    aim = Aim(goal.misses, goal.tolerance, goal.budget, goal.level, draws(goal), anchor(goal, known))
    if crowd.told is not None:
        yield from given_told(goal, known, crowd.told, aim)
        return
    if crowd.side is not None:
        rng = goal.rng()
        ends = drawn_ends(goal.prior, goal.release, crowd.side.draw(aim.runs, rng), aim, rng)
    else:
        ends = against_crowd(goal.prior, goal.release, aim, goal.rng())
    look = Look(ends.series, not ends.certain, nodes=ends.nodes, operations=ends.operations)
    for attack in ends.attacks.values():
        yield replace(attack, look=look)
    yield limit("crowd", ends.bound, look, None if ends.certain else goal.level)
    if isinstance(ends.told, SensorInformation):
        yield from by_hiding(goal, known, ends.told)


def by_hiding(goal: Goal, known: Known, told: SensorInformation) -> Iterator[Finding]:
    """The bound `erasure` of somebody who is told: raw counts, each shown with chance τ given what is told.

    Of each draw of what is told, one set of counts is drawn that are shown: what these tell on average bounds the loss.
    """
    from .raw import LEAST, ends_so_far, mean_of_sets, sets_affordable

    lower, upper = ends_so_far(known)
    shown, release = 1 - hidden(told, goal.release).chance[:, :, 1:], goal.release
    count = min(len(told), sets_affordable(goal, float(shown.mean()))) if upper > FAR * lower else 0
    if count < LEAST:
        return
    rng = np.random.default_rng([goal.seed if isinstance(goal.seed, int) else goal.seed[0], STREAM])
    drawn = (rng.random(shown[:count].shape) < shown[:count]) & (release.grid >= 0)
    sets = [release.raw_of([np.flatnonzero(step).tolist() for step in one]) for one in drawn]
    yield mean_of_sets(goal, known, sets)


def given_told(goal: Goal, known: Known, laws: Laws, aim: Aim) -> Iterator[Finding]:
    """Where it is given what is told of the crowd: the numbers of others are then independent, and measured so."""
    release = goal.release.with_others(Crowd.told_of(laws, laws))
    found = again(goal, known, release, goal.confidence)
    look = Look(found.effort.series, True, found.effort.covered, found.effort.nodes, found.effort.operations)
    rng = goal.rng()
    drawn = SensorInformation.of(release, laws, aim.runs, rng)
    for attack in blind_attacks(goal.prior, goal.release, drawn, aim, rng).values():
        yield replace(attack, look=look)
    yield limit("crowd", found.upper, look, None if found.effort.confidence is None else goal.level)


def again(goal: Goal, known: Known, release: Release, confidence: float) -> Loss:
    """The same question about another release."""
    effort = {name: getattr(goal, name) for name in ("tolerance", "series", "runs", "budget")}
    asked = pose(goal.prior, release, goal.misses, goal.seed, None, confidence=confidence, **effort)
    return cast(Loss, known.answer(asked))


def refuses(goal: Goal) -> str | None:
    """Independent counts need no side information."""
    if goal.release.independent:
        return "counts are independent given the trace"
    return refuses_one_series(goal)


CROWD = Method(
    "crowd",
    "bounds what an adversary achieves who is told where each of the others was at every second step",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("crowd",),
    needs=("baseline", "raw"),
    refuses=refuses,
    cost=lambda goal: goal.budget,
)
