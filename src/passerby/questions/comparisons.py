"""Other measures of privacy for the same release: differential privacy, and reconstruction advantage."""

from __future__ import annotations

import math
from dataclasses import dataclass

from passerby.errors import InputError, UnsupportedRelease
from passerby.measurement.accounting import epsilon, shared_noise
from passerby.measurement.sensitivity import most_changed, sensitivity
from passerby.mechanisms import Mechanism
from passerby.model.kinds import check_prior, check_release
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.checks import is_number

from .trace.kappa import log_likeliest
from .trace.methods.formula import loose_bound


@dataclass(frozen=True)
class DifferentialPrivacy:
    """`(epsilon, delta)` of a release: by the paper's formula and by exact accounting, the same for every person.

    `formula` and `exact` are for datasets differing in the trace of one person. `added` is for datasets differing in
    the presence of one person. At most `changed_counts` and `added_counts` counts differ. `person` is `exact` for the
    possible traces of one person, if their prior is given. All are None if the mechanism is not differentially private.
    `remark` then gives the reason. It may also warn of the formula (for Gaussian noise).
    """

    delta: float
    formula: float | None
    exact: float | None
    remark: str
    person: float | None = None
    added: float | None = None
    changed_counts: int | None = None
    added_counts: int | None = None


def differential_privacy(
    release: Release, delta: float = 1e-5, prior: MarkovPrior | None = None
) -> DifferentialPrivacy:
    """Differential privacy of all steps together, for datasets differing in the whole trace of one person.

    If people move in groups (`Release(size=g)`), datasets differ in the trace of a whole group. This changes counts by
    g at a time, so pure epsilon is g times the epsilon of one person.

    The formula is `sqrt(2 ln(1.25/δ) T) / σ` (Dwork and Roth 2014, as quoted by Koga et al. 2024, section 2.2). It
    holds only if its value is at most 1. The exact value comes from `accounting.epsilon`. One person changes one count
    by one at a step with one sensor, and two counts at a step with several. With zones, flows and visitors, one person
    changes as many as two traces differ in (`sensitivity`). Post-processing of noisy counts (rounding, clamping,
    suppression) does not weaken their differential privacy. It is not counted as strengthening it. Noise after a fresh
    sample for each count is stronger than noise alone; its value is exact for one count, and a little above for
    several.

    >>> from passerby.mechanisms import Gaussian
    >>> value = differential_privacy(Release([0] * 10, Gaussian(1.0)))
    >>> round(value.formula, 2), round(value.exact, 2)
    (15.32, 17.86)
    """
    check_release(release)
    if not is_number(delta) or not 0 < delta < 1:
        raise InputError(f"delta: expected a number between 0 and 1, got {delta!r}")
    if prior is not None:
        check_prior(prior)
        release.check_places(prior)
    try:
        if not any(release.sensors) and release.fixed:
            return DifferentialPrivacy(delta, 0.0, 0.0, "nothing is published", None if prior is None else 0.0, 0.0)
        noise, weights = shared_noise(release.ways, release.size)
        changed, added = sensitivity(release, weights)
        counts = (changed, added) if set(weights.values()) == {1.0} else sensitivity(release)
        person = None
        if prior is not None:
            person = epsilon(noise, most_changed(*release.over(prior), weights), delta)
    except UnsupportedRelease as reason:
        return DifferentialPrivacy(delta, None, None, str(reason))
    exact = epsilon(noise, changed, delta)
    return DifferentialPrivacy(
        delta,
        *_by_formula(noise, changed, delta, exact),
        person,
        epsilon(noise, added, delta),
        *map(round, counts),
    )


def _by_formula(noise: Mechanism, times: float, delta: float, exact: float) -> tuple[float | None, float, str]:
    """The paper's formula, the exact value, and a remark on the two."""
    if noise.deviation is None:
        remark = f"the formula is for Gaussian noise, not for {noise!r}"
        if noise.sampled is not None:
            remark += "; the sample is accounted for, by an upper bound where several counts are published"
        return None, exact, remark
    formula = math.sqrt(2 * math.log(1.25 / delta) * times) / noise.deviation
    if formula > 1:
        return formula, exact, "the formula holds only up to 1: use the exact value"
    return formula, exact, "the formula is within its range"


def reconstruction_advantage(prior: MarkovPrior, release: Release, success: float | None = None) -> float:
    """Guo et al.'s (2022) advantage `(success - p*) / (1 - p*)` of getting every step right.

    `p* = max_x Pr[X = x]` is the chance of the best guess without the release. Its traces x have no step at a place
    outside `guessable`. Without `success`, their upper bound: Fano's inequality `H(X) - I <= h(q) + q log(M^T - 1)` on
    the error `q`, over all traces.

    >>> from passerby import line_prior
    >>> round(reconstruction_advantage(line_prior(100), Release([7, 93, 41])), 4)
    0.1624
    >>> away = MarkovPrior([0.2, 0.8], [[0.5, 0.5], [0.1, 0.9]], guessable=[True, False])   # p* = 0.2 at one step
    >>> reconstruction_advantage(away, Release([0]), success=0.2)
    0.0
    """
    check_prior(prior)
    check_release(release)
    release.check(prior)
    if success is not None and (not is_number(success) or not 0 <= success <= 1):
        raise InputError(f"success: expected a probability, got {success!r}")
    known = math.exp(log_likeliest(prior, release.steps))
    reached = loose_bound(prior, release, 0) if success is None else success
    return (reached - known) / (1 - known) if known < 1 else 0.0
