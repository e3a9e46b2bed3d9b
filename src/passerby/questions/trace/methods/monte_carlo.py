"""The paper's way: its three attacks scored by plain Monte Carlo. Koga, Meehan and Chaudhuri (2024), section 4."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.measurement.finding import Finding, Known, Look
from passerby.measurement.roots import rounded_up
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.questions.trace.goal import Goal, Method
from passerby.questions.trace.guess import decode_series
from passerby.questions.trace.kappa import log_kappa_bound
from passerby.support.statistics import lower_limit

from .baseline import constants, prior_trace


def run(goal: Goal, known: Known) -> Iterator[Finding]:
    """Draw traces, publish, guess, count the successes; the baseline's ends are a formula's and a sample's."""
    look = Look(goal.runs, sampled=True)
    found = sampled_attacks(goal.prior, goal.release, goal.misses, goal.rng(), goal.runs, goal.level, look)
    crowd = goal.release.crowd
    unknown = crowd is not None and crowd.priors is None and crowd.told is None and not goal.release.independent
    yield from (finding for finding in found.values() if finding.name != "map" or not unknown)
    floor = max(found[name].floor for name in ("prior", "constant"))
    kappa = rounded_up(log_kappa_bound(goal.prior, goal.steps, goal.misses))
    yield Finding("baseline", min(floor, kappa), kappa, level=goal.level, about="baseline")
    if unknown:
        raise UnsupportedRelease(f"how numbers of others go together is not known with {crowd!r}: they cannot be drawn")


def sampled_attacks(
    prior: MarkovPrior,
    release: Release,
    misses: int,
    rng: np.random.Generator,
    runs: int = 1000,
    confidence: float = 0.99,
    look: Look | None = None,
) -> dict[str, Finding]:
    """The paper's plain Monte Carlo for its three attacks: draw a trace, publish, guess, count the successes.

    The limits of all three hold together, whichever constant is the luckiest.
    """
    traces = prior.sample(runs, release.steps, rng)
    guesses, _ = decode_series(prior, release, release.drawn(traces, rng))
    hits = {
        "map": (traces != guesses).sum(axis=1) <= misses,
        "prior": (traces != prior_trace(prior, release.steps)).sum(axis=1) <= misses,
    }
    lucky = [(traces != x).sum(axis=1) <= misses for x in np.flatnonzero(constants(prior))]
    hits["constant"] = max(lucky, key=np.mean)
    doubt = (1 - confidence) / len(hits)
    tried = {"constant": len(lucky)}
    levels = {name: 1 - doubt / tried.get(name, 1) for name in hits}
    return {name: _counted(name, hit, levels[name], confidence, look) for name, hit in hits.items()}


def _counted(name: str, hit: NDArray[np.bool_], confidence: float, level: float, look: Look | None) -> Finding:
    rate = float(hit.mean())
    error = float(np.sqrt(rate * (1 - rate) / hit.size)) or 1 / hit.size
    floor = lower_limit(hit.astype(float), confidence)
    return Finding(name, floor=floor, value=rate, error=error, level=level, look=look)


def refuses(goal: Goal) -> str | None:
    """The reason, if it was not asked for."""
    return None if goal.way == "sampling" else "attacks are scored exactly"


MONTE_CARLO = Method(
    "monte_carlo",
    "draws traces, publishes, guesses and counts successes, as the paper does",
    run,
    attacks=("map", "prior", "constant"),
    refuses=refuses,
    of_places=True,
)
