"""A share of the visits, audited by itself: the function for each partition of other engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.model.kinds import check_release
from passerby.model.release import Release
from passerby.people.habits import People, check_people
from passerby.questions.question import Question
from passerby.support.checks import is_word, whole
from passerby.visits.readers import read_part
from passerby.visits.steps import Steps
from passerby.visits.table import Visits
from passerby.visits.windows import Rule, Tracing, traced

from .audit import audit
from .columns import SCHEMA
from .settings import Measurement, StepSettings


def audit_partition(
    visits: Any,
    like: People,
    release: Release,
    misses: int = Measurement.misses,
    *,
    min_active: int = StepSettings.min_active,
    rule: Rule = "most-visited",
    tolerance: float = Measurement.tolerance,
    runs: int = Measurement.runs,
    confidence: float = Measurement.confidence,
    budget: float = Measurement.budget,
    seed: int = Measurement.seed,
    questions: Sequence[Question | str | int] | None = None,
) -> pl.DataFrame:
    """The loss of the people of some visits, as rows of the table of `audit`, ordered by person.

    `visits` is a table (polars, pandas or Arrow) with all visits of each person that is in it, and of nobody twice;
    times without a zone are by the clock of `like`. `like` are people whose steps, places and habits of everybody are
    taken, and whether times are cut: fitted to all visits, or to a sample of people. Rows are then those of
    `audit(fit_people(...))` of everybody,
    if `like` were. Numbers of others that the mechanism needs are those that `like` counted: give them with
    `Release(others=...)` where it is a sample. Who is known too seldom is left out; where that is everybody, the table
    is empty. The other arguments are those of `audit`, which works in this process alone.

    >>> import passerby as pb
    >>> city = pb.simulate_city(people=40, places=20, days=4)
    >>> like = pb.fit_people(city, window="3h", places=9, min_active=1, holdout=4)
    >>> frame = city.table.select("time", person=city.people.gather(city.table["person"]),
    ...                           place=city.places.gather(city.table["place"]))
    >>> some = audit_partition(frame.filter(pl.col("person") < 10), like, pb.Release([0, 1, 0, 1]), min_active=1)
    >>> whole = pb.audit(like, pb.Release([0, 1, 0, 1]))
    >>> some.equals(whole.filter(pl.col("person").is_in(some["person"].to_list())))
    True
    """
    check_people(like, "like")
    check_release(release)
    whole(min_active, "min_active")
    if not is_word(rule, get_args(Rule)):
        raise InputError(f"rule is {rule!r}; choose one of {', '.join(map(repr, get_args(Rule)))}")
    if release.crowd is not None and release.crowd.open:
        raise InputError("others: with Crowd(), everybody's habits are needed for each person; use audit instead")
    people = _people(read_part(visits, like.timezone, cut=like.left_out.cut), like, min_active, rule)
    if people is None or not len(people):
        return pl.DataFrame(schema={"person": like.ids.dtype, **SCHEMA})
    return audit(
        people,
        release,
        misses,
        tolerance=tolerance,
        runs=runs,
        confidence=confidence,
        budget=budget,
        seed=seed,
        workers=1,
        questions=questions,
    ).sort("person")


def _people(visits: Visits, like: People, min_active: int, rule: Rule) -> People | None:
    """People with the steps and places of others; None if nobody is seen in these steps at these places."""
    # Places are in the order of all of them, to settle ties. Steps go by the clock; it may not have such an hour.
    visited = set(visits.places.to_list())
    there = [number for number, name in enumerate(like.places[:-1]) if name in visited]
    if not there:
        return None
    cut, count = like.fitted.shape[1], like.fitted.shape[1] + like.actual.shape[1]
    steps = Steps(like.starts[0].astype("datetime64[us]").item(), like.window, count, like.timezone)
    end = steps.origin + count * like.window
    places = tuple(like.places[number] for number in there)
    traces, _, ids, *_ = traced(Tracing(steps, end, places, 1, rule, cut), visits)
    array = np.array([*there, like.elsewhere], dtype=np.int32)[traces]
    known = (array[:, :cut] != like.elsewhere).sum(axis=1)
    enough: NDArray[np.int64] = np.flatnonzero(known >= max(min_active, 1))
    return replace(
        like,
        fitted=np.ascontiguousarray(array[enough, :cut]),
        actual=np.ascontiguousarray(array[enough, cut:]),
        ids=ids.gather(enough.tolist()),
    )
