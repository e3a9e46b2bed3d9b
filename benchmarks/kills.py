"""Workers of dask killed at random moments of an audit from disk: nothing is lost, and the files are the same bytes.

python -m benchmarks.kills 20
"""

import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from hashlib import blake2b
from pathlib import Path
from typing import Any

import passerby as pb
from benchmarks.scale import SEEN, SETTINGS
from passerby.support.cluster import dask_cluster
from passerby.visits import write_city

PEOPLE = 400
FILES = ("people.parquet", "summary.json", "report.html")


def digest(out: Path) -> str:
    """What the files of an audit hold."""
    return blake2b(b"".join((out / name).read_bytes() for name in FILES), digest_size=8).hexdigest()


def trial(city: Path, out: Path, client: Any, moment: float | None) -> dict[str, Any]:
    """One audit, in which a worker is killed so many seconds after it began."""
    killed: list[str] = []

    def kill() -> None:
        (pid, *_) = random.Random(moment).sample(sorted(client.run(os.getpid).values()), 1)
        killed.append(stages[-1] if stages else "start")
        os.kill(pid, signal.SIGKILL)

    stages: list[str] = []
    timer = threading.Timer(moment, kill) if moment is not None else None
    began = time.perf_counter()
    if timer:
        timer.start()
    pb.audit_folder(city, out, engine=client, progress=lambda stage, *_: stages.append(stage), **SETTINGS)
    spent = time.perf_counter() - began
    if timer:
        timer.cancel()
    client.wait_for_workers(2, timeout=60)
    return {"seconds": round(spent, 2), "killed": killed, "digest": digest(out)}


def main(trials: int) -> None:
    """So many trials, each compared with an audit that nobody disturbed."""
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        city = Path(folder, "city")
        write_city(city, PEOPLE, seen=SEEN)
        pb.audit_folder(city, Path(folder, "whole"), workers=1, **{**SETTINGS, "store": "memory"})
        whole = digest(Path(folder, "whole"))
        with dask_cluster("dask", workers=2) as cluster:
            calm = trial(city, Path(folder, "calm"), cluster.client, None)
            print(json.dumps(calm), flush=True)
            same = [calm["digest"] == whole]
            for number in range(trials):
                moment = rng.uniform(0, calm["seconds"])
                found = trial(city, Path(folder, str(number)), cluster.client, moment)
                same.append(found["digest"] == whole)
                print(json.dumps({"trial": number, "after": round(moment, 2), **found, "same": same[-1]}), flush=True)
    print(f"{sum(same)} of {len(same)} the same", flush=True)
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
