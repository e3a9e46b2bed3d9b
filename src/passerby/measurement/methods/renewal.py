"""Raw counts with too many series to list: both ends for all of them at once, from the stretches between sightings."""

from collections.abc import Iterator

from passerby.measurement.finding import Finding, Known, Look, exact, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.measurement.stretches import bracket_stretches

from .ways import by_sightings, by_stretches, refuses_others


def run(question: Question, known: Known) -> Iterator[Finding]:
    """A sighting makes the chain start afresh (`kernels.renewal_guess`); nothing where its tables are too big.

    Of a mixture, where the mode is told: `Σ_k w_k loss_k`.
    """
    found = bracket_stretches(question.prior, question.told, question.misses, question.tolerance, question.budget / 2)
    if found is not None:
        look = Look(found.refined, nodes=found.nodes, operations=found.operations)
        yield exact("ascent", found.lower, look=look)
        if question.prior.modes == 1:
            yield exact("map", found.ways)
            yield exact("marginal", found.places)
        yield limit("posterior" if question.prior.modes == 1 else "modes", found.upper, look)


def refuses(question: Question) -> str | None:
    """Where a sighting does not reveal the place, nothing starts afresh; few series are better looked at one by one."""
    if not by_sightings(question):
        return "published values are no sightings"
    if not by_stretches(question):
        return "its series can be looked at one by one"
    return refuses_others(question)


RENEWAL = Method(
    "renewal",
    "bounds the best guess for all series of raw counts at once, stretch by stretch between sightings",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("posterior",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda question: question.budget / 2,
)
