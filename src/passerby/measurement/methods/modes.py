"""The bound `modes`: an adversary who is told which of several habits the target keeps to knows more than any other."""

from collections.abc import Iterator
from dataclasses import replace

from passerby.measurement.finding import Finding, Known, limit
from passerby.measurement.method import Method
from passerby.measurement.question import Question
from passerby.model.mixture import part_states, parts, possible_modes

from .ways import refuses_others

#: The share of the budget that goes to the modes together.
SHARE = 0.5


def run(question: Question, known: Known) -> Iterator[Finding]:
    """`Σ_k w_k loss_k`, each mode by itself, where nothing is known of all series.

    Where they were looked at, telling the mode adds nothing. Nor does it to speak of where the bound `raw` is one,
    which tells the mode of long series already.
    """
    raw = known.bound("raw")
    looked = "posterior" in known or "modes" in known or (raw is not None and raw.ceiling < 1)
    if not looked and not question.within(known.floor.floor, known.ceiling.ceiling):
        yield told_mode(question)


def told_mode(question: Question) -> Finding:
    """What is achieved at most where the mode is told."""
    from passerby.measurement.conclusion import conclude
    from passerby.measurement.measure import investigate

    ceiling, certain = 0.0, True
    modes = parts(question.prior)
    doubt = (1 - question.level) / len(modes)
    for mode, (weight, prior) in zip(possible_modes(question.prior), modes, strict=True):
        release = question.release.of_states(part_states(question.prior, mode)[0])
        asked = replace(
            question, prior=prior, release=release, budget=SHARE * weight * question.budget, confidence=1 - doubt
        )
        loss = conclude(asked, *investigate(asked), 0.0)
        ceiling += weight * loss.upper
        certain &= loss.effort.confidence is None
    return limit("modes", ceiling, level=None if certain else question.level)


def refuses(question: Question) -> str | None:
    """Only a mixture has modes."""
    return "the habits are of one kind" if question.prior.modes == 1 else refuses_others(question)


MODES = Method(
    "modes",
    "bounds what an adversary achieves who is told which of several habits the person keeps to",
    run,
    bounds=("modes",),
    needs=("baseline", "raw"),
    refuses=refuses,
    cost=lambda question: SHARE * question.budget,
)
