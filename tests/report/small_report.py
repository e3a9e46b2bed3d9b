"""A small audited town, its evidence and its pages, for tests of reports; and the numbers that a page holds."""

import base64
import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import polars as pl
from tests.report.answers import presence, questions, shares

import passerby as pb
from passerby.audits.disclosure import told_adversaries, told_backtest
from passerby.audits.findings import candidates
from passerby.audits.settings import AuditSettings
from passerby.audits.summary import Summary, summarise
from passerby.audits.validation import check_settings
from passerby.audits.what_if import explore
from passerby.plans.ways import compare
from passerby.report.evidence import Evidence


@cache
def small_evidence(mechanism: pb.Mechanism | None = None, people: int = 60) -> Evidence:
    """Four steps of three hours, two sensors, sixty people; tried on earlier steps and by other adversaries."""
    city, steps = pb.simulate_city(people, 20, 4, seed=5), {"window": "3h", "places": 12, "min_active": 2, "holdout": 4}
    fitted = pb.fit_people(city, habits="paper", **steps)  # type: ignore[arg-type]
    release = pb.Release([[0, 1]] * 4, mechanism)
    given = {"visits": "v.csv", "holdout": 4, "window": "3h", "explore": 15, "sigmas": [1, 4], "title": "A <b>town</b>"}
    settings = check_settings({**given, "budget": 1e7})
    how = settings.measurement
    table = pb.audit(fitted, release, **asdict(how), workers=1)
    found = explore(fitted, release, how, settings.explore, workers=1)
    rules = candidates(settings.sigmas, settings.bases)
    ways = compare(fitted, release, table, rules, how, settings.explore, settings.thresholds, workers=1)
    found = replace(found, **vars(ways))
    summary = summed(table, fitted, release, settings)
    went_back = pb.backtest(city, release=release, habits="paper", people=40, **steps)  # type: ignore[arg-type]
    more = {
        "backtest": told_backtest(went_back, table["upper"].drop_nulls(), summary.mean_loss),
        "adversaries": told_adversaries(pb.adversaries(fitted, release, sample=20)),
        "presence": presence(fitted.places[:3]),
        "questions": questions(people=people),
        "known_shares": shares(fitted.places[0]),
    }
    return Evidence(table, fitted, release, settings, summary.model_copy(update=more), found)


def summed(table: pl.DataFrame, people: pb.People, release: pb.Release, settings: AuditSettings) -> Summary:
    """The summary that settings ask for."""
    return summarise(
        table, people, release, misses=settings.misses, window=settings.window, thresholds=settings.thresholds
    )


def specs(page: str) -> dict[str, Any]:
    """The charts of a page, by their keys."""
    found = re.search(r'<script type="application/json" id="specs">(.*?)</script>', page, re.DOTALL)
    assert found
    charts: dict[str, Any] = json.loads(found[1])
    return charts


def data(spec: Any) -> Iterator[dict[str, Any]]:
    """Every datum of a chart, wherever in it the data are."""
    if isinstance(spec, dict):
        for name, part in spec.items():
            if name == "values" and isinstance(part, list):
                yield from part
            elif name == "datasets":
                for rows in part.values():
                    yield from rows
            else:
                yield from data(part)
    elif isinstance(spec, list):
        for part in spec:
            yield from data(part)


def saved(page: str) -> dict[str, list[dict[str, str]]]:
    """The rows of each table that can be saved, by the name of its file."""
    links = re.findall(r'download="([^"]+)" href="data:text/csv;charset=utf-8;base64,([^"]+)"', page)
    return {name: list(csv.DictReader(io.StringIO(base64.b64decode(code).decode()))) for name, code in links}


def number(text: object) -> float | None:
    """A cell as a number, also where it is a percentage."""
    if isinstance(text, bool) or text is None:
        return None
    if isinstance(text, int | float):
        return float(text)
    found = re.fullmatch(r"(-?[\d,]*\.?\d+(?:e-?\d+)?)(\s*%)?", str(text).strip())
    return float(found[1].replace(",", "")) / (100 if found[2] else 1) if found else None


def rows_of(page: str) -> list[list[float]]:
    """The numbers of each datum, each saved row and each shown row of a page."""
    body = page[: page.index('id="specs"')]
    shown = [re.findall(r"<td>([^<]*)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]
    rows: list[list[object]] = [list(datum.values()) for spec in specs(page).values() for datum in data(spec)]
    rows += [list(row.values()) for table in saved(page).values() for row in table]
    rows += [list(row) for row in shown]
    return [[value for cell in row if (value := number(cell)) is not None] for row in rows]


def per_person(table: pl.DataFrame) -> pl.DataFrame:
    """The columns of a table that hold a chance or a trait of each person."""
    return table.select(
        name for name, kind in table.schema.items() if kind == pl.Float64 and not table[name].null_count()
    )
