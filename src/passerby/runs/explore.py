"""Trials for a report beside the audit: sensors and steps, other ways to publish, other adversaries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl

from passerby.audits.adversaries import adversaries
from passerby.audits.others_known import others_known
from passerby.audits.presence_all import Present
from passerby.audits.question_record import ShareAnswers
from passerby.audits.record import Adversary, told_adversaries
from passerby.audits.settings import AuditSettings
from passerby.audits.stages import COMPARING, KNOWING, OTHERS, TRYING, Tell, begin
from passerby.audits.trials import candidates, explore
from passerby.audits.what_if import Findings
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.plans.ways import compare
from passerby.support.blocks import Team
from passerby.support.rule_of_five import rest_enough


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
