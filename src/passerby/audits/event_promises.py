"""Promises of habits about events, and the outcomes: being at counted places, and being counted at all.

There are two promises. One is the chance that somebody is ever at a place in the published steps. The other is the
share of the people there whom a test with 1 % of false alarms finds. The test looks at the published values for their
real steps. If others are known, a raw count shows each counted person, even against their habits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.errors import PasserbyError
from passerby.measurement.setup import Setup
from passerby.model.counts import Visitors
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.questions.event import Event
from passerby.questions.hypotheses import Hypotheses
from passerby.questions.in_data import InData
from passerby.questions.laws import gaps
from passerby.support.numbers import percent
from passerby.support.rule_of_five import FEW

from .job import Job, kept_part, over_states, some_numbers
from .question_rows import FALSE
from .subjects import subjects_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Zone = tuple[int, ...]

#: The promised events: being at a counted place at any published step, and being counted at all.
VISITED, COUNTED = "visited", "counted"
#: What tests find of each: those who were there, and those who are counted.
TESTS = {"visited test": VISITED, "counted test": COUNTED}
#: At most so many counted places are looked at, and so many tests are made at an origin of each kind.
MOST_ZONES, TESTED = 12, 40
#: Series drawn for a true event: one half chooses the test, and the other half measures it.
DRAWN = 200
#: Ratios with a smaller relative difference are alike but for rounding.
_ALIKE = 1e-9


class Looked(NamedTuple):
    """Looked of single people (n,): whom, how likely they were to be found, and whether (or how likely) they were."""

    who: Ints
    promised: Floats
    found: Floats


class Events(NamedTuple):
    """Events of one origin: the chance (N, Z) to be at each counted place, the people `there` (N, Z), and tests."""

    chance: Floats
    there: NDArray[np.bool_]
    tests: Mapping[str, Looked]

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Events:
        """From lists, as they are kept."""
        tests = {name: Looked(*(np.array(each) for each in lists)) for name, lists in kept["tests"].items()}
        people = len(kept["chance"])
        chance, there = (np.array(kept[name]).reshape(people, -1) for name in ("chance", "there"))
        return cls(chance.astype(np.float64), there.astype(np.bool_), tests)

    @property
    def share_there(self) -> float | None:
        """The share of pairs of a person and a place who were there, in steps of all places of the five at most places.

        None where one to four people were there.
        """
        each = self.there.sum(axis=1)
        if not self.there.size or 0 < int((each > 0).sum()) < FEW:
            return None
        return in_lots(float(self.there.mean()), self.there.size, FEW * max(1, int(each.max(initial=1))))

    def found(self, event: str) -> float | None:
        """The share that tests found, in steps of five people; None of fewer."""
        tests = self.tests[event]
        if len(np.unique(tests.who)) < FEW:
            return None
        # Whoever was looked for more than once is as many tests: all of theirs together are one person.
        lot = FEW * max(1, int(np.bincount(tests.who.astype(np.int64)).max(initial=1)))
        return in_lots(float(tests.found.mean()), len(tests.found), lot)


def in_lots(share: float, count: int, lot: int) -> float:
    """A share of so many in steps of a lot of them; none and all are as they are.

    >>> in_lots(0.5, 40, 5), in_lots(0.0, 40, 5)
    (0.5, 0.0)
    """
    if share in (0.0, 1.0) or not count:
        return share
    return min(1.0, lot * round(share * count / lot) / count)


def said_of_tests(
    event: str, verdict: str, origins: int, promised: float, found: float, who: str = "an insider"
) -> str:
    """Whether the tests of an adversary find as many as habits promise, in a sentence.

    >>> said_of_tests("counted", "did not come true", 5, 0.8, 0.6)
    'Tests of who is counted at all did not come true: in the published steps, a test by an insider with 1 % of false \
alarms was to find 80 % of the people, and it found 60 %.'
    """
    about = "presence at counted places" if event == VISITED else "who is counted at all"
    whom = "the people who were at one of them" if event == VISITED else "the people"
    told = verdict != "cannot be told"
    start = f"Tests of {about} {verdict}" if told else f"Whether tests of {about} come true cannot be told"
    earlier = "an earlier time" if origins == 2 else f"{origins - 1} earlier times"
    more = f" So much was to be expected from {earlier}." if verdict == "came true" else ""
    return (
        f"{start}: in the published steps, a test by {who} with {100 * FALSE:g} % of false alarms was to "
        f"find {percent(promised)} of {whom}, and it found {percent(found)}.{more}"
    )


def events_of(job: Job, rng: np.random.Generator) -> dict[str, Any]:
    """Promised and real events of all people of a job, as plain lists for storage."""
    zones = counted_zones(job.release)
    chance = []
    for person in range(len(job.people)):
        prior, _, _, state_of = over_states(job, person)
        chance.append(visit_chances(prior, state_of, zones, job.release.steps).tolist())
    there = np.array([np.isin(job.people.actual, zone).any(axis=1) for zone in zones], dtype=np.bool_).T
    there = there.reshape(len(job.people), -1)
    visitors = np.flatnonzero(there.any(axis=1))
    some = visitors[some_numbers(len(visitors), TESTED, int(rng.integers(2**31)))]
    # Each is looked for at one place: tests of several people have little to do with each other.
    visited = [(int(person), zones[int(rng.choice(np.flatnonzero(there[person])))]) for person in some]
    everyone = some_numbers(len(job.people), TESTED, int(rng.integers(2**31))).tolist()
    tests = {VISITED: _tests(job, visited, rng), COUNTED: _tests(job, [(each, None) for each in everyone], rng)}
    return {"chance": chance, "there": there.tolist(), "tests": tests}


def counted_zones(release: Release) -> list[Zone]:
    """The counted places and zones, the most often counted first, and not too many.

    >>> counted_zones(Release([[3], [1, 3]]))
    [(3,), (1,)]
    """
    often: dict[Zone, int] = {}
    for subject in subjects_of(release):
        for zone in subject.zones:
            often.setdefault(zone, 0)
    for step in release.sensors if release.reveals else ():
        for place in step:
            often[(place,)] += 1
    return sorted(often, key=lambda zone: -often[zone])[:MOST_ZONES]


def visit_chances(prior: MarkovPrior, state_of: Ints, zones: Sequence[Zone], steps: int) -> Floats:
    """The chance (Z,) to be at each zone at any step: one minus the chance of avoiding it, step by step.

    >>> halves = MarkovPrior([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    >>> visit_chances(halves, np.arange(2), [(0,), (0, 1)], 3).tolist()
    [0.875, 1.0]
    """
    outside = np.array([~np.isin(prior.place_of, state_of[list(zone)]) for zone in zones], dtype=np.float64)
    outside = outside.reshape(-1, prior.states)
    law = prior.initial * outside
    for t in range(1, steps):
        law = (law @ prior.matrix(t - 1)) * outside
    return np.asarray(np.clip(1 - law.sum(axis=1), 0.0, 1.0))


def _tests(job: Job, asked: Sequence[tuple[int, Zone | None]], rng: np.random.Generator) -> list[list[float]]:
    """Person, promised and found, for each person and the zone they were at, or None for the event of being counted."""
    rows = []
    for person, zone in asked:
        try:
            found = _test(job, person, zone, rng)
        except PasserbyError:
            continue  # such a release, or such a series, cannot be looked at for this person
        if found is not None:
            rows.append((float(person), *found))
    return [list(column) for column in zip(*rows, strict=True)] or [[], [], []]


def _test(job: Job, person: int, zone: Zone | None, rng: np.random.Generator) -> tuple[float, float] | None:
    """The chance of a test finding one person, and its outcome; None if there is nothing to tell apart."""
    base, whole, _, state_of = over_states(job, person)
    part = kept_part(base, whole)[0]
    chain, release = part.over(base)
    setup = Setup(chain, release, given=(base, part))
    asked = InData().hypotheses(setup) if zone is None else _ever(zone, state_of, release.steps).hypotheses(setup)
    seen = sighted(job.release, job.people.actual[person], zone)
    if zone is not None and asked.logs[0] == -np.inf:
        return None
    if asked.logs[1] == -np.inf:
        return 0.0, float(seen)
    edge, promised, share = chosen_test(asked, rng)
    trace = state_of[job.people.actual[person]]
    real = _ratios(asked, asked.setup.release.drawn(trace[None], rng))[0]
    return promised, 1.0 if seen else share * float(real <= edge * (1 + _ALIKE))


def _ever(zone: Zone, state_of: Ints, steps: int) -> Event:
    return Event(Visitors(sorted({int(state_of[place]) for place in zone}), steps=range(steps)))


def sighted(release: Release, trace: Ints, zone: Zone | None) -> bool:
    """Whether a raw count shows this person at a zone, or with None at any, to somebody with all others' places.

    >>> sighted(Release([[3], [1, 3]]), np.array([1, 1]), (1,)), sighted(Release([[3], [1, 3]]), np.array([1, 2]), None)
    (True, False)
    """
    if release.crowd is not None or not (release.plain and release.reveals):
        return False
    there = [place for place, step in zip(trace.tolist(), release.sensors, strict=True) if place in step]
    return bool(there) if zone is None else not set(there).isdisjoint(zone)


def chosen_test(asked: Hypotheses, rng: np.random.Generator) -> tuple[float, float, float]:
    """A Neyman-Pearson test at `FALSE` alarms: the largest ratio for a yes, its power, and a share.

    The ratio is `Pr[y | not E] / Pr[y | E]`. Its mean over series drawn under the event, up to an edge, is the rate of
    false alarms. A test with too many says yes in a share of the cases alone.
    """
    ratios = _ratios(asked, asked.setup.release.drawn(asked.draw(True, DRAWN, rng), rng))
    first, rest = np.sort(ratios[: DRAWN // 2]), ratios[DRAWN // 2 :]
    with np.errstate(divide="ignore"):
        part = np.minimum(1.0, FALSE / (np.cumsum(first) / len(first)))
    edge = float(first[int(np.argmax(np.arange(1, len(first) + 1) * part))])
    inside = rest <= edge * (1 + _ALIKE)
    wrong = float(rest[inside].sum()) / len(rest)
    share = min(1.0, FALSE / wrong) if wrong > 0 else 1.0
    return edge, float(inside.mean()) * share, share


def _ratios(asked: Hypotheses, evidence: Floats) -> Floats:
    """`Pr[y | not E] / Pr[y | E]` of series (n,)."""
    return np.exp(-np.clip(gaps(asked.logs_of(evidence)) - asked.log_odds, -700.0, 700.0))
