"""The stages of an audit, from settings to a folder, with what is shown meanwhile."""

from __future__ import annotations

import json
import os
import shlex
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from rich.console import Console

from passerby.auditing import Job, audit_job, audit_person, clear_parts, fingerprint
from passerby.auditing import Settings as Measurement
from passerby.errors import ConfigError, InputError
from passerby.explore import only, some_people
from passerby.files import whole_or_nothing
from passerby.numerals import chance, duration, percent, span
from passerby.others import everyone_else
from passerby.pool import Progress
from passerby.realised import Published, read_published, realised_losses
from passerby.release import Release
from passerby.report import Findings, explore, render
from passerby.settings import AuditSettings
from passerby.settings_file import as_toml, write_settings
from passerby.summary import Summary, summarise
from passerby.visits.people import People, fit_people
from passerby.visits.readers import read_visits
from passerby.visits.table import Skipped, Visits

from .files import as_json, make_folder
from .screen import Interrupted, stage

#: People who are timed by a dry run.
HANDFUL = 6


@dataclass(frozen=True)
class Plan:
    """All that is known before anybody is measured."""

    settings: AuditSettings
    people: People
    eligible: int
    release: Release
    skipped: Skipped
    published: Published | None

    @property
    def measurement(self) -> Measurement:
        """How each person is measured."""
        s = self.settings
        return Measurement(s.misses, s.tolerance, s.runs, s.confidence, s.budget, s.seed)

    @property
    def job(self) -> Job:
        """The work of one audit."""
        return Job(self.people, self.release, self.measurement, everyone_else(self.people, self.release))


def run(
    settings: AuditSettings, workers: int | None = None, *, overwrite: bool = False, visits: Visits | None = None
) -> Summary:
    """Audit, write the folder, and say what was found. `visits` may be handed in instead of being read."""
    screen, aside = Console(highlight=False), Console(stderr=True, highlight=False)
    _refuse_finished(settings.out, overwrite)
    draft = settings.out / "parts" / "audit.toml"
    try:
        plan = prepare(settings, aside, visits)
        if overwrite and not _belongs(settings.out, plan.job):
            clear_parts(settings.out)
        make_folder(draft.parent, "--out")
        write_settings(settings, draft)
        table, findings = _measure(plan, workers, aside)
        with stage(aside, "Writing the report") as progress:
            summary = summarise(table, plan.people, plan.release, settings, plan.skipped, plan.eligible)
            page = render(table, plan.people, plan.release, settings, summary, findings, progress)
            _write(settings, table, page, summary)
        draft.unlink(missing_ok=True)
        clear_parts(settings.out)
    except KeyboardInterrupt as stop:
        raise Interrupted(f"{str(stop) or 'interrupted'}; {_how_to_go_on(draft, workers, overwrite)}") from None
    _conclude(screen, settings, summary)
    return summary


def prepare(settings: AuditSettings, aside: Console, visits: Visits | None = None) -> Plan:
    """Read the visits, fit habits, and choose the sensors."""
    if visits is None:
        with stage(aside, "Reading the visits", "MB") as progress:
            visits = _read(settings, progress)
    with stage(aside, "Fitting everyone's habits"):
        people = fit_people(
            visits,
            window=settings.window,
            places=settings.place_names or settings.places,
            min_active=settings.min_active,
            holdout=settings.holdout,
            smoothing=settings.smoothing,
            rhythm=settings.rhythm,
            origin=settings.origin,
            end=settings.end,
            rule=settings.rule,
        )
        published = read_published(people, settings.published) if settings.published else None
        release = settings.build_release(people)
        if published:
            release = Release(published.sensors, release.mechanism)
        release.check_misses(settings.misses)
        eligible = len(people)
        if settings.sample is not None:
            people = only(people, some_people(people, settings.sample, settings.seed))
    return Plan(settings, people, eligible, release, visits.skipped, published)


def dry_run(settings: AuditSettings, workers: int | None = None) -> None:
    """Say what an audit would do, and how long it would take, from timing a handful of people."""
    screen, aside = Console(highlight=False), Console(stderr=True, highlight=False)
    plan = prepare(settings, aside)
    with stage(aside, "Timing a handful of people"):
        chosen = some_people(plan.people, HANDFUL, settings.seed)
        audit_person(plan.job, int(chosen[0]))
        started = time.perf_counter()
        for person in chosen:
            audit_person(plan.job, int(person))
        each = (time.perf_counter() - started) / len(chosen)
    cores = min(workers or os.cpu_count() or 1, len(plan.people))
    mechanisms = 1 + len(settings.sigmas) + len(settings.bases)
    tried = min(settings.explore, len(plan.people)) * (1 + mechanisms / 3)
    seconds = (len(plan.people) + tried) * each / cores + 5
    people, release = plan.people, plan.release
    counts = sum(map(len, release.sensors))
    places = len({place for step in release.sensors for place in step})
    drawn = "" if len(people) == plan.eligible else f" (drawn from {plan.eligible:,})"
    for what, value in (
        ("visits", f"{plan.skipped.kept:,} of {plan.skipped.rows:,} rows"),
        ("people", f"{len(people):,}{drawn}"),
        ("steps", f"{people.fitted.shape[1]:,} to fit habits to, {release.steps:,} published and to be found"),
        ("step length", settings.window),
        ("places", f"{len(people.places):,}, with elsewhere"),
        ("sensors", f"{counts:,} counts from {places:,} places"),
        ("mechanism", repr(release.mechanism)),
        ("misses", str(settings.misses)),
        ("time", f"about {duration(seconds)} with {cores} worker{'s' * (cores != 1)} ({each * 1000:.0f} ms a person)"),
        ("folder", str(settings.out)),
    ):
        screen.print(f"{what:>12}  {value}", markup=False, soft_wrap=True)
    if _finished(settings.out):
        screen.print("The folder holds a finished audit: --overwrite would replace it.", markup=False)
    screen.print("Nothing was written.", markup=False)


def _measure(plan: Plan, workers: int | None, aside: Console) -> tuple[pl.DataFrame, Findings | None]:
    """Everyone's loss, what the published series revealed, and what was tried out; what is finished is kept."""
    settings, how = plan.settings, plan.measurement
    parts = settings.out / "parts"
    with stage(aside, "Auditing people") as progress:
        table = audit_job(plan.job, settings.out, workers=workers, progress=progress)
    if plan.published:
        with stage(aside, "Looking at what was published") as progress:
            realised = realised_losses(
                plan.people,
                plan.release,
                plan.published.values,
                how,
                workers=workers,
                progress=progress,
                file=parts / "realised.jsonl",
            )
        table = pl.concat([table, realised], how="horizontal")
    findings = None
    if settings.explore:
        with stage(aside, "Trying out sensors, steps and noise") as progress:
            findings = explore(
                plan.people,
                plan.release,
                settings,
                how,
                workers=workers,
                progress=progress,
                file=parts / "tried.jsonl",
            )
    return table, findings


def _read(settings: AuditSettings, progress: Progress) -> Visits:
    names = ("person", "time", "place", "latitude", "longitude", "grid_metres", "h3_resolution")
    return read_visits(
        settings.visits,
        settings.layout,
        timezone=settings.timezone,
        max_unparsable=settings.max_unparsable,
        progress=progress,
        **{name: getattr(settings, name) for name in names},
    )


def _finished(folder: Path) -> bool:
    return (folder / "summary.json").exists()


def _refuse_finished(folder: Path, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out: {str(folder)!r} is a file; name a folder")
    if _finished(folder) and not overwrite:
        raise ConfigError(f"{folder} holds a finished audit; choose another --out, or replace it with --overwrite")


def _belongs(folder: Path, job: Job) -> bool:
    """Whether partitions found in the folder are of this audit."""
    try:
        return bool(json.loads((folder / "parts" / "plan.json").read_text())["fingerprint"] == fingerprint(job))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _write(settings: AuditSettings, table: pl.DataFrame, page: str, summary: Summary) -> None:
    """All files or none: drafts first, which then take their names, the last one above first.

    The summary tells that an audit is finished, so an earlier one goes before the first draft takes its name, and the
    new one comes last. What is interrupted in between is not finished, and its parts are still there.
    """
    out = settings.out
    with ExitStack() as together:
        summed, set_up, shown, listed = (
            together.enter_context(whole_or_nothing(out / name))
            for name in ("summary.json", "audit.toml", "report.html", "people.parquet")
        )
        table.write_parquet(listed)
        shown.write_text(page, encoding="utf-8")
        set_up.write_text(as_toml(settings, out), encoding="utf-8")
        summed.write_text(as_json(summary.model_dump(mode="json")), encoding="utf-8")
        (out / "summary.json").unlink(missing_ok=True)


def _how_to_go_on(draft: Path, workers: int | None, overwrite: bool) -> str:
    if not draft.exists():
        return "nobody was measured yet, and nothing was written"
    command = ["passerby", "audit", "--settings", str(draft)]
    command += ["--workers", str(workers)] if workers else []
    command += ["--overwrite"] if overwrite else []
    return f"what is finished is kept. To go on:\n  {' '.join(map(shlex.quote, command))}"


def _conclude(screen: Console, settings: AuditSettings, summary: Summary) -> None:
    loss, known = summary.loss, summary.baseline
    steps = f"all but {summary.misses} of {summary.steps} steps" if summary.misses else f"all {summary.steps} steps"
    drawn = "" if summary.people == summary.people_eligible else f" (drawn from {summary.people_eligible:,})"
    screen.print(
        f"{summary.people:,} people{drawn}. The chance that an adversary names {steps}, on average: "
        f"{span(loss.lower.mean, loss.upper.mean, chance)} with the release, {chance(known.lower.mean)} without it.",
        markup=False,
    )
    for above in summary.above:
        if above.threshold == 0.5:
            screen.print(
                f"More likely than not to be found: {span(above.loss_lower, above.loss_upper)} of the people with "
                f"the release, {percent(above.baseline)} without it.",
                markup=False,
            )
    if summary.realised:
        screen.print(
            f"The published counts are possible for {summary.realised.possible:,} people and impossible for "
            f"{summary.realised.impossible:,}.",
            markup=False,
        )
    screen.print(f"Report: {settings.out / 'report.html'}", markup=False, soft_wrap=True)
