"""Differential privacy of noise with several fresh draws, and the bound on any guess implied by it.

Only additive noise is accounted for; anything else is refused with the reason. The published values may be any function
of the noise, and the count a fresh sample. Gaussian noise is composed in closed form. The rest is composed by the
privacy loss distributions of the package dp-accounting. These are cut into steps and rounded to the safe side.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.mechanisms.base import Mechanism
from passerby.mechanisms.composition import Group
from passerby.mechanisms.registry import REGISTRY
from passerby.outcomes.stand_ins import coarser, joined
from passerby.support.statistics import by_ratio

from .roots import rounded_up

Floats = NDArray[np.float64]

#: Counts at which a mechanism is searched for values giving the target away.
LOOKED_AT = range(50)
#: The most values for looking at further counts.
MOST_LOOKED_AT = 500_000
#: A log likelihood ratio as good as certainty.
CERTAIN = 100.0
#: Bins of a continuum without a known closed form.
FINE = 8192
#: Levels epsilon of a privacy curve.
LEVELS = 257
#: Approximate steps of a composed privacy loss distribution: some hundredths of a second for it and its curve.
POINTS = 2**15
#: Finer steps than this lose more by rounding than they gain.
FINEST = 1e-5


def private_noise(mechanism: Mechanism) -> Mechanism:
    """The additive noise behind a mechanism's differential privacy; or the reason for its absence.

    >>> from passerby.mechanisms import Gaussian, Rounding, Then
    >>> private_noise(Then(Gaussian(2.0, clamped=True), Rounding(5)))
    Gaussian(sigma=2.0)
    """
    noise = mechanism.noise()
    if noise is not None and _accounted(noise) is not None:
        return noise
    raise UnsupportedRelease(_why_not(mechanism))


def shared_noise(ways: Sequence[Mechanism], size: int = 1) -> tuple[Mechanism, dict[Mechanism, float]]:
    """The common noise of several mechanisms, and the number of draws counted for each; or the reason for its absence.

    Normal noise of deviation σ counts for `(s / σ)²` draws of deviation s: its evidence adds up in squares. For a group
    of a size moving as one, it is the noise hiding as much of one person (`noise_for`).

    >>> from passerby.mechanisms import Gaussian
    >>> shared_noise([Gaussian(2.0), Gaussian(4.0)])
    (Gaussian(sigma=2.0), {Gaussian(sigma=2.0): 1.0, Gaussian(sigma=4.0): 0.25})
    """
    noises = {mechanism: noise_for(private_noise(mechanism), size) for mechanism in ways}
    first = next(iter(noises.values()))
    deviations = {way: noise.deviation for way, noise in noises.items()}
    if first.deviation is not None and None not in deviations.values():
        return first, {way: (first.deviation / own) ** 2 for way, own in deviations.items() if own is not None}
    if len(set(noises.values())) > 1:
        raise UnsupportedRelease(
            f"counts with different noise ({', '.join(map(repr, dict.fromkeys(noises.values())))}) are not accounted "
            "for together, unless all of it is normal"
        )
    return first, dict.fromkeys(noises, 1.0)


def noise_for(noise: Mechanism, size: int) -> Mechanism:
    """Noise for one person, hiding as little of them as this one hides of a group of a size moving as one.

    Normal and Laplace noise are scaled. For other noise, the law with all of the group is compared with the law without
    it. A sample of the people is left out: noise without it hides less, so the result is an upper end.

    >>> from passerby.mechanisms import Gaussian
    >>> noise_for(Gaussian(6.0), 3)
    Gaussian(sigma=2.0)
    """
    if size == 1:
        return noise
    if noise.sampled is not None:
        return noise_for(noise.sampled[1], size)
    return noise.divided(size) or Group(noise, 0, size)


#: Noise of another kind, with listable values, none of them giving the target away.
LISTED = "by the privacy loss distribution of its two laws"
#: Noise after a fresh sample of the people.
SAMPLED = "by the privacy loss distribution of the worse of both directions"


def _accounted(noise: Mechanism) -> str | None:
    """The way of accounting for noise; None if there is none."""
    if noise.sampled is not None:
        return SAMPLED if _accounted(noise.sampled[1]) is not None else None
    if noise.accounted is not None:
        return noise.accounted
    return LISTED if noise.outputs(0) is not None and not _tells(noise, 0) else None


def _why_not(mechanism: Mechanism) -> str:
    """The reason why a mechanism has no differential privacy, or none that is accounted for."""
    if mechanism.raw:
        return "raw counts are not differentially private: no noise is added"
    if mechanism.rules is not None:
        return (
            f"{mechanism!r} is not differentially private: at some counts, one person changes the published value "
            "for certain"
        )
    given_away = _gives_away(mechanism)
    if given_away is not None:
        return (
            f"{mechanism!r} is not differentially private: with {given_away} others, some values are published only if "
            "the target is there, or only if not"
        )
    known = ", ".join(entry.notation for entry in REGISTRY if entry.kind.accounted)
    return (
        f"no accounting is known here for {mechanism!r}: its noise is none of {known}, and has no values that can be "
        "listed"
    )


def _tells(mechanism: Mechanism, count: int) -> bool:
    """Whether some published values are possible only with or only without the target.

    Laws without an end are listed up to a negligible tail; it is not held against them.
    """
    pair = mechanism.pair(count)
    return bool(pair[(pair == 0).any(axis=1)].sum() > 1e-15)


def _gives_away(mechanism: Mechanism) -> int | None:
    """A number of others at which the target is given away, if there is one."""
    first = mechanism.outputs(0)
    some = LOOKED_AT if first is None else LOOKED_AT[: 1 + MOST_LOOKED_AT // len(first)]
    listed = (count for count in some if mechanism.outputs(count) is not None)
    return next((count for count in listed if _tells(mechanism, count)), None)


@lru_cache(maxsize=256)
def _losses(noise: Mechanism, times: int) -> Any:
    """The privacy loss distribution of noise drawn `times` times, each hiding a difference of one."""
    one = _once(noise, times)
    return one.self_compose(times) if times > 1 else one


def _once(noise: Mechanism, times: int) -> Any:
    """The distribution of a single draw, in steps leaving about `POINTS` of it after composing it `times` times.

    Noise in whole numbers has its losses on a lattice. If it is not too fine, the steps are its points: nothing is
    rounded then. Otherwise rounding is to the safe side, by the chords of the privacy curve between steps (Doroshenko
    et al. 2022): coarser steps give larger bounds.
    """
    own = noise.losses(lambda largest, deviation: _step(largest, deviation, times))
    return _of_table(noise.pair(0) if noise.symmetric else _worst(noise), times) if own is None else own


def _of_table(table: Floats, times: int) -> Any:
    """The distribution of two laws of the same outcomes (n, 2), neither of them telling more with both exchanged.

    An outcome goes to the two steps around its loss, in proportions keeping both laws: these are the chords.
    """
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
    from scipy.special import expit

    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.log(table[:, 1]) - np.log(table[:, 0])
    given_away = float(table[loss > CERTAIN, 1].sum())
    table, loss = table[np.abs(loss) <= CERTAIN], loss[np.abs(loss) <= CERTAIN]
    total = table.sum(axis=1)
    step = _step(float(np.abs(loss).max(initial=0.0)), math.sqrt(float(table[:, 1] @ loss**2)), times)
    left = np.floor(loss / step)
    # If the target is nearly sure to be there, the rest of its share has digits.
    sign = np.where(loss > 0, -1.0, 1.0)
    here = np.where(loss > 0, table[:, 0], table[:, 1]) / total
    ends = [expit(sign * at * step) for at in (left, left + 1)]
    up = np.clip((here - ends[0]) / (ends[1] - ends[0]), 0.0, 1.0)
    steps, index = np.unique(np.concatenate([left, left + 1]), return_inverse=True)
    mass = np.bincount(index.reshape(-1), np.concatenate([total * (1 - up), total * up]) * expit(steps * step)[index])
    law = dict(zip(steps.astype(int).tolist(), mass.tolist(), strict=True))
    return PrivacyLossDistribution.create_from_rounded_probability(law, given_away, step)


def _step(largest: float, deviation: float, times: int) -> float:
    """The width of steps for losses: sums of so many then have about `POINTS` of some probability.

    Sums hardly ever deviate from their mean by more than 8.4 ranges times the root of their number (Hoeffding). If no
    loss is rare, they hardly ever deviate by more than 10 deviations.
    """
    root = math.sqrt(times)
    width = min(2 * largest * min(times, 8.4 * root), 32 * largest + 20 * deviation * root)
    return max(FINEST, width / POINTS)


def _worst(noise: Mechanism) -> Floats:
    """A law (outcomes, 2) telling as much as the noise, also with and without exchanged.

    One trace instead of another adds to some counts and takes from others, so the two directions mix. With asymmetric
    noise, or after a sample, neither alone is the worst once draws are put together. Source: Lebeda et al. 2024,
    "Avoiding pitfalls for privacy accounting of subsampled mechanisms under composition".
    """
    table = _pair(noise)
    return joined([by_ratio(table), by_ratio(table[:, ::-1])])


def _pair(noise: Mechanism) -> Floats:
    """Likelihoods (outcomes, 2) at counts 0 and 1; a continuum is cut into bins telling a little more."""
    if noise.sampled is not None:
        rate, added = noise.sampled
        absent, present = _pair(added).T
        return np.stack([absent, (1 - rate) * absent + rate * present], axis=1)
    if noise.outputs(0) is None:
        bins = noise.bins(np.array([0.0, 1.0]), np.eye(2), bins=FINE)
        assert bins is not None
        return bins[1]
    table = noise.pair(0)
    return table if len(table) <= FINE else coarser(table, FINE)


def epsilon(noise: Mechanism, times: float, delta: float) -> float:
    """The smallest epsilon at this delta, for noise drawn afresh `times` times; a whole number but for normal noise.

    Gaussian: the privacy curve of Balle and Wang (2018), "Improving the Gaussian mechanism for differential privacy",
    theorem 8, as computed by dp-accounting. Otherwise numerical composition, as in Doroshenko et al. (2022), "Connect
    the dots", never below the smallest epsilon and hardly above it. Laplace and geometric noise of a scale below 0.02
    is given the epsilon valid at any delta, `times / scale`.
    """
    if times == 0:
        return 0.0
    if noise.deviation is not None:
        from dp_accounting import get_epsilon_gaussian

        return float(get_epsilon_gaussian(noise.deviation / math.sqrt(times), delta))
    most = noise.pure_epsilon(times)
    if times * CERTAIN / 2 < most < math.inf:
        return most
    value = min(most, _composed(noise, times, delta))
    return value if noise.sampled is None else min(value, epsilon(noise.sampled[1], times, delta))


def _composed(noise: Mechanism, times: float, delta: float) -> float:
    return float(_losses(noise, round(times)).get_epsilon_for_delta(delta))


def most_added(noise: Mechanism, times: int) -> float:
    """The largest gain by a release with noise drawn afresh `times` times: the total variation, `δ(0)`.

    Gaussian: `2 Φ(sqrt(times) / (2 σ)) - 1`. It is the advantage of an attack of Kulynych et al. (2024).

    >>> from passerby.mechanisms import Gaussian, Laplace
    >>> round(most_added(Gaussian(2.0), 4), 4), round(most_added(Laplace(2.0), 4), 3)
    (0.3829, 0.352)
    """
    if noise.deviation is not None:
        return math.erf(math.sqrt(times / 8) / noise.deviation)
    if noise.total_variation() > 1 - math.exp(-CERTAIN / 4):
        return 1.0
    return min(1.0, float(_losses(noise, times).get_delta_for_epsilon(0.0)))


def success_bound(noise: Mechanism, times: float, log_known: float) -> float:
    """The largest success of any guess, if its success without the release is at most κ: `1 - f(κ)`, from `log κ`.

    f is the trade-off function of the noise drawn `times` times (Dong, Roth and Su 2022, "Gaussian differential
    privacy"). For every trace x, take the event "the guess succeeds against x" under the law of the publication about
    x. Its probability is at most `1 - f(q)`, with q its probability for a target nowhere. `1 - f` is concave, and on
    average over x, q is at most κ. This is the argument of Hayes, Mahloujifar and Balle (2023), "Bounding training data
    reconstruction in DP-SGD", and of Kulynych et al. (2024), "Attack-aware noise calibration for differential privacy".
    Gaussian: `Φ(Φ⁻¹(κ) + sqrt(times) / sigma)`. However small κ is, much noise-free evidence may make up for it, so it
    must not be taken for nothing.

    >>> from passerby.mechanisms import Gaussian
    >>> round(success_bound(Gaussian(1.0), 1, math.log(0.1)), 4)
    0.3891
    """
    if times == 0 or not -math.inf < log_known < 0:
        return rounded_up(log_known)
    if noise.deviation is not None:
        from scipy.special import log_ndtr, ndtri_exp

        start, shift = float(ndtri_exp(log_known)), math.sqrt(times) / noise.deviation
        # The two may all but cancel: rounding is to the safe side.
        return rounded_up(float(log_ndtr(start + shift + 8 * sys.float_info.epsilon * (abs(start) + shift))))
    if noise.total_variation() > 1 - math.exp(-CERTAIN / 4):
        return 1.0
    levels, deltas = _curve(noise, round(times))
    above = np.exp(np.minimum(levels + log_known, 0.0)) + deltas
    below = 1 - np.exp(-levels) * (-math.expm1(log_known) - deltas)
    return max(rounded_up(log_known), float(min(1.0, above.min(), below.min())))


@lru_cache(maxsize=256)
def _curve(noise: Mechanism, times: int) -> tuple[Floats, Floats]:
    """Levels epsilon, and delta at each: every one of them gives a bound, the best of them nearly `1 - f`."""
    losses = _losses(noise, times)
    most = min(max(float(losses.get_epsilon_for_delta(1e-12)), 1e-6), 5 * CERTAIN)
    levels = np.linspace(0.0, most, LEVELS)
    return levels, np.asarray(losses.get_delta_for_epsilon(levels))
