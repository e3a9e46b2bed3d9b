"""The folders of a table of counts: a check of it, and a plan for its publication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from passerby.audits.wording import Arguments, Wording
from passerby.plans.table_plan import TablePlan, TableWay
from passerby.report.check_page import ASSUMPTIONS, render_check, sentences
from passerby.report.table_plan_page import plan_sentences, render_table_plan
from passerby.support import checks
from passerby.support.files import whole_or_nothing, write_json
from passerby.tables.check import TableCheck, check_table

from .folder import Destination

#: Of check.json and of plan.json.
SCHEMA_VERSION = 1


def check_folder(
    source: Any,
    out: str | Path = "check",
    personas: Any = None,
    *,
    roles: Mapping[str, str] | None = None,
    timezone: str | None = None,
    time_format: str | None = None,
    step: str | timedelta | None = None,
    runs: int = 100,
    seed: int = 0,
    overwrite: bool = False,
) -> TableCheck:
    """Check a table (`check_table`), and write a folder: report.html, for use offline, and check.json."""
    folder, wording = checks.path(out, "out"), Arguments()
    again = checks.flag(overwrite, "overwrite")
    check_destination(folder, wording, overwrite=again).check()
    how: dict[str, Any] = {"timezone": timezone, "time_format": time_format, "step": step, "runs": runs, "seed": seed}
    found = check_table(source, personas, roles=roles, **how)
    write_check(found, folder, (), wording, overwrite=again)
    return found


def check_destination(out: Path, wording: Wording, *, overwrite: bool) -> Destination:
    """The folder of a check."""
    return Destination(out, "check.json", "a table that was checked", overwrite, wording)


def plan_destination(out: Path, wording: Wording, *, overwrite: bool) -> Destination:
    """The folder of a plan."""
    return Destination(out, "plan.json", "a plan", overwrite, wording)


def write_check(
    found: TableCheck, out: Path, words: Sequence[str], wording: Wording, *, overwrite: bool = False
) -> None:
    """Write the folder: report.html, and check.json for programs."""
    destination = check_destination(out, wording, overwrite=overwrite)
    destination.check()
    with destination.held() as folder:
        (folder / "check.json").unlink(missing_ok=True)
        with whole_or_nothing(folder / "report.html") as shown:
            shown.write_text(render_check(found, words), encoding="utf-8")
        write_json(folder / "check.json", check_record(found))


def check_record(found: TableCheck) -> dict[str, Any]:
    """The answers for programs."""
    table = found.table
    return {
        "schema_version": SCHEMA_VERSION,
        "table": {
            "source": table.source,
            "places": list(table.places),
            "steps": table.steps,
            "first": f"{table.clock[0]:%Y-%m-%d %H:%M}",
            "last": f"{table.clock[-1]:%Y-%m-%d %H:%M}",
            "timezone": table.calendar.timezone,
        },
        "personas": [
            {
                "name": day.persona.name,
                "about": day.persona.about,
                "weight": day.persona.weight,
                "places": list(day.places),
                "day": day.day,
                "steps": day.table.steps,
                "not_examined": [place for place in who.places if not who.examined(place)],
            }
            for who, day in zip(found.people, found.days, strict=True)
        ],
        "ways": [{"name": way.name, "mechanism": repr(way.mechanism)} for way in found.ways],
        "answers": [vars(answer) for answer in found.answers],
        "readers": {name: vars(losses) for name, losses in found.readers.items()},
        "remarks": list(found.remarks),
        "assumptions": ASSUMPTIONS,
        "said": sentences(found),
    }


def write_table_plan(
    plan: TablePlan, out: Path, words: Sequence[str], wording: Wording, *, overwrite: bool = False
) -> None:
    """Write the folder: plan.html, and plan.json for programs."""
    destination = plan_destination(out, wording, overwrite=overwrite)
    destination.check()
    with destination.held() as folder:
        (folder / "plan.json").unlink(missing_ok=True)
        with whole_or_nothing(folder / "plan.html") as shown:
            shown.write_text(render_table_plan(plan, words), encoding="utf-8")
        write_json(folder / "plan.json", plan_record(plan))


def plan_record(plan: TablePlan) -> dict[str, Any]:
    """The plan for programs."""
    return {
        "schema_version": SCHEMA_VERSION,
        "table": plan.table.source,
        "limit": {"share": plan.limit.share, "above": plan.limit.above, "against": plan.against},
        "personas": [
            {
                "name": who.persona.name,
                "weight": who.persona.weight,
                "likeliest": {place: who.likeliest(place).day for place in who.places},
                "not_examined": [place for place in who.places if not who.examined(place)],
            }
            for who in plan.people
        ],
        "tried": [_as_json(way) for way in plan.tried],
        "recommended": {name: _as_json(way) for name, way in plan.recommended.items()},
        "remarks": list(plan.remarks),
        "assumptions": ASSUMPTIONS,
        "said": plan_sentences(plan),
    }


def _as_json(way: TableWay) -> dict[str, Any]:
    return {**vars(way), "left_out": list(way.left_out), "readers": vars(way.readers)}
