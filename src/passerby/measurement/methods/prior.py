"""The attack `prior`: the likeliest trace under the prior alone."""

from collections.abc import Iterator

import numpy as np

from passerby.measurement.decode import Ints, decode_series, unaided_success
from passerby.measurement.finding import Finding, Known, exact
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.outcomes.series import silent_series


def prior_attack(prior: MarkovPrior, steps: int, misses: int) -> Finding:
    """The likeliest trace under the prior alone. What is published plays no part, so the value is exact."""
    guess = prior.as_names(prior_trace(prior, steps))
    return exact("prior", unaided_success(prior, guess, misses), tuple(guess.tolist()))


def prior_trace(prior: MarkovPrior, steps: int) -> Ints:
    """The likeliest trace under the prior alone (T,): `argmax_x Pr[X = x]`, Koga et al. (2024), Proposition 2."""
    silent = Release.silent(steps)
    traces, _ = decode_series(prior, silent, silent_series(steps).evidence)
    return np.asarray(traces[0])


def run(question: Question, known: Known) -> Iterator[Finding]:
    """Exact: what is published plays no part."""
    yield prior_attack(question.prior, question.steps, question.misses)


def refuses(question: Question) -> str | None:
    """An average over what could have been published has no say about what was; samples are scored elsewhere."""
    if question.published is not None:
        return "it does not look at what was published"
    return "it is sampled" if question.way == "sampling" else None


PRIOR = Method(
    "prior",
    "names the likeliest trace without the release",
    run,
    attacks=("prior",),
    refuses=refuses,
    adaptive=True,
)
