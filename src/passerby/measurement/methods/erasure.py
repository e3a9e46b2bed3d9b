"""The bound `erasure`: a noisy count tells no more than a raw one that is sometimes shown."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from passerby.measurement.average import FAR
from passerby.measurement.erasure import MOST_LISTED, Erasure
from passerby.measurement.finding import Finding, Known, Look, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.stretches import least_cost, stretch_ceiling
from passerby.model.release import Release
from passerby.outcomes.series import log_series
from passerby.support.confidence import upper_limit
from passerby.support.logs import exceeds

from .raw import raw_loss
from .ways import refuses_others

Floats = NDArray[np.float64]

#: The share of a budget that it may take, and how many sets of counts are drawn, at the least and at the most.
SHARE, LEAST, MOST = 0.25, 100, 2000
#: Its doubt, as a share of all that is allowed: the other ends take that whole.
SPARE = 0.01
#: Raw counts with so few series are looked at one by one.
FEW = 64


def run(question: Question, known: Known) -> Iterator[Finding]:
    """`loss <= Σ_A Π_{A} τ Π_{not A} (1 - τ) loss_raw(A)` over the sets A of raw counts that are shown.

    Few sets are listed. Others are drawn, where that may help: both ends are far apart, and no set can tell more than
    all raw counts.
    """
    lower, upper = ends_so_far(known)
    if question.within(lower, upper):
        return
    erasure, raw = Erasure(question.release), known.bound("raw")
    most = 1.0 if raw is None else raw.ceiling
    if erasure.listable:
        found = sum(chance * min(most, closely(question, known, shown)) for chance, shown in erasure.listed())
        yield limit("erasure", found)
    elif upper > FAR * lower and (count := affordable(question, erasure)) >= LEAST:
        values = drawn(question, known, erasure, count, most)
        level = 1 - SPARE * (1 - question.confidence)
        least = min(known.baseline.floor, most)
        room = max(most - least, 1e-300)
        ceiling = least + room * upper_limit(np.clip((values - least) / room, 0.0, 1.0), level)
        yield limit("erasure", ceiling, Look(count, sampled=True), level)


def ends_so_far(known: Known) -> tuple[float, float]:
    """The ends that are known, at a confidence or for certain."""
    found = [finding for finding in known if finding.about == "loss" and not finding.assumes]
    return max((f.floor for f in found), default=0.0), min((f.ceiling for f in found), default=1.0)


def drawn(question: Question, known: Known, erasure: Erasure, count: int, most: float) -> Floats:
    """The raw loss of so many sets that are drawn, at most."""
    return np.array([min(most, told(question, known, shown)) for shown in erasure.drawn(question.seed, count)])


def closely(question: Question, known: Known, shown: Release) -> float:
    """What raw counts tell at most."""
    asked = replace(question, release=shown, budget=SHARE * question.budget / MOST_LISTED)
    return raw_loss(asked, known, asked.budget)[1]


def told(question: Question, known: Known, shown: Release) -> float:
    """The same, at the least effort where there are many counts."""
    if exceeds(log_series(question.prior, shown), FEW):
        return stretch_ceiling(question.prior, shown, question.misses)
    return closely(question, known, shown)


def quick(question: Question) -> bool:
    """Whether ceilings come from the stretches between sightings of a chain whose states are places."""
    counts = question.release.as_raw()
    return counts.reveals and question.prior.single and question.prior.naming is None


def affordable(question: Question, erasure: Erasure) -> int:
    """How many sets can be looked at."""
    if not quick(question):
        return 0
    every = question.release.as_raw()
    share = erasure.shown / max(1, every.grid.size)
    each = least_cost(question.prior, every, question.misses) * max(share, 0.05) ** 2 + 1e5
    return int(min(MOST, SHARE * question.budget / each))


def refuses(question: Question) -> str | None:
    """Raw counts are always shown."""
    if question.release.plain:
        return "the counts are raw"
    if question.series != "auto":
        return "its series are listed or sampled, as asked"
    return refuses_others(question)


ERASURE = Method(
    "erasure",
    "bounds noisy counts by raw ones that are shown at random",
    run,
    bounds=("erasure",),
    needs=("baseline", "raw"),
    refuses=refuses,
    cost=lambda question: SHARE * question.budget,
)
