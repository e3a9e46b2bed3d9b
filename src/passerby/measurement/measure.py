"""One person: how likely an adversary is to get all but `misses` of their steps right, as an interval."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from passerby.errors import UnsupportedRelease
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.interrupts import interruptible

from .conclusion import conclude
from .finding import Known
from .loss import Loss
from .method import Method
from .methods import METHODS
from .question import How, Question, Way, pose

#: Whether both ends of the loss and both of the baseline, in this order, are all that is to be known.
Enough = Callable[[float, float, float, float], bool]


def measure(
    prior: MarkovPrior,
    release: Release,
    misses: int = 0,
    *,
    tolerance: float = 0.01,
    seed: int | Sequence[int] = 0,
    series: How = "auto",
    runs: int = 1000,
    confidence: float = 0.99,
    budget: float = 2e10,
    method: Way = "exact",
    published: Iterable[float | Iterable[float]] | None = None,
) -> Loss:
    """The loss of a release for a person with this prior, when `misses` steps may be wrong.

    The search for the best guess goes on until the interval is within `tolerance` of the loss, or about `budget`
    elementary operations are spent (1e10 take a second or two; the baseline gets 1e9 in any case); a budget that is too
    small gives a wider interval, not a wrong one.

    A series is what is published at all steps together, and the loss an average over all that can be. `series` says how
    to look at them: "enumerate" lists them, "sample" draws `runs` of them, in which case the interval holds at level
    `confidence` (`seed` is that of the draws), and "auto" does what fits: a list where few of them carry the
    probability, for many values or a continuum a list of discrete stand-ins that tell less and that tell more, for long
    raw counts all at once by the stretches between sightings, and a sample where nothing else is close enough.

    With `published`, the values that were really published (in the form of the release's sensors), the loss is the
    realised one: the best guess's success given exactly these. With `method="sampling"` the paper's three attacks are
    scored by its plain Monte Carlo of `runs` traces instead, and nothing is searched.

    >>> from passerby import line_prior
    >>> loss = measure(line_prior(20), Release([7, 13, 4]), misses=1)
    >>> loss.upper <= 1.01 * loss.lower
    True
    """
    started = time.perf_counter()
    question = pose(
        prior,
        release,
        misses,
        seed,
        published,
        tolerance=tolerance,
        budget=budget,
        confidence=confidence,
        runs=runs,
        series=series,
        way=method,
    )
    known, refused = investigate(question)
    return conclude(question, known, refused, started)


def measure_until(enough: Enough, prior: MarkovPrior, release: Release, misses: int, seed: Any, **how: Any) -> Loss:
    """The same with no more methods than it takes to know enough: ends hold, and may be wider than was asked for."""
    started = time.perf_counter()
    question = pose(prior, release, misses, seed, None, series="auto", way="exact", **how)
    known, refused = investigate(question, enough=enough)
    return conclude(question, known, refused, started)


def investigate(
    question: Question, methods: Sequence[Method] = METHODS, *, enough: Enough | None = None
) -> tuple[Known, dict[str, str]]:
    """Run the methods one after another; returns what they found, and why something was not found.

    Once the ends that are certain are `enough`, nothing more is tried.
    """
    known = Known(unaided=question.published is None)
    refused: dict[str, str] = {}
    with interruptible():
        for method in methods:
            _try(method, question, known, refused)
            if enough is not None and "baseline" in known:
                without = known.baseline
                if enough(known.floor.floor, known.ceiling.ceiling, without.floor, without.ceiling):
                    break
    return known, {name: reason for name, reason in refused.items() if name not in known}


def _try(method: Method, question: Question, known: Known, refused: dict[str, str]) -> None:
    """Add what a method finds to what is known, or why it does not apply to what is refused."""
    reason = method.reason(question)
    if reason is not None:
        for name in method.bounds:
            refused.setdefault(name, reason)
        return
    try:
        for finding in method.run(question, known):
            known.add(finding)
    except UnsupportedRelease as unsupported:
        # What was tried says more than what does not apply.
        refused.update(dict.fromkeys(method.yields, str(unsupported)))
