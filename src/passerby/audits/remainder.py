"""Windows of visitors beyond the memory of a chain: the most certain ones are left out, with a bound on the error.

For most zones a person's place among the visitors is almost certain. Let D be the person's part in the left-out counts,
and d its likeliest value. An adversary with D besides the other counts Y does at least as well as with all counts, and
`Σ_y Σ_D max_g Pr[y, D, g right] <= Σ_y max_g Pr[y, g right] + Pr[D ≠ d]`. So the loss of all counts is at least the
loss of the others, and above it by no more than `Pr[D ≠ d]`. A second bound is the loss of a release with the person's
presence in a zone at each step of a window. Visitors follow from it, and it needs no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from passerby.measurement.finding import exact, limit, refute
from passerby.mechanisms import Raw
from passerby.model.counts import Count, Present
from passerby.model.prior import MarkovPrior, state_laws
from passerby.model.release import Release
from passerby.questions.trace.loss import Loss
from passerby.questions.trace.measure import Enough, measure_until, trace_loss

#: All windows are kept up to so many states of a chain with its memory.
MOST_STATES = 500


def kept_part(prior: MarkovPrior, release: Release) -> tuple[Release, float]:
    """The release with the rememberable windows, and a bound on `Pr[D ≠ d]` of the left-out ones.

    A left-out window becomes a count of everywhere, without any evidence.
    """
    if release.reveals or release.crowd is not None:
        return release, 0.0  # numbers of others who are not known go together: no window is left out by itself
    windows = [count for count in dict.fromkeys(release.listed) if count.lasts]
    if _size(prior, release, windows) <= MOST_STATES:
        return release, 0.0
    open_ = {window: doubt(prior, window, release.steps) for window in windows}
    kept: list[Count] = []
    for window in sorted(windows, key=lambda each: -open_[each]):
        if _size(prior, release, [*kept, window]) <= MOST_STATES:
            kept.append(window)
    left = set(windows) - set(kept)
    everywhere = range(prior.places)
    counts = [
        Present(everywhere, count.read, mechanism=count.mechanism, others=count.others) if count in left else count
        for count in release.listed
    ]
    return Release(counts=counts, steps=release.steps, size=release.size), min(
        1.0, sum(open_[window] for window in left)
    )


def _size(prior: MarkovPrior, release: Release, windows: Sequence[Count]) -> int:
    """How many states a chain has at most that remembers these windows, and the flows."""
    sizes = []
    for t, step in enumerate(release.counts):
        origins = {count.zones[0] for count in step if count.flow}
        memories = 1 + len(origins)
        for window in windows:
            memories *= window.levels if window.first <= t <= window.read else 1
        sizes.append(memories)
    return prior.states * max(sizes)


def doubt(prior: MarkovPrior, count: Count, steps: int) -> float:
    """How likely it is that a count sees the less likely of the two: the person, or not.

    >>> from passerby import Visitors
    >>> halves = MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    >>> doubt(halves, Visitors([0], steps=range(3)), 3)
    0.125
    """
    levels, states = count.progress(prior.place_of, steps), np.arange(prior.states)
    law = np.zeros((levels.shape[2], prior.states))
    law[0] = state_laws(prior, steps)[count.first]
    for t in range(count.first, count.read + 1):
        if t > count.first:
            law = law @ prior.matrix(t - 1)
        before, law = law, np.zeros_like(law)
        for level, chance in enumerate(before):
            np.add.at(law, (levels[t, :, level], states), chance)
    return float(min(law[-1].sum(), law[:-1].sum()))


def by_steps(release: Release) -> Release:
    """A release that tells more: the raw numbers of the zones of visitors, at each step of their windows.

    So it is for every count that neither is of one step nor a flow.
    """
    if release.reveals:
        return release
    windows = [count for count in release.listed if not (count.snapshot or count.flow)]
    # A raw number tells no more the second time; with noise that is drawn afresh, another count does.
    each = dict.fromkeys(Present(zone, t, mechanism=Raw()) for window in windows for zone, t in window.split)
    counts = [*each, *(count for count in release.listed if count.snapshot or count.flow)]
    return Release(counts=counts, steps=release.steps, size=release.size)


class Measured(NamedTuple):
    """The loss of a release's rememberable part, this part, and an upper end of the loss of all of it.

    The ends are `certain` if neither rests on drawn series. `pooled_upper` is the upper end for a mean over people,
    within the reach of the loss's own draws (see `Pooled`).
    """

    loss: Loss
    part: Release
    upper: float
    certain: bool
    pooled_upper: float


def measured(prior: MarkovPrior, release: Release, enough: Enough | None = None, **how: Any) -> Measured:
    """Measure a release, or as much of it as can be remembered; `how` are arguments of `measure`.

    Once the ends of all of it are `enough`, nothing more is tried.
    """
    part, rest = kept_part(prior, release)
    if not rest:
        loss = trace_loss(prior, part, **how) if enough is None else measure_until(enough, prior, part, **how)
        return Measured(loss, part, loss.upper, _certain(loss), loss.pooled.upper)
    # Both upper ends hold together at the requested level.
    how["confidence"] = 1 - (1 - how["confidence"]) / 2
    if enough is not None:
        return _until(enough, prior, release, part, rest, how)
    loss, more = (trace_loss(prior, each, **how) for each in (part, by_steps(release)))
    if _certain(loss) and _certain(more):
        refute(exact("a part of the windows", loss.lower), limit("what tells of each step", more.upper))
    return _of_both(loss, part, rest, more)


def _of_both(loss: Loss, part: Release, rest: float, more: Loss) -> Measured:
    """From the loss of a part and the loss of a more informative release.

    For a mean over people, no draw chooses an end: this would favour the lucky one.
    """
    ends = [end for end, source in ((loss.upper + rest, loss), (more.upper, more)) if _certain(source)]
    pooled = min(ends) if ends else loss.pooled.upper + rest
    upper = max(loss.lower, min(1.0, loss.upper + rest, more.upper))
    return Measured(loss, part, upper, _certain(loss) and _certain(more), max(loss.pooled.lower, min(1.0, pooled)))


def _certain(loss: Loss) -> bool:
    """Whether neither end rests on drawn series."""
    return loss.effort.confidence is None


def _until(
    enough: Enough, prior: MarkovPrior, release: Release, part: Release, rest: float, how: dict[str, Any]
) -> Measured:
    """The same as far as needed. The release of each step comes first: it is quicker and bounds from above alone."""
    more = measure_until(lambda _, upper, *known: enough(known[0], upper, *known), prior, by_steps(release), **how)
    if enough(more.baseline.lower, more.upper, more.baseline.lower, more.baseline.upper):
        least = replace(more, lower=more.baseline.lower)
        return Measured(least, part, more.upper, _certain(more), more.pooled.upper)
    loss = measure_until(
        lambda lower, upper, *known: enough(lower, min(upper + rest, more.upper), *known), prior, part, **how
    )
    return _of_both(loss, part, rest, more)
