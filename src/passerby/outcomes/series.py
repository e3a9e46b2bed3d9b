"""The published series in a measurement: all that matter, or a sample.

Averages over possible outputs are taken over a `Series`. Each member carries its evidence, and a probability
(enumerated) or weight (sampled).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.kernels.chain import decode as scoring
from passerby.kernels.chain import series
from passerby.mechanisms.checks import LARGEST
from passerby.model.chains import frozen
from passerby.model.lumping import merged
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.model.signals import log_ratios
from passerby.support.checks import is_number
from passerby.support.numbers import exceeds, log_product
from passerby.support.statistics import lower_limit, standard_error, upper_limit

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: A guess that nearly always succeeds is no anchor: the traces it gets wrong are too rare to be drawn.
MOST_ANCHORED = 0.98
#: The success of an anchor given a series it fails for is below one; rounding is cut off here.
MOST_ANCHORED_GIVEN = 1 - 1e-9
#: More series than this are not enumerated.
MAX_SERIES = 4096
#: Published values less likely than this, in logarithms, are refused: ratios have nine digits up to here.
FARTHEST = 1e6
#: The smallest weight of a possible state.
FAINTEST = 1e-300
#: Log-likelihoods farther than this from the likelihood of nobody are taken relative to the largest of a step.
FAR = 100.0


@dataclass(frozen=True)
class Series:
    """Published series: `evidence` (n, T, S + 1) as log-likelihoods, `mass` (n,).

    Enumerated series are distinct and carry their probabilities, in decreasing order. `left_over` is the probability of
    the unlisted ones.

    Sampled ones are drawn for traces guessed wrong by one `Anchor` guess, since its success is known and needs no
    sample. `anchored` (n,) is its success given each series. An average is this success plus the average of the success
    beyond it. A series stands for `(1 - success) / (1 - anchored)` series of all traces. Suppose no guess exceeds
    `capped` (n,) given each series, and `most` over all. Then series may be drawn from the room between both. Each then
    stands for `(most - success) / (capped - anchored)`.
    """

    evidence: Floats
    mass: Floats
    sampled: bool
    left_over: float
    success: float = 0.0
    anchored: Floats = field(default_factory=lambda: np.zeros(1))
    most: float = 1.0
    capped: Floats = field(default_factory=lambda: np.ones(1))

    def __len__(self) -> int:
        return len(self.mass)

    @cached_property
    def weights(self) -> Floats:
        """Likelihoods, relative to the largest at each step."""
        return frozen(relative(self.evidence))

    def first(self, count: int) -> Series:
        """The first of the drawn series."""
        count = min(count, len(self))
        return self.some(np.arange(count), self.mass[:count] * (len(self) / count))

    def some(self, which: Ints, mass: Floats) -> Series:
        """Some of the series (m,), with these weights (m,)."""
        anchored, capped = (np.full(len(self), known)[which] for known in (self.anchored, self.capped))
        return replace(self, evidence=self.evidence[which], mass=mass, anchored=anchored, capped=capped)

    def mean(self, values: Floats) -> tuple[float, float]:
        """The average of a value per series, and its standard error (0 only if all series are listed)."""
        beyond = self.mass * (values - self.anchored)
        # Rounding, or luck, must not make it more than certain.
        mean = min(1.0, max(0.0, self.success + float(beyond.sum())))
        if not self.sampled:
            return mean, 0.0
        return mean, standard_error(beyond * len(values), self.room)

    def upper(self, values: Floats, guide: Floats, confidence: float) -> float:
        """At least the average of a value per series: exact plus the unlisted rest, or an upper confidence limit.

        Sampled values may depend on each other if `guide` does not (see `upper_limit`).
        """
        if not self.sampled:
            return min(1.0, float(self.mass @ values) + self.left_over)
        return self.success + self.room * upper_limit(self.beyond(values), confidence, self.beyond(guide))

    def lower(self, values: Floats, guide: Floats, confidence: float) -> float:
        """At most the average of a value per series: the average of the listed ones, or a lower confidence limit."""
        if not self.sampled:
            return self.mean(values)[0]
        return self.success + self.room * lower_limit(self.beyond(values), confidence, self.beyond(guide))

    @property
    def room(self) -> float:
        """The room beyond the anchor's success, on average."""
        return self.most - self.success

    def beyond(self, values: Floats) -> Floats:
        """The share of the anchor's remaining room filled by each value."""
        return np.clip((values - self.anchored) / (self.capped - self.anchored), 0.0, 1.0)


@dataclass(frozen=True)
class Anchor:
    """A guess (T,), and its success over all traces when `misses` steps may be wrong."""

    guess: Ints
    misses: int
    success: float


def given_series(release: Release, published: Iterable[float | Iterable[float]]) -> Series:
    """The one series of an actual publication, in the form of the release's sensors."""
    values = as_published(release, published)
    absent, present = release.likelihoods(values[None])
    top = np.maximum(absent, present)
    _check_near(release, values, top[0])
    # Only ratios matter. Without the common part of both, sums over many counts keep their digits.
    common = np.where(np.isfinite(top), top, 0.0)
    evidence = release.by_class(absent - common, present - common)
    # A mechanism has no likelihood for an empty cell if it never leaves one.
    return one_series(np.where(np.isnan(evidence), -np.inf, evidence))


def _check_near(release: Release, values: Floats, logs: Floats) -> None:
    """Refuse values (T, S) whose likelihoods, in logarithms, have no digits left for their ratio."""
    for t, j in np.argwhere(np.isfinite(logs) & (logs < -FARTHEST)).tolist():
        mechanism, others = release.channels[t][j]
        raise UnsupportedRelease(
            f"published[{t}] = {values[t, j]:g}: so far from what {mechanism!r} publishes of {others:,} other people, "
            "with the target or without, that nothing can be told from it; check the value and the number of others"
        )


@lru_cache(maxsize=64)
def silent_series(steps: int) -> Series:
    """The one series of an empty publication."""
    return one_series(frozen(np.zeros((1, steps, 1))))


def one_series(evidence: Floats) -> Series:
    """A single series with this evidence (1, T, S + 1)."""
    return Series(evidence, np.ones(1), sampled=False, left_over=0.0)


def as_published(release: Release, published: Iterable[float | Iterable[float]]) -> Floats:
    """Values (T, S), NaN without a sensor."""
    if isinstance(published, (str, bytes)) or not isinstance(published, Iterable):
        raise InputError(f"published: expected a value for each sensor of each step, got {published!r}")
    steps = [list(step) if isinstance(step, Iterable) else [step] for step in published]
    if [len(step) for step in steps] != [len(step) for step in release.sensors]:
        raise InputError("published: expected one value for each sensor of each step, in the form of sensors")
    out = np.full(release.grid.shape, np.nan)
    for t, step in enumerate(steps):
        for j, value in enumerate(step):
            if not is_number(value) or np.isinf(value):
                raise InputError(f"published[{t}] = {value!r}: expected a number, or NaN for a cell left empty")
            if abs(value) > LARGEST:
                raise InputError(
                    f"published[{t}] = {value!r}: expected a number from -2**53 to 2**53; one person more or less "
                    "cannot be told apart beyond that"
                )
            out[t, j] = value
    return out


def sample_series(
    prior: MarkovPrior, release: Release, rng: np.random.Generator, runs: int, anchor: Anchor | None = None
) -> Series:
    """Draw traces from the prior, all guessed wrong by the anchor, and published series for them."""
    traces = sample_traces(prior, release.steps, rng, runs, anchor)
    return sampled_series(prior, release, release.drawn(traces, rng), anchor)


def sample_traces(
    prior: MarkovPrior, steps: int, rng: np.random.Generator, runs: int, anchor: Anchor | None = None
) -> Ints:
    """Draw traces (runs, T) from the prior, all guessed wrong by the anchor."""
    if anchor is None or anchor.success > MOST_ANCHORED:
        return prior.sample(runs, steps, rng)
    kept = np.empty((0, steps), dtype=np.int64)
    while len(kept) < runs:
        traces = prior.sample(int(1.2 * (runs - len(kept)) / (1 - anchor.success)) + 8, steps, rng)
        kept = np.concatenate([kept, traces[prior.wrong(anchor.guess, traces) > anchor.misses]])
    return kept[:runs]


def sampled_series(prior: MarkovPrior, release: Release, evidence: Floats, anchor: Anchor | None = None) -> Series:
    """The series of such traces, by their evidence (runs, T, S + 1)."""
    runs = len(evidence)
    if anchor is None or anchor.success > MOST_ANCHORED:
        return Series(evidence, np.full(runs, 1 / runs), sampled=True, left_over=0.0)
    first, which = distinct(evidence)
    guesses = np.repeat(anchor.guess[None], len(first), axis=0)
    anchored = np.clip(score(prior, release, evidence[first], guesses, anchor.misses), 0.0, MOST_ANCHORED_GIVEN)[which]
    mass = (1 - anchor.success) / (1 - anchored) / runs
    return Series(evidence, mass, sampled=True, left_over=0.0, success=anchor.success, anchored=anchored)


@dataclass(eq=False)
class DrawnNoise:
    """The noise added to counts in so many series, drawn at the first call."""

    rng: np.random.Generator
    kept: dict[tuple[int, ...], Floats] = field(default_factory=dict)

    def of(self, nobody: Release, runs: int) -> Floats:
        """Published values of nobody (runs, T, S), the same at each call."""
        shape = (runs, *nobody.grid.shape)
        if shape not in self.kept:
            self.kept[shape] = nobody.published(np.zeros(shape, dtype=np.int64), self.rng)
        return self.kept[shape]


def weights_of(release: Release, traces: Ints, noise: DrawnNoise, rng: np.random.Generator) -> Floats:
    """Likelihoods (n, T, C) by class of the published values for traces (n, T), up to a factor for each step.

    If noise is the same at every count, it is `noise`; other draws come from `rng`.
    """
    if release.plain or release.crowd is not None or not all(way.shift_invariant for way in release.ways):
        return relative(release.drawn(traces, rng))
    nobody = release.of_nobody
    published = noise.of(nobody, len(traces)) + release.size * release.there(traces)
    ratios = log_ratios(nobody.channels, published)
    logs = nobody.by_class(np.zeros(ratios.shape), ratios)
    if np.abs(logs).max(initial=0.0) < FAR:
        return np.asarray(np.exp(logs, out=logs))
    return relative(nobody.by_class(*nobody.likelihoods(published)))


def distinct(evidence: Floats) -> tuple[Ints, Ints]:
    """The first of each of m different series (m,), and the index of each one among them (n,).

    The same raw counts are often drawn again.

    >>> first, which = distinct(np.array([0.0, 1.0, 0.0, 2.0, 1.0]).reshape(5, 1, 1))
    >>> first.tolist(), which.tolist()
    ([0, 1, 3], [0, 1, 0, 2, 1])
    """
    numbers: dict[bytes, int] = {}
    which = np.array([numbers.setdefault(series.tobytes(), len(numbers)) for series in evidence])
    return np.unique(which, return_index=True)[1], which


def log_series(prior: MarkovPrior, release: Release) -> float:
    """The logarithm of how many series of raw counts a person can be part of, at most.

    Each step, the person is unsighted or sighted somewhere.

    >>> round(log_series(MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]]), Release([0] * 1250)), 3)
    866.434
    """
    every = log_product(1 + len(step) for step in release.sensors)
    return log_product(release.kinds(prior)) if exceeds(every, MAX_SERIES) else every


def enumerate_series(
    prior: MarkovPrior,
    release: Release,
    max_series: int = MAX_SERIES,
    most_left: float = 1.0,
    little: float = 0.0,
) -> Series | None:
    """The likeliest `max_series` series in decreasing probability, but for the ones that are `little` together.

    None for mechanisms with a continuum of outputs, and if a probability of more than `most_left` is left over.
    """
    found = _listed(prior, release, max_series, most_left, little)
    if found is None:
        return None
    likelihoods, chosen, mass, left = found
    with np.errstate(divide="ignore"):
        evidence = np.log(likelihoods[np.arange(release.steps), chosen])
    return Series(evidence, mass, sampled=False, left_over=left)


def chances_of_all(prior: MarkovPrior, release: Release) -> Floats | None:
    """The probability of each possible series (n,); None if they are too many to list."""
    if exceeds(log_series(prior, release), MAX_SERIES):
        return None
    found = _listed(prior, release, MAX_SERIES, 0.0, 0.0)
    return None if found is None else found[2]


def _listed(
    prior: MarkovPrior, release: Release, max_series: int, most_left: float, little: float
) -> tuple[Floats, Ints, Floats, float] | None:
    """Likelihoods of each step's outcomes (T, O, C); the outcomes of series (n, T), how likely they and others are."""
    signals = release.stacked_signals()
    if signals is None:
        return None
    limits = max_series, most_left, little
    chosen, mass, left = series.likeliest(prior.initial, prior.matrices, release.classes(prior), *signals, *limits)
    return (signals[0], chosen, mass, left) if len(chosen) else None


def relative(evidence: Floats) -> Floats:
    """Log-likelihoods as weights: the largest is one at each step. A posterior needs no more.

    Possible states keep a weight, if a faint one: kernels know by it that they leave something out.
    """
    # If nothing explains the step, all weights are zero.
    weights = evidence - np.maximum(evidence.max(axis=-1, keepdims=True), -1e300)
    np.maximum(np.exp(weights, out=weights), FAINTEST, out=weights)
    return np.where(evidence > -np.inf, weights, 0.0)


def score(prior: MarkovPrior, release: Release, evidence: Floats, guesses: Ints, misses: int) -> Floats:
    """`Pr[at most misses steps wrong | series]` for a guess (n, T) per series of evidence (n, T, S + 1)."""
    if prior.overlapping:
        laws = wrong_laws(prior, release, evidence, guesses, misses)
        return np.where(laws[:, 0] < 0, -1.0, laws.sum(axis=1))
    return np.asarray(scoring.successes(*_case(prior, release, evidence, guesses), misses))


def wrong_laws(prior: MarkovPrior, release: Release, evidence: Floats, guesses: Ints, most: int) -> Floats:
    """`Pr[k steps wrong | series]` (n, most + 1), k from 0 to `most`, for a guess per series: all numbers at once."""
    if prior.overlapping:
        from passerby.kernels.search import near

        case = prior.initial, prior.matrices, prior.balls, release.classes(prior), relative(evidence)
        return np.asarray(near.wrong_laws(*case, np.ascontiguousarray(guesses), most))
    return np.asarray(scoring.wrong_laws(*_case(prior, release, evidence, guesses), most))


def _case(
    prior: MarkovPrior, release: Release, evidence: Floats, guesses: Ints
) -> tuple[Floats, Floats, Ints, Ints, Floats, Ints]:
    """Chain, classes, weights and guesses to score, with alike places merged.

    A sensible guess names the likeliest of alike places. If one names another, the chain is left as it is.
    """
    case = merged(prior, release, relative(evidence))
    if not case.best.size:
        return case.initial, case.matrices, case.place_of, case.classes, case.weights, guesses
    label = np.full(prior.places, -1)
    label[case.kept] = np.arange(len(case.kept))
    named = label[guesses]
    named[guesses == case.best] = len(case.kept)
    if (named >= 0).all():
        return case.initial, case.matrices, case.place_of, case.classes, case.weights, named
    return prior.initial, prior.matrices, prior.name_of, release.classes(prior), relative(evidence), guesses
