"""Time, memory and disk of an audit of everybody from disk, against the number of people: 10^3 to 10^5, and 10^6.

A simulated city of two weeks, written as a folder of Parquet files: steps of half a day, five of which are published
by two sensors, raw, with one miss; two workers. Seconds are those of all processors, memory is that of all processes
together at its most.

    python -m benchmarks.scale 10000             # one size
    python -m benchmarks.scale 10000 dask        # the same with the workers of dask
    python -m benchmarks.scale 1000000 part      # a part of the people is measured, and their rows stand for the others

The last reads, sorts and fits everybody, stops once `PART` people are measured, copies their finished partitions to the
numbers of those that are left, and goes on with an audit that finds all partitions done: it reads everybody again, and
writes the table, the summary and the page of everybody. Time to measure is that of the part, times all people.
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
import polars as pl

import passerby as pb
from benchmarks.processes import Taken, watched
from benchmarks.record import ONE_THREAD, Row, Section, peak_of_process, rounded
from passerby.audits.partition import PARTITION
from passerby.visits import write_city

SIZES = (1_000, 10_000, 100_000)
#: Share of the hours in which a person is recorded: about 67 rows each.
SEEN = 0.2
#: People who are measured where a part stands for all.
PART = 10_000
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


def audited(path: Path, out: Path, workers: int, engine: str, stop: int) -> None:
    """Audit it, and print each stage as it begins; stop once so many people are measured, unless it is 0."""
    stages: list[str] = []

    def tell(stage: str, done: int, everything: int) -> None:
        if stage not in stages:
            stages.append(stage)
            print(stage, flush=True)
        if stop and done >= stop and stage.startswith("Auditing"):
            raise KeyboardInterrupt

    try:
        report = pb.audit_folder(path, out, workers=workers, engine=engine, progress=tell, **SETTINGS)
        print(f"people {report.summary.people}", flush=True)
    except KeyboardInterrupt:
        print("people 0", flush=True)


def by_stage(taken: Taken) -> Row:
    """Processor seconds of each stage."""
    marks = [(float(spent), said) for spent, _, said in (line.partition(" ") for line in taken.lines)]
    found = {name.split()[0]: rounded(after - before) for (before, name), (after, _) in pairwise(marks)}
    return {"start": rounded(marks[0][0]), **{STAGES[name]: spent for name, spent in found.items()}}


def fill(out: Path) -> int:
    """Let the finished partitions of an interrupted audit stand for those that are not: how many people there are."""
    parts, traces = out / "parts", out / "parts" / "store" / "traces"
    finished = [pl.read_parquet(file) for file in sorted(parts.glob("0*.parquet"))]
    full = [table for table in finished if table.height == PARTITION]
    number = people = 0
    for file in sorted(traces.glob("*.parquet")):
        rows = pl.scan_parquet(file).select(pl.len()).collect().item()
        for first in range(0, rows, PARTITION):
            some = min(PARTITION, rows - first)
            target = parts / f"{number:09d}.parquet"
            if not target.exists():
                full[number % len(full)].head(some).write_parquet(target)
            number, people = number + 1, people + some
    return people


def size(people: int, engine: str = "processes", workers: int = 2, part: bool = False) -> Row:
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
        command = [*COMMAND, "audit", str(path), str(out), str(workers), engine]
        first = watched([*command, str(PART if part else 0)], out, env)
        runs, measured = [first], int(first.lines[-1].split()[-1])
        row |= by_stage(first)
        if part:
            measured = sum(pl.read_parquet(file).height for file in (out / "parts").glob("0*.parquet"))
            row["part"] = measured
            fill(out)
            runs.append(watched([*command, "0"], out, env))
            row["write"] = by_stage(runs[-1])["write"]
    return {
        **row,
        "each_ms": rounded(1000 * row["audit"] / measured),
        "cpu": rounded(first.cpu) if not part else None,
        "clock": rounded(first.clock) if not part else None,
        "bytes": max(run.memory for run in runs),
        "disk": max(run.disk for run in runs),
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
        case ["audit", path, out, workers, engine, stop]:
            audited(Path(path), Path(out), int(workers), engine, int(stop))
        case [people]:
            print(json.dumps(size(int(people))))
        case [people, "part"]:
            print(json.dumps(size(int(people), part=True)))
        case [people, engine]:
            print(json.dumps(size(int(people), engine)))
