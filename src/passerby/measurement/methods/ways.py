"""What the ways to look at all that can be published share: when they do not apply."""

from passerby.measurement.average import affordable
from passerby.measurement.question import Question
from passerby.outcomes.series import log_series
from passerby.support.logs import exceeds


def refuses_others(question: Question) -> str | None:
    """The reason, where counts cannot be looked at one by one, or the question is not about all of them."""
    if not question.release.independent:
        return "counts of the same crowd depend on each other"
    return refuses_one_series(question)


def refuses_one_series(question: Question) -> str | None:
    """The reason, where the question is not about all that can be published."""
    if question.published is not None:
        return "one series was published, and the question is about that one"
    return "the paper's way draws traces" if question.way == "sampling" else None


def by_sightings(question: Question) -> bool:
    """Whether each count tells for certain if the target is there, or tells nothing."""
    return question.told.plain


def by_stretches(question: Question) -> bool:
    """Whether all series of raw counts are looked at at once, since there are too many to look at one by one."""
    if question.series != "auto" or not by_sightings(question):
        return False
    return exceeds(log_series(question.prior, question.told), affordable(question, question.budget))
