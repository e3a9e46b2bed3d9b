"""The stages of an audit, from settings to a folder, with what is shown meanwhile."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import polars as pl
from rich.console import Console

from passerby.audits.audit import Job, audit_job, clear_parts, fingerprint
from passerby.audits.realised import realised_losses
from passerby.audits.settings import AuditSettings
from passerby.audits.settings_file import as_toml, write_settings
from passerby.audits.summary import Summary, summarise
from passerby.errors import ConfigError, InputError
from passerby.report import Findings, explore, render
from passerby.support.files import whole_or_nothing
from passerby.support.numerals import chance, percent, span
from passerby.visits.table import Visits

from .files import as_json, finished, make_folder
from .plan import Plan, prepare
from .screen import Interrupted, stage


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


def _refuse_finished(folder: Path, overwrite: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out: {str(folder)!r} is a file; name a folder")
    if finished(folder) and not overwrite:
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
    for line in _found(summary):
        screen.print(line, markup=False)
    screen.print(f"Report: {settings.out / 'report.html'}", markup=False, soft_wrap=True)


def _found(summary: Summary) -> Iterator[str]:
    loss, known = summary.loss, summary.baseline
    drawn = "" if summary.people == summary.people_eligible else f" (drawn from {summary.people_eligible:,})"
    if not (loss and known):
        yield f"{summary.people:,} people{drawn}. Too few could be measured to tell numbers; people.parquet says why."
        return
    steps = f"all but {summary.misses} of {summary.steps} steps" if summary.misses else f"all {summary.steps} steps"
    yield (
        f"{summary.people:,} people{drawn}. The chance that an adversary names {steps}, on average: "
        f"{span(loss.lower.mean, loss.upper.mean, chance)} with the release, "
        f"{span(known.lower.mean, known.upper.mean, chance)} without it."
    )
    for above in summary.above:
        low, high = above.loss_lower, above.loss_upper
        if above.threshold == 0.5 and low is not None and high is not None:
            yield (
                f"More likely than not to be found: {span(low, high)} of the people with "
                f"the release, {percent(above.baseline)} without it."
            )
    if summary.realised:
        yield (
            f"The published counts are possible for {summary.realised.possible:,} people and impossible for "
            f"{summary.realised.impossible:,}."
        )
