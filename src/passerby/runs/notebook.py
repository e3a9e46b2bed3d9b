"""A report made in Python, shown by itself in a notebook.

Trials for a report beside the audit: sensors and steps, other ways to publish, other adversaries.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from passerby.audits.adversaries import adversaries
from passerby.audits.alerts import about_backtest, about_few, alerts
from passerby.audits.audit import audit
from passerby.audits.calibration import Calibration
from passerby.audits.coverage import coverage_of
from passerby.audits.disclosure import check_told, told_adversaries, told_backtest, who_tests
from passerby.audits.engine import COMPARING, KNOWING, OTHERS, TRYING, Tell, begin, engine_of
from passerby.audits.everyone import Everybody
from passerby.audits.findings import Findings, candidates
from passerby.audits.job import check_kinds, enough_workers
from passerby.audits.others_known import others_known
from passerby.audits.presence_all import Present, presence_of_all
from passerby.audits.question_rows import SCHEMA
from passerby.audits.question_words import places_by_name, sensitive_places
from passerby.audits.record import Adversary, Backtest, Mean, ShareAnswers
from passerby.audits.results import Results, Rows
from passerby.audits.settings import AuditSettings, Measurement
from passerby.audits.summary import Summary, mean_over, summarise
from passerby.audits.validation import check_settings, naming
from passerby.audits.what_if import explore
from passerby.audits.wording import Arguments
from passerby.errors import InputError
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.plans.ways import compare
from passerby.report.evidence import Evidence
from passerby.report.page import built, fill
from passerby.report.section import Figure
from passerby.support import checks
from passerby.support.blocks import Team
from passerby.support.files import whole_or_nothing
from passerby.support.rule_of_five import rest_enough
from passerby.support.workers import Progress
from passerby.visits.table import Skipped


def explored(
    settings: AuditSettings,
    people: People,
    release: Release,
    table: pl.DataFrame,
    team: Team,
    tell: Tell | None = None,
    folder: Path | None = None,
) -> Findings | None:
    """Sensors, steps and counts left out, and other ways to publish; None if not asked for.

    `table` is the audit of these people. A folder keeps finished parts through an interruption.
    """
    if not settings.explore:
        return None
    how, count = settings.measurement, rest_enough(settings.explore, len(people))
    progress, file = begin(tell, TRYING), None if folder is None else folder / "tried.jsonl"
    findings = explore(people, release, how, count, **vars(team), progress=progress, file=file)
    ways = compare(
        people,
        release,
        table,
        candidates(settings.sigmas, settings.bases),
        how,
        count,
        settings.thresholds,
        **vars(team),
        progress=begin(tell, COMPARING),
        folder=folder,
    )
    return replace(findings, **vars(ways))


def shares_of_others(settings: AuditSettings) -> tuple[float, ...]:
    """The shares of the others that adversaries know, in order; none where that is not asked for."""
    shares = tuple(sorted(settings.known_shares))
    return shares if settings.adversaries and settings.presence and shares not in ((), (0.0,)) else ()


def knowing_some(
    settings: AuditSettings, present: Present, team: Team, tell: Tell | None = None, folder: Path | None = None
) -> list[ShareAnswers]:
    """What is found by whoever knows some of the others; none where that is not asked for."""
    shares = shares_of_others(settings)
    return others_known(present, shares, team, begin(tell, KNOWING), folder) if shares else []


def other_adversaries(
    settings: AuditSettings,
    people: People,
    release: Release,
    team: Team,
    tell: Tell | None = None,
    folder: Path | None = None,
) -> list[Adversary]:
    """Adversaries with less or more than habits, with a tenth of the effort for each; empty if not asked for."""
    if not settings.adversaries:
        return []
    found = adversaries(
        people,
        release,
        sample=rest_enough(settings.adversaries, len(people)),
        known_steps=settings.known_steps,
        **{**vars(settings.measurement), "budget": settings.budget / 10},
        **vars(team),
        progress=begin(tell, OTHERS),
        file=None if folder is None else folder / "adversaries.jsonl",
    )
    return told_adversaries(found)


#: The settings of a report.
ASKED = (
    *("tolerance", "runs", "confidence", "budget", "seed", "explore", "sigmas", "bases", "thresholds", "delta"),
    *("title", "adversaries", "known_steps", "presence", "sensitive"),
)


@dataclass(frozen=True, repr=False)
class Report:
    """An audit with its report: `table` (a row per person, with ids), `summary`, and `page` (HTML, may be shared).

    `internal` is the page with the true counts, and `figures` holds each figure of the page by its key; a notebook
    shows them as pictures, and loads nothing. `rows` are the table in memory or in a file. `questions` has a row per
    person and question, if there are others than the trace.
    """

    rows: Rows
    summary: Summary
    page: str
    internal: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    asked: Rows | None = None

    @property
    def table(self) -> pl.DataFrame:
        """A row per person, with ids."""
        return self.rows.table

    @property
    def questions(self) -> pl.DataFrame:
        """A row per person, question and adversary, with ids; empty without other questions."""
        if self.asked is None:
            return pl.DataFrame(schema={"person": self.table.schema["person"], **SCHEMA})
        return self.asked.table

    def save(self, path: str | Path) -> None:
        """Write the page to a file for use offline."""
        with whole_or_nothing(checks.path(path, "path")) as draft:
            draft.write_text(self.page, encoding="utf-8")

    def __repr__(self) -> str:
        loss = self.summary.mean_loss
        mean = f"{loss.lower:.3g} to {loss.upper:.3g}" if loss else None
        return f"Report(people={self.summary.people}, mean_loss={mean})"

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        style = "width: 100%; height: 48rem; border: 1px solid #d5d9df"
        return f'<iframe title="Report" style="{style}" srcdoc="{escape(self.page)}"></iframe>'


@naming(ASKED)
def audit_report(
    people: People,
    release: Release,
    misses: int = Measurement.misses,
    *,
    backtest: Calibration | None = None,
    workers: int | None = None,
    executor: Executor | None = None,
    engine: Any = AuditSettings.engine,
    scheduler: str | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Report:
    """Audit everyone, try out sensors, steps and noise, and make the report of it.

    `settings` are the settings of an `audit.toml` about the measurement (`tolerance`, `runs`, `confidence`, `budget`,
    `seed`) and the report. The latter are `explore`, the number of people for trials; `sigmas`, `bases`, `thresholds`,
    `delta`, `title`; `adversaries`, the number of people for other adversaries, and their `known_steps`; `presence`,
    the number of people for questions of presence at each counted place, and `sensitive` places. The result of
    `passerby.backtest` for the same people can be passed in: the outcomes of such predictions.

    >>> import passerby as pb
    >>> people = pb.fit_people(pb.simulate_city(30, 20, 4), window="3h", places=9, min_active=1, holdout=4)
    >>> report = audit_report(people, Release([0, 1, 0, 1]), misses=1, workers=1, explore=0, adversaries=0)
    >>> report.table.height == len(people), report.page[:15]
    (True, '<!DOCTYPE html>')
    >>> list(report.figures)
    ['law', 'published', 'thresholds', 'exposure', 'advantage', 'sighted', 'gap']
    """
    check_kinds(people, release)
    _check_backtest(backtest)
    given = {"misses": misses, **settings}
    chosen = check_settings({**given, **_steps(people, release)}, "audit_report", Arguments())
    with engine_of(engine, scheduler, workers, executor) as pool:
        team = Team(enough_workers(len(people), workers, pool), pool)
        table, findings, others = _worked_out(people, release, chosen, team, progress)
        present, shares = _present(people, release, chosen, team)
    covered = coverage_of(people, Skipped())
    rows = Results.here(table, chosen.thresholds)
    told = _told(backtest, table, mean_over(rows, chosen.confidence), misses, release)
    said = [*about_backtest(told, None), *present.alerts, *alerts(covered, name_elsewhere=people.name_elsewhere)]
    summary = summarise(
        rows,
        people,
        release,
        misses=misses,
        window=chosen.window,
        seed=chosen.seed,
        confidence=chosen.confidence,
        delta=chosen.delta,
        thresholds=chosen.thresholds,
        coverage=covered,
        alerts=[*about_few(table), *said],
        backtest=told,
        adversaries=others,
        presence=present.places,
        known_shares=shares,
    )
    call = f"passerby.audit_report(people, release, {', '.join(f'{name}={value!r}' for name, value in given.items())})"
    return replace(report_of(Evidence(table, people, release, chosen, summary, findings), call), asked=present.asked)


def _steps(people: People, release: Release) -> dict[str, Any]:
    """What is known of the visits, as settings."""
    return {"visits": Path(), "window": f"{people.window.total_seconds():.0f}s", "holdout": release.steps}


def _present(people: People, release: Release, chosen: AuditSettings, team: Team) -> tuple[Present, list[ShareAnswers]]:
    """Who can be told to have been at counted places, unless `presence` is 0, and what knowing some others adds."""
    if not chosen.presence:
        return Present(None, (), ()), []
    named = places_by_name(people.places)
    sensitive = sensitive_places(chosen.sensitive, named)
    case = (Everybody.here(people, team), release, chosen.measurement, named, sensitive, chosen.presence)
    found = presence_of_all(*case, team=team, shares=shares_of_others(chosen))
    return found, knowing_some(chosen, found, team)


def _check_backtest(backtest: object) -> None:
    """Refuse anything but a backtest, and a backtest of too few people."""
    if backtest is not None and not isinstance(backtest, Calibration):
        raise InputError(f"backtest is a {type(backtest).__name__}; expected what passerby.backtest returns")
    if backtest is not None:
        check_told(backtest)


def _told(
    backtest: Calibration | None, table: pl.DataFrame, mean: Mean | None, misses: int, release: Release
) -> Backtest | None:
    """The shareable part of a backtest; with the same misses and steps, its published window is the table's."""
    if backtest is None:
        return None
    same = (backtest.misses, backtest.steps) == (misses, release.steps)
    return told_backtest(backtest, table["upper"].drop_nulls(), mean, table if same else None, who_tests(release))


def _worked_out(
    people: People, release: Release, chosen: AuditSettings, team: Team, progress: Progress | None
) -> tuple[pl.DataFrame, Findings | None, list[Adversary]]:
    """The results for workers to share: everyone's loss, the trials, and other adversaries."""
    table = audit(people, release, **vars(chosen.measurement), **vars(team), progress=progress)
    findings = explored(chosen, people, release, table, team)
    return table, findings, other_adversaries(chosen, people, release, team)


def report_of(evidence: Evidence, call: str | None = None, progress: Progress | None = None) -> Report:
    """Both pages of an audit, and the figures of the shareable one."""
    sections, private = built(evidence, progress), replace(evidence, internal=True)
    figures = {figure.key: figure for section in sections for figure in section.content.figures}
    page, internal = fill(evidence, sections, call), fill(private, built(private), call)
    return Report(Rows.here(evidence.table), evidence.summary, page, internal, figures)
