"""The columns of an audit's table."""

from __future__ import annotations

import polars as pl

from passerby.questions.trace.methods import ATTACKS, BOUNDS

HITS = tuple(f"hit_{name}" for name in ATTACKS)

SCHEMA: dict[str, pl.DataType] = {
    "status": pl.String(),
    **{
        name: pl.Float64()
        for name in (
            "lower",
            "upper",
            "baseline_lower",
            "baseline_upper",
            "advantage_lower",
            "advantage_upper",
            "pooled_lower",
            "pooled_upper",
            "pooled_reach",
            *(f"attack_{name}" for name in ATTACKS),
            *(f"error_{name}" for name in ATTACKS),
            *(f"bound_{name}" for name in BOUNDS),
            "sighted",
            "spectral_gap",
        )
    },
    "places": pl.Int64(),
    "series": pl.Int64(),
    "sampled": pl.Boolean(),
    "estimated": pl.String(),
    **{name: pl.Boolean() for name in HITS},
}
