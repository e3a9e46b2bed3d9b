"""One person: the evidence of a release about them, as intervals, for any question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict, Unpack, cast, overload

import numpy as np

from passerby.errors import InputError
from passerby.measurement.setup import How, Setup, set_up
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.checks import is_whole, word
from passerby.support.processes import interruptible

from .each_step import Curve, EachStep
from .event import Event
from .event_answer import EventAnswer
from .in_data import InData
from .question import Question
from .trace.goal import Way
from .trace.loss import Loss
from .trace.measure import Trace


class Options(TypedDict, total=False):
    """The precision and the inputs of an answer: the keywords of `measure`."""

    misses: int | None
    tolerance: float
    seed: int | Sequence[int]
    series: How
    runs: int
    confidence: float
    budget: float
    method: Way
    published: Iterable[float | Iterable[float]] | None


@overload
def measure(prior: MarkovPrior, release: Release, question: Trace | int = ..., **effort: Unpack[Options]) -> Loss: ...
@overload
def measure(
    prior: MarkovPrior, release: Release, question: Event | InData, **effort: Unpack[Options]
) -> EventAnswer: ...
@overload
def measure(prior: MarkovPrior, release: Release, question: EachStep, **effort: Unpack[Options]) -> Curve: ...
@overload
def measure(
    prior: MarkovPrior, release: Release, question: Sequence[Question | int], **effort: Unpack[Options]
) -> list[Any]: ...
def measure(
    prior: MarkovPrior,
    release: Release,
    question: Question | int | Sequence[Question | int] = 0,
    *,
    misses: int | None = None,
    tolerance: float = 0.01,
    seed: int | Sequence[int] = 0,
    series: How = "auto",
    runs: int = 1000,
    confidence: float = 0.99,
    budget: float = 2e10,
    method: Way = "exact",
    published: Iterable[float | Iterable[float]] | None = None,
) -> Any:
    """The evidence of a release about a person with this prior: an answer to a question, or a list of them to several.

    A whole number, or `misses`, asks for `Trace(misses)`, and gives a `Loss`: how likely all but so many steps of the
    best guess are right. `Event` and `InData` give an `EventAnswer`, and `EachStep` a `Curve`.

    The search for the best guess ends once the interval is within `tolerance` of the loss. It also ends after about
    `budget` elementary operations (1e10 take a second or two). The baseline gets 1e9 in any case. A small budget gives
    a wider interval, not a wrong one.

    A series is the output of all steps together. Answers are averages over all possible series. `series` chooses the
    way to look at them. "enumerate" lists them. "sample" draws `runs` of them, and the interval then holds at level
    `confidence` (`seed` is the seed of the draws). "auto" chooses the fitting way. It lists series if few of them carry
    the probability. For many values or a continuum, it lists discrete stand-ins: less telling ones and more telling
    ones. For long raw counts, it takes all series at once by the stretches between sightings. It samples if nothing
    else is close enough.

    `published` holds the values of an actual release (in the form of the release's sensors). The answer is then about
    exactly these: the best guess's success, or the event's chance, given them. With `method="sampling"` the paper's
    three attacks are scored by its plain Monte Carlo of `runs` traces instead, and nothing is searched.

    >>> from passerby import line_prior
    >>> loss = measure(line_prior(20), Release([7, 13, 4]), misses=1)
    >>> loss.upper <= 1.01 * loss.lower
    True
    """
    asked = _questions(question, misses)
    effort = {"tolerance": tolerance, "budget": budget, "confidence": confidence, "runs": runs, "series": series}
    word(method, "method", ("exact", "sampling"))
    setup = set_up(prior, release, seed, published, **effort)
    given, counted = setup.given or (setup.prior, setup.release)
    for each in asked:
        each.check(given, counted)
    with interruptible():
        answers = [_answer(each, setup, method) for each in asked]
    return answers if _several(question) else answers[0]


def _answer(question: Question, setup: Setup, method: Way) -> Any:
    """The answer to one question; the paper's Monte Carlo is for its own question alone."""
    if method == "exact":
        return question.answer(setup)
    if not isinstance(question, Trace):
        raise InputError(f"method='sampling': the paper's way is for Trace(...), not for {question!r}")
    return question.answer(setup, method)


def _several(question: Any) -> bool:
    return isinstance(question, (list, tuple))


def _questions(question: Any, misses: Any) -> list[Question]:
    """The given questions, as question objects."""
    if misses is not None:
        if not is_whole(question) or question != 0:
            raise InputError(f"misses={misses!r}: it is short for a question, and {question!r} is asked already")
        question = misses
    every = list(question) if _several(question) else [question]
    if not every:
        raise InputError("question: the list is empty; ask for one at least, such as Trace(1) or InData()")
    return [each if isinstance(each, Question) else _trace(each) for each in every]


def _trace(misses: Any) -> Trace:
    """A whole number is short for the paper's question. Any other number is left to the release's check."""
    if isinstance(misses, (int, float, np.integer, np.floating)):
        return Trace(cast(int, misses))
    raise InputError(
        f"question: expected Trace(...), Event(...), InData(), EachStep(), or a whole number of misses; got {misses!r}"
    )
