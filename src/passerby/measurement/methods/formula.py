"""What the bounds by formula share."""

import math

from passerby.kernels.joint_maxima import FAINT
from passerby.measurement.finding import Known
from passerby.measurement.kappa import log_kappa_bound
from passerby.measurement.question import Question


def refuses(question: Question) -> str | None:
    """They are about averages over all that can be published."""
    return None if question.published is None else "it is about all that can be published, not about one series"


def log_baseline(question: Question, known: Known) -> float:
    """The logarithm of a certain ceiling for what is achieved without the release."""
    kappa = known.baseline.ceiling
    if kappa > FAINT:
        return math.log(kappa)
    if question.prior.naming is not None:
        return math.log(FAINT)
    # A ceiling that small was rounded up; a formula in logarithms may say less.
    formula = log_kappa_bound(question.prior, question.steps, question.misses)
    return min(math.log(kappa), formula) if kappa > 0 else formula
