"""Which claims about real data depend on what the paper leaves open, by the same rules as the claims themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from .claims import Tables
from .claims_persons import WAYS, frequent_parts
from .readings import GAPS
from .rules import FEWEST, ROUNDING, Answer, close, falls, more, negative
from .settings import Settings
from .simulated import averaged
from .wording import correlated, shown

#: The claims that are checked under every reading; the first words are the head of a column.
CHECKS = {
    "falls": "loss falls as more steps must be right (MAP, tight)",
    "more": "MAP succeeds more than on simulated data",
    "frequent": "frequent visitors have high loss",
    "sigma": "the tight bound falls with sigma",
    "steady": "MAP hardly changes with sigma",
    "above": "noisy bounds above raw ones for some sigma (tight)",
    **{
        f"{gap}_{way}": f"larger spectral gap ({words}), smaller loss ({WAYS[way]})"
        for way in WAYS
        for gap, words in GAPS.items()
    },
}
#: Those that are shown as yes or no; the others are correlations, which a table of their own shows.
COLUMNS = ("falls", "more", "frequent", "sigma", "steady", "above")


def checked(row: Mapping[str, Any], simulated_map: float | None, settings: Settings) -> dict[str, Answer]:
    """Each claim under one reading of one file; None where it cannot be told."""
    at = settings.real_misses
    by_right = [f"misses_{s}" for s in reversed(range(settings.holdout))]
    sigmas = [f"sigma_{s:g}" for s in settings.sigma_grid]
    tight = [row[f"tight_{name}"] for name in sigmas]
    raw, hits = row[f"tight_misses_{at}"], row[f"hit_map_misses_{at}"]
    trends = (falls([row[f"{column}_{n}"] for n in by_right]) for column in ("tight", "hit_map"))
    return {
        "falls": _all(*trends),
        "more": None if simulated_map is None else more([hits], [simulated_map], row["people"]),
        "frequent": None if row["frequent"] < FEWEST else _all(*frequent_parts(dict(row)).values()),
        "sigma": falls(tight),
        "steady": _all(*close([hits, *(row[f"hit_map_{n}"] for n in sigmas)]).values()),
        "above": any(value > raw + ROUNDING for value in tight),
        **{f"{gap}_{way}": negative(*interval(row, f"{gap}_{way}")) for way in WAYS for gap in GAPS},
    }


def _all(*answers: Answer) -> Answer:
    """Whether all of several things are so."""
    return False if False in answers else None if None in answers else True


def interval(row: Mapping[str, Any], name: str) -> tuple[float, float, float]:
    """A correlation and the ends of its interval."""
    return row[name], row[f"{name}_low"], row[f"{name}_high"]


def verdicts(tables: Tables, settings: Settings) -> dict[tuple[str, str], dict[str, Answer]]:
    """Each claim under each reading of each file: keys are (file, reading)."""
    simulated = None
    if "right" in tables:
        means = averaged(tables["right"]).filter(
            (pl.col("steps") == settings.holdout) & (pl.col("misses") == settings.real_misses)
        )
        simulated = float(means["map"][0]) if means.height else None
    rows = tables["readings"].iter_rows(named=True)
    return {(row["dataset"], row["reading"]): checked(row, simulated, settings) for row in rows}


def depending(found: Mapping[tuple[str, str], Mapping[str, Answer]]) -> dict[str, dict[str, dict[Answer, list[str]]]]:
    """For each claim and file where readings disagree: the readings by their answer."""
    out: dict[str, dict[str, dict[Answer, list[str]]]] = {}
    for check in CHECKS:
        for name in sorted({key[0] for key in found}):
            answers: dict[Answer, list[str]] = {}
            for (of, reading), values in found.items():
                if of == name:
                    answers.setdefault(values[check], []).append(reading)
            if True in answers and False in answers:
                out.setdefault(check, {})[name] = answers
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
        f"{row['frequent']:.0f}",
        correlated(*interval(row, "frequency_upper")),
    ]


def gap_numbers(row: Mapping[str, Any]) -> list[str]:
    """The correlations with the spectral gap that the page shows; those that are surely negative are set off."""
    out = []
    for way in WAYS:
        for gap in GAPS:
            found = interval(row, f"{gap}_{way}")
            out.append(f"**{correlated(*found)}**" if negative(*found) else correlated(*found))
    return [*out, correlated(*interval(row, "gap_whole_visited"))]
