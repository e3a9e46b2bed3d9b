"""Six small audits and a plan, and what their tables and summaries say: a fence around the old numbers."""

from __future__ import annotations

import hashlib
import json
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl

import passerby as pb
from passerby.cli import main

#: What each says.
FILE = Path(__file__).parent / "reference_values" / "fence_audits.json"
#: Digits that are compared.
DIGITS = 9
#: What differs from run to run, or says how something was made.
VOLATILE = {"made", "seconds", "version", "schema_version", "settings", "software", "passerby", "numpy", "seconds_each"}

PEOPLE = ("--window", "3h", "--places", "10", "--min-active", "2", "--holdout", "4", "--workers", "1")
ALONE = ("--explore", "0", "--backtest", "0", "--adversaries", "0")
FEW = (*ALONE, "--sensor-count", "3")
ALL = (
    "--explore",
    "5",
    "--backtest",
    "8",
    "--adversaries",
    "5",
    "--sigmas",
    "1",
    "--bases",
    "5",
    "--sensor-count",
    "3",
)
NOISE = ("--mechanism", "gaussian", "--sigma", "1.5", "--runs", "30", "--budget", "1e8")

#: The audits, and the plan, by name: what is said on the command line.
AUDITS: dict[str, tuple[str, ...]] = {
    "raw": (*FEW, "--misses", "1"),
    "noise": (*ALL, *NOISE),
    "zones": (*ALONE, "--zones", "zones.csv", "--count", "present", "visitors", "--every", "6h"),
    "disk": (*FEW, "--store", "disk", "--mechanism", "rounding", "--base", "5"),
    "published": (*ALONE, "--published", "counts.csv"),
}
PLAN = (
    "--sensor-count",
    "2",
    "--at-most",
    "0.1",
    "--added",
    "0.1",
    "--drawn",
    "20",
    "--levers",
    "gaussian",
    "rounding",
    "--presence-at-most",
    "1",
)


def write_inputs(folder: Path) -> None:
    """Visits, zones, and the counts that were published."""
    city = pb.simulate_city(30, 14, 5, seed=11)
    city.table.with_columns(place=city.places.gather(city.table["place"])).write_parquet(folder / "visits.parquet")
    people = fitted(folder)
    named = [place for place in people.places if place != people.places[-1]]
    zones = ["place,zone", *(f"{place},{'east' if i % 2 else 'west'}" for i, place in enumerate(named[:6]))]
    (folder / "zones.csv").write_text("\n".join(zones) + "\n")
    rows = [f"{t + 1},{people.places[x]},{int(people.counts[t, x])}" for t in range(4) for x in (0, 3)]
    (folder / "counts.csv").write_text("\n".join(["step,place,count", *rows]) + "\n")


def fitted(folder: Path) -> Any:
    """Everybody's habits."""
    return pb.fit_people(pb.read_visits(folder / "visits.parquet"), window="3h", places=10, min_active=2, holdout=4)


def run(folder: Path, *words: str) -> None:
    """A command, in a folder."""
    out = StringIO()
    with chdir(folder), redirect_stdout(out), redirect_stderr(out):
        code = main(words)
    assert code == 0, out.getvalue()


def said(folder: Path, name: str) -> dict[str, Any]:
    """What an audit, the plan, or the audit of a crowd in Python says, by name and field."""
    if name == "crowd":
        people = fitted(folder)
        table = pb.audit(people, pb.Release([[0, 1]] * 4, others=pb.Crowd()), misses=1, runs=25, budget=1e8, workers=1)
        return {"people": columns(table)}
    if name == "plan":
        run(folder, "plan", "visits.parquet", *PEOPLE, *PLAN, "--out", name)
        return {"plan": leaves(json.loads((folder / name / "plan.json").read_text()))}
    run(folder, "audit", "visits.parquet", *PEOPLE, *AUDITS[name], "--out", name)
    table = pl.read_parquet(folder / name / "people.parquet")
    return {"people": columns(table), "summary": leaves(json.loads((folder / name / "summary.json").read_text()))}


def columns(table: pl.DataFrame) -> dict[str, str]:
    """A digest of the values of each column, in the order of people."""
    ordered = table.sort("person")
    return {
        name: hashlib.sha256(json.dumps([rounded(value) for value in ordered[name].to_list()]).encode()).hexdigest()[
            :16
        ]
        for name in ordered.columns
        if name not in VOLATILE
    }


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """All numbers, words and truth values of a document, by the path to them."""
    if isinstance(value, dict):
        return {
            k: v for key, part in value.items() if key not in VOLATILE for k, v in leaves(part, f"{path}/{key}").items()
        }
    if isinstance(value, list):
        return {k: v for i, part in enumerate(value) for k, v in leaves(part, f"{path}/{i}").items()}
    return {path: rounded(value)}


def rounded(value: Any) -> Any:
    """A number of so many digits; whatever else as it is, in JSON."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS - 1}e}") if value == value else None
    return value if isinstance(value, (str, int, bool, type(None))) else str(value)


NAMES = (*AUDITS, "crowd", "plan")
