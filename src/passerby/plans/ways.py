"""Ways to publish the same counts side by side, in one set of numbers about everyone.

Everybody was measured with the release of an audit. Another way is tried on people drawn at random, and its change for
them is added to everyone's mean: a paired difference. Limits rest on everyone's known ends. With a less informative
way, chances lie between the ends without any release and with it; only the position between them comes from the drawn
people.

If series are drawn, a person's result under another way may rest on two samples. The audit's sample has all of one
measurement's doubt, and the way's sample has a share of it besides. `Ways.confidence` is the confidence of both
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.audits.findings import MEANS, MORE, NOISE, SHARES
from passerby.audits.job import doubted, some_people
from passerby.audits.results import POOLED, mean_limits
from passerby.audits.settings import Measurement
from passerby.measurement.finding import Interval
from passerby.mechanisms import Mechanism
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.plans.limit import CONFIDENCE
from passerby.support.rule_of_five import FEW
from passerby.support.statistics import least_people, lower_limit, most_people
from passerby.support.workers import Progress

from .cost import NOTHING
from .lever import Scene
from .levers.noise import GAUSSIAN
from .limit import ROUNDING, Limit
from .search import Search
from .survey import LOOK, Panel, Survey, surveying, whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: People on whom the least noise is looked for, at most.
FEWER = 40


class _Exact(Limit):
    """A limit without a published verdict: only the least noise is published."""

    def edges(self, people: int) -> tuple[int, int]:
        """The allowed number, to the person."""
        return self.allowed(people), self.allowed(people)


@dataclass(frozen=True)
class Ways:
    """Everyone's means with each way to publish, shares above each threshold, and the least sufficient noise.

    All values behind a number hold together for one person at the `confidence`; it is None if nothing was drawn.
    """

    mechanisms: pl.DataFrame
    shares: pl.DataFrame
    noise: pl.DataFrame
    confidence: float | None


def compare(
    people: People,
    release: Release,
    table: pl.DataFrame,
    rules: Mapping[str, Mechanism],
    measurement: Measurement,
    count: int,
    thresholds: Sequence[float],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    folder: Path | None = None,
) -> Ways:
    """Send the counts of the same sensors through each mechanism, for `count` people.

    `table` is the audit of everybody with `release`, by the same `measurement`.
    """
    drawn = some_people(people, count, measurement.seed + 1)
    with surveying(people, measurement, workers, executor, folder) as survey:
        survey.adopt(release, table)
        means, shares = [], []
        for done, (name, mechanism) in enumerate(rules.items()):
            way = release.through(mechanism)
            if progress:
                progress(done * len(drawn), (len(rules) + 1) * len(drawn))
            means.append({"mechanism": name, **_means(survey, release, way, drawn)})
            shares += [{"mechanism": name, **_share(survey, way, drawn, level)} for level in thresholds]
        asked, some = [Limit(0.0, above=level) for level in thresholds], min(len(drawn), FEWER)
        noise = [_noise(survey, release, level, some, asked) for level in thresholds if noisy(release)]
        if progress:
            progress((len(rules) + 1) * len(drawn), (len(rules) + 1) * len(drawn))
    return Ways(
        pl.DataFrame(means, schema=MEANS, orient="row"),
        pl.DataFrame(shares, schema=SHARES, orient="row"),
        pl.DataFrame(noise, schema=NOISE, orient="row"),
        _confidence(measurement, audited=bool(table["sampled"].any()), tried=survey.sampled),
    )


def _confidence(measurement: Measurement, *, audited: bool, tried: bool) -> float | None:
    """The joint confidence of a person's ends from an audit, and from one trial of another way.

    None if neither rests on drawn series.

    >>> _confidence(Measurement(confidence=0.99), audited=True, tried=True)
    0.9875
    """
    share = audited + LOOK * tried
    return doubted(measurement, share).confidence if share else None


def _means(survey: Survey, release: Release, way: Release, drawn: Ints) -> dict[str, float | int]:
    """Everyone's mean ends with a way: the release's, and the mean difference for the drawn people."""
    all_of = survey.everyone(release)
    base = {"baseline": float(all_of.known[0].mean())}
    if way == release:
        mean = _limits(survey, release)
        ends = {"lower": mean.lower, "upper": mean.upper, "lowest": mean.lower, "highest": mean.upper}
        return {**ends, **base, "people": len(all_of.lower)}
    there, here = all_of.of_some(drawn), survey.ends(way, drawn)
    low = float(all_of.lower.mean() + (here.lower - there.lower).mean())
    high = float(all_of.upper.mean() + (here.upper - there.upper).mean())
    # Everyone's values are known to lie between their ends; only the distance from either is unknown, and it cannot be
    # negative.
    least, most = survey.inherited(way, complete=True)
    level = 1 - (1 - CONFIDENCE) / 2
    lowest = float(least.mean()) + lower_limit(np.maximum(0.0, here.lower - least[drawn]), level)
    highest = float(most.mean()) - lower_limit(np.maximum(0.0, most[drawn] - here.upper), level)
    low, high = (min(highest, max(lowest, value)) for value in (low, high))
    return {"lower": low, "upper": high, "lowest": lowest, "highest": highest, **base, "people": len(drawn)}


def _limits(survey: Survey, release: Release) -> Interval:
    """Limits of everyone's mean loss with a release; an unmeasured person may have any."""
    table = survey.tables[release]
    lower, upper, reach = (table[name].fill_null(rest) for name, rest in zip(POOLED, (0.0, 1.0, 0.0), strict=True))
    return mean_limits(lower, upper, reach, survey.measurement.confidence)


def _share(survey: Survey, way: Release, drawn: Ints, threshold: float) -> dict[str, float | int]:
    """The share of everyone at or above a threshold: the people known without a trial, and a part of the rest.

    A person above without any release is above. So is a person above with a less informative way under which everybody
    was measured. A person below with a more informative one is below.
    """
    everyone = len(survey.people)

    def reached(values: Floats) -> NDArray[np.bool_]:
        return np.asarray(values >= threshold - ROUNDING)

    if way in survey.tables:
        ends = survey.everyone(way)
        at_least, at_most = float(reached(ends.lower).mean()), float(reached(ends.upper).mean())
        row = {"threshold": threshold, "at_least": at_least, "at_most": at_most}
        return {**row, "lowest": at_least, "highest": at_most, "people": everyone}
    lower, upper = survey.inherited(way, complete=True)
    known, unclear = int(reached(lower).sum()), ~reached(lower) & reached(upper)
    some = drawn[unclear[drawn]]
    ends = survey.ends(way, some)
    size, n, level = int(unclear.sum()), len(some), 1 - (1 - CONFIDENCE) / 2
    surely, possibly = int(reached(ends.lower).sum()), int(reached(ends.upper).sum())
    scale = size / n if n else 0.0
    return {
        "threshold": threshold,
        "at_least": (known + surely * scale) / everyone,
        "at_most": (known + (possibly * scale if n else size)) / everyone,
        "lowest": (known + least_people(surely, n, size, level)) / everyone,
        "highest": (known + most_people(possibly, n, size, level)) / everyone,
        "people": len(drawn),
    }


def noisy(release: Release) -> bool:
    """Whether more noise can be added to the published counts."""
    plain = all(mechanism.raw or mechanism.deviation is not None for mechanism in release.ways)
    return plain and GAUSSIAN.refuses(release, Scene(())) is None


def _noise(
    survey: Survey, release: Release, threshold: float, count: int, asked: Sequence[Limit]
) -> dict[str, float | int | None]:
    """The least standard deviation with hardly more people above a threshold than without any release.

    It is 0 if the release is sure of it already, and None if no tried noise is enough. Questions about other thresholds
    in `asked` are answered in the same trials.
    """
    ends = survey.everyone(release)
    # With fewer people more it would tell whether there are any.
    share = float((ends.known[0] > threshold + ROUNDING).mean()) + max(MORE, (FEW - 1) / len(survey.people))
    row: dict[str, float | int | None] = {"threshold": threshold, "allowed": min(1.0, share), "people": count}
    if share >= 1:
        return {**row, "sigma": 0.0}
    limit = _Exact(share, above=threshold)
    if whole(survey, release, [limit])[0].verdict == "sure":
        return {**row, "sigma": 0.0}
    panel = Panel(survey, release, [limit], count, survey.measurement.seed, asked)
    scene = Scene(survey.people.places)
    search = Search(panel, release, scene, lambda _: NOTHING)
    found = search.along(GAUSSIAN.family(release, scene), release)
    return {**row, "sigma": None if found is None else found.settings[-1].position}
