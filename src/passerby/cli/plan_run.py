"""A plan on the screen: its stages, and its result."""

from __future__ import annotations

import shlex
from pathlib import Path

from passerby.audits.wording import Options
from passerby.plans.settings import PlanSettings
from passerby.report.plan_page import in_short
from passerby.runs.next import run_next
from passerby.runs.plan import draft_of, run_plan

from .going_on import repeatable, resumable
from .screen import consoles, say, stages


def plan_and_show(settings: PlanSettings, workers: int | None = None, *, overwrite: bool = False) -> None:
    """Plan, write the folder, and print the result."""
    screen, aside = consoles()
    out = settings.audit.out
    with resumable("plan", draft_of(out), workers, overwrite), stages(aside) as tell:
        found, record = run_plan(settings, overwrite=overwrite, workers=workers, tell=tell, wording=Options())
    if record.assumed:
        say(screen, f"Alert: {record.assumed}")
    for alert in record.alerts[1 if record.assumed else 0 :]:
        aside.print(f"Alert: {alert}", markup=False, soft_wrap=True)
    for line in in_short(record):
        say(screen, line)
    for name in found.recommended:
        screen.print(
            f"passerby audit --settings {shlex.quote(str(out / name / 'audit.toml'))}", markup=False, soft_wrap=True
        )
    screen.print(f"Page: {out / 'plan.html'}", markup=False, soft_wrap=True)


#: The first lines.
ANSWERS = {
    "publish": "The table may go out",
    "coarser": "The table must be coarser",
    "hold": "The table must be held",
}


def decide_and_show(
    settings: PlanSettings, earlier: Path | None, workers: int | None = None, *, overwrite: bool = False
) -> str:
    """Decide about the next table, write the folder, and print the decision and its reasons; return the answer."""
    screen, aside = consoles()
    with repeatable(settings.audit.out / "parts"), stages(aside) as tell:
        found = run_next(settings, earlier, overwrite=overwrite, workers=workers, tell=tell, wording=Options())
    if found.assumed:
        say(screen, f"Alert: {found.assumed}")
    say(screen, f"{ANSWERS[found.answer]}: {found.why}.")
    if found.table is not None:
        screen.print(f"What may go out: {settings.audit.out / 'audit.toml'}", markup=False, soft_wrap=True)
    return found.answer
