"""Hand in thousands of files that are nearly right, and see that each is read or refused with a message (`make fuzz`).

The tests of tests/test_fuzz.py with many more examples, drawn anew for each seed: `python -m trust.fuzz 5000 1 2 3`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from trust.page import keep
from trust.results import ROOT

#: Examples of each kind for each seed, unless given.
EXAMPLES = 5000


def command(seed: int) -> list[str]:
    """How the tests are run: all of them, since where some are left out properties get a few examples only."""
    every = ("-m", "thorough or not thorough")
    return [sys.executable, "-m", "pytest", "-q", *every, "tests/test_fuzz.py", f"--hypothesis-seed={seed}"]


def main() -> int:
    """Run the tests for each seed in a process of its own, count what became of the files, and keep the counts."""
    examples, *seeds = [int(word) for word in sys.argv[1:]] or [EXAMPLES, 1, 2]
    outcomes: Counter[str] = Counter()
    failed = 0
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            told = Path(folder) / "outcomes.txt"
            environment = {**os.environ, "PASSERBY_FUZZ": str(examples), "PASSERBY_FUZZ_OUTCOMES": str(told)}
            failed += subprocess.run(command(seed), cwd=ROOT, env=environment, check=False).returncode != 0
            lines = told.read_text().splitlines() if told.exists() else []
        for line in lines:
            count, what = line.split(" ", 1)
            outcomes[what] += int(count)
    found = {"examples": examples, "seeds": seeds, "failed": failed, "outcomes": dict(sorted(outcomes.items()))}
    keep("fuzz", found)
    print(f"{sum(outcomes.values()):,} files; {failed} of {len(seeds)} runs failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
