"""What is tried out for a report: sensors, steps, counts and other ways to publish, on some people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from passerby.audits.audit import Settings
from passerby.audits.settings import AuditSettings
from passerby.audits.what_if import Findings, only, some_people, try_out
from passerby.mechanisms import Gaussian, Mechanism, Raw, Rounding
from passerby.model.release import Release
from passerby.people.habits import People
from passerby.support.groups import FEW
from passerby.support.workers import Progress


def explore(
    people: People,
    release: Release,
    settings: AuditSettings,
    how: Settings,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    file: Path | None = None,
) -> Findings:
    """Try out sensors, steps and mechanisms on a sample of the audited people, with a tenth of the effort for each.

    Mechanisms, which take longer, are tried on a third of the sample.
    """
    chosen = only(people, some_people(people, settings.explore, settings.seed + 1))
    how, rules = replace(how, budget=how.budget / 10), candidates(settings)
    few = _third(len(chosen))
    return try_out(chosen, release, rules, how, few=few, workers=workers, progress=progress, file=file)


def number_of_trials(settings: AuditSettings, people: int) -> tuple[int, int]:
    """How many people sensors and steps are tried out on, and how many times somebody is measured with a mechanism."""
    tried = min(settings.explore, people)
    return tried, min(_third(tried), tried) * len(candidates(settings))


def _third(people: int) -> int:
    return max(FEW, people // 3)


def candidates(settings: AuditSettings) -> dict[str, Mechanism]:
    """The mechanisms that a report compares, by the words that it uses for them."""
    noisy = {f"noise {sigma:g}": Gaussian(sigma) for sigma in settings.sigmas}
    return {"raw": Raw(), **noisy, **{f"rounded to {base}": Rounding(base) for base in settings.bases}}
