"""Series that are drawn: where nothing else is close enough, and for the plain guesses, which nothing else scores."""

from collections.abc import Iterator

from passerby.measurement.average import FAR, balanced, dear, draws, plainly, resolution, sample, searched
from passerby.measurement.best_guess import cost_of_series
from passerby.measurement.finding import Finding, Known, exact
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.stretches import dense
from passerby.outcomes.series import Series

from .renewal import ALL, share
from .ways import by_stretches, refuses_others

#: A sample may raise the lower end by this factor where the absolute gap is too small for it to lower the upper one.
FACTOR = 1.25


def run(question: Question, known: Known) -> Iterator[Finding]:
    """Attacks at a confidence, and where the certain ends are far apart, a search for each series that was drawn."""
    lower, upper = known.floor.floor, known.ceiling.ceiling
    scored = known.attack("map") is not None and known.attack("marginal") is not None
    looked = "posterior" in known or "modes" in known
    finest = resolution(question, known.baseline.floor, draws(question)) * (FAR if looked else 1.0)
    near = (upper - lower <= finest and upper <= FACTOR * lower) or question.within(lower, upper)
    listed = "posterior" in known and not by_stretches(question)
    drawn = any(finding.level is not None for finding in known)
    if question.series == "auto" and scored and (listed or near or drawn or thorough(question)):
        return
    if question.series == "auto" and near:
        if "ascent" not in known:
            yield exact("ascent", known.baseline.floor)
        yield from plainly(question, sample(question, known, draws(question)))
    else:
        series = sample(question, known, balanced(question, known))
        yield from searched(question, question.told, series, known.spent, bounded=resolved(question, known, series))


def resolved(question: Question, known: Known, series: Series) -> bool:
    """Whether these series are to be bounded: not where that is dear, and less is certain than they can resolve."""
    finest = resolution(question, known.baseline.floor, len(series))
    return question.series != "auto" or not dear(question) or known.ceiling.ceiling > finest


def thorough(question: Question) -> bool:
    """Whether all of the budget went to guesses for stretches, which are dear."""
    dear_stretches = by_stretches(question) and dense(question.prior, question.told, question.misses)
    return dear_stretches and share(question) == ALL


def refuses(question: Question) -> str | None:
    """Where a list was asked for."""
    return "a list was asked for" if question.series == "enumerate" else refuses_others(question)


SAMPLING = Method(
    "sampling",
    "scores guesses, and searches for better ones, for series that are drawn",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda question: draws(question) * cost_of_series(question.prior, question.steps, question.misses),
)
