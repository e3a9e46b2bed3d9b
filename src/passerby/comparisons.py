"""What other measures of privacy say of the same release: differential privacy, and reconstruction advantage."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .bounds import log_likeliest, loose_bound
from .errors import InputError
from .mechanisms import Gaussian, Raw
from .prior import MarkovPrior
from .release import Release


@dataclass(frozen=True)
class DifferentialPrivacy:
    """`(epsilon, delta)` of a release, the same for every person: by the paper's formula and by exact accounting.

    Both are None where the mechanism is not differentially private; `remark` says why, or warns about the formula.
    """

    delta: float
    formula: float | None
    exact: float | None
    remark: str


def differential_privacy(release: Release, delta: float = 1e-5) -> DifferentialPrivacy:
    """Differential privacy of all steps together, for datasets that differ in one person's whole trace.

    The formula is `sqrt(2 ln(1.25/δ) T) / σ` (Dwork and Roth 2014, as quoted by Koga et al. 2024, section 2.2), which
    holds only where it gives at most 1; the exact value comes from the privacy curve of the Gaussian mechanism (Balle
    and Wang 2018) as computed by the package dp-accounting. One person changes one count by one at a step with one
    sensor, and two counts at a step with several.

    >>> value = differential_privacy(Release([0] * 10, Gaussian(1.0)))
    >>> round(value.formula, 2), round(value.exact, 2)
    (15.32, 17.86)
    """
    if not 0 < delta < 1:
        raise InputError(f"delta: expected a number between 0 and 1, got {delta!r}")
    squared = sum(min(len(step), 2) for step in release.sensors)
    if squared == 0:
        return DifferentialPrivacy(delta, 0.0, 0.0, "nothing is published")
    if isinstance(release.mechanism, Raw):
        return DifferentialPrivacy(delta, None, None, "raw counts are not differentially private: no noise is added")
    if not isinstance(release.mechanism, Gaussian):
        return DifferentialPrivacy(delta, None, None, f"no accounting is known here for {release.mechanism!r}")
    from dp_accounting import get_epsilon_gaussian

    sigma = release.mechanism.sigma
    formula = math.sqrt(2 * math.log(1.25 / delta) * squared) / sigma
    exact = float(get_epsilon_gaussian(sigma / math.sqrt(squared), delta))
    remark = "the formula is within its range"
    if formula > 1:
        remark = "the formula holds only up to 1: use the exact value"
    return DifferentialPrivacy(delta, formula, exact, remark)


def reconstruction_advantage(prior: MarkovPrior, release: Release, success: float | None = None) -> float:
    """Guo et al.'s (2022) advantage `(success - p*) / (1 - p*)` of getting every step right, `p* = max_x Pr[X = x]`.

    Without `success`, their upper bound: Fano's inequality `H(X) - I <= h(q) + q log(M^T - 1)` on the error `q`.

    >>> from passerby import line_prior
    >>> round(reconstruction_advantage(line_prior(100), Release([7, 93, 41])), 4)
    0.1624
    """
    release.check(prior)
    if success is not None and not 0 <= success <= 1:
        raise InputError(f"success: expected a probability, got {success!r}")
    known = math.exp(log_likeliest(prior, release.steps))
    reached = loose_bound(prior, release, 0) if success is None else success
    return (reached - known) / (1 - known) if known < 1 else 0.0
