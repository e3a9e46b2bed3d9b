"""A plan as a folder: the record, the page, the settings, and the settings of an audit of each recommended plan.

A decision about the next table as a folder: the decision, its reasons, and the settings of the publishable part.
"""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from passerby.audits.engine import WRITING, Tell, begin
from passerby.audits.inputs import Inputs, gather
from passerby.audits.job import doubted
from passerby.audits.release import build_release
from passerby.audits.settings import AuditSettings, StepSettings
from passerby.audits.settings_file import as_toml, read_settings
from passerby.audits.validation import check_settings
from passerby.audits.wording import Arguments, Wording
from passerby.errors import ConfigError, InputError
from passerby.model.count import Count
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.people.sensors import Zones, read_zones
from passerby.plans.plan import Plans, carry_out
from passerby.plans.record import Record, record_of, thresholds
from passerby.plans.sequence import Decision, decide
from passerby.plans.settings import PlanSettings, plan_toml
from passerby.plans.survey import AUDITED
from passerby.plans.task import Task, read_weights, staying
from passerby.report.plan_page import render_plan
from passerby.support.files import as_json, make_folder, whole_or_nothing, write_json
from passerby.support.rule_of_five import FEW
from passerby.visits.steps import parse_length

from .folder import Destination, assumption


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
        with whole_or_nothing(plan_draft_of(out)) as draft:
            draft.write_text(plan_toml(settings, parts), encoding="utf-8")
        found = carry_out(task_of(settings, inputs), workers, None, parts, tell)
        begin(tell, WRITING)
        assumed = assumption(settings.audit, inputs, wording)
        record = record_of(found, inputs.people, settings, inputs.window, inputs.told(), assumed)
        _write(settings, inputs, found, record)
        shutil.rmtree(parts, ignore_errors=True)
    return found, record


def plan_draft_of(folder: Path) -> Path:
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


#: The settings of an audit of everything published then.
TOGETHER = "together.toml"


def run_next(
    settings: PlanSettings,
    earlier: Path | None,
    *,
    overwrite: bool = False,
    workers: int | None = None,
    tell: Tell | None = None,
    wording: Wording = Arguments(),  # noqa: B008
) -> Decision:
    """Decide, and write the folder: decision.json, settings of the new part, and settings of everything out then."""
    out = settings.audit.out
    destination = Destination(out, "decision.json", "a decision", overwrite, wording)
    destination.check()
    for name in ("levers", "forbid", "fix"):
        if getattr(settings, name):
            raise ConfigError(
                f"the settings hold {name}, but the next table is decided on as it is, or with counts left out; take "
                f"{name} out of them, or plan the table first (passerby plan)"
            )
    files = earlier_files(earlier, out)
    inputs = gather(settings.audit, tell=tell)
    check_enough(inputs.people)
    before = earlier_releases(files, inputs.people, settings)
    with destination.held():
        parts = make_folder(out / "parts", "out", private=True)
        found = decide(task_of(settings, inputs), before, workers=workers, folder=parts, tell=tell)
        found = replace(found, assumed=assumption(settings.audit, inputs, wording))
        _write_next(settings, inputs, before, found)
        shutil.rmtree(parts, ignore_errors=True)
    return found


def _write_next(settings: PlanSettings, inputs: Inputs, before: Sequence[Release], found: Decision) -> None:
    """All files, the decision last: it marks the others as complete."""
    out = settings.audit.out
    told = record_of(found.found, inputs.people, settings, inputs.window, inputs.told(), found.assumed)
    record: dict[str, Any] = {"answer": found.answer, "why": found.why, "exact": found.exact, "earlier": len(before)}
    record |= {"assumed": found.assumed, "plan": told.model_dump(mode="json")}
    (out / "decision.json").unlink(missing_ok=True)
    for name in ("audit.toml", "schedule.csv", "counts.csv"):
        (out / name).unlink(missing_ok=True)
    shutil.rmtree(out / "together", ignore_errors=True)
    if found.table is not None and found.together is not None:
        _write_audit(settings, inputs, found.table.release, out, "audit.toml")
        if before:
            # The name is not a release's, so the folder can be an earlier one of the next table.
            _write_audit(settings, inputs, found.together, make_folder(out / "together", "out"), TOGETHER)
    write_json(out / "decision.json", record)


def _write_audit(settings: PlanSettings, inputs: Inputs, release: Release, folder: Path, name: str) -> None:
    """The counts of a release, and the settings of an audit of it."""
    write_release(inputs.people, release, folder)
    with whole_or_nothing(folder / name) as draft:
        draft.write_text(as_toml(audit_settings(settings, inputs, release, folder), folder), encoding="utf-8")


def earlier_files(folder: Path | None, out: Path) -> list[Path]:
    """The settings of all earlier releases, at any depth of a folder, except earlier decisions in `out`."""
    if folder is None:
        return []
    if not folder.is_dir():
        raise InputError(f"earlier: {str(folder)!r} is no folder; name one that holds an audit.toml of each release")
    files = sorted(file for file in folder.rglob("audit.toml") if not file.resolve().is_relative_to(out.resolve()))
    if not files:
        raise InputError(f"earlier: {str(folder)!r} holds no audit.toml; leave it out where nothing is published yet")
    return files


def earlier_releases(files: Sequence[Path], people: People, settings: PlanSettings) -> list[Release]:
    """All earlier releases, each once: an audit in a release's folder describes it, and is no other."""
    found = [(file, earlier_release(file, people, settings)) for file in files]
    return [release for file, release in found if not _audit_of_another(file, release, people, settings)]


def _audit_of_another(file: Path, release: Release, people: People, settings: PlanSettings) -> bool:
    """Whether these are the results of an audit of the same release, whose settings lie in the folder above."""
    folder = file.resolve().parent
    for above in (folder.parent / name for name in ("audit.toml", TOGETHER)):
        if above.exists() and check_settings(read_settings(above), str(above)).out.resolve() == folder:
            return earlier_release(above, people, settings) == release
    return False


def earlier_release(file: Path, people: People, settings: PlanSettings) -> Release:
    """An earlier release from the settings of its audit; visits, steps and places must be the same."""
    chosen = check_settings(read_settings(file), str(file))
    for path in (*chosen.visits, *filter(None, (chosen.zones, chosen.schedule, chosen.counts))):
        if not path.exists():
            raise InputError(
                f"{file}: {path.resolve()} is not there; files are named from the folder they are told in, so that one "
                "that was moved must name them anew, or be written to where it is to stay (out)"
            )
    for name in ("visits", *(each.name for each in fields(StepSettings))):
        theirs, ours = getattr(chosen, name), getattr(settings.audit, name)
        if not (_same_length(theirs, ours, people) if name == "window" else _shown(theirs) == _shown(ours)):
            raise InputError(
                f"{file}: {name} is {_shown(theirs)}, and {_shown(ours)} for the next table; releases are looked at "
                "together only where they are of the same visits, steps, places and habits"
            )
    return build_release(chosen, people, chosen.seed, _zones(chosen, people, settings)).of_groups(chosen.together)


def _same_length(theirs: str, ours: str, people: People) -> bool:
    """Whether steps are as long as these people's, in any notation; both may fit the visits."""
    return theirs == ours or (theirs != "auto" and parse_length(theirs) == people.window)


def _shown(value: object) -> str:
    """A setting in words; files by their location."""
    if isinstance(value, tuple) and value and all(isinstance(each, Path) for each in value):
        return ", ".join(str(each.resolve()) for each in value)
    return repr(value)


def _zones(chosen: AuditSettings, people: People, settings: PlanSettings) -> Zones | None:
    """The zones of an earlier release; other zones than the next table's must have known places only."""
    if chosen.zones is None:
        return None
    zones = Zones.among(people, read_zones(chosen.zones), chosen.zones)
    if zones.unknown and chosen.zones != settings.audit.zones:
        raise InputError(
            f"{chosen.zones}: {zones.unknown[0]!r} is none of the places of the next table; give it the same zones, or "
            "keep more places"
        )
    return zones
