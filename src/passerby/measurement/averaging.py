"""The success of the best guess, averaged over all that can be published: attacks and the bound `posterior`."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from passerby.errors import UnsupportedRelease
from passerby.mechanisms import Raw
from passerby.model.release import Release
from passerby.outcomes.quantisation import bracketing_series, count_outcomes
from passerby.outcomes.series import Floats, How, Series, count_series, enumerate_series, listed_series, sample_series

from .attacks import Attack, averaged, map_successes
from .best_guess import alone, average_upper, bracket_stretches, cost_of_series, plain_series
from .case import Case, Look

#: Series of stand-ins for mechanisms with many outputs: so many, and more until the tolerance is met, or until four
#: times as many do not narrow the gap to this share any more.
STAND_IN_SERIES = (64, 256, 1024, 4096, 16384, 65536)
WORTHWHILE = 0.8
#: More series than this are not listed for noisy counts, unless a small tolerance asks for it.
LISTED_SERIES = 1024
#: Where there are more than so many times as many, hardly ever do the likeliest cover enough, and looking takes long.
WORTH_LISTING = 16
#: Fewer sampled series than this say too little to be worth the name.
MIN_RUNS = 20


def average(case: Case, how: How, runs: int) -> Look:
    """The best guess over all that can be published: stretch by stretch, listed, for stand-ins, or sampled.

    What a list leaves over is added to the upper end, so it must be negligible against the loss, or at least below
    the resolution of a sample.
    """
    prior, release = case.prior, case.release.revealed or case.release
    most_left = max(0.2 * case.tolerance * case.baseline.lower, min(0.01, case.resolution(runs)))
    affordable = case.affordable(case.budget)
    draws = max(min(MIN_RUNS, runs), min(runs, affordable))
    plain = isinstance(release.mechanism, Raw)
    if how == "auto" and plain and count_series(prior, release) > affordable:
        look = by_stretches(case, release, sample_series(prior, release, case.rng, draws, case.anchor))
        if look is not None:
            return look
    if how == "auto" and not plain:
        # Noise spreads the probability over all series, of which stand-ins need fewer.
        few = min(affordable, LISTED_SERIES) if case.tolerance >= 0.01 else affordable
        outcomes, listed = count_outcomes(release), None
        if outcomes <= WORTH_LISTING * few:
            listed = enumerate_series(prior, release, few, 0.2 * case.tolerance * case.baseline.lower)
        with suppress(UnsupportedRelease):  # where posterior chains are too big, a sample of guesses remains
            look = search(case, release, listed) if listed is not None else between(case, draws)
            if look is not None:
                return look
        how = "auto" if outcomes <= WORTH_LISTING * affordable else "sample"
    series = listed_series(prior, release, how, affordable, most_left)
    if series is None:
        series = sample_series(prior, release, case.rng, draws, case.anchor)
    return search(case, release, series)


def search(case: Case, release: Release, series: Series, spent: float = 0.0) -> Look:
    """Attacks and the bound `posterior` from the best guess for each series, with what is left of the budget."""
    try:
        found = case.brackets(release, series, case.tolerance, max(0.0, case.budget - spent))
    except UnsupportedRelease as reason:
        case.refused["posterior"] = str(reason)
        plain = map_successes(case.prior, release, case.misses, series)
        guess_plainly(case, series, map=plain)
        guess_best(case, series, plain, plain)
        return Look.at(series)
    guess_plainly(case, series, map=found.map, marginal=found.marginal)
    guess_best(case, series, found.lower, alone(found))
    case.bounds["posterior"] = average_upper(series, found, case.level)
    return Look.at(series, found)


def guess_plainly(case: Case, series: Series, **plain: Floats) -> None:
    """Attacks by name, from their successes given each series. Those that are sampled may be lucky."""
    for name, values in plain.items():
        case.attacks[name] = averaged(series, values)


def guess_best(case: Case, series: Series, best: Floats, guide: Floats) -> None:
    """The best guess that was found for each series, or the anchor's, and what it achieves for sure."""
    best = np.maximum(best, series.anchored)
    case.attacks["ascent"] = averaged(series, best, series.lower(best, guide, case.level))


def by_stretches(case: Case, release: Release, drawn: Series) -> Look | None:
    """The same for raw counts whose series are too many to list, from the stretches between sightings."""
    found = bracket_stretches(case.prior, release, case.misses, case.tolerance, case.budget / 2)
    if found is None:
        return None
    if found.upper - found.lower > max(case.tolerance * found.lower, case.resolution(len(drawn))):
        look = search(case, release, drawn, found.operations)
        if narrowed(case, found.lower, found.upper):
            return look
    else:
        plain_guesses(case, release, drawn)
    case.attacks["ascent"] = Attack(found.lower)
    case.bounds["posterior"] = found.upper
    return Look(found.refined, nodes=found.nodes, operations=found.operations)


def narrowed(case: Case, lower: float, upper: float) -> bool:
    """Whether a sample says enough more than what is known for certain; if so, both are put together."""
    if case.refused.pop("posterior", None):  # of the sample; what is certain stands
        return False
    drawn, limit = case.attacks["ascent"], case.bounds["posterior"]
    if min(upper, limit) - max(lower, drawn.sure) > WORTHWHILE * (upper - lower):
        return False
    case.attacks["ascent"] = drawn if drawn.sure > lower else Attack(lower)
    case.bounds["posterior"] = min(limit, upper)
    return True


def between(case: Case, draws: int) -> Look | None:
    """The same for many outputs or a continuum, from stand-ins that tell less and more; nothing is left to chance.

    The plain guesses, which use the published values in full, are averaged over a sample. If that pins the loss
    down better, it decides. None where there are no stand-ins with few enough series.
    """
    drawn = sample_series(case.prior, case.release, case.rng, draws, case.anchor)
    if case.bounds["raw"] <= case.baseline.lower * (1 + case.tolerance):
        # Even raw counts would tell next to nothing.
        plain_guesses(case, case.release, drawn)
        case.attacks["ascent"] = Attack(case.baseline.lower)
        case.bounds["posterior"] = case.bounds["raw"]
        return Look(0)
    lower, upper, nodes, spent, look = 0.0, 1.0, 0, 0.0, None
    gaps: list[float] = []
    each = cost_of_series(case.prior, case.release.steps, case.misses)
    for most in STAND_IN_SERIES:
        if most * each > case.budget - spent or not hopeful(case, gaps):
            break
        pair = bracketing_series(case.prior, case.release, most, 0.05 * case.tolerance * case.baseline.lower / most)
        if pair is None:
            continue
        low, high = (case.brackets(case.release, side, case.tolerance / 4, (case.budget - spent) / 2) for side in pair)
        lower = max(lower, pair[0].mean(low.lower)[0])
        upper = min(upper, average_upper(pair[1], high, case.level))
        each = max(each, (low.operations + high.operations) / most)
        spent += low.operations + high.operations
        nodes += low.nodes + high.nodes
        look = Look(len(pair[1]), covered=1.0 - pair[1].left_over, nodes=nodes, operations=spent)
        gaps.append(min(upper, *case.bounds.values()) / max(lower, case.baseline.lower, 5e-324) - 1)
    if look is None:
        return None
    if gaps[-1] > case.tolerance and upper - lower > case.resolution(draws):
        sampled = search(case, case.release, drawn, spent)
        if narrowed(case, lower, upper):
            return sampled
    else:
        plain_guesses(case, case.release, drawn)
    case.attacks["ascent"] = Attack(lower)
    case.bounds["posterior"] = upper
    return look


def hopeful(case: Case, gaps: list[float]) -> bool:
    """Whether more series of stand-ins are needed, and worth it."""
    if len(gaps) < 3:  # the coarsest say little of what finer ones do
        return not gaps or gaps[-1] > case.tolerance
    return case.tolerance < gaps[-1] <= WORTHWHILE * gaps[-2]


def plain_guesses(case: Case, release: Release, drawn: Series) -> None:
    """The plain guesses, which use the published values in full, averaged over a sample."""
    try:
        likeliest, marginal = plain_series(case.prior, release, drawn, case.misses)
        guess_plainly(case, drawn, map=likeliest, marginal=marginal)
    except UnsupportedRelease:
        guess_plainly(case, drawn, map=map_successes(case.prior, release, case.misses, drawn))
