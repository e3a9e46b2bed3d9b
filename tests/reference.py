"""Reference values, worked out by brute force elsewhere (`reference_values/`)."""

import json
from pathlib import Path
from typing import Any

import pytest

import passerby as pb

FOLDER = Path(__file__).parent / "reference_values"


def load(name: str) -> Any:
    """A file of reference values."""
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def small_cases() -> list[Any]:
    """The cases on small chains, each a parameter of a test."""
    return [
        pytest.param(case, id=f"{i}-M{len(case['initial'])}-T{len(case['sensors'])}-s{case['misses']}")
        for i, case in enumerate(load("small_chains.json")["cases"])
    ]


def prior_of(case: Any) -> pb.MarkovPrior:
    return pb.MarkovPrior(case["initial"], case["transition"])
