"""Looks for telling an event from its absence: sightings, lists of series, stand-ins, draws, crowds.

Each look yields a `Part`. Certain looks come first. Series are drawn if these looks leave more open than the tolerance
allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from passerby.kernels.renewal import events
from passerby.measurement.erasure import MOST_LISTED, Erasure
from passerby.model.prior import state_laws
from passerby.model.release import Release
from passerby.others.sensors import SensorInformation
from passerby.others.side_information import SideInformation
from passerby.outcomes.histories import drawn_histories, listed_histories
from passerby.outcomes.series import MAX_SERIES, Series, enumerate_series
from passerby.outcomes.stand_ins import bracketing_series, log_outcomes, stand_ins
from passerby.support.numbers import exceeds
from passerby.support.statistics import lower_limit, upper_limit

from .crowd_told import hidden, is_given, told_of_crowd
from .draws import Drawn, Tests
from .hypotheses import Hypotheses
from .laws import Law, gaps
from .parts import Above, Apart, Below, Listed, Part, Shown, StandIns, Stretches

Floats = NDArray[np.float64]

#: Cells of the law followed from sighting to sighting: the first number leaving less open than the tolerance is used.
CELLS = (40, 80, 200, 512)
#: Operations for passing one cell of both laws on.
PASS = 10.0
#: The law of raw series may leave out this share of the tolerance.
NARROW, BELOW, ABOVE = 0.3, -5.0, 15.0
#: The share of the tolerance to be left out of the law of raw series.
LEFT = 1e-2
#: Series of stand-ins, and the counts above which even the coarsest are too many.
STAND_INS = (128, 1024)
MOST_COUNTS = 10
#: The share of the doubt for what the others hide, of that for whoever is told where they were.
SPARE = 0.1
#: By how much somebody may be short of never being seen, for want of digits.
UNSEEN = 1e-12
#: Series are listed where at most so many times as many are possible.
WORTH_LISTING = 16


def parts_of(asked: Hypotheses) -> Iterator[Part]:
    """Every look at the evidence of a release for an event, one after another until both ends are close."""
    release = asked.setup.release
    if not release.fixed:
        yield from by_histories(asked, release)
    elif release.independent:
        yield from independent(asked)
    else:
        yield from against_crowd(asked)


def independent(asked: Hypotheses) -> Iterator[Part]:
    """Counts independent of each other, given the trace."""
    setup = asked.setup
    found: list[Part] = []
    near: list[Part] = []
    if setup.series != "sample":
        for look in (by_sightings, by_list, by_stand_ins):
            for part in look(asked):
                yield part
                found.append(part)
            near = [part for part in found if close(part, setup.tolerance)]
            if any(part.blur <= setup.tolerance for part in near):
                return
        # Stand-ins say nothing of `certain` and `absent`: series are drawn for these.
        if any(part.tails for part in near):
            return
        if not near:
            yield from by_erasure(asked)
    if setup.series != "enumerate":
        yield by_draws(asked)


def close(part: Part, tolerance: float) -> bool:
    """Whether both ends of the advantage, and of the power at 1 %, are as close as was asked for."""
    lower, upper = part.advantage()
    least, most = part.power(0.01)
    return part.level is None and upper <= lower * (1 + tolerance) + 1e-12 and most <= least + tolerance + 1e-12


def by_sightings(asked: Hypotheses) -> Iterator[Part]:
    """All raw series at once: of an event that sightings decide, and of one that comes true at some of the places."""
    setup = asked.setup
    release, prior, avoided = setup.equivalent, setup.prior, asked.avoided
    if not release.plain or avoided is None:
        return
    decided = decided_by_sightings(asked, avoided)
    if decided is not None:
        yield Listed("sightings", asked.odds, decided)
        return
    if not (release.reveals and prior.single):
        return
    no, yes = asked.chance
    points = 1 + release.grid.size
    for cells in CELLS:
        if PASS * cells * points**2 > setup.budget:
            return
        faint = LEFT * setup.tolerance * min(no, yes) / points
        case = prior.initial, prior.matrices, release.grid, avoided, edges(asked.log_odds, cells), faint
        tables = events.laws(*case)
        less, more = (Law(table[:, 1] / yes, table[:, 0] / no) for table in tables)
        low, high = (odds_at(tables[0][:, entry]) for entry in (2, 3))
        part = Stretches("sightings", asked.odds, less, more, low, high)
        yield part
        if close(part, setup.tolerance):
            return


def edges(centre: float, cells: int) -> Floats:
    """Heights `log(1 + odds)` between so many cells around log odds: no chance and certainty have cells of their own.

    >>> edges(0.0, 5)[1:3].round(2).tolist()
    [0.01, 15.0]
    """
    places = np.linspace(np.arcsinh(BELOW / NARROW), np.arcsinh(ABOVE / NARROW), cells - 3)
    between = np.logaddexp(0.0, centre + NARROW * np.sinh(places))
    return np.concatenate([[np.nextafter(0.0, 1.0)], between, [np.inf]])


def odds_at(heights: Floats) -> Floats:
    """Log odds from heights `log(1 + odds)`: `log(exp(h) - 1)`."""
    with np.errstate(divide="ignore"):
        return np.asarray(heights + np.log(-np.expm1(-heights)))


def decided_by_sightings(asked: Hypotheses, avoided: Floats) -> Law | None:
    """The law of raw series of which each but one shows the event or its absence for certain; None for other events.

    An event may be seen to come true whenever it does: who is counted where it comes true is told apart from anybody
    else. Or nobody is ever counted of whom it does not hold, as of somebody who is not in the data: all but the series
    without a sighting then show the event, and one forward pass tells how likely that one is.
    """
    if sighted_where_true(asked, avoided):
        return Law(np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    prior, seen = asked.setup.prior, _seen(asked)
    no, yes = prior.initial * avoided[0], prior.initial * (1 - avoided[0])
    for t in range(asked.setup.steps):
        if t:
            no, moved = (row @ prior.matrix(t - 1) for row in (no, yes))
            no, yes = no * avoided[t], moved + no * (1 - avoided[t])
        if (no * seen[t]).any():
            return None
        yes = yes * ~seen[t]
    unseen = min(1.0, float(yes.sum()) / asked.chance[1])
    return Law(np.array([1 - unseen, unseen]), np.array([0.0, 1.0]))


def sighted_where_true(asked: Hypotheses, avoided: Floats) -> bool:
    """Whether the event is seen whenever it comes true: counts tell the states in which it does from all others."""
    setup = asked.setup
    release, law = setup.equivalent, state_laws(setup.prior, setup.steps)
    if not release.reveals:
        return False
    for t, classes in enumerate(release.classes(setup.prior)):
        sides = (set(classes[(avoided[t] == side) & (law[t] > 0)].tolist()) for side in (0, 1))
        if not set.isdisjoint(*sides):
            return False
    return True


def _seen(asked: Hypotheses) -> NDArray[np.bool_]:
    """Whether somebody in a state (T, M) is in any count of the step."""
    release = asked.setup.equivalent
    counted = release.sees.any(axis=2)
    return np.asarray(np.take_along_axis(counted, release.classes(asked.setup.prior), axis=1))


def by_list(asked: Hypotheses) -> Iterator[Part]:
    """The possible series, one by one, if few carry nearly all of the probability."""
    setup = asked.setup
    release, most = setup.equivalent, _affordable(asked)
    wanted = setup.series == "enumerate"
    if not wanted and exceeds(log_outcomes(release), WORTH_LISTING * most):
        return
    left = 1.0 if wanted else 0.2 * setup.tolerance * min(asked.chance)
    series = enumerate_series(setup.prior, release, most, left)
    if series is not None:
        yield Listed("list", asked.odds, _law(asked, series, release))


def by_stand_ins(asked: Hypotheses) -> Iterator[Part]:
    """Series of mechanisms with few outputs: less telling stand-ins, and more telling ones."""
    setup = asked.setup
    counts = sum(map(len, setup.release.sensors))
    if setup.release.plain or not counts or counts > MOST_COUNTS:
        return
    for most in STAND_INS:
        if most > _affordable(asked):
            return
        faint = 0.05 * setup.tolerance * min(asked.chance) / most
        pair = bracketing_series(setup.prior, setup.release, most, faint)
        if pair is None:
            continue
        part = StandIns("stand-ins", asked.odds, *(_law(asked, side, setup.release) for side in pair))
        yield part
        if close(part, setup.tolerance):
            return


def by_erasure(asked: Hypotheses) -> Iterator[Part]:
    """Raw counts shown at random, which tell no less, if few of the counts are noisy."""
    release = asked.setup.release
    erasure = Erasure(release)
    if release.plain or not erasure.listable:
        return
    sets = []
    for chance, shown in erasure.listed():
        series = enumerate_series(asked.setup.prior, shown, _affordable(asked) // MOST_LISTED)
        if series is None:
            return
        sets.append((chance, _law(asked, series, shown)))
    yield Shown("erasure", asked.odds, tuple(sets))


def by_draws(asked: Hypotheses) -> Part:
    """Series drawn with the event, and series drawn without it."""
    rng = asked.setup.rng()
    held, not_held = (asked.gaps_of(holds, asked.setup.runs, rng) for holds in (True, False))
    return Drawn("sample", asked.odds, held, not_held, level=_level(asked))


def by_histories(asked: Hypotheses, release: Release) -> Iterator[Part]:
    """Counts that are chosen as one goes: histories are listed, or drawn."""
    setup = asked.setup
    if setup.series != "sample":
        wanted = setup.series == "enumerate"
        left = 1.0 if wanted else 0.2 * setup.tolerance * min(asked.chance)
        listed = listed_histories(setup.prior, release, _affordable(asked), left, strict=wanted)
        if listed is not None:
            chain, union, series = listed
            logs = asked.logs_of(series.evidence, chain, union)
            yield Listed("list", asked.odds, Law.of_logs(logs, series.mass, asked.chance))
            return
    rng = setup.rng()
    sides = []
    for holds in (True, False):
        traces = asked.draw(holds, setup.runs, rng)
        chain, union, series = drawn_histories(setup.prior, release, rng, setup.runs, traces=traces)
        sides.append(gaps(asked.logs_of(series.evidence, chain, union)) - asked.log_odds)
    held, not_held = sides
    yield Drawn("sample", asked.odds, held, not_held, level=_level(asked))


def against_crowd(asked: Hypotheses) -> Iterator[Part]:
    """Others known by their habits: between tests without side information, and a better informed adversary.

    The target is independent of the others. So side information on them has one law, with the event and without.
    """
    setup, release = asked.setup, asked.setup.release
    yield from by_one_count(asked)
    known = _known(asked)
    # One half of the doubt is for somebody who knows all others, so that nobody who knows less is said to find more.
    for part in () if known is None else independent(known):
        yield Above("known", asked.odds, part, level=part.level)
    rng = setup.rng()
    told = told_of_crowd(release, setup.runs, rng)
    near = list(by_hiding(asked, told))
    yield from near
    ratios, scores = [], []
    for holds in (True, False):
        published = told.publish(release, asked.draw(holds, len(told), rng), rng)
        ratios.append(gaps(asked.logs_of(told.evidence(release, published))) - asked.log_odds)
        scores.append(gaps(asked.logs_of(_possible(release.evidence(published)))))
    held, not_held = ratios
    level = _shared(asked, 1 - SPARE) if any(part.level is not None for part in near) else _level(asked)
    yield Drawn("crowd", asked.odds, held, not_held, told_more=True, level=level)
    held, not_held = scores
    yield Tests("test", asked.odds, held, not_held, level=_level(asked))


def by_hiding(asked: Hypotheses, told: SensorInformation | SideInformation) -> Iterator[Part]:
    """Where nobody is counted without the event, or with it: how much of the others hides what somebody else shows.

    Of a trace X, what is hidden is a product over its steps, and distances of laws are at most their means over traces:
    `1 - E[Π (1 - τ)]` and `√(1 - E[Π b²])` for the total variation, `E[Π b]` for the Bhattacharyya coefficient.
    """
    release = asked.setup.release
    unseen = means_over_traces(asked, np.where(release.sees.any(axis=2, keepdims=True), 0.0, 1.0)[None, :, :, 0])[0]
    if unseen.max() < 1 - UNSEEN:
        return
    other, (chance, overlap) = int(np.argmin(unseen)), hidden(told, release)
    shown, apart = (1 - means_over_traces(asked, each)[:, other] for each in (chance, overlap**2))
    most, least = np.minimum(shown, np.sqrt(apart)), means_over_traces(asked, overlap)[:, other]
    if is_given(release):
        yield Apart("hiding", asked.odds, float(most[0]), float(least[0]))
        return
    level, room = _shared(asked, SPARE), max(0.0, 1 - float(unseen[other]))
    if room > 0:
        limit = room * upper_limit(np.clip(most / room, 0.0, 1.0), level)
        yield Apart("hiding", asked.odds, limit, lower_limit(least, level), level=level)


def means_over_traces(asked: Hypotheses, weights: Floats) -> Floats:
    """Means over traces of products of weights (n, T, C), of traces without the event and of those with it (n, 2)."""
    with np.errstate(divide="ignore"):
        evidence = np.log(weights)
    top = np.maximum(evidence.max(axis=2), -1e300).sum(axis=1)
    logs = asked.logs_of(evidence) + top[:, None] - np.array(asked.logs)
    return np.asarray(np.exp(np.minimum(np.where(np.isnan(logs), -np.inf, logs), 0.0)))


def by_one_count(asked: Hypotheses) -> Iterator[Part]:
    """The single most telling count, if the law of the others is known at this count alone."""
    release = asked.setup.release
    cells = [(t, j) for t, step in enumerate(release.sensors) for j in range(len(step))]
    if not cells:
        return
    sees = release.sees
    evidence = np.zeros((len(cells), *sees.shape[:2]))
    for i, (t, j) in enumerate(cells):
        evidence[i, t] = np.where(sees[t, :, j] == 1, 0.0, -np.inf)
    logs = asked.logs_of(evidence)
    with np.errstate(divide="ignore"):
        counted = np.exp(np.minimum(logs - np.array(asked.logs), 0.0))
    counted = np.where(np.isfinite(logs), counted, 0.0)
    gains = [abs(yes - no) * release.channels[t][j].apart for (t, j), (no, yes) in zip(cells, counted, strict=True)]
    best = int(np.argmax(gains))
    t, j = cells[best]
    pair = stand_ins(*release.channels[t][j])
    if pair is not None:
        no, yes = counted[best]
        absent, present = pair[0].T
        law = Law(yes * present + (1 - yes) * absent, no * present + (1 - no) * absent)
        yield Below("one count", asked.odds, law)


def _known(asked: Hypotheses) -> Hypotheses | None:
    """The same for an adversary knowing everybody else; None if the answer depends on the number of others."""
    release = asked.setup.release
    if not all(rule.raw or rule.shift_invariant for rule in release.ways):
        return None
    return replace(asked, setup=replace(asked.setup, release=release.with_others(None)))


def _possible(evidence: Floats) -> Floats:
    """Log-likelihoods, with little weight on counts nearly impossible under the habits."""
    top = evidence.max(axis=2, keepdims=True)
    there = top > -np.inf
    return np.where(there, np.maximum(evidence - np.where(there, top, 0.0), -40.0), 0.0)


def _law(asked: Hypotheses, series: Series, release: Release) -> Law:
    return Law.of_logs(asked.logs_of(series.evidence, release=release), series.mass, asked.chance)


def _affordable(asked: Hypotheses) -> int:
    """How many series can be looked at."""
    steps, states, levels = asked.levels.shape
    return max(2, min(MAX_SERIES, int(asked.setup.budget / (steps * levels * states * (states + 4)))))


def _level(asked: Hypotheses) -> float:
    """The confidence of each end, so that all hold together: two, and against a crowd two more with a half of it."""
    return 1 - (1 - asked.setup.confidence) / (2 if asked.setup.release.independent else 4)


def _shared(asked: Hypotheses, part: float) -> float:
    """The confidence of an end that has a part of the doubt of another one, since the smaller of both is taken."""
    return 1 - (1 - _level(asked)) * part
