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


def asked_cases(name: str) -> list[Any]:
    """The cases of a file about further questions, each a parameter of a test."""
    found = load(name)["cases"]
    return [pytest.param(case, id=f"{i}-{case['channel']['kind']}") for i, case in enumerate(found)]


def chain_of(case: Any) -> pb.MarkovPrior:
    """The target's chain, one matrix for each move."""
    return pb.MarkovPrior(case["start"], case["moves"])


def channel_release(case: Any) -> pb.Release:
    """The release of such a case: its sensors, and what is done to their counts."""
    told, sensors = case["channel"], case["sensors"]
    ways: dict[str, Any] = {
        "raw": lambda: pb.Raw(),
        "geometric": lambda: pb.Geometric(told["scale"]),
        "gaussian": lambda: pb.Gaussian(told["sigma"]),
        "rounding": lambda: pb.Rounding(told["base"]),
        "gaussian_bands": lambda: pb.Then(pb.Gaussian(told["sigma"]), pb.Bands(told["edges"])),
    }
    numbers = iter(told["others"]) if "others" in told else None
    others = None if numbers is None else [[next(numbers) for _ in step] for step in sensors]
    return pb.Release(sensors, ways[told["kind"]](), others)
