"""Whether the lowest versions that `pyproject.toml` allows are enough: they are installed, and audits run with them.

`python -m trust.lowest` makes an environment of its own, `.venv-lowest` unless told otherwise.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
#: One of each kind of work: pages, noise and its differential privacy, habits and what they promised, and dask.
CITY = "simulate city.csv --people 40 --places 20 --days 6"
COMMON = "city.csv --window 6h --places 15 --holdout 4 --min-active 1 --sensor-count 2"
RUNS = (
    CITY,
    f"audit {COMMON} --mechanism gaussian --sigma 1 --explore 5 --backtest 10 --adversaries 5 --out audit",
    f"audit {COMMON} --store disk --out disk",
    f"audit {COMMON} --engine dask --workers 1 --out dask",
    f"plan {COMMON} --at-most 0.1 --added 0.1 --levers rounding --out plan",
)


def lowest(requirement: str) -> str:
    """The lowest version that a requirement allows, as a requirement.

    >>> lowest("polars>=1.36.1"), lowest("distributed >= 2024.5")
    ('polars==1.36.1', 'distributed==2024.5')
    """
    found = re.fullmatch(r"\s*([A-Za-z0-9._-]+)\s*>=\s*([0-9][0-9A-Za-z.]*)\s*", requirement)
    if found is None:
        raise SystemExit(f"pyproject.toml: {requirement!r} has no lowest version; give one with >=")
    return f"{found[1]}=={found[2]}"


def requirements(project: Path = ROOT / "pyproject.toml") -> Iterator[str]:
    """What passerby, its extra `cluster` and its build need, each in its lowest version."""
    told = tomllib.loads(project.read_text(encoding="utf-8"))
    needed = told["project"]["dependencies"], told["project"]["optional-dependencies"]["cluster"]
    for requirement in (*needed[0], *needed[1], *told["build-system"]["requires"]):
        yield lowest(requirement)


def call(command: Sequence[str], folder: Path, **environment: str) -> None:
    """Run a command, and end with what it says where it fails."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stdout}{done.stderr}")


def install(environment: Path) -> Path:
    """Make an environment with the lowest versions, and return its Python."""
    venv.create(environment, with_pip=True, clear=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    call([*pip, *requirements()], ROOT)
    call([*pip, "--no-deps", "--no-build-isolation", str(ROOT)], ROOT)
    return python


def runs(python: Path) -> None:
    """An audit of each kind, with what is installed beside this Python and nothing else."""
    with TemporaryDirectory() as folder:
        for run in RUNS:
            print(f"passerby {run}", flush=True)
            call([str(python), "-m", "passerby", *run.split()], Path(folder), PYTHONPATH="", PASSERBY_DEBUG="1")


def main() -> int:
    """Install the lowest versions, and run an audit of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path, default=ROOT / ".venv-lowest")
    python = install(parser.parse_args().environment.absolute())
    runs(python)
    print(f"all of it works with {', '.join(requirements())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
