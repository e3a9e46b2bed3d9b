"""One person: how likely an adversary is to get all but `misses` of their steps right, as an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from .attacks import Attack, constant_attack, map_attack, prior_attack, sampled_attacks
from .bounds import BOUNDS, log_ball_paper
from .errors import InputError, UnsupportedRelease
from .prior import MarkovPrior
from .release import Release
from .series import series_of

__all__ = ["Attack", "Interval", "Loss", "measure"]


@dataclass(frozen=True)
class Interval:
    """Two numbers between which a value lies."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Loss:
    """The privacy loss of one person: the success probability of the best attack lies in [`lower`, `upper`].

    `lower` is the best attack found and `upper` the smallest bound; `attacks` and `bounds` hold each by name, and
    `refused` the bounds that do not hold for this release, with the reason. `baseline` is what the adversary achieves
    without the release, and `advantage` the share of the remaining room that the release adds:
    `(loss - baseline) / (1 - baseline)`.
    """

    lower: float
    upper: float
    baseline: Interval
    attacks: dict[str, Attack]
    bounds: dict[str, float]
    misses: int
    steps: int
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def advantage(self) -> Interval:
        """What the release added: `(loss - baseline) / (1 - baseline)`, between 0 and 1."""

        def share(loss: float, known: float) -> float:
            return (loss - known) / (1 - known) if known < 1 else 0.0

        return Interval(
            max(0.0, share(self.lower, self.baseline.upper)), max(0.0, share(self.upper, self.baseline.lower))
        )


def measure(
    prior: MarkovPrior,
    release: Release,
    misses: int = 0,
    *,
    method: Literal["exact", "sampling"] = "exact",
    runs: int = 1000,
    seed: int = 0,
) -> Loss:
    """The loss of a release for a person with this prior, when `misses` steps may be wrong.

    With method "exact" every attack is scored exactly given what was published, and published series are listed where
    they are few and sampled (`runs` of them) otherwise. With "sampling" the attacks are scored by the paper's plain
    Monte Carlo of `runs` traces.

    >>> from passerby import Gaussian, line_prior
    >>> loss = measure(line_prior(100), Release([7, 93, 41], Gaussian(1.0)), misses=1)
    >>> loss.lower < loss.upper < 1
    True
    """
    release.check(prior)
    misses = release.check_misses(misses)
    if method not in ("exact", "sampling"):
        raise InputError(f"method: expected 'exact' or 'sampling', got {method!r}")
    if isinstance(runs, bool) or not isinstance(runs, (int, np.integer)) or runs < 2:
        raise InputError(f"runs: expected a whole number of at least 2, got {runs!r}")
    rng = np.random.default_rng(seed)
    if method == "sampling":
        attacks = sampled_attacks(prior, release, misses, rng, runs)
    else:
        series = series_of(prior, release, rng, runs=runs)
        attacks = {
            "map": map_attack(prior, release, misses, series),
            "prior": prior_attack(prior, release.steps, misses),
            "constant": constant_attack(prior, release.steps, misses),
        }
    bounds, refused = {}, {}
    for name, bound in BOUNDS.items():
        try:
            bounds[name] = bound(prior, release, misses)
        except UnsupportedRelease as reason:
            refused[name] = str(reason)
    lower = max(attack.value for attack in attacks.values())
    unaided = max(attacks["prior"].value, attacks["constant"].value)
    kappa = min(1.0, math.exp(log_ball_paper(prior, release.steps, misses)))
    return Loss(
        lower=lower,
        upper=min([1.0, *bounds.values()]),
        baseline=Interval(unaided, max(unaided, kappa)),
        attacks=attacks,
        bounds=bounds,
        misses=misses,
        steps=release.steps,
        refused=refused,
    )
