"""Workers of dask killed at random moments of an audit from disk: nothing is lost, and the rows are the same bytes.

    python -m benchmarks.kills 20
    python -m benchmarks.kills --quick          # one trial

Each trial reads, sorts, fits, measures and adds up everybody; a worker is killed once, at a moment that is drawn evenly
from the time that this takes undisturbed.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from hashlib import blake2b
from pathlib import Path
from typing import Any

from benchmarks.scale import KINDS
from passerby.audits.audit import audit_everyone, audit_job
from passerby.audits.inputs import Stored, gather
from passerby.audits.results import Results
from passerby.audits.settings import AuditSettings
from passerby.audits.stored import store_of
from passerby.audits.summary import summarise
from passerby.audits.validation import check_settings
from passerby.support.blocks import Team
from passerby.support.dask import Cluster, dask_cluster
from passerby.visits import store, write_city

PEOPLE, KIND = 300, KINDS["half-days"]
#: Small ones, so that every stage has several tasks.
store.ROWS, store.RUN, store.TASK = 4_000, 3_000, 1


def expected(settings: AuditSettings) -> str:
    """The digest of an audit in memory, in this process."""
    inputs = gather(settings)
    table = audit_job(inputs.job(settings.measurement))
    path = settings.out.with_suffix(".parquet")
    table.write_parquet(path)
    return digest(path, Results.here(table, settings.thresholds), settings, inputs)


def digest(path: Path, results: Results, settings: AuditSettings, inputs: Any) -> str:
    """What a table and its summary hold."""
    how = {"misses": settings.misses, "window": inputs.window, "thresholds": settings.thresholds}
    summary = summarise(results, inputs.people, inputs.release, **how, coverage=inputs.coverage)
    return blake2b(path.read_bytes() + summary.model_dump_json().encode(), digest_size=8).hexdigest()


def trial(settings: AuditSettings, cluster: Cluster, moment: float | None) -> dict[str, Any]:
    """One audit, in which a worker is killed so many seconds after it began."""
    killed, stages, began = list[str](), ["reading"], time.perf_counter()

    def kill() -> None:
        pid = random.Random(moment).choice(sorted(cluster.client.run(os.getpid).values()))
        killed.append(stages[-1])
        os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(0 if moment is None else moment, kill)
    if moment is not None:
        timer.start()
    team = Team(None, cluster)
    shutil.rmtree(settings.out, ignore_errors=True)
    inputs = gather(settings, tell=lambda stage, *_: stages.append(stage), stored=Stored(store_of(settings.out), team))
    stages.append("measuring")
    rows = audit_everyone(inputs.everyone(settings.measurement, settings.out, team), settings.out)
    assert rows.file is not None
    stages.append("adding up")
    found = digest(rows.file, Results(rows.blocks, settings.thresholds), settings, inputs)
    spent = time.perf_counter() - began
    timer.cancel()
    return {"seconds": round(spent, 1), "killed": killed, "digest": found}


def main(trials: int) -> None:
    """So many trials, each compared with an audit that nobody disturbed."""
    rng, same = random.Random(0), list[bool]()
    with tempfile.TemporaryDirectory() as folder:
        city = Path(folder, "city.parquet")
        write_city(city, PEOPLE, seen=KIND.seen)
        settings = check_settings({**KIND.settings, "visits": city, "out": Path(folder, "audit")})
        whole = expected(settings)
        moment = None
        while len(same) < trials:
            # Each has a cluster of its own: one that lost a worker may take long to start another.
            with dask_cluster("dask", workers=2) as cluster:
                found = trial(settings, cluster, moment)
            if moment is None:
                usual = found["seconds"]
            if found["killed"]:
                same.append(found["digest"] == whole)
            right = found.pop("digest") == whole
            print(json.dumps({"after": moment and round(moment, 1), **found, "same": right}), flush=True)
            moment = rng.uniform(0, 0.8 * usual)
    print(f"{sum(same)} of {len(same)} the same", flush=True)
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    words = sys.argv[1:] or ["20"]
    main(1 if words == ["--quick"] else int(words[0]))
