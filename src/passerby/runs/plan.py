"""A plan as a folder: the record, the page, the settings, and the settings of an audit of each recommended plan."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from passerby.audits.doubt import doubted
from passerby.audits.inputs import Inputs, gather
from passerby.audits.settings import AuditSettings
from passerby.audits.settings_file import as_toml
from passerby.audits.stages import WRITING, Tell, begin
from passerby.audits.wording import Arguments, Wording
from passerby.errors import InputError
from passerby.model.count import Count
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.plans.arguments import staying
from passerby.plans.plan import Plans, carry_out
from passerby.plans.record import Record, record_of, thresholds
from passerby.plans.settings import PlanSettings, plan_toml
from passerby.plans.survey import AUDITED
from passerby.plans.task import Task
from passerby.plans.weights import read_weights
from passerby.report.plan_page import render_plan
from passerby.support.files import as_json, make_folder, whole_or_nothing
from passerby.support.rule_of_five import FEW

from .assumption import assumption
from .folder import Destination


def run_plan(
    settings: PlanSettings,
    *,
    overwrite: bool = False,
    workers: int | None = None,
    tell: Tell | None = None,
    wording: Wording = Arguments(),  # noqa: B008
) -> tuple[Plans, Record]:
    """Plan, and write the folder. Finished parts are kept there until the end; the same call continues from them."""
    out = settings.audit.out
    destination = Destination(out, "plan.json", "a finished plan", overwrite, wording)
    destination.check()
    inputs = gather(settings.audit, tell=tell)
    check_enough(inputs.people)
    with destination.held():
        parts = make_folder(out / "parts", "out", private=True)
        with whole_or_nothing(draft_of(out)) as draft:
            draft.write_text(plan_toml(settings, parts), encoding="utf-8")
        found = carry_out(task_of(settings, inputs), workers, None, parts, tell)
        begin(tell, WRITING)
        assumed = assumption(settings.audit, inputs, wording)
        record = record_of(found, inputs.people, settings, inputs.window, inputs.told(), assumed)
        _write(settings, inputs, found, record)
        shutil.rmtree(parts, ignore_errors=True)
    return found, record


def draft_of(folder: Path) -> Path:
    """The place of an unfinished plan's settings, to continue it."""
    return folder / "parts" / "plan.toml"


def check_enough(people: People) -> None:
    """Refuse to record verdicts on groups too small to hide one person."""
    if len(people) < FEW:
        raise InputError(
            f"people: {len(people)} can be measured, and what may be published is told for {FEW} or more; give more "
            "visits, or lower min_active"
        )


def task_of(settings: PlanSettings, inputs: Inputs) -> Task:
    """The work of the settings."""
    people = inputs.people
    return Task(
        people,
        inputs.release,
        settings.limits,
        settings.audit.measurement,
        settings.levers,
        settings.forbid,
        dict(settings.fix),
        staying(people, inputs.release, settings.stay),
        None if settings.weights is None else read_weights(people, settings.weights),
        settings.drawn,
        settings.minutes,
        tuple(inputs.zones.levels.values()) if inputs.zones else (),
        named=inputs.named,
        kept=settings.kept,
    )


def _write(settings: PlanSettings, inputs: Inputs, found: Plans, record: Record) -> None:
    """All files, the record last: it marks a finished plan."""
    out = settings.audit.out
    for name in ("complete", "exact", "least"):
        shutil.rmtree(out / name, ignore_errors=True)
    for name, plan in found.recommended.items():
        folder = make_folder(out / name, "out")
        write_release(inputs.people, plan.release, folder)
        chosen = audit_settings(settings, inputs, plan.release, folder)
        if plan.release == found.wanted.release:
            chosen = replace(chosen, confidence=doubted(settings.audit.measurement, AUDITED).confidence)
        with whole_or_nothing(folder / "audit.toml") as draft:
            draft.write_text(as_toml(chosen, folder), encoding="utf-8")
    with ExitStack() as together:
        set_up = together.enter_context(whole_or_nothing(out / "plan.toml"))
        summed, shown = (
            together.enter_context(whole_or_nothing(out / name, private=record.internal))
            for name in ("plan.json", "plan.html")
        )
        shown.write_text(render_plan(record, settings), encoding="utf-8")
        set_up.write_text(plan_toml(settings, out), encoding="utf-8")
        summed.write_text(as_json(record.model_dump(mode="json")), encoding="utf-8")
        (out / "plan.json").unlink(missing_ok=True)


def audit_settings(settings: PlanSettings, inputs: Inputs, release: Release, folder: Path) -> AuditSettings:
    """The settings of an audit to measure a plan in the same way as here."""
    plain = AuditSettings
    where = {"sensors": "schedule", "schedule": folder / "schedule.csv", "counts": None}
    if not release.reveals:
        where = {"sensors": plain.sensors, "schedule": None, "counts": folder / "counts.csv"}
    return replace(
        settings.audit,
        window=inputs.window,
        **where,  # type: ignore[arg-type]
        count=plain.count,
        every=plain.every,
        mechanism=repr(release.mechanism),
        thresholds=thresholds(settings),
        title=AuditSettings.title,
        out=folder / "audit",
        assumed=(),  # it is said now
    )


def write_release(people: People, release: Release, folder: Path) -> None:
    """The counts of a release, as the table named by its settings."""
    if release.reveals:
        write_schedule(people, release, folder / "schedule.csv")
    else:
        write_counts(people, release, folder / "counts.csv")


def write_schedule(people: People, release: Release, path: Path) -> None:
    """The sensors of a release as a table: the place and the step, from 1, of each count."""
    with whole_or_nothing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["place", "step"])
        writer.writerows((people.places[x], t + 1) for t, step in enumerate(release.sensors) for x in step)


def write_counts(people: People, release: Release, path: Path) -> None:
    """The counts of a release as a table, with the places of each zone and the steps, from 1.

    A number published several times has a row for each, distinguished by `draw`.
    """

    def called(zone: tuple[int, ...]) -> str:
        return ";".join(people.places[x] for x in zone)

    with whole_or_nothing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        rows = [_row(count, called) for count in release.listed]
        seen: Counter[tuple[object, ...]] = Counter()
        draws = []
        for row in rows:
            seen[tuple(row)] += 1
            draws.append(seen[tuple(row)])
        again = max(draws, default=1) > 1
        writer.writerow([*("kind", "places", "origin", "destination", "step", "times", "mechanism"), *["draw"] * again])
        writer.writerows([*row, *[draw] * again] for row, draw in zip(rows, draws, strict=True))


def _row(count: Count, called: Callable[[tuple[int, ...]], str]) -> list[object]:
    """The subject of a count, as a row of a table."""
    way = repr(count.mechanism)
    if count.flow:
        return [count.kind, "", *map(called, count.zones), count.first + 1, "", way]
    where = " | ".join(map(called, count.zones))
    if count.snapshot:
        return [count.kind, where, "", "", count.read + 1, "", way]
    return [count.kind, where, "", "", ";".join(str(step + 1) for step in count.window), count.repeats, way]
