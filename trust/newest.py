"""Whether the newest versions of everything do: they are installed, and audits run with them.

`python -m trust.newest` makes an environment of its own, `.venv-newest` unless told otherwise. It is the other end of
`python -m trust.lowest`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

from trust.lowest import ROOT, call, runs


def names(project: Path = ROOT / "pyproject.toml") -> Iterator[str]:
    """What passerby and its extra `cluster` need, without versions."""
    told = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    for requirement in (*told["dependencies"], *told["optional-dependencies"]["cluster"]):
        yield re.split(r"[\s<>=!~;\[]", requirement.strip())[0]


def install(environment: Path) -> Path:
    """Make an environment with the newest versions, of what these need, too, and return its Python."""
    venv.create(environment, with_pip=True, clear=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    call([*pip, "--upgrade", "--upgrade-strategy", "eager", *names(), str(ROOT)], ROOT)
    return python


def installed(python: Path) -> str:
    """What was installed, as requirements."""
    listed = [str(python), "-m", "pip", "list", "--format", "freeze", "--disable-pip-version-check"]
    told = subprocess.run(listed, capture_output=True, text=True, check=True).stdout.split()
    wanted = {name.lower().replace("_", "-") for name in names()}
    return ", ".join(each for each in told if each.partition("==")[0].lower().replace("_", "-") in wanted)


def main() -> int:
    """Install the newest versions, and run an audit of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path, default=ROOT / ".venv-newest")
    python = install(parser.parse_args().environment.absolute())
    runs(python)
    print(f"all of it works with {installed(python)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
