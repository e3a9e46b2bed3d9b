"""The bound `crowd`: told where each of the others was at every second step, an adversary faces independent counts."""

from collections.abc import Iterator
from dataclasses import replace

from passerby.measurement.average import anchor, draws
from passerby.measurement.crowd import Aim, against_crowd, blind_attacks, drawn_ends
from passerby.measurement.finding import Finding, Known, Look, limit
from passerby.measurement.loss import Loss
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.model.crowd import Crowd, Laws
from passerby.model.disclosure import Disclosure
from passerby.model.release import Release

from .ways import refuses_one_series


def run(question: Question, known: Known) -> Iterator[Finding]:
    """Both ends under the true law of all counts together, or given what is told of the others in an audit."""
    crowd = question.release.crowd
    assert crowd is not None
    aim = Aim(
        question.misses, question.tolerance, question.budget, question.level, draws(question), anchor(question, known)
    )
    if crowd.told is not None:
        yield from given_told(question, crowd.told, aim)
        return
    if crowd.witness is not None:
        rng = question.rng()
        ends = drawn_ends(question.prior, question.release, crowd.witness.draw(aim.runs, rng), aim, rng)
    else:
        ends = against_crowd(question.prior, question.release, aim, question.rng())
    look = Look(ends.series, not ends.certain, nodes=ends.nodes, operations=ends.operations)
    for attack in ends.attacks.values():
        yield replace(attack, look=look)
    yield limit("crowd", ends.bound, look, None if ends.certain else question.level)


def given_told(question: Question, laws: Laws, aim: Aim) -> Iterator[Finding]:
    """Where it is given what is told of the crowd: the numbers of others are then independent, and measured so."""
    release = question.release.with_others(Crowd.told_of(laws, laws))
    found = again(question, release, question.confidence)
    look = Look(found.effort.series, True, found.effort.covered, found.effort.nodes, found.effort.operations)
    rng = question.rng()
    drawn = Disclosure.of(release, laws, aim.runs, rng)
    for attack in blind_attacks(question.prior, question.release, drawn, aim, rng).values():
        yield replace(attack, look=look)
    yield limit("crowd", found.upper, look, None if found.effort.confidence is None else question.level)


def again(question: Question, release: Release, confidence: float) -> Loss:
    """The same question about another release."""
    from passerby.measurement.measure import trace_loss

    return trace_loss(
        question.prior,
        release,
        question.misses,
        tolerance=question.tolerance,
        seed=question.seed,
        series=question.series,
        runs=question.runs,
        confidence=confidence,
        budget=question.budget,
    )


def refuses(question: Question) -> str | None:
    """Counts that are independent need nothing to be told."""
    if question.release.independent:
        return "counts are independent given the trace"
    return refuses_one_series(question)


CROWD = Method(
    "crowd",
    "bounds what an adversary achieves who is told where each of the others was at every second step",
    run,
    attacks=("map", "marginal", "ascent"),
    bounds=("crowd",),
    needs=("baseline",),
    refuses=refuses,
    cost=lambda question: question.budget,
)
