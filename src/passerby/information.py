"""How much, in nats, is unknown about a trace, and how much a release tells about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .errors import InputError, UnsupportedRelease
from .mechanisms import Gaussian, Raw
from .prior import MarkovPrior
from .release import Release

Floats = NDArray[np.float64]
Method = Literal["order1", "paper-gaussian"]


def shannon(law: Floats, axis: int | None = -1) -> Floats:
    """`-Σ p log p` along an axis, with `0 log 0 = 0`."""
    safe = np.where(law > 0, law, 1.0)
    return np.asarray(-(law * np.log(safe)).sum(axis=axis))


def entropy(prior: MarkovPrior, steps: int) -> float:
    """Entropy of the trace, in nats.

    `H(X) = H(π) + Σ_t Σ_x Pr[X_{t-1} = x] H(P(x, ·))`, Koga et al. (2024), section 3.3.1.

    >>> from passerby import line_prior
    >>> round(entropy(line_prior(places=100, tau=0.1), steps=10), 6)
    38.691971
    """
    marginals = prior.marginals(steps)
    rows = shannon(prior.matrices)
    moves = sum(float(marginals[t - 1] @ rows[0 if prior.homogeneous else t - 1]) for t in range(1, steps))
    return float(shannon(prior.initial)) + moves + float((marginals @ prior.merged_entropy).sum())


def mutual_information(prior: MarkovPrior, release: Release, method: Method = "order1") -> float:
    """Information, in nats, that a release gives about the trace, or an upper bound on it, by the named method.

    - "order1": `Σ_t H(Y_t | Y_{t-1})`, an upper bound for raw counts (Koga et al. 2024, section 3.3.1).
    - "paper-gaussian": the paper's upper bound for Gaussian noise (its equation 4).

    >>> from passerby import Release, line_prior
    >>> round(mutual_information(line_prior(100), Release([7, 93, 41]), "order1"), 6)
    0.151862
    """
    release.check(prior)
    if method not in METHODS:
        raise InputError(f"method: expected one of {', '.join(METHODS)}, got {method!r}")
    return METHODS[method](prior, release)


def sighting_probabilities(prior: MarkovPrior, release: Release) -> list[Floats]:
    """For each step, the probabilities of "at none of the sensors", "at sensor 0", ..."""
    out = []
    for law, step in zip(prior.marginals(release.steps), release.sensors, strict=True):
        seen = law[list(step)]
        # Added up rather than taken from one: exact where nothing is left over.
        out.append(np.append(np.delete(law, list(step)).sum(), seen))
    return out


def _order1(prior: MarkovPrior, release: Release) -> float:
    if not isinstance(release.mechanism, Raw):
        raise UnsupportedRelease(f"order1: holds for raw counts, not for {release.mechanism!r}")
    marginals = prior.marginals(release.steps)
    total = float(shannon(sighting_probabilities(prior, release)[0]))
    before = _partition(release.sensors[0], prior.places)
    for t in range(1, release.steps):
        after = _partition(release.sensors[t], prior.places)
        moves = prior.matrices[0 if prior.homogeneous else t - 1]
        joint = (before * marginals[t - 1]) @ moves @ after.T
        total += float(shannon(joint, axis=None) - shannon(joint.sum(axis=1)))
        before = after
    return total


def _partition(step: tuple[int, ...], places: int) -> Floats:
    """Indicator rows (S + 1, M): at none of the sensors, at sensor 0, ..."""
    rows = np.zeros((len(step) + 1, places))
    rows[0] = 1.0
    rows[0, list(step)] = 0.0
    rows[np.arange(1, len(step) + 1), list(step)] = 1.0
    return rows


def _paper_gaussian(prior: MarkovPrior, release: Release) -> float:
    """`Σ_t -Σ_a p_a log Σ_b p_b exp(-KL(a, b))` over what a step's sensors tell apart.

    With one sensor this is equation 4 of Koga et al. (2024); with several, the same step of its proof (appendix C)
    for Gaussian vectors: two different sensors are at squared distance 2.
    """
    if not isinstance(release.mechanism, Gaussian):
        raise UnsupportedRelease(f"paper-gaussian: holds for Gaussian noise, not for {release.mechanism!r}")
    total = 0.0
    for law in sighting_probabilities(prior, release):
        distance = np.full((law.size, law.size), 2.0)
        distance[0, :] = distance[:, 0] = 1.0
        np.fill_diagonal(distance, 0.0)
        mixed = np.exp(-distance / (2 * release.mechanism.sigma**2)) @ law
        total -= float(law @ np.log(np.where(law > 0, mixed, 1.0)))
    return total


METHODS: dict[str, Callable[[MarkovPrior, Release], float]] = {
    "order1": _order1,
    "paper-gaussian": _paper_gaussian,
}
