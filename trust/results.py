"""What the runs look at, and what they found, kept in `results.json` beside this file: a part for each run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/passerby"
FILE = Path(__file__).with_name("results.json")
#: What runs leave behind for the next one, and for a look at it.
KEPT = Path(__file__).parent / "kept"


def read() -> dict[str, Any]:
    """All parts, by the name of the run."""
    return load(FILE)


def load(path: Path) -> dict[str, Any]:
    """What a file holds; nothing where there is none."""
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def write(path: Path, value: Any) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    fresh.replace(path)
