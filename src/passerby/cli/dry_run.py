"""`passerby audit --dry-run`: what an audit would do, and how long it would take."""

from __future__ import annotations

import os
import time

from rich.console import Console

from passerby.audits.audit import audit_person
from passerby.audits.settings import AuditSettings
from passerby.audits.what_if import only, some_people
from passerby.report import explore, number_of_trials
from passerby.report.terms import length, mechanism
from passerby.support.numerals import duration
from passerby.support.workers import Progress

from .files import finished
from .plan import Plan, prepare
from .screen import stage

#: People who are timed, at most, and seconds after which no more of them are.
HANDFUL, ENOUGH = 12, 6.0
#: Seconds to start the workers of a stage, and to write the report.
START, WRITE = 2.0, 3.0


def dry_run(settings: AuditSettings, workers: int | None = None) -> None:
    """Say what an audit would do, and how long it would take, from timing a handful of people."""
    screen, aside = Console(highlight=False), Console(stderr=True, highlight=False)
    started = time.perf_counter()
    plan = prepare(settings, aside)
    prepared = time.perf_counter() - started
    people, release = plan.people, plan.release
    cores = min(workers or os.cpu_count() or 1, len(people))
    with stage(aside, "Timing a handful of people") as progress:
        each = _audited(plan, progress)
    with stage(aside, "Timing a few trials") as progress:
        tried = _tried(plan, progress)
    seconds = prepared + START + each * len(people) / cores + (START + tried / cores if tried else 0) + WRITE
    counts = sum(map(len, release.sensors))
    places = len({place for step in release.sensors for place in step})
    drawn = "" if len(people) == plan.eligible else f" (drawn from {plan.eligible:,})"
    for what, value in (
        ("visits", f"{plan.skipped.kept:,} of {plan.skipped.rows:,} rows"),
        ("people", f"{len(people):,}{drawn}"),
        ("steps", f"{people.fitted.shape[1]:,} to fit habits to, {release.steps:,} published and to be found"),
        ("step length", length(settings.window)),
        ("places", f"{len(people.places):,}, with elsewhere"),
        ("sensors", f"{counts:,} counts from {places:,} places"),
        ("mechanism", mechanism(repr(release.mechanism))),
        ("misses", str(settings.misses)),
        ("time", f"about {duration(seconds)} with {cores} worker{'s' * (cores != 1)} ({each * 1000:.0f} ms a person)"),
        ("folder", str(settings.out)),
    ):
        screen.print(f"{what:>12}  {value}", markup=False, soft_wrap=True)
    if finished(settings.out):
        screen.print("The folder holds a finished audit: --overwrite would replace it.", markup=False)
    screen.print("Nothing was written.", markup=False)


def _audited(plan: Plan, progress: Progress) -> float:
    """Seconds to audit a person, on average over a few; the first one also pays for what is done once."""
    job = plan.job
    chosen = some_people(plan.people, HANDFUL, plan.settings.seed)
    audit_person(job, int(chosen[0]))
    stamps = [time.perf_counter()]
    for person in chosen:
        audit_person(job, int(person))
        stamps.append(time.perf_counter())
        progress(len(stamps) - 1, len(chosen))
        if stamps[-1] - stamps[0] > ENOUGH:
            break
    return (stamps[-1] - stamps[0]) / (len(stamps) - 1) * (2 if plan.published else 1)


def _tried(plan: Plan, progress: Progress) -> float:
    """Seconds to try out sensors, steps and noise on one core, from trying them out on two people."""
    simple, measured = number_of_trials(plan.settings, len(plan.people))
    if not simple:
        return 0.0
    stamps: list[float] = []

    def tell(done: int, everything: int) -> None:
        stamps.append(time.perf_counter())
        progress(done, everything)

    two = only(plan.people, some_people(plan.people, 2, plan.settings.seed + 1))
    explore(
        two,
        plan.release,
        plan.settings,
        plan.measurement,
        workers=1,
        progress=tell,
    )
    few = min(len(two), simple)
    many = len(stamps) - 1 - few
    first, last = stamps[few] - stamps[0], stamps[-1] - stamps[few]
    return first / few * simple + (last / many * measured if many else 0.0)
