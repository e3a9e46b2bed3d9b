"""Which claims about real data depend on what the paper leaves open."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from .claims import Tables, correlated, falls, shown
from .settings import Settings
from .simulated import averaged

#: Short names of the claims that are checked under every reading.
CHECKS = {
    "falls": "loss falls as more steps must be right",
    "more": "MAP succeeds more than on simulated data",
    "frequent": "frequent visitors have high loss",
    "gap": "larger spectral gap, smaller loss (tight bound)",
    "gap_upper": "larger spectral gap, smaller loss (this tool)",
    "sigma": "bounds fall with sigma",
    "steady": "MAP hardly changes with sigma",
    "above": "noisy bounds above raw ones for some sigma",
}


def checked(row: Mapping[str, Any], simulated_map: float | None, settings: Settings) -> dict[str, bool | None]:
    """Each claim under one reading of one file; None where it cannot be told."""
    at = settings.real_misses
    by_right = [f"misses_{s}" for s in reversed(range(settings.holdout))]
    sigmas = [f"sigma_{s:g}" for s in settings.sigma_grid]
    tight = [row[f"tight_{name}"] for name in sigmas]
    raw = row[f"tight_misses_{at}"]
    lowest = row["frequent_lowest_tight"]
    return {
        "falls": falls([row[f"tight_{n}"] for n in by_right]) and falls([row[f"hit_map_{n}"] for n in by_right]),
        "more": None if simulated_map is None else row[f"hit_map_misses_{at}"] > simulated_map,
        "frequent": None if lowest is None else lowest > 0.9,
        "gap": _negative(row["spectral_gap_tight_high"]),
        "gap_upper": _negative(row["spectral_gap_upper_high"]),
        "sigma": falls(tight),
        "steady": max(abs(row[f"hit_map_{n}"] - row[f"hit_map_misses_{at}"]) for n in sigmas) <= 0.02,
        "above": any(value > raw + 1e-12 for value in tight),
    }


def _negative(high: float) -> bool | None:
    return None if math.isnan(high) else high < 0


def verdicts(tables: Tables, settings: Settings) -> dict[tuple[str, str], dict[str, bool | None]]:
    """Each claim under each reading of each file: keys are (file, reading)."""
    simulated = None
    if "right" in tables:
        means = averaged(tables["right"]).filter(
            (pl.col("steps") == settings.holdout) & (pl.col("misses") == settings.real_misses)
        )
        simulated = float(means["map"][0]) if means.height else None
    rows = tables["readings"].iter_rows(named=True)
    return {(row["dataset"], row["reading"]): checked(row, simulated, settings) for row in rows}


def depending(found: Mapping[tuple[str, str], Mapping[str, bool | None]]) -> dict[str, dict[str, list[str]]]:
    """For each claim whose verdict differs between readings of a file: the files, and readings under which it fails."""
    out: dict[str, dict[str, list[str]]] = {}
    for check in CHECKS:
        for name in sorted({key[0] for key in found}):
            values = {reading: v[check] for (of, reading), v in found.items() if of == name}
            known = {reading: value for reading, value in values.items() if value is not None}
            if len(set(known.values())) > 1:
                out.setdefault(check, {})[name] = [reading for reading, value in known.items() if not value]
    return out


def key_numbers(row: Mapping[str, Any], settings: Settings) -> list[str]:
    """The numbers of a reading that the page shows."""
    at = settings.real_misses
    return [
        f"{row['people']}",
        shown(row[f"hit_map_misses_{at}"]),
        shown(row[f"tight_misses_{at}"]),
        shown(row["upper_random"]),
        shown(row["baseline_lower_random"]),
        *(_correlation(row, name) for name in ("spectral_gap_tight", "spectral_gap_upper", "frequency_upper")),
    ]


def _correlation(row: Mapping[str, Any], name: str) -> str:
    return correlated(row[name], row[f"{name}_low"], row[f"{name}_high"])
