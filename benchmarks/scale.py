"""Time, memory and disk of an audit of everybody from disk, against the number of people: 10^3 to 10^5, and 10^6.

Two simulated cities of two weeks, each written as a folder of Parquet files, audited raw with two workers: five steps
to be found, two sensors, one miss. In "half-days" people are seen often, steps are half days, and nothing is tried but
to measure everybody. In "days" people are seen at one hour in twenty, steps are days, all 200 places are chosen, and
all else is as by default. Seconds are those of all processors, memory is that of all processes together at its most.

    python -m benchmarks.scale 10000                    # one size of the first city
    python -m benchmarks.scale 10000 days               # of the second one
    python -m benchmarks.scale 10000 half-days dask     # with the workers of dask
"""

import json
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import passerby as pb
from benchmarks.processes import Taken, watched
from benchmarks.record import ONE_THREAD, Row, Section, peak_of_process, rounded
from passerby.visits import write_city

PLACES = 200


@dataclass(frozen=True)
class Kind:
    """A city: sizes to measure, the share of the hours in which a person is recorded, and an audit's settings."""

    sizes: tuple[int, ...]
    seen: float
    settings: dict[str, Any]


SETTINGS: dict[str, Any] = {"holdout": 5, "min_active": 5, "sensor_count": 2, "misses": 1, "store": "disk"}
#: What is measured of everybody, and nothing that is tried on some of them.
ALONE: dict[str, Any] = {"explore": 0, "adversaries": 0, "backtest": 0}
KINDS = {
    "half-days": Kind((1_000, 10_000, 100_000), 0.2, {**SETTINGS, **ALONE, "window": "12h"}),
    "days": Kind((2_000, 20_000, 200_000), 0.05, {**SETTINGS, "window": "1d", "places": PLACES}),
}
#: The second one in a quick run.
QUICK = {
    "few": Kind((60, 120), 0.05, {**KINDS["days"].settings, "explore": 10, "adversaries": 10, "backtest": 10}),
}
#: Stages of an audit, by their first word; all that is tried beside is one.
STAGES = {"Reading": "read", "Fitting": "fit", "Auditing": "audit", "Writing": "write"}
BESIDE = "beside"
COMMAND = (sys.executable, "-m", "benchmarks.scale")


def simulated(kind: Kind, people: int, path: Path) -> Row:
    """Write a city, in this process."""
    start = time.process_time()
    rows = write_city(path, people, PLACES, seen=kind.seen)
    spent = time.process_time() - start
    size = sum(file.stat().st_size for file in path.iterdir())
    return {"rows": rows, "simulate": rounded(spent), "simulate_bytes": peak_of_process(), "visits_disk": size}


def audited(kind: Kind, path: Path, out: Path, workers: int, engine: str) -> None:
    """Audit it, and print each stage as it begins."""
    stages: list[str] = []

    def tell(stage: str, done: int, everything: int) -> None:
        if stage not in stages:
            stages.append(stage)
            print(stage, flush=True)

    report = pb.audit_folder(path, out, workers=workers, engine=engine, progress=tell, **kind.settings)
    print(f"people {report.summary.people}", flush=True)


def by_stage(taken: Taken) -> Row:
    """Processor seconds of each stage."""
    marks = [(float(spent), said) for spent, _, said in (line.partition(" ") for line in taken.lines)]
    found: dict[str, float] = {}
    for (before, said), (after, _) in pairwise(marks):
        stage = STAGES.get(said.split()[0], BESIDE)
        found[stage] = rounded(found.get(stage, 0.0) + after - before)
    return {"start": rounded(marks[0][0]), **found}


def size(people: int, city: str = "half-days", engine: str = "processes", workers: int = 2) -> Row:
    """What one size takes: simulated and audited in processes of their own."""
    env = {**os.environ, **ONE_THREAD}
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "city"), Path(folder, "audit")
        told = watched([*COMMAND, "simulate", city, str(people), str(path)], path, env)
        row: Row = {
            "city": city,
            "people": people,
            "engine": engine,
            "workers": workers,
            **json.loads(told.lines[-1].partition(" ")[2]),
        }
        taken = watched([*COMMAND, "audit", city, str(path), str(out), str(workers), engine], out, env)
        row |= by_stage(taken)
        measured = int(taken.lines[-1].split()[-1])
    return {
        **row,
        "each_ms": rounded(1000 * row["audit"] / measured),
        "cpu": rounded(taken.cpu),
        "clock": rounded(taken.clock),
        "bytes": taken.memory,
        "disk": taken.disk,
    }


def run(quick: bool = False) -> Section:
    section = Section("scale")
    for city, kind in (QUICK if quick else KINDS).items():
        found = [size(people, city) for people in kind.sizes]
        for row in found:
            section.add(**row)
        for stage in ("simulate", "read", "fit", "audit", "cpu"):
            times = [max(row[stage], 0.01) for row in found]  # what is as short is not told apart
            power = float(np.polyfit(np.log(kind.sizes), np.log(times), 1)[0])
            last = round(float(np.log10(times[-1] / times[-2])), 2)
            section.add(city=city, stage=stage, exponent=round(power, 2), last=last)
    return section


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["simulate", city, people, path]:
            print(json.dumps(simulated((KINDS | QUICK)[city], int(people), Path(path))))
        case ["audit", city, path, out, workers, engine]:
            audited((KINDS | QUICK)[city], Path(path), Path(out), int(workers), engine)
        case [people]:
            print(json.dumps(size(int(people))))
        case [people, city]:
            print(json.dumps(size(int(people), city)))
        case [people, city, engine]:
            print(json.dumps(size(int(people), city, engine)))
