"""One release after another: the next table in view of everything published about these people so far.

The loss is the loss of all releases together. It is found from habits and published values alone: a decision from the
true counts would itself reveal them. So mechanisms with a law dependent on the count are taken for raw counts; these
are more informative. The left-out counts are chosen without the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from passerby.audits.engine import Tell
from passerby.errors import UnsupportedRelease
from passerby.mechanisms import Raw
from passerby.model.counts import Count
from passerby.model.forms import check_sizes
from passerby.model.release import Release
from passerby.support.numbers import percent

from .cost import NOTHING
from .disclosable import told_tally
from .lever import cells_of, ways_of
from .panels import panel_of
from .plan import Plans, carry_out, guard_of
from .search import Plan
from .survey import surveying
from .task import Task

Answer = Literal["publish", "coarser", "hold"]
#: The possible change of a table after others: counts of it are left out.
LEVERS = ("every", "places", "steps", "counts")
#: The most places named if presence there breaks its limit.
NAMED = 3


@dataclass(frozen=True)
class Decision:
    """Whether the next table may go out, and why.

    `table` is the publishable part of it, with the shares of people above the limits for all releases `together`, with
    this one. `exact` marks the joint loss of the releases themselves, rather than a bound on it by raw counts.
    `assumed` holds the assumptions about the table, if its settings left it open.
    """

    answer: Answer
    why: str
    table: Plan | None
    together: Release | None
    so_far: Plan | None
    found: Plans
    exact: bool
    assumed: str | None = None


def together(releases: Sequence[Release]) -> tuple[Release, bool]:
    """Several releases of the same steps as one, and whether it tells the same as they do or more.

    Rounding or hiding treats small and large counts differently, and is taken for raw counts. A count raw in one
    release is fully revealed; through noise each release reveals a bit more.

    >>> from passerby.mechanisms import Gaussian, Rounding
    >>> both, exact = together([Release([[0], []], Gaussian(2.0)), Release([[1], [0]], Gaussian(2.0))])
    >>> both.sensors, both.mechanism, exact
    (((0, 1), (0,)), Gaussian(sigma=2.0), True)
    >>> together([Release([0], Rounding(5)), Release([1], Rounding(5))])[1]
    False
    """
    steps = {release.steps for release in releases}
    if len(steps) > 1:
        raise UnsupportedRelease(
            f"releases of {' and '.join(map(str, sorted(steps)))} steps: several releases are looked at together only "
            "where they are of the same steps"
        )
    if any(release.crowd is not None for release in releases):
        raise UnsupportedRelease("releases of a Crowd are not looked at together; give what is known of the others")
    for release in releases:
        check_sizes(release.size, releases[0].size)
    counts = [pair for release in releases for pair in zip(cells_of(release), ways_of(release), strict=True)]
    exact = all(way.shift_invariant for _, way in counts)
    raw = {cell for cell, way in counts if way.raw or not way.shift_invariant}
    told: list[Count] = []
    for cell, way in counts:
        count = replace(cell, mechanism=Raw() if cell in raw else way)
        if cell not in raw or count not in told:
            told.append(count)
    return Release(counts=told, steps=steps.pop(), size=releases[0].size), exact


def decide(
    task: Task,
    earlier: Sequence[Release],
    *,
    workers: int | None = None,
    folder: Path | None = None,
    tell: Tell | None = None,
) -> Decision:
    """Whether `task.wanted`, the next table, may go out after the earlier releases, all of it or part of it."""
    _, exact = together([*earlier, task.wanted])

    def beside(table: Release) -> Release:
        return together([*earlier, table])[0]

    task = replace(task, levers=LEVERS, forbid=(), fix={}, alike=True, beside=beside)
    found = carry_out(task, workers, None, folder, tell)
    bound = "" if exact else " (by a bound: rounded and hidden counts are taken for raw ones)"
    said = _said(found.wanted)
    if found.wanted.verdict == "sure":
        why = f"with all releases together, {said}{bound}"
        return Decision("publish", why, found.wanted, beside(task.wanted), None, found, exact)
    so_far = _so_far(task, workers, folder) if earlier else None
    if so_far is not None and so_far.verdict != "sure":
        why = f"what is published already is not sure to keep the limit: {_said(so_far)}{bound}"
        return Decision("hold", why, None, None, so_far, found, exact)
    kept = [plan for plan in found.recommended.values() if plan.verdict == "sure"]
    if kept:
        best = max(kept, key=lambda plan: plan.cost.published)
        why = f"with all of it, {said}{bound}; with {percent(best.cost.published)} of its counts the limit is kept"
        return Decision("coarser", why, best, beside(best.release), so_far, found, exact)
    why = f"with all of it, {said}{bound}; no part of it that was tried is sure"
    return Decision("hold", why, None, None, so_far, found, exact)


def _said(plan: Plan) -> str:
    """The shares of people above each limit, as they may be told."""
    there = [f"{each.place} tells who was there" for each in plan.presence if each.verdict == "refused"]
    there += [f"whether {each.place} tells who was there is open" for each in plan.presence if each.verdict == "open"]
    more = [f"{len(there) - NAMED} more places"] if len(there) > NAMED else []
    return "; ".join([*(str(told_tally(tally)) for tally in plan.tallies), *there[:NAMED], *more])


def _so_far(task: Task, workers: int | None, folder: Path | None) -> Plan:
    """The published releases so far, measured on everyone."""
    nothing = Release.silent(task.wanted.steps).of_groups(task.wanted.size)
    with surveying(task.people, task.measurement, workers, folder=folder, beside=task.beside) as survey:
        panel = panel_of(survey, nothing, task.limits, task.drawn, task.measurement.seed, task.named)
        tallies = tuple(panel.whole(nothing))
        guard = guard_of(task, survey, nothing)
        at_places = () if guard is None else guard.told(nothing)
    return Plan((), nothing, tallies, NOTHING, len(task.people), True, presence=at_places)
