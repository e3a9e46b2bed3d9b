"""Time and memory of an audit against the number of people: 10^3 to 10^5, each in a process of its own.

A simulated city of two weeks, written as a folder of Parquet files: steps of half a day, five of which are published
by two sensors, raw, with one miss. Seconds are those of the processor; memory is the most held until then.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import passerby as pb
from benchmarks.record import ONE_THREAD, Row, Section, peak_of_process, rounded
from passerby.audits.sample import only, some_people
from passerby.visits import write_city

SIZES = (1_000, 10_000, 100_000)
#: Share of the hours in which a person is recorded: about 67 rows each.
SEEN = 0.2
#: People who are audited, at most; everybody is read and fitted.
MOST = 10_000


def stages(people: int) -> Row:
    """Processor seconds and peak memory after each stage, in this process."""
    row: Row = {"people": people}
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()

        def done(stage: str) -> None:
            nonlocal start
            row[stage] = rounded(time.process_time() - start)
            row[f"{stage}_bytes"] = peak_of_process()
            start = time.process_time()

        path = Path(folder, "city")
        row["rows"] = write_city(path, people, seen=SEEN)
        row["disk"] = sum(file.stat().st_size for file in path.iterdir())
        done("simulate")
        visits = pb.read_visits(path)
        done("read")
        fitted = pb.fit_people(visits, window="12h", min_active=5, holdout=5)
        del visits
        done("fit")
        release = pb.Release(pb.most_visited_sensors(fitted, 2))
        some = only(fitted, some_people(fitted, MOST))
        pb.audit(some, release, 1, workers=1, folder=Path(folder, "audit"))
        done("audit")
        row["audited"] = len(some)
        row["each_ms"] = rounded(1000 * row["audit"] / len(some))
    return row


def run(sizes: tuple[int, ...] = SIZES) -> Section:
    section = Section("scale")
    for people in sizes:
        command = [sys.executable, "-m", "benchmarks.scale", str(people)]
        told = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **ONE_THREAD})
        section.add(**json.loads(told.stdout.splitlines()[-1]))
    for stage in ("simulate", "read", "fit"):
        times = [row[stage] for row in section.rows if "people" in row]
        power = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
        section.add(stage=stage, exponent=round(power, 2), last=round(float(np.log10(times[-1] / times[-2])), 2))
    return section


if __name__ == "__main__":
    print(json.dumps(stages(int(sys.argv[1]))))
