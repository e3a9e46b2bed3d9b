"""An audit on the screen: its stages, and its findings.

A plan on the screen: its stages, and its result.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from passerby.audits.estimate import Estimate, estimate
from passerby.audits.inputs import Inputs, Stored, gather
from passerby.audits.settings import AuditSettings
from passerby.audits.stored import on_disk
from passerby.audits.subjects import in_words
from passerby.audits.summary import Summary
from passerby.audits.wording import Options
from passerby.plans.settings import PlanSettings
from passerby.report.facts import asked_of_groups, membership
from passerby.report.plan_page import in_short
from passerby.report.sections.asked import on_screen
from passerby.report.words import lead, length, mechanism, often_found
from passerby.runs.audit import draft_of, finished, run_audit
from passerby.runs.folder import assumption
from passerby.runs.plan import plan_draft_of, run_next, run_plan
from passerby.support.blocks import Team
from passerby.support.numbers import chance, duration, span
from passerby.support.rule_of_five import FEW
from passerby.visits.table import Visits

from .screen import consoles, repeatable, resumable, say, stages

#: The remark on steps nobody asked for.
CHOSEN = ", which fit the visits (--window sets another length)"


def run_and_show(
    settings: AuditSettings, workers: int | None = None, *, overwrite: bool = False, visits: Visits | None = None
) -> None:
    """Audit, write the folder, and print the findings."""
    screen, aside = consoles()
    with resumable("audit", draft_of(settings.out), workers, overwrite), stages(aside) as tell:
        report = run_audit(settings, visits, overwrite=overwrite, workers=workers, tell=tell, wording=Options())
    assumed = report.summary.assumed
    if assumed:
        say(screen, f"Alert: {assumed}")
    for what, said in report.summary.coverage.lines():
        aside.print(f"Data: {what}: {said}", markup=False, soft_wrap=True)
    for alert in report.summary.alerts[1 if assumed else 0 :]:
        aside.print(f"Alert: {alert}", markup=False, soft_wrap=True)
    for line in found(report.summary):
        say(screen, line)
    if settings.window == "auto":
        say(screen, f"Steps last {length(report.summary.window)}{CHOSEN}.")
    screen.print(f"Report: {settings.out / 'report.html'}", markup=False, soft_wrap=True)


def found(summary: Summary) -> Iterator[str]:
    """The findings, in a few lines."""
    loss, known, mean = summary.loss, summary.baseline, summary.mean_loss
    people = f"{_people(summary.people)}{_drawn(summary.people, summary.people_eligible)}"
    yield from asked_of_groups(summary.together)
    if not (loss and known and mean):
        yield f"{people}. {_few(summary)}"
        yield from on_screen(summary)
        return
    yield from lead(summary)
    yield from membership(summary)
    yield from on_screen(summary)
    steps = f"all but {summary.misses} of {summary.steps} steps" if summary.misses else f"all {summary.steps} steps"
    yield (
        f"{people}. The chance that an adversary names {steps}, on average: "
        f"{span(mean.lower, mean.upper, chance)} with the release, "
        f"{span(known.lower.mean, known.upper.mean, chance)} without it."
    )
    for above in summary.above:
        shares = above.loss_lower, above.loss_upper
        if above.threshold == 0.5 and {above.baseline, *shares} != {None}:
            yield f"More likely than not to be found: {often_found(above)}"
    if summary.realised:
        yield (
            f"The published counts are possible for {_about(summary.realised.possible, summary)} and impossible for "
            f"{_about(summary.realised.impossible, summary)}."
        )


def estimate_and_show(settings: AuditSettings, workers: int | None = None) -> None:
    """Print the plan of an audit, and its expected time."""
    screen, aside = consoles()
    started = time.perf_counter()
    with stages(aside) as tell, ExitStack() as open_folder:
        stored = None
        if on_disk(settings):
            folder = Path(open_folder.enter_context(TemporaryDirectory(prefix="passerby-")), "parts", "store")
            stored = Stored(folder, Team())
        inputs = gather(settings, tell=tell, stored=stored)
        spent = time.perf_counter() - started
        expected = estimate(settings, inputs, workers, tell)
    assumed = assumption(settings, inputs, Options())
    if assumed:
        say(screen, f"Alert: {assumed}")
    for what, value in _facts(settings, inputs, expected, spent):
        screen.print(f"{what:>12}  {value}", markup=False, soft_wrap=True)
    # The numbers are as exact as the lines above: otherwise they would contradict each other.
    for alert in inputs.told(exact=True):
        screen.print(f"Alert: {alert}", markup=False, soft_wrap=True)
    if finished(settings.out):
        screen.print("The folder holds a finished audit: --overwrite would replace it.", markup=False)
    screen.print("Nothing was written.", markup=False)


def _facts(settings: AuditSettings, inputs: Inputs, expected: Estimate, spent: float) -> Iterator[tuple[str, str]]:
    """The plan of an audit; `spent` seconds have passed on the inputs, and would again."""
    people, release, cores = inputs.people, inputs.release, expected.workers
    seconds = duration(spent + expected.everything)
    yield from inputs.coverage.lines(exact=True)
    yield "audited", f"{_people(inputs.count)}{_drawn(inputs.count, inputs.eligible)}"
    yield "steps", f"{people.fitted.shape[1]:,} to fit habits to, {release.steps:,} published and to be found"
    yield "step length", f"{length(inputs.window)}{CHOSEN if settings.window == 'auto' else ''}"
    yield "places", f"{len(people.places):,}, with elsewhere"
    yield "sensors" if release.reveals else "counts", in_words(release)
    yield "mechanism", mechanism("; ".join(map(repr, release.ways)))
    yield "misses", str(settings.misses)
    if settings.together > 1:
        yield "together", f"{settings.together:,} people move as one, and each is asked about"
    yield "time", f"about {seconds} with {cores} worker{'s' * (cores != 1)} ({_pace(expected.each)} a person)"
    yield "folder", str(settings.out)


def _few(summary: Summary) -> str:
    """Why no numbers are told."""
    told = f"numbers are told of {FEW} people or more"
    if summary.people < FEW:
        return f"Too few: {told}; people.parquet has a row for each."
    return f"Fewer than {FEW} could be measured, and {told}; people.parquet says why."


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def _about(people: int, summary: Summary) -> str:
    """A group's size, in fives but for nobody and everyone."""
    return f"{'' if people in (0, summary.people) else 'about '}{_people(people)}"


def _pace(seconds: float) -> str:
    return f"{1000 * seconds:,.0f} ms" if seconds >= 0.001 else "less than 1 ms"


def _drawn(people: int, eligible: int) -> str:
    return "" if people == eligible else f" (drawn from {eligible:,})"


def plan_and_show(settings: PlanSettings, workers: int | None = None, *, overwrite: bool = False) -> None:
    """Plan, write the folder, and print the result."""
    screen, aside = consoles()
    out = settings.audit.out
    with resumable("plan", plan_draft_of(out), workers, overwrite), stages(aside) as tell:
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
