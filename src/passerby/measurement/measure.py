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
from .question import Question, pose
from .setup import How

#: Whether both ends of the loss and both of the baseline, in this order, are all that is to be known.
Enough = Callable[[float, float, float, float], bool]


def trace_loss(
    prior: MarkovPrior,
    release: Release,
    misses: int = 0,
    *,
    seed: int | Sequence[int] = 0,
    published: Iterable[float | Iterable[float]] | None = None,
    tolerance: float = 0.01,
    series: How = "auto",
    runs: int = 1000,
    confidence: float = 0.99,
    budget: float = 2e10,
) -> Loss:
    """The loss of a release for a person with this prior, when `misses` steps may be wrong: see `pb.measure`."""
    effort = {"tolerance": tolerance, "budget": budget, "confidence": confidence, "runs": runs, "series": series}
    return loss_of(pose(prior, release, misses, seed, published, **effort))


def loss_of(question: Question) -> Loss:
    """What all methods say of a question, put together."""
    started = time.perf_counter()
    known, refused = investigate(question)
    return conclude(question, known, refused, started)


def measure_until(enough: Enough, prior: MarkovPrior, release: Release, misses: int, seed: Any, **how: Any) -> Loss:
    """The same with no more methods than it takes to know enough: ends hold, and may be wider than was asked for."""
    started = time.perf_counter()
    question = pose(prior, release, misses, seed, None, series="auto", **how)
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
