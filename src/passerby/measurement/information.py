"""How much, in nats, is unknown about a trace, and how much a release tells about it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.kernels.renewal import sightings
from passerby.kernels.renewal import sightings as entropies
from passerby.model.kinds import check_prior, check_release
from passerby.model.prior import MarkovPrior, state_laws
from passerby.model.release import Release
from passerby.model.signals import counts_of
from passerby.outcomes.series import chances_of_all
from passerby.support.checks import is_word

Floats = NDArray[np.float64]
Method = Literal["exact", "order1", "paper-gaussian", "per-step", "best"]


#: Recursions over stretches between sightings are run only up to this many elementary operations (about a minute).
STRETCHES_LIMIT = 1e11
#: The rounding by which a mechanism's information may be too small.
QUADRATURE = 1e-13


def shannon(law: Floats, axis: int | None = -1) -> Floats:
    """`-Σ p log p` along an axis, with `0 log 0 = 0`."""
    safe = np.where(law > 0, law, 1.0)
    return np.asarray(-(law * np.log(safe)).sum(axis=axis))


def told_apart(law: Floats) -> Floats:
    """The entropy of "at none of the sensors", "at sensor 0", ... (..., C) without differences: little stays exact."""
    none, seen = law[..., 0], law[..., 1:]
    some = seen.sum(axis=-1)
    log_total = np.log(none + some)
    rare = np.where(none > some, none, 1.0)
    unseen = np.where(
        none > some, none * np.log1p(some / rare), none * (log_total - np.log(np.where(none > 0, none, 1.0)))
    )
    each = seen * (log_total[..., None] - np.log(np.where(seen > 0, seen, 1.0)))
    return np.asarray(np.where(some > 0, unseen + each.sum(axis=-1), 0.0))


def told_by_each(here: Floats, away: Floats) -> Floats:
    """The entropy of being counted or not, for each count by itself, from both chances; without differences too."""
    few, many = np.minimum(here, away), np.maximum(here, away)
    safe, total = np.where(few > 0, few, 1.0), few + many
    return np.asarray(np.where(few > 0, few * (np.log(total) - np.log(safe)) + many * np.log1p(few / many), 0.0))


def entropy(prior: MarkovPrior, steps: int) -> float:
    """Entropy of the trace, in nats.

    `H(X) = H(π) + Σ_t Σ_x Pr[X_{t-1} = x] H(P(x, ·))`, Koga et al. (2024), section 3.3.1.

    >>> from passerby import line_prior
    >>> round(entropy(line_prior(places=100, tau=0.1), steps=10), 6)
    38.691971
    """
    check_prior(prior)
    check_single(prior)
    return float(entropies.of_trace(prior.initial, prior.matrices, prior.merged_entropy, prior.check_steps(steps)))


def mutual_information(prior: MarkovPrior, release: Release, method: Method = "best") -> float:
    """Information about the trace from a release, in nats, or an upper bound on it, by the named method.

    - "exact": the mutual information itself, for raw counts. A sighting reveals the place, so the chain starts afresh
      there. The entropy of the published series is then a sum over the stretches between sightings.
    - "order1": `Σ_t H(Y_t | Y_{t-1})`, an upper bound for raw counts (Koga et al. 2024, section 3.3.1).
    - "paper-gaussian": the paper's upper bound for Gaussian noise (its equation 4).
    - "per-step": `Σ_t I(X_t; Y_t)`, an upper bound for any mechanism treating steps independently. Each term is exact
      with one sensor. With several it is the sum over sensors (or the entropy of the person's place).
    - "best": the smallest valid one for this release. Published counts are a function of raw counts, so the exact value
      for raw counts is one of them.

    >>> from passerby import Release, line_prior
    >>> round(mutual_information(line_prior(100), Release([7, 93, 41]), "exact"), 6)
    0.156956
    """
    check_prior(prior)
    check_release(release)
    release.check(prior)
    prior, release = release.over(prior)
    if not is_word(method, tuple(METHODS)):
        raise InputError(f"method: expected one of {', '.join(METHODS)}, got {method!r}")
    return METHODS[method](prior, release)


def sighting_probabilities(prior: MarkovPrior, release: Release) -> Floats:
    """For each step, the probability of each class of states told apart by its counts (T, C); 0 is no sensor."""
    steps = release.steps
    out = np.zeros((steps, release.sees.shape[1]))
    # Added up and not subtracted, so a little is not lost.
    np.add.at(out, (np.arange(steps)[:, None], release.classes(prior)), state_laws(prior, steps))
    return out


def paper_information(prior: MarkovPrior, release: Release) -> float:
    """The paper's upper bound on the mutual information for this mechanism."""
    if release.plain:
        return mutual_information(prior, release, "order1")
    if release.mechanism.deviation is not None and release.crowd is None:
        return mutual_information(prior, release, "paper-gaussian")
    raise UnsupportedRelease(f"the paper's bounds hold for raw counts and Gaussian noise, not for {release.words}")


def sighted(prior: MarkovPrior, release: Release) -> float:
    """The probability of being at an active sensor at least once."""
    prior, release = release.over(prior)
    there = release.classes(prior) if release.reveals else counted(prior, release)
    return float(sightings.sighted(prior.initial, prior.matrices, there))


def _order1(prior: MarkovPrior, release: Release) -> float:
    if not release.plain:
        raise UnsupportedRelease(f"order1: holds for raw counts, not for {release.words}")
    check_single(prior, release)
    return max(0.0, float(entropies.of_neighbours(prior.initial, prior.matrices, release.grid)))


def _paper_gaussian(prior: MarkovPrior, release: Release) -> float:
    """`Σ_t -Σ_a p_a log Σ_b p_b exp(-KL(a, b))` over the classes told apart by a step's sensors.

    With one sensor this is equation 4 of Koga et al. (2024); with several, the same step of its proof (appendix C)
    for Gaussian vectors: two different sensors are at squared distance 2. A group of g is at g times the distances.
    """
    check_single(prior, release)
    sigma = release.mechanism.deviation
    if sigma is None or release.crowd is not None:
        raise UnsupportedRelease(f"paper-gaussian: holds for Gaussian noise, not for {release.words}")
    total = 0.0
    for law in sighting_probabilities(prior, release):
        unlike, like = _likeness(law.size, sigma / release.size)
        # `log Σ_b p_b e^{-KL}`, from one minus the sum if that is small.
        apart, mixed = unlike @ law, like @ law
        log_mixed = np.where(apart < 0.5, np.log1p(-np.minimum(apart, 0.5)), np.log(np.where(law > 0, mixed, 1.0)))
        total -= float(law @ np.where(law > 0, log_mixed, 0.0))
    return total


@lru_cache(maxsize=64)
def _likeness(size: int, sigma: float) -> tuple[Floats, Floats]:
    """`1 - exp(-KL(a, b))` and `exp(-KL(a, b))`, (size, size), over "at none of the sensors", "at sensor 0", ..."""
    distance = np.full((size, size), 2.0)
    distance[0, :] = distance[:, 0] = 1.0
    np.fill_diagonal(distance, 0.0)
    return -np.expm1(-distance / (2 * sigma**2)), np.exp(-distance / (2 * sigma**2))


def counted(prior: MarkovPrior, release: Release) -> NDArray[np.int64]:
    """The number of counts of each step that count people in each state (T, M)."""
    return np.asarray(np.take_along_axis(release.sees.sum(axis=2), release.classes(prior), axis=1))


def check_single(prior: MarkovPrior, release: Release | None = None) -> None:
    """Refuse chains without a fresh start at sightings: a sighting must reveal the state."""
    if release is not None and not release.reveals:
        raise UnsupportedRelease("a count of a zone, a flow or visitors does not show the place: nothing starts afresh")
    if not prior.single:
        raise UnsupportedRelease("a sighting shows a place that several states share, so nothing starts afresh there")


def check_stretches(prior: MarkovPrior, release: Release) -> None:
    """Refuse sums over stretches between sightings (`kernels.renewal`) if they take too long, or do not apply."""
    check_single(prior, release)
    steps, sensors = release.grid.shape
    if (1 + steps * sensors) * steps * prior.states**2 > STRETCHES_LIMIT:
        raise UnsupportedRelease(
            f"sums over stretches between sightings would take too long with {steps} steps, {sensors} sensors a step "
            f"and {prior.places} places"
        )


def _exact(prior: MarkovPrior, release: Release) -> float:
    """`H(Y) = Σ_u R(u) Σ_{t>u} S(u,t-1) H(sighting at t | unseen since u)`, R(u) the probability of a sighting."""
    if not release.plain:
        raise UnsupportedRelease(f"exact: holds for raw counts, not for {release.words}")
    if not release.reveals or not prior.single:
        return _by_series(prior, release)
    check_stretches(prior, release)
    return max(0.0, float(entropies.of_series(prior.initial, prior.matrices, release.grid)))


def _by_series(prior: MarkovPrior, release: Release) -> float:
    """The entropy of the published series, if all of them can be listed."""
    chances = chances_of_all(prior, release)
    if chances is None:
        raise UnsupportedRelease("exact: there are too many series of these counts to list")
    return float(shannon(chances / chances.sum()))


def check_independent(release: Release) -> None:
    """Refuse dependent numbers of others, if a formula takes each count by itself."""
    if not release.independent:
        raise UnsupportedRelease(
            f"counts depend on each other with {release.crowd!r}, since they are of the same people"
        )


def _per_step(prior: MarkovPrior, release: Release, rounding: float = 0.0) -> float:
    """The sum over steps; each term raised by its `rounding`, but never above the entropy of its subject."""
    check_independent(release)
    laws = sighting_probabilities(prior, release)
    if release.plain:
        return float(told_apart(laws).sum())
    # Added up and not subtracted, so a little is not lost.
    here, away = ((laws[:, :, None] * bit).sum(axis=1) for bit in (release.sees, 1 - release.sees))
    each = np.zeros(here.shape)
    for t, step in enumerate(release.channels):
        each[t, : len(step)] = rounding
    for channel, cells in counts_of(release.channels):
        each[cells] += channel.informations(here[cells])
    return float(np.minimum(np.minimum(each, told_by_each(here, away)).sum(axis=1), told_apart(laws)).sum())


def _best(prior: MarkovPrior, release: Release) -> float:
    values, raw = [], release if release.plain else release.as_raw()
    for method in (_exact, _order1):
        with suppress(UnsupportedRelease):
            values.append(method(prior, raw))
            break
    # Of raw counts, neither is ever above the sum over steps.
    if release.independent and not (release.plain and values):
        values.append(_per_step(prior, release, QUADRATURE))
    if not values:
        raise UnsupportedRelease("what counts of the same crowd tell of such a chain has no bound here")
    return min(values)


METHODS: dict[str, Callable[[MarkovPrior, Release], float]] = {
    "exact": _exact,
    "order1": _order1,
    "paper-gaussian": _paper_gaussian,
    "per-step": _per_step,
    "best": _best,
}
