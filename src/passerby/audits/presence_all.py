"""Presence at all counted places, for both adversaries: rows, what is told of them, and what must be said on top."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from passerby.errors import UnsupportedRelease
from passerby.model.release import Release
from passerby.support.blocks import Team
from passerby.support.rule_of_five import rest_enough
from passerby.support.workers import Progress, silent
from passerby.visits.steps import names_of_steps

from .job import Job
from .presence import Everybody, Presence, Watched, Work, answered, choose, person_of, work_of
from .presence_summary import LOOKED_AT, About, about_presence, few_and_found, single_counts, told_places
from .question_record import HourAnswer, PlaceAnswers, WayAnswer
from .question_rows import HABITS, INSIDER
from .question_words import Named, Zone
from .results import Rows
from .sample import some_numbers
from .settings import Measurement

#: People of whom it is asked whether they are counted, to whoever knows some of the others.
MEMBERS = 20


@dataclass(frozen=True, eq=False)
class Present:
    """The rows of both adversaries, a record for each place and adversary, and sentences for the top of a page."""

    rows: pl.DataFrame | None
    places: tuple[PlaceAnswers, ...]
    alerts: tuple[str, ...]
    #: What workers share for each adversary, by name, and people to be asked whether they are counted.
    works: Mapping[str, Work] = field(default_factory=dict)
    members: tuple[int, ...] = ()

    @property
    def asked(self) -> Rows | None:
        """The rows as those of other questions are, without the place; None where nothing was asked."""
        return None if self.rows is None else Rows.here(self.rows.drop("place"))


def presence_of_all(
    everybody: Everybody,
    release: Release,
    how: Measurement,
    named: Named,
    sensitive: Mapping[Zone, str | None],
    sample: int,
    *,
    team: Team,
    progress: Progress = silent,
    folder: Path | None = None,
    shares: Sequence[float] = (),
) -> Present:
    """Ask who can be told to have been where; a folder keeps what is finished when it is interrupted.

    With `shares` of the others who may be known, the numbers of the rest are made ready for `others_known`.
    """
    watched = Watched.of(release, named)
    job = Job(everybody.common, release, how)
    chosen = choose(everybody, release, watched, sample, how.seed)
    size = sum(everybody.sizes)
    members = some_numbers(size, rest_enough(MEMBERS, size) if shares else 0, how.seed + 2)
    chosen = chosen.and_also(members)
    about = About.of(watched, release, everybody.common, sensitive)
    tables, places, alerts, few = list[pl.DataFrame](), list[PlaceAnswers](), list[str](), list[str]()
    works: dict[str, Work] = {}
    for part, adversary in enumerate((HABITS, INSIDER)):
        asked = Presence(job, watched, chosen, adversary, tuple(shares))
        file = None if folder is None else folder / f"{adversary}.jsonl"
        try:
            work = work_of(asked, everybody)
        except UnsupportedRelease as reason:
            alerts.append(
                "Whether an acquaintance, who knows everybody's habits alone, can tell somebody to have been at "
                f"counted places was not tried: {reason}."
            )
            continue
        works[adversary] = work
        table = answered(work, team, partial(_of_both, progress, part), file)
        hours, ways = single(work) if work.everybody is not None else ({}, {})
        places += told_places(table, watched, about, adversary, hours, ways)
        if adversary == HABITS:
            few = few_and_found(table, watched, sensitive)
        tables.append(table)
    found = about_presence(places, few)
    asked_too = tuple(np.searchsorted(chosen.people, members).tolist())
    return Present(pl.concat(tables) if tables else None, tuple(places), (*found, *alerts), works, asked_too)


def _of_both(progress: Progress, part: int, done: int, everyone: int) -> None:
    """Tell how much is done of both adversaries together."""
    progress(part * everyone + done, 2 * everyone)


def single(work: Work) -> tuple[dict[str, list[HourAnswer]], dict[str, list[WayAnswer]]]:
    """What single counts tell of some of those who were chosen, by place."""
    assert work.everybody is not None
    assert work.total is not None
    hours, ways = {}, {}
    starts = names_of_steps(work.job.people.starts[work.job.people.fitted.shape[1] :])
    for k, name in enumerate(work.watched.names):
        some = [n for n, which in enumerate(work.places) if k in which][:LOOKED_AT]
        pairs = [person_of(work, n, [work.watched.zones[k]]) for n in some]
        people, zones = [person for person, _ in pairs], [over[0] for _, over in pairs]
        rest = work.total - work.everybody.there
        found, ways[name] = single_counts(people, zones, work.everybody, rest, work.job.release)
        hours[name] = [each.model_copy(update={"begins": starts[each.step]}) for each in found] if starts else found
    return hours, ways
