"""The front door of planning: from a wanted release, and limits, to the best releases within them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from passerby.audits.engine import Tell
from passerby.audits.job import Job, check_job, enough_workers
from passerby.audits.question_rows import Asked
from passerby.audits.settings import Measurement
from passerby.errors import InputError
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.checkpoints import fingerprint
from passerby.support.checks import function, path
from passerby.support.files import make_folder, write_json
from passerby.support.numbers import percent
from passerby.support.statistics import least_people
from passerby.support.workers import Progress, check_executor, silent

from .cost import NOTHING
from .guard import Guard, Kept
from .lever import Setting, cells_of
from .levers import chosen_levers
from .limit import Against, Limit, Tally, counted
from .names import BASELINE, CONFIRMING, DRAWN, PRESENCE, TRYING, WANTED
from .panels import panel_of
from .search import Plan, Search
from .strategy import choose, explore, frontier, readers_ask
from .survey import Survey, surveying
from .task import Task, checked_task, hold

#: The number of recommended plans, measured on everyone.
RECOMMENDED = 3
#: The time for measuring everyone with a plan, as a share of the time with the wanted release.
RESERVE = 1.1
#: A baseline above a limit is reported at once if a sample leaves no more doubt than this.
DOUBT = 1e-6


@dataclass(frozen=True, repr=False)
class Plans:
    """The findings: the `recommended` plans by their strengths, and all tried ones, with both ends.

    `wanted` and `nothing` are the ends of the frontier. `tables` hold a row per person, as an audit's, for the
    measurements on everyone. `refused` names the immovable levers and the reasons, and `bisections` the number of plans
    of each bisection: (lever, positions, plans). `measured` counts people, once for each release they were measured
    with. `always` are the ways to publish most wanted by readers, and presence at counted places is `kept` below a
    limit. `uncertain` are the people of each limit whose answer is uncertain without any release, of yes or no.
    """

    limits: tuple[Limit, ...]
    wanted: Plan
    nothing: Plan
    recommended: dict[str, Plan]
    tried: tuple[Plan, ...]
    refused: dict[str, str]
    tables: dict[Release, pl.DataFrame]
    drawn: int
    matter: int
    bisections: tuple[tuple[str, int, int], ...] = ()
    out_of_time: bool = False
    measured: int = 0
    always: tuple[Plan, ...] = ()
    kept: Kept | None = None
    uncertain: tuple[int | None, ...] = ()

    @property
    def frontier(self) -> list[Plan]:
        """Plans without a better one in both error and risk, from the wanted release to nothing."""
        return frontier([self.wanted, *self.tried, self.nothing])

    def __repr__(self) -> str:
        lines = [f"{name}: {plan.words} ({plan.verdict})" for name, plan in self.recommended.items()]
        return f"Plans({'; '.join(lines) or 'none that keeps the limits was found'})"


def plan(
    people: People,
    wanted: Release,
    limits: Sequence[Limit],
    misses: int = Measurement.misses,
    *,
    levers: Sequence[str] | None = None,
    forbid: Sequence[str] = (),
    fix: Mapping[str, float] | None = None,
    stay: Sequence[str] = (),
    weights: ArrayLike | None = None,
    levels: Sequence[Mapping[str, Iterable[int]]] = (),
    drawn: int = DRAWN,
    minutes: float | None = None,
    presence_at_most: float = PRESENCE,
    presence_against: Against = "habits",
    tolerance: float = Measurement.tolerance,
    runs: int = Measurement.runs,
    confidence: float = Measurement.confidence,
    budget: float = Measurement.budget,
    seed: int = Measurement.seed,
    workers: int | None = None,
    executor: Executor | None = None,
    folder: str | Path | None = None,
    progress: Tell | None = None,
) -> Plans:
    """The best releases within limits, made from the `wanted` one by levers.

    A limit is about the people. `Limit(share=0.05, above=0.5)` means at most 5 % of them above a chance of 50 %.
    `Limit(share=0.01, added=0.02)` means at most 1 % of them with more than 2 points added. It may be about any
    question: `Limit(share=0, above=0.1, question="visited:hospital 001")`. A plan is sure to keep it if few enough
    people have their upper end above. It is refused if too many have their lower end above, and open otherwise.

    `levers` names the movable ones (`passerby.plans.levers`; the usual ones by default), without the ones in `forbid`;
    `fix` holds levers at a position, `{"rounding": 10}`. The places named in `stay` are published at all steps, even if
    others are not. `weights` (T, M) are the importance of each count to readers. `levels` are larger zones for coarser
    counts, each a list by name: `[{"north": [0, 1, 2], "south": [3, 4]}]`. Plans are tried on `drawn` people, among the
    people affected by them. Recommended plans are measured on everyone. With `minutes`, the search stops in time. The
    others are arguments of `audit`; `runs` are the fewest. The limit on presence is `presence_at_most` (1 is no limit).
    It bounds the mean advantage at each counted place in telling who was ever there. The adversary knows the others by
    their habits, or is an "insider".

    >>> import passerby as pb
    >>> people = pb.fit_people(pb.simulate_city(30, 20, 4), window="3h", places=9, min_active=1, holdout=4)
    >>> found = plan(people, pb.Release([[0, 1]] * 4), [Limit(share=0.1, added=0.05)], levers=["places"], workers=1)
    >>> {plan.verdict for plan in found.recommended.values()} <= {"sure", "open"}
    True
    """
    own: dict[str, Any] = {
        "levers": levers,
        "forbid": forbid,
        "fix": fix,
        "stay": stay,
        "weights": weights,
    }
    own |= {"levels": levels, "drawn": drawn, "minutes": minutes}
    own |= {"presence_at_most": presence_at_most, "presence_against": presence_against}
    measurement = Measurement(misses, tolerance, runs, confidence, budget, seed)
    task = checked_task(people, wanted, limits, measurement, **own)
    return carry_out(task, workers, executor, folder, progress)


def carry_out(
    task: Task, workers: int | None, executor: Executor | None, folder: str | Path | None, tell: Tell | None
) -> Plans:
    """Check everything checkable at once, then search and measure."""
    began = time.monotonic()
    folder = None if folder is None else path(folder, "folder")
    function(tell, "progress", "progress(stage, done, all)")
    check_executor(executor)
    enough_workers(len(task.people), workers)
    check_job(Job(task.people, task.wanted, task.measurement))
    for about in filter(None, (limit.about for limit in task.limits)):
        Asked.of(Job(task.people, task.wanted, task.measurement), [about.question], task.named)
    if not cells_of(task.wanted):
        raise InputError("wanted: it publishes nothing, so there is nothing to plan")
    if not any(map(task.weight, cells_of(task.wanted))):
        raise InputError("weights: all numbers that are wanted weigh 0; give one of them a weight")
    moved = chosen_levers(task.levers, task.forbid, task.fix, task.wanted)
    base, fixed = hold(task)
    if folder is not None:
        # The folder may lie among visits; by this mark, readers of visits skip its files.
        write_json(make_folder(folder, "folder") / "mark.json", {"mark": fingerprint(task.people, task.measurement)})
    with surveying(task.people, task.measurement, workers, executor, folder, task.beside) as survey:
        return _found(task, survey, base, fixed, moved, began, tell)


def _found(
    task: Task,
    survey: Survey,
    base: Release,
    fixed: tuple[Setting, ...],
    moved: Sequence[Any],
    began: float,
    tell: Tell | None,
) -> Plans:
    say = _Teller(tell)
    say.at(BASELINE, survey)
    _check_baseline(task, survey)
    say.at(WANTED, survey)
    started = time.monotonic()
    survey.everyone_first(base)
    spent = time.monotonic() - started
    panel = panel_of(survey, base, task.limits, task.drawn, task.measurement.seed, task.named)
    without = panel.unaided()
    for tally in without:
        if tally.verdict == "refused":
            raise InputError(broken(tally, "everyone"))
    guard = guard_of(task, survey, base)
    there = () if guard is None else guard.told(base)
    first = Plan(fixed, base, tuple(panel.whole(base)), task.cost(base), len(task.people), True, presence=there)
    empty = Plan((), Release.silent(base.steps).of_groups(base.size), tuple(without), NOTHING, len(task.people), True)
    end = math.inf if task.minutes is None else began + 60 * task.minutes
    # A recommended plan takes about as long as the wanted release, each time; of little time, the search gets one half.
    deadline = end - min(RESERVE * RECOMMENDED * spent, max(0.0, end - time.monotonic()) / 2)
    search = Search(panel, base, task.scene(), task.cost, deadline, say.at(TRYING, survey, each=False), guard)
    good = [first] if first.verdict == "sure" else explore(search, moved)
    search.progress = silent
    say.at(CONFIRMING, survey, times=RECOMMENDED)
    late = partial(_late, RESERVE * spent, end)
    recommended, looked = choose(panel, good, first, late, guard)
    always = () if late() else tuple(readers_ask(search, base))
    tried = {**search.tried, **looked}
    tried = {release: plan for release, plan in tried.items() if release != base and cells_of(release)}
    return Plans(
        task.limits,
        first,
        empty,
        recommended,
        tuple(tried.values()),
        search.refused,
        survey.tables,
        len(panel.drawn),
        len(panel.order),
        tuple(search.bisections),
        search.out_of_time or late(),
        survey.measured,
        always,
        task.kept,
        tuple(panel.uncertain),
    )


def _late(reserve: float, end: float) -> bool:
    """Whether there is no time to measure everyone once more."""
    return time.monotonic() + reserve > end


def guard_of(task: Task, survey: Survey, base: Release) -> Guard | None:
    """The check of presence at counted places, if there is a limit on it."""
    if task.kept is None:
        return None
    return Guard(
        task.people,
        base,
        task.kept,
        task.measurement,
        task.named,
        beside=task.beside,
        blind=task.alike,
        workers=survey.workers,
        executor=survey.executor,
    )


def _check_baseline(task: Task, survey: Survey) -> None:
    """Refuse at once a limit broken without any release, as far as a sample is certain of it."""
    limits = [limit for limit in task.limits if limit.above is not None and limit.about is None]
    if not limits:
        return
    everyone, rng = len(task.people), np.random.default_rng([task.measurement.seed, 2])
    some = np.sort(rng.choice(everyone, min(task.drawn, everyone), replace=False))
    ends = survey.ends(Release.silent(task.wanted.steps).of_groups(task.wanted.size), some)
    for limit in limits:
        seen = int(limit.exceeded(ends.known[0]).sum())
        least = least_people(seen, len(some), everyone, 1 - DOUBT)
        if least > limit.edges(everyone)[1]:
            raise InputError(broken(counted(limit, *ends.known, ends.known), f"{len(some):,} people drawn at random"))


def broken(tally: Tally, whom: str) -> str:
    """The message about a limit broken without any release."""
    larger = (
        f"Allow a larger share than {percent(tally.surely / tally.people)}, or limit"
        if tally.surely < tally.people
        else "Limit"
    )
    return (
        f"the limit of {tally.limit} cannot be kept, whatever is published: without any release there are already "
        f"{tally} (measured on {whom}). {larger} what the release adds, as in added=0.02"
    )


class _Teller:
    """Tells stages to whoever watches."""

    def __init__(self, tell: Tell | None) -> None:
        self.tell = tell

    def at(self, stage: str, survey: Survey, *, each: bool = True, times: int = 1) -> Progress:
        """A stage begins; if its progress counts `each` person, all further measurements belong to it.

        Everyone is measured so many `times` in it: earlier work adds up.
        """
        before = last = 0
        expected = times * len(survey.people)

        def progress(done: int, everything: int) -> None:
            nonlocal before, last
            before, last = before + (last if done < last else 0), done
            if self.tell is not None:
                self.tell(stage, before + done, max(expected if times > 1 else 0, before + everything))

        progress(0, 0)
        survey.progress = progress if each else silent
        return progress
