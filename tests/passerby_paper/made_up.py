"""Made-up tables whose verdicts are known."""

from typing import Any

import polars as pl

from passerby_paper import page
from passerby_paper.claims import Claim
from passerby_paper.settings import Settings

SETTINGS = Settings()
CLAIMS = [claim for group in page.GROUPS for claim in group.claims]


def simulated(**columns: list[Any]) -> pl.DataFrame:
    """A table of a sweep: what is not given does not change along it."""
    length = len(next(iter(columns.values())))
    usual = {
        "places": 100, "steps": 10, "misses": 5, "right": 5, "sigma": None, "draw": 0, "map": 0.1, "map_error": 0.0,
        "prior": 0.05, "constant": 0.05, "lower": 0.12, "upper": 0.13, "baseline_lower": 0.05,
        "baseline_upper": 0.06, "tight": 0.3, "loose": 0.6, "map_mc": 0.1, "map_mc_error": 0.01, "prior_mc": 0.05,
        "prior_mc_error": 0.01, "constant_mc": 0.05, "constant_mc_error": 0.01,
    }  # fmt: skip
    filled = {name: columns.get(name, [value] * length) for name, value in usual.items()}
    return pl.DataFrame(filled, schema_overrides={"sigma": pl.Float64})


def named(name: str) -> Claim:
    return next(claim for claim in CLAIMS if claim.name == name)


def verdict(name: str, **tables: pl.DataFrame) -> str:
    return named(name).judged({key.replace("_", "-"): table for key, table in tables.items()}, SETTINGS).verdict
