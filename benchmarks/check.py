"""How long the first answer about a table of counts takes, from the command line, after kernels are compiled.

A week of hours of four places. `--quick` takes a morning of one persona.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

PLACES = {"hospital 001": 5, "Main station": 900, "City market": 60, "Office park": 30}
#: The claim, in seconds.
AIM = 10


def table(days: int) -> str:
    """Counts by the hour, Poisson about a curve of the day."""
    rng = np.random.default_rng(1)
    rows = [",".join(["time", *PLACES])]
    for day in range(days):
        for hour in range(24):
            share = max(0.02, math.sin((hour - 5) / 19 * math.pi))
            counts = [str(rng.poisson(mean * share)) for mean in PLACES.values()]
            rows.append(",".join([f"2024-01-{15 + day} {hour:02}:00", *counts]))
    return "\n".join(rows) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    more = ["--personas", "dialysis", "--runs", "10"] if given.quick else []
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts.csv"
        counts.write_text(table(1 if given.quick else 7))
        command = [sys.executable, "-m", "passerby", "check", str(counts), "--out", str(Path(folder) / "out"), *more]
        for what in ("first, kernels included", "after kernels are compiled"):
            began, before = time.perf_counter(), os.times()
            subprocess.run([*command, "--overwrite"], check=True, capture_output=True)
            after = os.times()
            spent = after.children_user + after.children_system - before.children_user - before.children_system
            print(f"{what}: {time.perf_counter() - began:.1f} s, {spent:.1f} processor seconds (aim: {AIM})")


if __name__ == "__main__":
    main()
