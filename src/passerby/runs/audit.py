"""An audit as a folder: everyone's loss, a summary, a report, and the settings to run it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from passerby.audits.alerts import about_backtest, about_few, about_published
from passerby.audits.audit import audit_everyone, audit_open, clear_passes, first_pass, parts_of
from passerby.audits.backtest import run_backtest
from passerby.audits.disclosure import told_backtest, who_tests
from passerby.audits.engine import ASKING, AUDITING, GOING_BACK, PRESENCE, WRITING, Tell, begin, engine_of
from passerby.audits.findings import Findings
from passerby.audits.inputs import Inputs, Stored, gather
from passerby.audits.job import enough_workers
from passerby.audits.presence_all import Present, presence_of_all
from passerby.audits.question_summary import told_answers
from passerby.audits.question_words import sensitive_places
from passerby.audits.questions import TABLE, ask_everyone, counted_by_habits
from passerby.audits.record import Answers, Backtest
from passerby.audits.results import Results, Rows
from passerby.audits.settings import SETTINGS, AuditSettings, Measurement
from passerby.audits.settings_file import as_toml, write_settings
from passerby.audits.stored import on_disk, passing, store_of
from passerby.audits.summary import mean_over, summarise
from passerby.audits.validation import check_settings, naming
from passerby.audits.wording import Arguments, Wording
from passerby.errors import InputError
from passerby.report.evidence import Evidence
from passerby.support import checks
from passerby.support.blocks import Team
from passerby.support.files import as_json, make_folder, whole_or_nothing
from passerby.support.processes import all_cores, pool_of
from passerby.support.workers import check_executor
from passerby.visits.table import Visits

from .folder import Destination, assumption
from .notebook import Report, explored, knowing_some, other_adversaries, report_of, shares_of_others

#: The file written last: the mark of a finished audit.
LAST = "summary.json"
#: What is said where membership is asked for one adversary only.
NOT_BY_HABITS = (
    "Whether it can be told that somebody is counted at all by whoever knows the other people by their habits only was "
    "not tried: {reason}."
)


@naming(SETTINGS)
def audit_folder(
    visits: str | Path | Sequence[str | Path],
    out: str | Path = AuditSettings.out,
    *,
    overwrite: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    engine: Any = AuditSettings.engine,
    progress: Tell | None = None,
    **settings: Any,
) -> Report:
    """Audit everyone in some files or folders of visits, and write the folder `out`: the work of `passerby audit`.

    `settings` are the settings of an `audit.toml`: `passerby audit --help` explains each one. The folder then holds
    people.parquet (a row per person, with ids) and questions.parquet (one per person and other question). It also holds
    summary.json, report.html (for sharing), internal.html (with true counts) and audit.toml. A folder with a finished
    audit is left alone, unless it may be overwritten. An interrupted audit keeps finished parts in the folder; the same
    call continues from them.

    Work is shared by `workers` processes (all cores by default), by an `executor`, or by an `engine` ("dask", with a
    `scheduler`, or a `distributed.Client`). `progress(stage, done, all)` is called as stages begin and go on; `all` is
    0 if it is unknown.

    >>> import tempfile
    >>> from passerby.visits import write_city
    >>> folder = Path(tempfile.mkdtemp())
    >>> rows = write_city(folder / "visits.csv", 30, 20, 4)
    >>> report = audit_folder(folder / "visits.csv", folder / "audit", window="6h", holdout=4, explore=0, workers=1)
    >>> sorted(path.name for path in (folder / "audit").iterdir())
    ['audit.toml', 'internal.html', 'people.parquet', 'questions.parquet', 'report.html', 'summary.json']
    >>> report.table.height == report.summary.people == 30
    True
    """
    given = {"visits": visits, "out": out, **({"engine": engine} if isinstance(engine, str) else {}), **settings}
    checked = check_settings(given, "audit_folder", Arguments())
    checks.path(checked.out, "out")
    checks.flag(overwrite, "overwrite")
    checks.function(progress, "progress", "progress(stage, done, all)")
    check_executor(executor)
    return run_audit(checked, overwrite=overwrite, workers=workers, executor=executor, engine=engine, tell=progress)


def run_audit(
    settings: AuditSettings,
    visits: Visits | None = None,
    *,
    overwrite: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    engine: Any = None,
    tell: Tell | None = None,
    wording: Wording = Arguments(),  # noqa: B008
) -> Report:
    """The audit of checked settings; `visits` may be handed in instead of being read, and `wording` names settings."""
    out = settings.out
    destination = Destination(out, LAST, "a finished audit", overwrite, wording)
    destination.check()
    disk = visits is None and on_disk(settings)
    with ExitStack() as work:
        if disk:
            work.enter_context(_held(destination))
        pool = work.enter_context(engine_of(engine or settings.engine, settings.scheduler, workers, executor))
        if disk and pool is None and (workers or all_cores()) > 1:
            pool = work.enter_context(pool_of(None, workers or all_cores()))
        stored = Stored(store_of(out), Team(workers, pool)) if disk else None
        inputs = gather(settings, visits, tell, stored)
        if not disk:
            work.enter_context(_held(destination))
        if overwrite and not _kept(settings, inputs):
            clear_passes(out)
        make_folder(draft_of(out).parent, wording.name("out"), private=True)
        write_settings(settings, draft_of(out))
        team = Team(enough_workers(inputs.count, workers, pool), pool)
        report = _report(settings, inputs, team, tell, assumption(settings, inputs, wording))
        report = _write(settings, report)
        draft_of(out).unlink(missing_ok=True)
        clear_passes(out)
    return report


@contextmanager
def _held(destination: Destination) -> Iterator[None]:
    """The folder for the results, free of other work and of an old store."""
    with destination.held() as out, passing(store_of(out)):
        yield


def _report(
    settings: AuditSettings, inputs: Inputs, team: Team, tell: Tell | None, assumed: str | None = None
) -> Report:
    """Everyone's loss, the further trials, and a page of them, below the `assumed` parts."""
    rows, table, findings = _measure(settings, inputs, team, tell)
    results = Results(rows.blocks, settings.thresholds)
    backtest, reason = _went_back(settings, inputs, table, results, team, tell)
    others = other_adversaries(settings, inputs.people, inputs.release, team, tell, settings.out / "parts")
    answers, asked, untried = _asked(settings, inputs, rows, team, tell)
    present = _present(settings, inputs, team, tell)
    some_known = knowing_some(settings, present, team, tell, settings.out / "parts")
    progress = begin(tell, WRITING)
    summary = summarise(
        results,
        inputs.people,
        inputs.release,
        misses=settings.misses,
        window=inputs.window,
        seed=settings.seed,
        confidence=settings.confidence,
        delta=settings.delta,
        thresholds=settings.thresholds,
        coverage=inputs.coverage,
        eligible=inputs.eligible,
        assumed=assumed,
        alerts=[
            *about_few(table),
            *about_published(results.tally.realised),
            *about_backtest(backtest, reason),
            *present.alerts,
            *untried,
            *inputs.told(),
        ],
        backtest=backtest,
        adversaries=others,
        questions=answers,
        presence=present.places,
        known_shares=some_known,
    )
    names = {zone: name for name, zone in inputs.zones.named().items()} if inputs.zones else {}
    evidence = Evidence(table, inputs.people, inputs.release, settings, summary, findings, zones=names)
    report = report_of(evidence, progress=progress)  # whoever is on disk is counted once more
    # The rows of presence follow the rows of everybody.
    return replace(report, rows=rows, asked=asked if present.asked is None else asked.and_more(present.asked.table))


def _present(settings: AuditSettings, inputs: Inputs, team: Team, tell: Tell | None) -> Present:
    """The evidence on presence at places, if asked for."""
    if not settings.presence:
        return Present(None, (), ())
    sensitive = sensitive_places(settings.sensitive, inputs.named)
    everybody, progress = inputs.known(team), begin(tell, PRESENCE)
    how, release, folder = settings.measurement, inputs.release, settings.out / "parts"
    case = (everybody, release, how, inputs.named, sensitive, settings.presence)
    shares = shares_of_others(settings)
    return presence_of_all(*case, team=team, progress=progress, folder=folder, published=inputs.values, shares=shares)


def _asked(
    settings: AuditSettings, inputs: Inputs, rows: Rows, team: Team, tell: Tell | None
) -> tuple[list[Answers], Rows, list[str]]:
    """What else was asked of everybody, and the rows; membership is asked for both adversaries, or it is said why not.

    `rows` are those of the audit itself, which tell who is counted.
    """
    everyone = inputs.everyone(settings.measurement, settings.out, team)
    asked = inputs.asked(settings, everyone.job)
    found = ask_everyone(asked, everyone, settings.out, begin(tell, ASKING), part=True)
    told = told_answers(found.lazy, asked, inputs.named, rows.lazy)
    if inputs.release.crowd is not None or not settings.presence:
        return told, found, []
    case = inputs.known(team), inputs.release, settings.measurement, inputs.named, settings.presence
    more = counted_by_habits(*case, team)
    if isinstance(more, str):
        return told, found, [NOT_BY_HABITS.format(reason=more)]
    crowd, table = more
    return [*told, *told_answers(table, crowd, inputs.named, rows.lazy)], found.and_more(table), []


def _kept(settings: AuditSettings, inputs: Inputs) -> bool:
    """Whether an earlier audit of the same kind has finished parts."""
    kept = parts_of(inputs.everyone(_first(settings), settings.out), settings.out, inputs.values)
    return kept is not None and kept.own()


def finished(folder: Path) -> bool:
    """Whether a folder holds a finished audit, whose summary is written last."""
    return (folder / LAST).exists()


def draft_of(folder: Path) -> Path:
    """The place of an unfinished audit's settings, to continue it."""
    return folder / "parts" / "audit.toml"


def _first(settings: AuditSettings) -> Measurement:
    """How everyone is measured, at first."""
    return first_pass(settings.measurement) if settings.effort == "open" else settings.measurement


def _measure(
    settings: AuditSettings, inputs: Inputs, team: Team, tell: Tell | None
) -> tuple[Rows, pl.DataFrame, Findings | None]:
    """Everyone's rows, the rows in figures, and the trials; finished parts are kept."""
    how, people, release = settings.measurement, inputs.people, inputs.release
    parts = settings.out / "parts"
    progress = begin(tell, AUDITING)
    if settings.effort == "open":
        job, values = inputs.job(how), inputs.values
        found = audit_open(job, settings.thresholds, settings.out, team=team, values=values, progress=progress)
        rows = Rows.here(found)
    else:
        rows = audit_everyone(inputs.everyone(how, settings.out, team), settings.out, inputs.values, progress)
    table = rows.at(inputs.shown)
    findings = explored(settings, people, release, table, team, tell, parts)
    return rows, table, findings


def _went_back(
    settings: AuditSettings,
    inputs: Inputs,
    table: pl.DataFrame,
    results: Results,
    team: Team,
    tell: Tell | None,
) -> tuple[Backtest | None, str | None]:
    """The outcomes of such predictions, or the reason for no trial."""
    if not settings.backtest:
        return None, None
    progress, file = begin(tell, GOING_BACK), settings.out / "parts" / "backtest.jsonl"
    try:
        found = run_backtest(inputs.backtest(settings), settings.origins, **vars(team), progress=progress, file=file)
        mean = mean_over(results, settings.confidence)
        who = who_tests(inputs.release)
        return told_backtest(found, table["upper"].drop_nulls(), mean, table, who), None
    except InputError as error:
        return None, str(error)


def _write(settings: AuditSettings, report: Report) -> Report:
    """All files or none: drafts first, then renamed in reverse order.

    The summary marks a finished audit. So an earlier one is removed before the first draft takes its name, and the new
    one comes last. An audit interrupted in between is not finished, and its parts are still there.
    """
    out = settings.out
    with ExitStack() as together:
        summed, set_up, shown = (
            together.enter_context(whole_or_nothing(out / name)) for name in (LAST, "audit.toml", "report.html")
        )
        kept, listed = (
            together.enter_context(whole_or_nothing(out / name, private=True))
            for name in ("internal.html", "people.parquet")
        )
        answered = together.enter_context(whole_or_nothing(out / TABLE, private=True))
        rows = report.rows.put(listed, out / "people.parquet")
        assert report.asked is not None
        asked = report.asked.put(answered, out / TABLE)
        kept.write_text(report.internal, encoding="utf-8")
        shown.write_text(report.page, encoding="utf-8")
        set_up.write_text(as_toml(settings, out), encoding="utf-8")
        summed.write_text(as_json(report.summary.model_dump(mode="json")), encoding="utf-8")
        (out / LAST).unlink(missing_ok=True)
    return replace(report, rows=rows, asked=asked)
