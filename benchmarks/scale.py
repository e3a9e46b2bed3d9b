"""Time, memory and disk of an audit of everybody from disk, against the number of people: 10^3 to 10^5.

A simulated city of two weeks, written as a folder of Parquet files: steps of half a day, five of which are published
by two sensors, raw, with one miss; two workers. Seconds are those of all processors, memory is that of all processes
together at its most. `python -m benchmarks.scale 1000000` adds one size to what is shown (an hour of two cores).
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import passerby as pb
from benchmarks.processes import watched
from benchmarks.record import ONE_THREAD, Row, Section, peak_of_process, rounded
from passerby.visits import write_city

SIZES = (1_000, 10_000, 100_000)
#: Share of the hours in which a person is recorded: about 67 rows each.
SEEN = 0.2
#: What is measured of everybody, and nothing that is tried on some of them.
SETTINGS = {
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


def simulated(people: int, path: Path) -> Row:
    """Write a city, in this process."""
    start = time.process_time()
    rows = write_city(path, people, seen=SEEN)
    spent = time.process_time() - start
    size = sum(file.stat().st_size for file in path.iterdir())
    return {"rows": rows, "simulate": rounded(spent), "simulate_bytes": peak_of_process(), "visits_disk": size}


def audited(path: Path, out: Path, workers: int, **more: object) -> None:
    """Audit it, and print each stage as it begins."""
    stages: list[str] = []

    def tell(stage: str, done: int, everything: int) -> None:
        if stage not in stages:
            stages.append(stage)
            print(stage, flush=True)

    report = pb.audit_folder(path, out, workers=workers, progress=tell, **{**SETTINGS, **more})
    print(f"people {report.summary.people}", flush=True)


def size(people: int, workers: int = 2) -> Row:
    """What one size takes: simulated and audited in processes of their own."""
    env = {**os.environ, **ONE_THREAD}
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "city"), Path(folder, "audit")
        command = [sys.executable, "-m", "benchmarks.scale"]
        told = watched([*command, "simulate", str(people), str(path)], path, env)
        made: Row = json.loads(told.lines[-1].partition(" ")[2])
        taken = watched([*command, "audit", str(path), str(out), str(workers)], out, env)
    marks = [(float(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in taken.lines]
    spent = {name: after - before for (before, name), (after, _) in zip(marks, marks[1:], strict=False)}
    before, measure = marks[0][0], next(seconds for name, seconds in spent.items() if name.startswith("Auditing"))
    count = int(marks[-1][1].split()[1])
    rest = [rounded(spent[name]) for name in spent if not name.startswith("Auditing")]
    return {
        "people": people,
        "workers": workers,
        **made,
        "audited": count,
        "start": rounded(before),
        **dict(zip(("read", "fit", "write"), rest, strict=False)),
        "audit": rounded(measure),
        "each_ms": rounded(1000 * measure / count),
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
        case ["audit", path, out, workers]:
            audited(Path(path), Path(out), int(workers))
        case [people]:
            print(json.dumps(size(int(people))))
