"""Time and memory from a file of 33 million check-ins to traces, in a process of its own.

Run as `python benchmarks/read_visits.py [rows]`. The file is generated in Foursquare's layout with as many people,
places and days as the real one, in a temporary folder, and removed afterwards. No pandas is involved.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PEOPLE, PLACES, DAYS, ROWS = 266_909, 3_680_126, 532, 33_000_000
RARE = 0.1
"""Share of the rows at a place that occurs once: real files have millions of places with hardly a visit."""
TARGET_SECONDS, TARGET_BYTES = 60, 6_000_000_000


def generate(path: Path, rows: int) -> int:
    """Write the records of a simulated city, some moved to places of their own, with ids of 24 digits."""
    import numpy as np
    import polars as pl

    from passerby.visits.city import City

    people, places = max(100, PEOPLE * rows // ROWS), max(1000, PLACES * rows // ROWS)
    city = City(people, places, DAYS, "1d", seen=min(1.0, rows / (people * DAYS)), start="2012-04-03")
    random = np.random.default_rng(0)
    written = 0
    with path.open("wb") as file:
        for chunk in city.chunks():
            own = np.arange(written, written + chunk.height) + places
            number = np.where(random.random(chunk.height) < RARE, own, chunk["place"].to_numpy())
            place = pl.format("4b{}", pl.lit(pl.Series(number)).hash(seed=1).cast(pl.String).str.zfill(22))
            lines = chunk.select("person", place, "time", offset=pl.lit(60))
            form = "%a %b %d %H:%M:%S +0000 %Y"
            file.write(lines.write_csv(separator="\t", include_header=False, datetime_format=form).encode())
            written += chunk.height
    return written


def measure(path: Path) -> dict[str, float | str]:
    """File to traces, in this process."""
    begin = time.perf_counter()
    from passerby.visits import read_visits, window_visits

    visits = read_visits(path)
    read = time.perf_counter()
    traces = window_visits(visits, window="20d", places=100, min_active=10)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "visits": repr(visits),
        "traces": repr(traces),
        "read_seconds": read - begin,
        "window_seconds": end - read,
        "total_seconds": end - begin,
        "peak_bytes": peak,
        "pandas": "imported" if "pandas" in sys.modules else "not imported",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="?", type=int, default=ROWS)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "checkins.txt")
        begin = time.perf_counter()
        rows = generate(path, arguments.rows)
        size = path.stat().st_size
        print(f"generated {rows:,} rows, {size / 1e9:.2f} GB, in {time.perf_counter() - begin:.1f} s", flush=True)
        command = [sys.executable, __file__, "--measure", str(path)]
        result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=os.environ).stdout)
    seconds, peak = result["total_seconds"], result["peak_bytes"]
    print(f"{result['visits']} -> {result['traces']} (pandas {result['pandas']})")
    print(f"read {result['read_seconds']:.1f} s, window {result['window_seconds']:.1f} s, {rows / seconds:,.0f} rows/s")
    print(f"file to traces: {seconds:.1f} s (target {TARGET_SECONDS}), peak {peak / 1e9:.2f} GB (target 6)")
    if rows >= ROWS * 0.99 and (seconds > TARGET_SECONDS or peak > TARGET_BYTES):
        sys.exit("the target is missed")


if __name__ == "__main__":
    main()
