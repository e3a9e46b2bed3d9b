"""Reference values that come beside the repository (../shared/reference), where they do."""

import json
from pathlib import Path
from typing import Any

import pytest

import passerby as pb

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "reference"
ABSENT = "no reference values beside the repository"


def load(name: str) -> Any:
    """A file of reference values, or None where it is absent."""
    path = FOLDER / name
    return json.loads(path.read_text()) if path.exists() else None


def small_cases() -> list[Any]:
    """The cases on small chains, each a parameter of a test; one skipped parameter where they are absent."""
    values = load("small_chains.json")
    if values is None:
        return [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT))]
    return [
        pytest.param(case, id=f"{i}-M{len(case['initial'])}-T{len(case['sensors'])}-s{case['misses']}")
        for i, case in enumerate(values["cases"])
    ]


def prior_of(case: Any) -> pb.MarkovPrior:
    return pb.MarkovPrior(case["initial"], case["transition"])
