"""From a file of check-ins to traces, against pandas.

The file is made up in Foursquare's layout, in the proportions of the real one, in a temporary folder. Both versions
leave out repeated rows and rows whose time cannot be read, choose the 100 most visited places, and take of each
window of 20 days, from the first visit on, the place that was visited most. Each timing is a process of its own.

`python -m benchmarks.read_visits generate FILE ROWS` makes such a file, and `... ours FILE` or `... pandas FILE`
times one version on any: so the size of the real one, 33 million rows, can be tried.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import ONE_THREAD, Section, peak_of_process, rounded

PEOPLE, PLACES, DAYS, ROWS = 266_909, 3_680_126, 532, 33_000_000
#: Share of the rows at a place that occurs once: real files have millions of places with hardly a visit.
RARE = 0.1
SIZES = (1_000_000, 4_000_000)
QUICK = (20_000,)
TARGET = 5.0

#: People and where they are (N, T).
Found = tuple[NDArray[np.int64], NDArray[np.int32]]


def generate(path: Path, rows: int) -> int:
    """Write the records of a simulated city, some moved to places of their own, with ids of 24 digits."""
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


def ours(path: Path) -> Found:
    """By passerby."""
    from passerby.visits import read_visits, window_visits

    traces = window_visits(read_visits(path), window="20d", places=100, min_active=10, origin="first-visit")
    return traces.people.to_numpy(), traces.array


def by_pandas(path: Path) -> Found:
    """By pandas: strings as strings, since categories take it longer; everything else in numbers."""
    import pandas as pd

    names = ["person", "place", "time", "offset"]
    table = pd.read_csv(path, sep="\t", header=None, names=names, usecols=names[:3])
    table["time"] = pd.to_datetime(table["time"], format="%a %b %d %H:%M:%S +0000 %Y", errors="coerce")
    table["place"], places = pd.factorize(table["place"], sort=True)
    table = table.dropna().drop_duplicates()
    table["step"] = (table["time"] - table["time"].min()) // pd.Timedelta("20D")
    steps = int(table["step"].max()) + 1
    visits = table["place"].value_counts().rename_axis("place").reset_index(name="visits")
    chosen = visits.sort_values(["visits", "place"], ascending=[False, True])["place"].to_numpy()[:100]
    number = np.full(len(places), -1)
    number[chosen] = np.arange(len(chosen))
    table["place"] = number[table["place"]]
    seen = table[table["place"] >= 0].groupby(["person", "step", "place"], sort=False)["time"].agg(["size", "min"])
    order = ["person", "step", "size", "min", "place"]
    seen = seen.reset_index().sort_values(order, ascending=[True, True, False, True, True])
    seen = seen.drop_duplicates(["person", "step"])
    seen = seen[seen.groupby("person")["step"].transform("size") >= 10]
    wide = seen.pivot(index="person", columns="step", values="place").reindex(columns=range(steps))
    return wide.index.to_numpy(), wide.fillna(len(chosen)).to_numpy(dtype=np.int32)


VERSIONS = {"ours": (ours, "passerby.visits"), "pandas": (by_pandas, "pandas")}


def measured(version: str, path: Path) -> dict[str, Any]:
    """One version on one file, in this process; what it loads is loaded before."""
    work, module = VERSIONS[version]
    __import__(module)
    loaded = peak_of_process()
    wall, cpu = time.perf_counter(), time.process_time()
    people, array = work(path)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    digest = hashlib.sha256(people.astype("<i8").tobytes() + array.astype("<i4").tobytes()).hexdigest()
    return {"cpu": cpu, "wall": wall, "bytes": peak_of_process() - loaded, "shape": list(array.shape), "digest": digest}


def timed(version: str, path: Path, *, one_core: bool = True) -> dict[str, Any]:
    """The same in a process of its own, held to one core or free to use all."""
    free = {name: value for name, value in os.environ.items() if name not in ONE_THREAD}
    environment = {**os.environ, **ONE_THREAD} if one_core else free
    command = [sys.executable, "-m", "benchmarks.read_visits", version, str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    return dict(json.loads(done.stdout))


def run(quick: bool = False) -> Section:
    section = Section("reading and windowing")
    there = section.peer("pandas", "pandas") is not None
    for size in (QUICK if quick else SIZES) if there else ():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "checkins.txt")
            rows = generate(path, size)
            for case, one_core, clock, repeats in (("one core", True, "cpu", 3), ("all cores", False, "wall", 2)):
                both = [
                    [timed(name, path, one_core=one_core) for name in VERSIONS] for _ in range(1 if quick else repeats)
                ]
                assert all(a["digest"] == b["digest"] for a, b in both), "the two versions give different traces"
                pairs = [(a[clock], b[clock]) for a, b in both]
                memory = min(b["bytes"] for _, b in both) / max(a["bytes"] for a, _ in both)
                more = {"target": TARGET} if one_core and size == max(SIZES) else {}
                section.ratio(case, {"rows": rows}, "pandas", pairs, memory=rounded(memory), **more)
    return section


if __name__ == "__main__":
    if sys.argv[1] == "generate":
        print(generate(Path(sys.argv[2]), int(sys.argv[3])))
    else:
        print(json.dumps(measured(sys.argv[1], Path(sys.argv[2]))))
