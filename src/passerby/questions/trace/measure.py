"""From a goal to the loss: run the methods, and find the deciding attack and bound.

A person's places, step by step: the question of the paper, also for zones, or for places near enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError, UnsupportedRelease
from passerby.measurement.finding import ROUNDING, Finding, Interval, Known, Look, Pooled
from passerby.measurement.setup import How, Setup
from passerby.model.naming import Naming, of_near, of_zones
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.questions.question import Question
from passerby.questions.trace.subsample import SPARE
from passerby.support.processes import interruptible

from .goal import Goal, Method, Way, ask, pose
from .loss import Effort, Loss
from .methods import ATTACKS, BOUNDS, METHODS
from .worst import Worst

#: A test of both ends of the loss and both of the baseline, in this order, for having found enough.
Enough = Callable[[float, float, float, float], bool]
#: A sample decides if it leaves at most this share of the certain gap, or raises the lower end by this factor. A
#: certain interval is worth more than a slightly narrower one.
WORTHWHILE = 0.8
FACTOR = 1.05
#: The ends of an interval differing by less than this share differ by rounding.
SAME = 1e-12


def trace_loss(
    prior: MarkovPrior,
    release: Release,
    misses: int = 0,
    *,
    seed: int | Sequence[int] = 0,
    published: Iterable[float | Iterable[float]] | None = None,
    tolerance: float = 0.01,
    series: How = "auto",
    runs: int = 1000,
    confidence: float = 0.99,
    budget: float = 2e10,
) -> Loss:
    """The loss of a release for a person with this prior, when `misses` steps may be wrong: see `pb.measure`."""
    effort = {"tolerance": tolerance, "budget": budget, "confidence": confidence, "runs": runs, "series": series}
    return loss_of(pose(prior, release, misses, seed, published, **effort))


def loss_of(goal: Goal) -> Loss:
    """The answers of all methods to a question, put together."""
    started = time.perf_counter()
    known, refused = investigate(goal)
    return conclude(goal, known, refused, started)


def measure_until(enough: Enough, prior: MarkovPrior, release: Release, misses: int, seed: Any, **how: Any) -> Loss:
    """The same with no more methods than it takes to know enough: ends hold, and may be wider than was asked for."""
    started = time.perf_counter()
    goal = pose(prior, release, misses, seed, None, series="auto", **how)
    known, refused = investigate(goal, enough=enough)
    return conclude(goal, known, refused, started)


def investigate(
    goal: Goal, methods: Sequence[Method] = METHODS, *, enough: Enough | None = None
) -> tuple[Known, dict[str, str]]:
    """Run the methods one after another; returns their findings, and the reasons for missing ones.

    Once the certain ends are `enough`, nothing more is tried.
    """
    known = Known(goal.published is None, loss_of)
    refused: dict[str, str] = {}
    with interruptible():
        for method in methods:
            _try(method, goal, known, refused)
            if enough is not None and "baseline" in known:
                without = known.baseline
                if enough(known.floor.floor, known.ceiling.ceiling, without.floor, without.ceiling):
                    break
    return known, {name: reason for name, reason in refused.items() if name not in known}


def _try(method: Method, goal: Goal, known: Known, refused: dict[str, str]) -> None:
    """Add a method's findings to the known ones, or its reason for not applying to the refused ones."""
    reason = method.reason(goal)
    if reason is not None:
        for name in method.bounds:
            refused.setdefault(name, reason)
        return
    try:
        for finding in method.run(goal, known):
            known.add(finding)
    except UnsupportedRelease as unsupported:
        # A failure of a tried method says more than the reason of one not applying.
        refused.update(dict.fromkeys(method.yields, str(unsupported)))


@dataclass(frozen=True)
class Ends:
    """The finding deciding each end, and remarks on it."""

    floor: Finding
    ceiling: Finding
    remarks: tuple[str, ...] = ()

    @property
    def lower(self) -> float:
        """The deciding lower end."""
        return self.floor.floor

    @property
    def upper(self) -> float:
        """The deciding upper end; rounding may have put the ceiling a little below the floor."""
        return max(self.floor.floor, self.ceiling.ceiling)

    @property
    def sampled(self) -> bool:
        """Whether an end rests on a sample."""
        return self.floor.level is not None or self.ceiling.level is not None


def conclude(goal: Goal, known: Known, refused: dict[str, str], started: float) -> Loss:
    """The loss: the best attack and the smallest bound, with all other findings beside them."""
    ends = decide(known)
    look = _look(known, ends)
    sampled = ends.sampled
    attacks = {name: attack for name in ATTACKS if (attack := _attack(known, name, ends.upper, sampled)) is not None}
    bounds = {name: bound.ceiling for name in BOUNDS if (bound := known.bound(name, sampled)) is not None}
    baseline = known.baseline
    effort = Effort(
        series=look.series,
        sampled=look.sampled,
        covered=look.covered,
        nodes=look.nodes,
        operations=look.operations,
        attack=ends.floor.name,
        bound=ends.ceiling.name if ends.ceiling.ceiling < 1 or ends.ceiling.name in bounds else "none",
        confidence=_confidence(goal, known) if sampled else None,
        reached=ends.upper <= ends.lower * (1 + goal.tolerance) * (1 + SAME),
        seconds=time.perf_counter() - started,
    )
    return Loss(
        lower=ends.lower,
        upper=ends.upper,
        baseline=_clipped(baseline, ends, goal),
        attacks=attacks,
        bounds=bounds,
        misses=goal.misses,
        steps=goal.steps,
        effort=effort,
        refused=refused,
        remarks=ends.remarks,
        pooled=_pooled(known),
        series=Worst(goal),
    )


def _confidence(goal: Goal, known: Known) -> float:
    """The level of all ends together: two have all of the doubt, and one more may have a small part of it."""
    more = known.bound("erasure", sampled=True)
    drawn = more is not None and more.level is not None
    return 1 - (1 - goal.confidence) * (1 + SPARE) if drawn else goal.confidence


def _pooled(known: Known) -> Pooled:
    """The draws, if anything was drawn, whatever they are: choosing by the draws would favour lucky ones."""
    certain = Pooled(known.floor.floor, max(known.floor.floor, known.ceiling.ceiling))
    return next((f.pooled for f in known if f.pooled is not None), certain)


def decide(known: Known) -> Ends:
    """The certain ends, or the ends of a sample if it says enough more."""
    certain = Ends(known.floor, known.ceiling)
    drawn = [f for f in known if f.level is not None and not f.assumes and f.about == "loss"]
    floor = max((f for f in drawn if f.floor > certain.lower), key=lambda f: f.floor, default=known.floor)
    ceiling = min((f for f in drawn if f.ceiling < certain.upper), key=lambda f: f.ceiling, default=known.ceiling)
    if floor.floor > ceiling.ceiling * (1 + ROUNDING):
        remark = (
            f"a sample was unlucky: {floor.name} achieves {floor.floor:.6g} and {ceiling.name} allows "
            f"{ceiling.ceiling:.6g}, which cannot both be true; the ends that hold for certain are given instead"
        )
        return replace(certain, remarks=(remark,))
    both = Ends(floor, ceiling)
    if not both.sampled or (_settled(known) and not _worthwhile(certain, both)):
        return certain
    return both


def _settled(known: Known) -> bool:
    """Whether all possible series were looked at without a sample."""
    return any(f.name == "posterior" and f.certain for f in known)


def _worthwhile(certain: Ends, both: Ends) -> bool:
    narrower = both.upper - both.lower <= WORTHWHILE * (certain.upper - certain.lower)
    return narrower or both.lower >= FACTOR * certain.lower


def _look(known: Known, ends: Ends) -> Look:
    """The looks behind the ends: the sample if it decides or nothing else was looked at."""
    looks = [f.look for f in known if f.look is not None]
    certain = [look for look in looks if not look.sampled]
    return next(reversed(looks if ends.sampled or not certain else certain), Look())


def _attack(known: Known, name: str, upper: float, sampled: bool) -> Finding | None:
    """The attack of this name; an average over a sample may be lucky, but is known not to exceed the upper end."""
    found = known.attack(name, sampled)
    if found is None or found.level is None or found.assumes:
        return found
    return replace(found, value=min(found.value, upper))


def _clipped(baseline: Finding, ends: Ends, goal: Goal) -> Interval:
    """The baseline: never above the success with the release, on average over all possible series."""
    upper = min(baseline.ceiling, ends.upper) if goal.published is None else baseline.ceiling
    return Interval(baseline.floor, max(baseline.floor, upper))


Near = Sequence[Iterable[Any]] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Trace(Question):
    """The whole trace, with at most `misses` steps guessed wrong.

    A whole number is short for it: `measure(prior, release, 1)` asks for `Trace(1)`.

    With `zones`, the zone of each place (P,) from 0 on, a guess names the zone of each step. Sensors count at places as
    before, so a sighting tells more than the zone. Zones with a `guessable` place are named.

    With `within`, a step is right if the named place is near enough. `within[g]` has the right places for g, as a set
    or as a row of a table (P, P). Each place is near itself; nearness need not be mutual.

    >>> import passerby as pb
    >>> east_or_west = pb.Trace(zones=[0, 0, 1, 1])
    >>> round(pb.measure(pb.line_prior(4), pb.Release([0, 3, 1]), east_or_west).lower, 3)
    0.887
    >>> next_door = pb.Trace(within=[{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3}])
    >>> round(pb.measure(pb.line_prior(4), pb.Release([0, 3, 1]), next_door).lower, 3)
    0.98
    """

    misses: int = 0
    zones: Sequence[int] | NDArray[Any] | None = None
    within: Near | None = None
    kind: ClassVar[str] = "trace"

    def __post_init__(self) -> None:
        if self.zones is not None and self.within is not None:
            raise InputError(
                "Trace: give zones=... or within=..., not both; near places of zones are one table, within"
            )
        for name in ("zones", "within"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable)):
                raise InputError(f"Trace: {name}={value!r}: expected a list with an entry for each place")

    @property
    def sentence(self) -> str:
        """The question, in words."""
        what = "place" if self.zones is None else "zone"
        near = "" if self.within is None else ", or a place near enough"
        return (f"all but {self.misses} of the {what}s" if self.misses else f"every {what}") + f" of the person{near}"

    def check(self, prior: MarkovPrior, release: Release) -> None:
        """Refuse an invalid number of misses, or one not below the number of steps, and zones of other places."""
        release.check_misses(self.misses)
        self._naming(prior)

    def answer(self, setup: Setup, way: Way = "exact") -> Loss:
        """The loss, by all methods of the paper and beyond it suited to the named things."""
        naming = self._naming(setup.prior)
        if naming is not None and way == "sampling":
            raise InputError("method='sampling': the paper's way names places; leave zones=... and within=... out")
        return loss_of(ask(replace(setup, prior=setup.prior.guessed_as(naming)), self.misses, way))

    def relabelled(self, state_of: Mapping[int, int]) -> Trace:
        """The same question over other place numbers: zones and near places of a person's own."""
        if self.zones is None and self.within is None:
            return self
        raise InputError(
            "Trace: zones=... and within=... are lists over the places of one person, and an audit numbers the places "
            "of each person anew; ask it of one person: "
            "measure(people.prior(person, reduced=False)[0], release, Trace(...))"
        )

    def _naming(self, prior: MarkovPrior) -> Naming | None:
        """The names used by a guess; None for the place itself."""
        if self.zones is not None:
            return of_zones(prior, self.zones)
        return None if self.within is None else of_near(prior, self.within)

    def _key(self) -> tuple[Any, ...]:
        """The question as values: equal questions have equal values."""
        zones = None if self.zones is None else tuple(np.asarray(self.zones).tolist())
        near = None if self.within is None else tuple(_row(row) for row in self.within)
        return self.misses, zones, near

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Trace) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())


def _row(row: Iterable[Any]) -> Any:
    return frozenset(row) if isinstance(row, (set, frozenset)) else tuple(np.asarray(row).tolist())
