"""One person: how likely an adversary is to get all but `misses` of their steps right, as an interval."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from .attacks import Attack, constant_attack, logs, map_attack, prior_attack, sampled_attacks
from .bounds import BOUNDS, FAINT, FROM_KAPPA, log_kappa_bound, paper_information
from .errors import InputError, UnsupportedRelease
from .information import STRETCHES_LIMIT
from .kernels import stretches
from .limits import upper_limit
from .mechanisms import Raw
from .posterior import Brackets, bracket_series, cost_of_series
from .prior import MarkovPrior
from .release import Release
from .series import MAX_SERIES, How, Series, bracketing_series, enumerate_series, given_series, sample_series, series_of

__all__ = ["Attack", "Effort", "Interval", "Loss", "measure"]

#: More series than this are not listed for stand-ins of a continuum of outputs, unless a small tolerance asks for it.
STAND_IN_SERIES = 512
#: Fewer sampled series than this say too little to be worth the name.
MIN_RUNS = 20


@dataclass(frozen=True)
class Interval:
    """Two numbers between which a value lies."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Effort:
    """How a loss was found.

    `series` published series were looked at, listed in full or `sampled`, which cover a share `covered` of the
    probability; the search expanded `nodes` beginnings of guesses in about `operations` elementary operations. `attack`
    and `bound` name the ones that decided `lower` and `upper`. `confidence` is the level at which a sampled `upper`
    holds, None where it holds with certainty. `reached` tells whether the tolerance was met within the budget.
    """

    series: int
    sampled: bool
    covered: float
    nodes: int
    operations: float
    attack: str
    bound: str
    confidence: float | None
    reached: bool
    seconds: float = field(compare=False)


@dataclass(frozen=True)
class Loss:
    """The privacy loss of one person: the success probability of the best attack lies in [`lower`, `upper`].

    `lower` is the best attack found and `upper` the smallest bound; `attacks` and `bounds` hold each by name, and
    `refused` the ones that cannot be given for this release, with the reason. `baseline` is what the adversary achieves
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
    effort: Effort
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
    tolerance: float = 0.01,
    seed: int | Sequence[int] = 0,
    series: How = "auto",
    runs: int = 1000,
    confidence: float = 0.99,
    budget: float = 2e10,
    method: Literal["exact", "sampling"] = "exact",
    published: Iterable[float | Iterable[float]] | None = None,
) -> Loss:
    """The loss of a release for a person with this prior, when `misses` steps may be wrong.

    The search for the best guess goes on until the interval is within `tolerance` of the loss, or about `budget`
    elementary operations are spent (1e10 take a second or two); a budget that is too small gives a wider interval, not
    a wrong one. Published `series` are listed where few of them carry the probability ("enumerate"; for a continuum of
    values, series of discrete stand-ins that tell less and that tell more), and `runs` of them are drawn otherwise
    ("sample"), in which case `upper` is a confidence limit at level `confidence`. With `method="sampling"` the paper's
    three attacks are scored by its plain Monte Carlo of `runs` traces instead, and nothing is searched. With
    `published`, the values that were really published (in the form of the release's sensors), the loss is the realised
    one: the best guess's success given exactly these.

    >>> from passerby import line_prior
    >>> loss = measure(line_prior(20), Release([7, 13, 4]), misses=1)
    >>> loss.upper <= 1.01 * loss.lower
    True
    """
    started = time.perf_counter()
    release.check(prior)
    misses = release.check_misses(misses)
    _check_options(tolerance, series, runs, confidence, budget, method)
    rng = _generator(seed)
    if method == "sampling":
        return _by_sampling(prior, release, misses, rng, runs, started)
    given = None if published is None else given_series(prior, release, published)

    steps = release.steps
    attacks = {"prior": prior_attack(prior, steps, misses), "constant": constant_attack(prior, steps, misses)}
    unaided = max(attack.value for attack in attacks.values())
    refused: dict[str, str] = {}
    bounds: dict[str, float] = {}
    baseline = _baseline(prior, steps, misses, tolerance, budget / 4, unaided)
    log_kappa = math.log(baseline.upper) if baseline.upper > FAINT else log_kappa_bound(prior, steps, misses)

    if given is not None:
        attacks = {}  # averages over series have no say about this one
        found, brackets = _search(
            prior, release, misses, given, tolerance, budget, confidence, attacks, bounds, refused
        )
    else:
        bounds = _formulas(prior, release, misses, log_kappa, refused)
        most_left = max(0.2 * tolerance * baseline.lower, min(0.01, math.log(1 / (1 - confidence)) / runs))
        affordable = _affordable(prior, steps, misses, budget)
        pair = None
        if series == "auto" and release.signals() is None:
            most = STAND_IN_SERIES if tolerance >= 0.01 else MAX_SERIES
            pair = bracketing_series(prior, release, min(affordable, most), most_left)
        draws = max(min(MIN_RUNS, runs), min(runs, affordable))
        if pair is not None:
            drawn = sample_series(prior, release, rng, draws)
            found, brackets = _between(prior, release, misses, pair, drawn, tolerance, budget, attacks, bounds)
        else:
            some = series_of(prior, release, rng, how=series, runs=draws, max_series=affordable, enough=most_left)
            found, brackets = _search(
                prior, release, misses, some, tolerance, budget, confidence, attacks, bounds, refused
            )
        if not isinstance(release.mechanism, Raw):
            bounds["raw"] = _raw_bound(prior, release, misses, tolerance, budget)
        elif misses == 0 and (exact := _all_right(prior, release)) is not None:
            attacks["map"] = attacks["ascent"] = Attack(exact)
            bounds["posterior"] = exact
    return _concluded(
        release, misses, tolerance, confidence, attacks, bounds, refused, baseline, found, brackets, started
    )


def _search(
    prior: MarkovPrior,
    release: Release,
    misses: int,
    series: Series,
    tolerance: float,
    budget: float,
    confidence: float,
    attacks: dict[str, Attack],
    bounds: dict[str, float],
    refused: dict[str, str],
) -> tuple[Series, Brackets | None]:
    """Attacks and the bound `posterior` from the best guess for each series."""
    try:
        brackets = bracket_series(prior, release, series, misses, tolerance, budget)
    except UnsupportedRelease as reason:
        refused["posterior"] = str(reason)
        attacks["map"] = map_attack(prior, release, misses, series)
        return series, None
    for name, values in (("map", brackets.map), ("marginal", brackets.marginal), ("ascent", brackets.lower)):
        attacks[name] = Attack(*series.mean(values))
    bounds["posterior"] = _posterior_bound(series, brackets, confidence)
    return series, brackets


def _between(
    prior: MarkovPrior,
    release: Release,
    misses: int,
    pair: tuple[Series, Series],
    drawn: Series,
    tolerance: float,
    budget: float,
    attacks: dict[str, Attack],
    bounds: dict[str, float],
) -> tuple[Series, Brackets]:
    """The same for a continuum of outputs, from stand-ins that tell less and that tell more; nothing is left to chance.

    Only the plain guesses, which use the published values in full, are averaged over a sample.
    """
    less, more = pair
    low = bracket_series(prior, release, less, misses, tolerance, budget / 2)
    high = bracket_series(prior, release, more, misses, tolerance, budget / 2)
    seen = bracket_series(prior, release, drawn, misses, tolerance, 0.0)
    attacks["map"] = Attack(*drawn.mean(seen.map))
    attacks["marginal"] = Attack(*drawn.mean(seen.marginal))
    attacks["ascent"] = Attack(*less.mean(low.lower))
    bounds["posterior"] = _posterior_bound(more, high, 0.5)
    return more, replace(high, nodes=low.nodes + high.nodes, operations=low.operations + high.operations)


def _generator(seed: int | Sequence[int]) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InputError(f"seed: expected a whole number of at least 0, or a list of those, got {seed!r}") from None


def _check_options(tolerance: float, series: str, runs: int, confidence: float, budget: float, method: str) -> None:
    if not tolerance >= 0:
        raise InputError(f"tolerance: expected a number of at least 0, got {tolerance!r}")
    if series not in ("auto", "enumerate", "sample"):
        raise InputError(f"series: expected 'auto', 'enumerate' or 'sample', got {series!r}")
    if isinstance(runs, bool) or not isinstance(runs, (int, np.integer)) or runs < 2:
        raise InputError(f"runs: expected a whole number of at least 2, got {runs!r}")
    if not 0.5 <= confidence < 1:
        raise InputError(f"confidence: expected a level from 0.5 to below 1, got {confidence!r}")
    if not budget >= 0:
        raise InputError(f"budget: expected a number of at least 0, got {budget!r}")
    if method not in ("exact", "sampling"):
        raise InputError(f"method: expected 'exact' or 'sampling', got {method!r}")


def _baseline(prior: MarkovPrior, steps: int, misses: int, tolerance: float, budget: float, unaided: float) -> Interval:
    """What is achieved without the release: the same search on the prior itself, or cheap bounds where that is big.

    Without misses it is the likeliest trace's probability, which is what the attack `prior` achieves.
    """
    if misses == 0:
        return Interval(unaided, unaided)
    one = Series(np.zeros((1, steps, 1)), np.ones(1), sampled=False, left_over=0.0)
    if cost_of_series(prior, steps, misses) <= max(budget, 1e10):
        with suppress(UnsupportedRelease):
            found = bracket_series(prior, Release.silent(steps), one, misses, tolerance, budget)
            lower = max(unaided, float(found.lower[0]))
            return Interval(lower, max(lower, float(found.upper[0])))
    return Interval(unaided, max(unaided, math.exp(log_kappa_bound(prior, steps, misses))))


def _formulas(
    prior: MarkovPrior, release: Release, misses: int, log_kappa: float, refused: dict[str, str]
) -> dict[str, float]:
    bounds = {}
    known: dict[str, float] = {"log_kappa": log_kappa}
    with suppress(UnsupportedRelease):
        known["information"] = paper_information(prior, release)
    for name, bound in BOUNDS.items():
        word = "log_kappa" if name in FROM_KAPPA else "information"
        try:
            bounds[name] = bound(prior, release, misses, known.get(word))
        except UnsupportedRelease as reason:
            refused[name] = str(reason)
    return bounds


def _posterior_bound(series: Series, brackets: Brackets, confidence: float) -> float:
    """The average of the upper ends: exact plus what was not listed, or an upper confidence limit."""
    if series.sampled:
        # Effort goes where it helps the whole sample, so the upper ends are not independent of each other. They are
        # never below values that are, and the stakes come from what depends on each series alone.
        return upper_limit(np.minimum(brackets.upper, 1.0), confidence, np.maximum(brackets.map, brackets.marginal))
    return min(1.0, float(series.mass @ brackets.upper) + series.left_over)


def _all_right(prior: MarkovPrior, release: Release) -> float | None:
    """Raw counts and no misses: the likeliest trace is the best guess, and its success is one recursion.

    None where that takes too long.
    """
    steps, sensors = release.grid.shape
    if (1 + steps * sensors) * steps * prior.places**2 > STRETCHES_LIMIT:
        return None
    named = np.where(prior.guessable, 0.0, -np.inf)
    value = stretches.log_all_right(logs(prior.initial) + named, logs(prior.matrices) + named, release.grid)
    return min(1.0, math.exp(value))


def _raw_bound(prior: MarkovPrior, release: Release, misses: int, tolerance: float, budget: float) -> float:
    """What raw counts from the same sensors would give: published counts are a function of those, and tell no more."""
    raw = Release(release.sensors)
    exact = _all_right(prior, raw) if misses == 0 else None
    if exact is not None:
        return exact
    listed = enumerate_series(prior, raw, _affordable(prior, release.steps, misses, budget / 4), 0.5)
    if listed is None:
        return 1.0
    try:
        found = bracket_series(prior, raw, listed, misses, tolerance, budget / 4)
    except UnsupportedRelease:
        return 1.0
    return _posterior_bound(listed, found, 0.5)


def _affordable(prior: MarkovPrior, steps: int, misses: int, budget: float) -> int:
    """How many series can be looked at, at the lowest effort, within the budget."""
    return max(1, min(MAX_SERIES, int(max(budget, 2e9) / cost_of_series(prior, steps, misses))))


def _concluded(
    release: Release,
    misses: int,
    tolerance: float,
    confidence: float,
    attacks: dict[str, Attack],
    bounds: dict[str, float],
    refused: dict[str, str],
    baseline: Interval,
    series: Series,
    brackets: Brackets | None,
    started: float,
) -> Loss:
    # A sampled average may be lucky: it decides only where all there is was sampled.
    sure = [name for name, attack in attacks.items() if series.sampled or attack.error == 0]
    best = max(sure, key=lambda name: attacks[name].value)
    lower = attacks[best].value
    smallest = min(bounds, key=lambda name: bounds[name], default="none")
    upper = min(1.0, bounds.get(smallest, 1.0))
    lower = min(lower, upper) if series.sampled else lower
    upper = max(lower, upper)
    effort = Effort(
        series=len(series),
        sampled=series.sampled,
        covered=1.0 - series.left_over,
        nodes=brackets.nodes if brackets else 0,
        operations=brackets.operations if brackets else 0.0,
        attack=best,
        bound=smallest,
        confidence=confidence if series.sampled and smallest == "posterior" else None,
        reached=upper <= lower * (1 + tolerance) + 1e-15,
        seconds=time.perf_counter() - started,
    )
    return Loss(lower, upper, baseline, attacks, bounds, misses, release.steps, effort, refused)


def _by_sampling(
    prior: MarkovPrior, release: Release, misses: int, rng: np.random.Generator, runs: int, started: float
) -> Loss:
    """The paper's way: three attacks by plain Monte Carlo, and the bounds by formula."""
    attacks = sampled_attacks(prior, release, misses, rng, runs)
    refused: dict[str, str] = {}
    log_kappa = log_kappa_bound(prior, release.steps, misses)
    bounds = _formulas(prior, release, misses, log_kappa, refused)
    unaided = max(attacks["prior"].value, attacks["constant"].value)
    drawn = Series(np.empty((runs, 0, 0)), np.full(runs, 1 / runs), sampled=True, left_over=0.0)
    baseline = Interval(unaided, max(unaided, math.exp(log_kappa)))
    return _concluded(release, misses, 0.0, 0.99, attacks, bounds, refused, baseline, drawn, None, started)
