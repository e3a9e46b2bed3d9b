"""Run the benchmarks (`make bench`), or those that are named, and write what they find into results.json and the pages.

Each one is a process of its own, held to one core. Those that are not run keep what they found before; the file is
written whole, once all that were asked for are done. `python -m benchmarks interval_samples --foursquare FILE --gowalla
FILE` measures people of real check-in files, and `python -m benchmarks before --old FOLDER` an older version of this
package beside this one; neither is part of this repository. With `--quick`, each of them runs to its end in a form of a
few seconds, which measures nothing, and nothing is written.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

import passerby as pb
from benchmarks.record import ONE_THREAD, RESULTS, Row

#: In the order of the pages. The last two need files or a folder, and are run only where these are given.
BENCHMARKS = (
    "decode",
    "posterior",
    "exact_loss",
    "read_visits",
    "audit",
    "backtest",
    "plan",
    "joint_maxima",
    "work",
    "scale",
    "compile_time",
    "growth",
    "interval_line",
    "interval_day",
    "interval_person",
    "interval_sweeps",
    "taxis",
    "counts",
    "interval_samples",
    "before",
)
SAMPLES, BEFORE = "interval_samples", "before"
#: Those that are run by themselves (`python -m benchmarks.habits`), and print what they find; all take `--quick`.
SCRIPTS = (
    "check",
    "crowd",
    "day",
    "erasure",
    "flows",
    "habits",
    "kills",
    "mechanisms",
    "presence",
    "promises",
    "questions",
    "same_numbers",
    "weekends",
)
#: What the others are made of.
PARTS = ("chains", "figures", "markdown", "pages", "plan_pieces", "populations", "processes", "record")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="of " + ", ".join(BENCHMARKS) + "; all by default")
    parser.add_argument("--foursquare", type=Path, help="check-ins in Foursquare's layout")
    parser.add_argument("--gowalla", type=Path, help="check-ins in Gowalla's layout")
    parser.add_argument("--old", type=Path, help="a checkout of an older version")
    parser.add_argument(
        "--quick", action="store_true", help="in a few seconds each, to see that it runs; writes nothing"
    )
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    found = parser.parse_args()
    if unknown := set(found.names) - set(BENCHMARKS):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    return found


def files_of(given: argparse.Namespace) -> dict[str, Path]:
    """The check-in files that are given, by kind."""
    both = {"foursquare": given.foursquare, "gowalla": given.gowalla}
    return {kind: path for kind, path in both.items() if path is not None}


def one(name: str, given: argparse.Namespace) -> None:
    """Run one benchmark here, and write what it found where the parent looks for it."""
    for mechanism in (None, pb.Gaussian(1.0)):  # compile and load what is timed later
        pb.measure(pb.line_prior(4), pb.Release([1, 2, 3], mechanism), 1)
    module = import_module(f"benchmarks.{name}")
    with tempfile.TemporaryDirectory() as folder:
        files, old = files_of(given), given.old
        if given.quick and name == SAMPLES and not files:
            files = {"foursquare": module.made_up(Path(folder, "checkins.txt"))}
        if given.quick and old is None:
            old = Path(__file__).parents[1]
        needed = {SAMPLES: [files], BEFORE: [old]}
        section = module.run(*needed.get(name, []), quick=given.quick)
    given.into.write_text(json.dumps(section.written()))


def dumped(results: dict[str, Row]) -> str:
    """The results with a line for each row, so that changes can be read."""
    text = json.dumps({name: section | {"rows": []} for name, section in results.items()}, indent=1)
    for section in results.values():
        rows = ",\n".join(f"   {json.dumps(row)}" for row in section["rows"])
        text = text.replace('"rows": []', f'"rows": [\n{rows}\n  ]', 1)
    return text + "\n"


def processor_seconds() -> float:
    """What the processes that have ended used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Run each benchmark in a process of its own, and return how many failed."""
    from benchmarks import pages
    from passerby.support.files import whole_or_nothing

    given = options()
    if given.into is not None:
        one(given.names[0], given)
        return 0
    paths = {**files_of(given), **({"old": given.old} if given.old else {})}
    words = ["--quick"] * given.quick + [word for kind, path in paths.items() for word in (f"--{kind}", str(path))]
    left_out = {*([] if files_of(given) or given.quick else [SAMPLES]), *([] if given.old or given.quick else [BEFORE])}
    names = given.names or [name for name in BENCHMARKS if name not in left_out]
    if unable := left_out.intersection(names):
        raise SystemExit(f"{', '.join(sorted(unable))}: give --foursquare or --gowalla, or --old")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    failed = 0
    for name in names:
        print(f"\n## {name}\n", flush=True)
        start, before = time.perf_counter(), processor_seconds()
        with tempfile.TemporaryDirectory() as folder:
            into = Path(folder, "section.json")
            command = [sys.executable, "-m", "benchmarks", name, *words, "--into", str(into)]
            done = subprocess.run(command, check=False, env={**os.environ, **ONE_THREAD})
            if done.returncode == 0 and not given.quick:
                results[name] = json.loads(into.read_text())
            else:
                failed += done.returncode != 0
        print(
            f"({time.perf_counter() - start:.0f} s, {processor_seconds() - before:.0f} s of them at work)", flush=True
        )
    if given.quick:
        return failed
    with whole_or_nothing(RESULTS) as temporary:
        temporary.write_text(dumped({name: results[name] for name in BENCHMARKS if name in results}))
    pages.write(results)
    return failed


if __name__ == "__main__":
    sys.exit(main())
