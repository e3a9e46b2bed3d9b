"""Claims about the check-in files: how many windows and people there are."""

from __future__ import annotations

from .claims import FAILS, HOLDS, OPEN, Finding, Tables, real_claim
from .settings import Settings

#: A file with at least this share of the paper's rows is taken for the whole (some rows are skipped as repeated).
WHOLE = 0.97


def windows(tables: Tables, settings: Settings) -> Finding:
    """The number of windows."""
    row = tables["people"].row(0, named=True)
    same = row["windows"] == row["paper_windows"]
    return Finding(HOLDS if same else FAILS, f"{row['windows']} windows (paper: {row['paper_windows']})")


def people(tables: Tables, settings: Settings) -> Finding:
    """The number of people, which only the whole file can confirm."""
    row = tables["people"].row(0, named=True)
    measured = f"{row['people']:,} people (paper: {row['paper_people']:,})"
    if row["rows"] < WHOLE * row["paper_rows"]:
        return Finding(OPEN, measured, f"this file is a sample: {row['rows']:,} of {row['paper_rows']:,} rows")
    return Finding(HOLDS if row["people"] == row["paper_people"] else FAILS, measured)


CLAIMS = (
    real_claim(
        "Number of windows",
        "4.1",
        "We treat a time window of 20 days as one time step, which makes the number of time steps to be 27 for "
        "Foursquare and 32 for Gowalla.",
        ("people",),
        windows,
    ),
    real_claim(
        "Number of people",
        "4.1",
        "This yields the number of users to be N = 9760 for Foursquare and N = 318 for Gowalla.",
        ("people",),
        people,
    ),
)
