"""A decision about the next table as a folder: the decision, its reasons, and the settings of the publishable part."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from passerby.audits.inputs import Inputs, gather
from passerby.audits.release import build_release
from passerby.audits.settings import AuditSettings, StepSettings
from passerby.audits.settings_file import as_toml, read_settings
from passerby.audits.stages import Tell
from passerby.audits.validation import check_settings
from passerby.audits.wording import Arguments, Wording
from passerby.errors import ConfigError, InputError
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.people.zones import Zones, read_zones
from passerby.plans.record import record_of
from passerby.plans.sequence import Decision, decide
from passerby.plans.settings import PlanSettings
from passerby.support.files import make_folder, whole_or_nothing, write_json
from passerby.visits.steps import parse_length

from .assumption import assumption
from .folder import Destination
from .plan import audit_settings, check_enough, task_of, write_release

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
        _write(settings, inputs, before, found)
        shutil.rmtree(parts, ignore_errors=True)
    return found


def _write(settings: PlanSettings, inputs: Inputs, before: Sequence[Release], found: Decision) -> None:
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
