"""Time, memory and disk of an audit of everybody from disk, against the number of people: 10^3 to 10^5, and 10^6.

A simulated city of two weeks, written as a folder of Parquet files: steps of half a day, five of which are published
by two sensors, raw, with one miss; two workers. Seconds are those of all processors, memory is that of all processes
together at its most.

    python -m benchmarks.scale 10000             # one size
    python -m benchmarks.scale 10000 dask        # the same with the workers of dask
"""

import json
import os
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import passerby as pb
from benchmarks.processes import Taken, watched
from benchmarks.record import ONE_THREAD, Row, Section, peak_of_process, rounded
from passerby.visits import write_city

SIZES = (1_000, 10_000, 100_000)
#: Share of the hours in which a person is recorded: about 67 rows each.
SEEN = 0.2
#: What is measured of everybody, and nothing that is tried on some of them.
SETTINGS: dict[str, Any] = {
    "window": "12h",
    "holdout": 5,
    "min_active": 5,
    "sensor_count": 2,
    "misses": 1,
    "explore": 0,
    "adversaries": 0,
    "backtest": 0,
    "store": "disk",
}
STAGES = {"Reading": "read", "Fitting": "fit", "Auditing": "audit", "Writing": "write"}
COMMAND = (sys.executable, "-m", "benchmarks.scale")


def simulated(people: int, path: Path) -> Row:
    """Write a city, in this process."""
    start = time.process_time()
    rows = write_city(path, people, seen=SEEN)
    spent = time.process_time() - start
    size = sum(file.stat().st_size for file in path.iterdir())
    return {"rows": rows, "simulate": rounded(spent), "simulate_bytes": peak_of_process(), "visits_disk": size}


def audited(path: Path, out: Path, workers: int, engine: str) -> None:
    """Audit it, and print each stage as it begins."""
    stages: list[str] = []

    def tell(stage: str, done: int, everything: int) -> None:
        if stage not in stages:
            stages.append(stage)
            print(stage, flush=True)

    report = pb.audit_folder(path, out, workers=workers, engine=engine, progress=tell, **SETTINGS)
    print(f"people {report.summary.people}", flush=True)


def by_stage(taken: Taken) -> Row:
    """Processor seconds of each stage."""
    marks = [(float(spent), said) for spent, _, said in (line.partition(" ") for line in taken.lines)]
    found = {name.split()[0]: rounded(after - before) for (before, name), (after, _) in pairwise(marks)}
    return {"start": rounded(marks[0][0]), **{STAGES[name]: spent for name, spent in found.items()}}


def size(people: int, engine: str = "processes", workers: int = 2) -> Row:
    """What one size takes: simulated and audited in processes of their own."""
    env = {**os.environ, **ONE_THREAD}
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "city"), Path(folder, "audit")
        told = watched([*COMMAND, "simulate", str(people), str(path)], path, env)
        row: Row = {
            "people": people,
            "engine": engine,
            "workers": workers,
            **json.loads(told.lines[-1].partition(" ")[2]),
        }
        taken = watched([*COMMAND, "audit", str(path), str(out), str(workers), engine], out, env)
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


def run(sizes: tuple[int, ...] = SIZES) -> Section:
    section = Section("scale")
    for people in sizes:
        section.add(**size(people))
    for stage in ("simulate", "read", "fit", "audit", "cpu"):
        times = [row[stage] for row in section.rows if "people" in row]
        power = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        section.add(stage=stage, exponent=round(power, 2), last=round(float(np.log10(times[-1] / times[-2])), 2))
    return section


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["simulate", people, path]:
            print(json.dumps(simulated(int(people), Path(path))))
        case ["audit", path, out, workers, engine]:
            audited(Path(path), Path(out), int(workers), engine)
        case [people]:
            print(json.dumps(size(int(people))))
        case [people, engine]:
            print(json.dumps(size(int(people), engine)))
