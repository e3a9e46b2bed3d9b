"""The same work by an older version of this package and by this one: a person of the demo, of an audit, of a sweep.

`make bench BENCH="before --old FOLDER"`, where FOLDER is a checkout of the older version. Each version does the work in
a process of its own, in turns, and tells the processor seconds and how wide its intervals are: what is quicker must not
be wider than was asked for.
"""

import inspect
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

import passerby as pb
from benchmarks.record import Section, rounded

#: In turns, and in each process.
ROUNDS, REPEATS = 2, 3
SENSORS = (7, 93, 41, 15, 60, 22, 88, 5, 50, 71)
#: Seconds for each unit of work, and the mean width of the intervals relative to their lower ends.
Found = tuple[float, float]


def audited(
    window: str,
    steps: int,
    sensors: int,
    misses: int,
    mechanism: pb.Mechanism | None,
    habits: Literal["auto", "paper"] = "auto",
    size: int = 60,
    **effort: Any,
) -> Found:
    """A person of an audit: a simulated city, sensors at its most visited places at all steps.

    Versions that choose no habits have those of the paper.
    """
    from passerby.visits import simulate_city

    city = simulate_city(people=size, places=200, days=14)
    how: dict[str, Any] = {"window": window, "rhythm": "hour" if window == "1h" else "none"}
    how |= {"habits": habits} if "habits" in inspect.signature(pb.fit_people).parameters else {}
    people = pb.fit_people(city, places=200, min_active=5, holdout=steps, **how)
    top = [int(place) for place in np.argsort(-people.background) if place != people.elsewhere][:sensors]
    release = pb.Release([top] * steps, mechanism)
    table = pb.audit(people, release, misses, workers=1, **effort)
    spent = []
    for _ in range(REPEATS):
        start = time.process_time()
        pb.audit(people, release, misses, workers=1, **effort)
        spent.append(time.process_time() - start)
    return min(spent) / len(people), float((table["upper"] / table["lower"]).mean()) - 1  # type: ignore[arg-type]


def swept(steps: int, misses: int, mechanism: pb.Mechanism | None) -> Found:
    """A point of the paper's sweeps, at the effort of `passerby reproduce`."""
    prior, release = pb.line_prior(100, 0.1), pb.Release((SENSORS * 2)[:steps], mechanism)
    start = time.process_time()
    loss = pb.measure(prior, release, misses, budget=1e9 * steps)
    return time.process_time() - start, loss.upper / loss.lower - 1


DAY: dict[str, Any] = {"tolerance": 0.02, "runs": 60, "budget": 3e7}
TASKS: dict[str, Callable[[], Found]] = {
    "demo, a person, raw": lambda: audited("1h", 24, 12, 2, None, **DAY),
    "demo, a person, noise": lambda: audited("1h", 24, 12, 2, pb.Gaussian(2.0), **DAY),
    "the same with the paper's habits, raw": lambda: audited("1h", 24, 12, 2, None, "paper", **DAY),
    "the same with the paper's habits, noise": lambda: audited("1h", 24, 12, 2, pb.Gaussian(2.0), "paper", **DAY),
    "audit, a person, 5 steps": lambda: audited("12h", 5, 1, 1, None, size=300),
    "the same with the paper's habits": lambda: audited("12h", 5, 1, 1, None, "paper", 300),
    "reproduce, 10 steps, 5 right": lambda: swept(10, 5, None),
    "reproduce, 20 steps, 2 right": lambda: swept(20, 18, None),
    "reproduce, 10 steps, 1 right, noise": lambda: swept(10, 9, pb.Gaussian(1.0)),
}
#: Of a quick run, beside this version itself.
QUICK = ("audit, a person, 5 steps", "reproduce, 10 steps, 5 right")


def by_version(source: Path | None, tasks: Sequence[str]) -> dict[str, Found]:
    """Some tasks in a process that takes the package from a folder of sources; None for the one that is installed."""
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder, "found.json")
        path = {} if source is None else {"PYTHONPATH": str(source.resolve())}
        command = [sys.executable, "-m", "benchmarks.before", str(into), *tasks]
        subprocess.run(command, check=True, env={**os.environ, **path})
        return {name: tuple(found) for name, found in json.loads(into.read_text()).items()}


def run(old: Path, quick: bool = False) -> Section:
    section = Section("before and after")
    tasks = QUICK if quick else tuple(TASKS)
    both = [(by_version(old / "src", tasks), by_version(None, tasks)) for _ in range(1 if quick else ROUNDS)]
    for task in tasks:
        before, after = (min(pair[i][task] for pair in both) for i in (0, 1))
        section.add(
            task=task,
            before=rounded(before[0], 3),
            after=rounded(after[0], 3),
            ratio=rounded(before[0] / after[0], 3),
            wide_before=rounded(before[1], 3),
            wide_after=rounded(after[1], 3),
        )
    return section


def main() -> None:
    """Do the tasks that are named here, after something that loads and compiles, and write what was found."""
    for mechanism in (None, pb.Gaussian(1.0)):
        pb.measure(pb.line_prior(4), pb.Release([1, 2, 3], mechanism), 1)
    Path(sys.argv[1]).write_text(json.dumps({name: TASKS[name]() for name in sys.argv[2:]}))


if __name__ == "__main__":
    main()
