"""Noise: the scale of each kind added to a count."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from passerby.mechanisms import DiscreteGaussian, Gaussian, Geometric, Laplace, Mechanism
from passerby.mechanisms.noise import MOST_WHOLE
from passerby.mechanisms.registry import described
from passerby.model.release import Release
from passerby.plans.lever import Dial, Family, Scene

#: Scales between 1 and 10, and from the smallest to the largest.
NICE = (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
SCALES = tuple(round(n * 10.0**power, 6) for power in (-1, 0, 1, 2) for n in NICE if n * 10.0**power >= 0.25)
#: Noise in whole numbers is listed, and wider noise takes longer.
WHOLE = tuple(scale for scale in SCALES if scale <= 50)
#: The discrete Gaussian of a larger scale is not made from a smaller one, so all of these are tried.
DOUBLED = tuple(2.0**power for power in range(-1, 7))

Make = Callable[[float], Mechanism]


def _refuses(make: Make, release: Release, scene: Scene) -> str | None:
    # A larger scale is certainly less informative only if it is made from the smaller one.
    for mechanism in release.ways:
        if not make(float(MOST_WHOLE)).tells_less_than(mechanism):
            return f"noise of another kind or scale cannot be added to what {mechanism!r} publishes"
    return None


def _family(name: str, make: Make, scales: tuple[float, ...], monotone: bool, release: Release, scene: Scene) -> Family:
    least = max([0.0, *(_scale(mechanism) for mechanism in release.ways)])
    some = {scale for scale in scales if scale > least}
    private = private_scale(make, release, scene.added)
    if private is not None and least < private <= MOST_WHOLE:
        some.add(private)

    def build(fine: Release, scale: float) -> Release:
        return fine.through(make(scale))

    return Family(name, tuple(sorted(some)), build, lambda scale: described(make(scale)), monotone, "numbers")


def _scale(mechanism: Mechanism) -> float:
    """How much noise there is already."""
    if mechanism.raw:
        return 0.0
    return float(getattr(mechanism, "sigma", 0.0) or getattr(mechanism, "scale", 0.0))


def private_scale(make: Make, release: Release, added: float | None) -> float | None:
    """The scale with at most `added` to anybody's chance, by differential privacy alone.

    For any prior knowledge of a person, a release adds at most the total variation between its values with and without
    them. This holds for a person in one count at a step at most (`most_added`). As a position, it bounds the noise
    found by the search. It is found to a relative 1e-4, and in closed form for normal noise.
    """
    from scipy.special import ndtri

    from passerby.measurement.accounting import most_added, noise_for

    steps = sum(1 for step in release.sensors if step)
    # In overlapping zones, in flows and among visitors, a person is counted more often than once a step.
    if added is None or not 0 < added < 1 or not steps or not release.reveals:
        return None
    if make is Gaussian:
        exact = release.size * math.sqrt(steps) / (2 * float(ndtri((1 + added) / 2)))
        return math.ceil(exact * 1e6) / 1e6
    if make not in (Laplace, Geometric):
        return None
    # One count alone adds `1 - exp(-1 / (2 b))` for Laplace noise, and several add at most as many times this.
    most = float(MOST_WHOLE)
    low, high = 0.0, min(most, -release.size / (2 * math.log1p(-added / steps)))

    def adds(scale: float) -> float:
        return most_added(noise_for(make(scale), release.size), steps)

    while adds(high) > added:
        if high == most:
            return None  # more noise than is ever added
        low, high = high, min(most, 2 * high)
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if adds(middle) <= added else (middle, high)
    return math.ceil(high * 1e6) / 1e6


def _dial(
    name: str, says: str, make: type[Mechanism], scales: tuple[float, ...] = SCALES, *, monotone: bool, usual: bool
) -> Dial:
    return Dial(
        name,
        says,
        "mechanism",
        partial(_family, name, make, scales, monotone),
        partial(_refuses, make),
        usual,
    )


GAUSSIAN = _dial("gaussian", "normal noise of some standard deviation", Gaussian, monotone=True, usual=True)
LAPLACE = _dial("laplace", "Laplace noise of some scale", Laplace, monotone=True, usual=False)
GEOMETRIC = _dial("geometric", "whole-numbered Laplace noise", Geometric, WHOLE, monotone=True, usual=False)
DISCRETE_GAUSSIAN = _dial(
    "discrete-gaussian", "whole-numbered normal noise", DiscreteGaussian, DOUBLED, monotone=False, usual=False
)
