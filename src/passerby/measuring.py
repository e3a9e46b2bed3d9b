"""One person: how likely an adversary is to get all but `misses` of their steps right, as an interval."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .alike import with_one_sensor
from .attacks import Attack, averaged, constant_attack, map_successes, prior_attack, sampled_attacks
from .bounds import BOUNDS, FAINT, FROM_KAPPA, log_kappa_bound, paper_information
from .crowd import Headcount, likely
from .errors import InputError, UnsupportedRelease
from .grown import bracketing_series, count_outcomes, grown_series
from .information import check_stretches
from .kernels import stretches
from .loss import Effort, Interval, Loss
from .mechanisms import Raw
from .posterior import Brackets, bracket_series, bracket_stretches, cost_of_series, plain_series
from .prior import MarkovPrior
from .release import Release
from .series import (
    MAX_SERIES,
    Anchor,
    How,
    Series,
    count_series,
    enumerate_series,
    given_series,
    listed_series,
    one_series,
    sample_series,
)
from .standins import at_any

Floats = NDArray[np.float64]

#: Series of stand-ins for mechanisms with many outputs: so many, and more until the tolerance is met, or until four
#: times as many do not narrow the gap to this share any more.
STAND_IN_SERIES = (64, 256, 1024, 4096, 16384, 65536)
WORTHWHILE = 0.8
#: Attacks and bounds that hold whatever the law of the number of others.
SURE = ("prior", "constant", "raw", "known", "dp")
#: More series than this are not listed for noisy counts, unless a small tolerance asks for it.
LISTED_SERIES = 1024
#: Where there are more than so many times as many, hardly ever do the likeliest cover enough, and looking takes long.
WORTH_LISTING = 16
#: Fewer sampled series than this say too little to be worth the name.
MIN_RUNS = 20


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
    values, series of discrete stand-ins that tell less and that tell more); too many of raw counts are looked at all at
    once, by the stretches between sightings; and `runs` of them are drawn otherwise ("sample"), in which case the
    interval holds at level `confidence`. With `method="sampling"` the paper's three attacks are scored by its
    plain Monte Carlo of `runs` traces instead, and nothing is searched. With `published`, the values that were really
    published (in the form of the release's sensors), the loss is the realised one: the best guess's success given
    exactly these.

    >>> from passerby import line_prior
    >>> loss = measure(line_prior(20), Release([7, 13, 4]), misses=1)
    >>> loss.upper <= 1.01 * loss.lower
    True
    """
    release.check(prior)
    _check_options(tolerance, series, runs, confidence, budget, method)
    _check_seed(seed)
    case = Measurement(prior, release, release.check_misses(misses), tolerance, budget, confidence, seed)
    if method == "sampling":
        return case.by_sampling(runs)
    if published is not None:
        given = given_series(release, published)
        case.baseline = case.unaided()
        case.attacks.clear()  # averages over series have no say about this one
        return case.concluded(case.search(release, given))
    case.baseline = case.unaided()
    case.formulas()
    if not isinstance(release.mechanism, Raw):
        case.bounds["raw"] = case.raw()
    look = case.average(series, runs)
    if isinstance(release.mechanism, Raw) and (exact := all_right(prior, release, case.misses)) is not None:
        case.attacks["map"] = case.attacks["ascent"] = Attack(exact)
        case.bounds["posterior"] = exact
    if release.habits is not None:
        case.bounds["known"] = case.knowing(series, runs)
    return case.concluded(look, case.baseline.lower)


@dataclass(frozen=True)
class Look:
    """What was looked at: so many published series (or stretches of all of them), and the effort of the search."""

    series: int
    sampled: bool = False
    covered: float = 1.0
    nodes: int = 0
    operations: float = 0.0

    @classmethod
    def at(cls, series: Series, *searches: Brackets) -> Look:
        """At these series, by these searches."""
        nodes, operations = sum(found.nodes for found in searches), sum(found.operations for found in searches)
        return cls(len(series), series.sampled, 1.0 - series.left_over, nodes, operations)


@dataclass
class Measurement:
    """One call of `measure`: what was asked, and what has been found so far."""

    prior: MarkovPrior
    release: Release
    misses: int
    tolerance: float
    budget: float
    confidence: float
    seed: int | Sequence[int]
    attacks: dict[str, Attack] = field(default_factory=dict)
    bounds: dict[str, float] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    baseline: Interval = field(default_factory=lambda: Interval(0.0, 1.0))
    anchor: Anchor | None = None
    started: float = field(default_factory=time.perf_counter)

    @cached_property
    def rng(self) -> np.random.Generator:
        """Random numbers: most measurements need none, and making them ready takes as long as half a search."""
        return np.random.default_rng(self.seed)

    def unaided(self) -> Interval:
        """What is achieved without the release: the same search on the prior itself, or cheap bounds where it is big.

        Without misses it is the likeliest trace's probability, which is what the attack `prior` achieves.
        """
        prior, steps, misses = self.prior, self.release.steps, self.misses
        self.attacks["prior"] = prior_attack(prior, steps, misses)
        self.attacks["constant"] = constant_attack(prior, steps, misses)
        best = max(self.attacks.values(), key=lambda attack: attack.value)
        known = best.value
        self.anchor = Anchor(np.array(best.guess), misses, known)
        if misses == 0:
            return Interval(known, known)
        one = one_series(np.zeros((1, steps, 1)))
        if cost_of_series(prior, steps, misses) <= max(self.budget / 4, 1e10):
            with suppress(UnsupportedRelease):
                found = bracket_series(prior, Release.silent(steps), one, misses, self.tolerance, self.budget / 4)
                lower = float(found.lower[0])
                if lower > known:
                    self.anchor = Anchor(found.guesses[0, 2], misses, lower)
                return Interval(self.anchor.success, max(self.anchor.success, float(found.upper[0])))
        return Interval(known, max(known, math.exp(log_kappa_bound(prior, steps, misses))))

    def formulas(self) -> None:
        """The bounds by formula; those that do not hold for this release are refused."""
        kappa = self.baseline.upper
        log_kappa = math.log(kappa) if kappa > FAINT else log_kappa_bound(self.prior, self.release.steps, self.misses)
        known: dict[str, float] = {"log_kappa": log_kappa}
        with suppress(UnsupportedRelease):
            known["information"] = paper_information(self.prior, self.release)
        for name, bound in BOUNDS.items():
            word = "log_kappa" if name in FROM_KAPPA else "information"
            try:
                self.bounds[name] = bound(self.prior, self.release, self.misses, known.get(word))
            except UnsupportedRelease as reason:
                self.refused[name] = str(reason)

    def average(self, how: How, runs: int) -> Look:
        """The best guess over all that can be published: stretch by stretch, listed, for stand-ins, or sampled.

        What a list leaves over is added to the upper end, so it must be negligible against the loss, or at least below
        the resolution of a sample.
        """
        prior, release = self.prior, self.release.revealed or self.release
        most_left = max(0.2 * self.tolerance * self.baseline.lower, min(0.01, self.resolution(runs)))
        affordable = self.affordable(self.budget)
        draws = max(min(MIN_RUNS, runs), min(runs, affordable))
        plain = isinstance(release.mechanism, Raw)
        if how == "auto" and plain and count_series(prior, release) > affordable:
            look = self.by_stretches(release, sample_series(prior, release, self.rng, draws, self.anchor))
            if look is not None:
                return look
        if how == "auto" and not plain:
            # Noise spreads the probability over all series, of which stand-ins need fewer.
            few = min(affordable, LISTED_SERIES) if self.tolerance >= 0.01 else affordable
            outcomes, listed = count_outcomes(release), None
            if outcomes <= WORTH_LISTING * few:
                listed = enumerate_series(prior, release, few, 0.2 * self.tolerance * self.baseline.lower)
            with suppress(UnsupportedRelease):  # where posterior chains are too big, a sample of guesses remains
                look = self.search(release, listed) if listed is not None else self.between(draws)
                if look is not None:
                    return look
            how = "auto" if outcomes <= WORTH_LISTING * affordable else "sample"
        series = listed_series(prior, release, how, affordable, most_left)
        if series is None:
            series = sample_series(prior, release, self.rng, draws, self.anchor)
        return self.search(release, series)

    @property
    def level(self) -> float:
        """The confidence of each end of an interval, so that both hold together at the level that was asked for."""
        return 0.5 * (1 + self.confidence)

    def resolution(self, runs: int) -> float:
        """How wide an interval from so many sampled series is, at least."""
        return math.log(1 / (1 - self.level)) * (1 - self.baseline.lower) / runs

    def search(self, release: Release, series: Series, spent: float = 0.0) -> Look:
        """Attacks and the bound `posterior` from the best guess for each series, with what is left of the budget."""
        try:
            found = self.brackets(release, series, self.tolerance, max(0.0, self.budget - spent))
        except UnsupportedRelease as reason:
            self.refused["posterior"] = str(reason)
            plain = map_successes(self.prior, release, self.misses, series)
            self.guess_plainly(series, map=plain)
            self.guess_best(series, plain, plain)
            return Look.at(series)
        self.guess_plainly(series, map=found.map, marginal=found.marginal)
        self.guess_best(series, found.lower, alone(found))
        self.bounds["posterior"] = average_upper(series, found, self.level)
        return Look.at(series, found)

    def guess_plainly(self, series: Series, **plain: Floats) -> None:
        """Attacks by name, from their successes given each series. Those that are sampled may be lucky."""
        for name, values in plain.items():
            self.attacks[name] = averaged(series, values)

    def guess_best(self, series: Series, best: Floats, guide: Floats) -> None:
        """The best guess that was found for each series, or the anchor's, and what it achieves for sure."""
        best = np.maximum(best, series.anchored)
        self.attacks["ascent"] = averaged(series, best, series.lower(best, guide, self.level))

    def by_stretches(self, release: Release, drawn: Series) -> Look | None:
        """The same for raw counts whose series are too many to list, from the stretches between sightings."""
        found = bracket_stretches(self.prior, release, self.misses, self.tolerance, self.budget / 2)
        if found is None:
            return None
        if found.upper - found.lower > max(self.tolerance * found.lower, self.resolution(len(drawn))):
            look = self.search(release, drawn, found.operations)
            if self.narrowed(found.lower, found.upper):
                return look
        else:
            self.plain(release, drawn)
        self.attacks["ascent"] = Attack(found.lower)
        self.bounds["posterior"] = found.upper
        return Look(found.refined, nodes=found.nodes, operations=found.operations)

    def narrowed(self, lower: float, upper: float) -> bool:
        """Whether a sample says enough more than what is known for certain; if so, both are put together."""
        if self.refused.pop("posterior", None):  # of the sample; what is certain stands
            return False
        drawn, limit = self.attacks["ascent"], self.bounds["posterior"]
        if min(upper, limit) - max(lower, drawn.sure) > WORTHWHILE * (upper - lower):
            return False
        self.attacks["ascent"] = drawn if drawn.sure > lower else Attack(lower)
        self.bounds["posterior"] = min(limit, upper)
        return True

    def between(self, draws: int) -> Look | None:
        """The same for many outputs or a continuum, from stand-ins that tell less and more; nothing is left to chance.

        The plain guesses, which use the published values in full, are averaged over a sample. If that pins the loss
        down better, it decides. None where there are no stand-ins with few enough series.
        """
        drawn = sample_series(self.prior, self.release, self.rng, draws, self.anchor)
        if self.bounds["raw"] <= self.baseline.lower * (1 + self.tolerance):
            # Even raw counts would tell next to nothing.
            self.plain(self.release, drawn)
            self.attacks["ascent"] = Attack(self.baseline.lower)
            self.bounds["posterior"] = self.bounds["raw"]
            return Look(0)
        lower, upper, nodes, spent, look = 0.0, 1.0, 0, 0.0, None
        gaps: list[float] = []
        each = cost_of_series(self.prior, self.release.steps, self.misses)
        for most in STAND_IN_SERIES:
            if most * each > self.budget - spent or not self.hopeful(gaps):
                break
            pair = bracketing_series(self.prior, self.release, most, 0.05 * self.tolerance * self.baseline.lower / most)
            if pair is None:
                continue
            low, high = (
                self.brackets(self.release, side, self.tolerance / 4, (self.budget - spent) / 2) for side in pair
            )
            lower = max(lower, pair[0].mean(low.lower)[0])
            upper = min(upper, average_upper(pair[1], high, self.level))
            each = max(each, (low.operations + high.operations) / most)
            spent += low.operations + high.operations
            nodes += low.nodes + high.nodes
            look = Look(len(pair[1]), covered=1.0 - pair[1].left_over, nodes=nodes, operations=spent)
            gaps.append(min(upper, *self.bounds.values()) / max(lower, self.baseline.lower) - 1)
        if look is None:
            return None
        if gaps[-1] > self.tolerance and upper - lower > self.resolution(draws):
            sampled = self.search(self.release, drawn, spent)
            if self.narrowed(lower, upper):
                return sampled
        else:
            self.plain(self.release, drawn)
        self.attacks["ascent"] = Attack(lower)
        self.bounds["posterior"] = upper
        return look

    def hopeful(self, gaps: list[float]) -> bool:
        """Whether more series of stand-ins are needed, and worth it."""
        if len(gaps) < 3:  # the coarsest say little of what finer ones do
            return not gaps or gaps[-1] > self.tolerance
        return self.tolerance < gaps[-1] <= WORTHWHILE * gaps[-2]

    def brackets(self, release: Release, series: Series, tolerance: float, budget: float) -> Brackets:
        """The best guess for each series."""
        return bracket_series(self.prior, release, series, self.misses, tolerance, budget)

    def plain(self, release: Release, drawn: Series) -> None:
        """The plain guesses, which use the published values in full, averaged over a sample."""
        try:
            likeliest, marginal = plain_series(self.prior, release, drawn, self.misses)
            self.guess_plainly(drawn, map=likeliest, marginal=marginal)
        except UnsupportedRelease:
            self.guess_plainly(drawn, map=map_successes(self.prior, release, self.misses, drawn))

    def raw(self) -> float:
        """What raw counts from the same sensors would give: published ones follow from those, and tell no more."""
        raw, budget = Release.raw(self.release.sensors), self.budget / 4
        exact = all_right(self.prior, raw, self.misses)
        if exact is not None:
            return exact
        affordable = self.affordable(budget)
        if count_series(self.prior, raw) > affordable:
            found = bracket_stretches(self.prior, raw, self.misses, self.tolerance, budget)
            if found is not None:
                return found.upper
        listed = enumerate_series(self.prior, raw, affordable, 0.5)
        if listed is None:
            return 1.0
        try:
            best = bracket_series(self.prior, raw, listed, self.misses, self.tolerance, budget)
        except UnsupportedRelease:
            return 1.0
        return average_upper(listed, best, self.level)

    def knowing(self, how: How, runs: int) -> float:
        """Against an adversary who knows everyone else, instead of a crowd; at most what raw counts would give."""
        rule, raw = self.release.rule, self.bounds["raw"]
        if isinstance(rule, Raw):
            return raw
        if not rule.shift_invariant:
            return min(raw, self.at_likely_counts())
        # The number of others does not matter to an adversary who knows it.
        return measure(
            self.prior,
            self.release.with_others(None),
            self.misses,
            tolerance=self.tolerance,
            seed=self.seed,
            series=how,
            runs=runs,
            confidence=self.confidence,
            budget=self.budget,
        ).upper

    def at_likely_counts(self) -> float:
        """What is told where all numbers of others are likely ones, whichever, and the probability that they are not.

        Whoever knows the numbers of others has what the rule tells at these, which at each sensor is less than what a
        stand-in for all likely numbers tells.
        """
        headcount = getattr(self.release.mechanism, "first", None)
        assert isinstance(headcount, Headcount)
        left = 0.1 * self.tolerance * self.baseline.lower
        ranges = [likely(law, left / len(headcount.cells)) for law in headcount.cells]
        laws = [law for ends in ranges if (law := at_any(self.release.rule, *ends)) is not None]
        most = self.affordable(self.budget / 4)
        if len(laws) < len(ranges):
            return 1.0
        series = grown_series(self.prior, self.release, laws, min(most, LISTED_SERIES), left / most, more=True)
        if series is None:
            return 1.0
        try:
            found = self.brackets(self.release, series, self.tolerance, self.budget / 4)
        except UnsupportedRelease:
            return 1.0
        return min(1.0, average_upper(series, found, self.level) + left)

    def estimates(self) -> tuple[str, ...]:
        """The names of attacks and bounds that take the numbers of others to be independent across counts."""
        if self.release.habits is None or sum(map(len, self.release.sensors)) < 2:
            return ()
        return tuple(name for name in (*self.attacks, *self.bounds) if name not in SURE)

    def affordable(self, budget: float) -> int:
        """How many series can be looked at, at the lowest effort, within a budget."""
        each = cost_of_series(self.prior, self.release.steps, self.misses)
        return max(1, min(MAX_SERIES, int(max(budget, 2e9) / each)))

    def by_sampling(self, runs: int) -> Loss:
        """The paper's way: three attacks by plain Monte Carlo, and the bounds by formula."""
        self.attacks = sampled_attacks(self.prior, self.release, self.misses, self.rng, runs, self.level)
        known = max(self.attacks["prior"].value, self.attacks["constant"].value)
        kappa = math.exp(log_kappa_bound(self.prior, self.release.steps, self.misses))
        self.baseline = Interval(known, max(known, kappa))
        self.formulas()
        return self.concluded(Look(runs, sampled=True))

    def concluded(self, look: Look, unaided: float = 0.0) -> Loss:
        """The loss: the best attack and the smallest bound. On average, nobody does worse than `unaided`."""
        # What a sample says counts only where it is said that there was one.
        sure = {name: a.sure for name, a in self.attacks.items() if look.sampled or a.limit is None}
        best = max(sure, key=lambda name: sure[name])
        smallest = min(self.bounds, key=lambda name: self.bounds[name], default="none")
        upper = min(1.0, self.bounds.get(smallest, 1.0))
        lower = max(sure[best], unaided)
        lower = min(lower, upper) if look.sampled else lower
        upper = max(lower, upper)
        chancy = look.sampled and (smallest == "posterior" or self.attacks[best].limit is not None)
        effort = Effort(
            series=look.series,
            sampled=look.sampled,
            covered=look.covered,
            nodes=look.nodes,
            operations=look.operations,
            attack=best if sure[best] >= unaided else "baseline",
            bound=smallest,
            confidence=self.confidence if chancy else None,
            reached=upper <= lower * (1 + self.tolerance) + 1e-15,
            seconds=time.perf_counter() - self.started,
        )
        return Loss(
            lower=lower,
            upper=upper,
            baseline=self.baseline,
            attacks=self.attacks,
            bounds=self.bounds,
            misses=self.misses,
            steps=self.release.steps,
            effort=effort,
            refused=self.refused,
            estimates=self.estimates(),
        )


def average_upper(series: Series, found: Brackets, confidence: float) -> float:
    """At least the average of the best guess's success."""
    return series.upper(np.minimum(found.upper, 1.0), alone(found), confidence)


def alone(found: Brackets) -> Floats:
    """What depends on each series alone, from which the stakes of confidence limits are set.

    Effort goes where it helps the whole sample, so the ends of intervals are not independent of each other. They are
    never inside of what is: the best guess's success.
    """
    return np.maximum(found.map, found.marginal)


def all_right(prior: MarkovPrior, release: Release, misses: int) -> float | None:
    """Raw counts and no misses: the likeliest trace is the best guess, and its success is one recursion.

    None where there are misses, or where it takes too long.
    """
    if misses:
        return None
    prior, release = with_one_sensor(prior, release)
    try:
        check_stretches(prior, release)
    except UnsupportedRelease:
        return None
    value = stretches.log_all_right(*prior.named_logs, release.grid)
    return min(1.0, math.exp(value))


def _check_seed(seed: int | Sequence[int]) -> None:
    numbers = seed if isinstance(seed, (list, tuple, np.ndarray)) else [seed]
    if any(isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 0 for n in numbers):
        raise InputError(f"seed: expected a whole number of at least 0, or a list of those, got {seed!r}")


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
