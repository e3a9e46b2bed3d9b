"""The numbers behind the figures: Parquet and CSV, each with a note of what it was made from."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from passerby.support.files import whole_or_nothing


def write_table(folder: Path, name: str, table: pl.DataFrame, fingerprint: str) -> None:
    """Write a table whole, and last of all the note that vouches for it."""
    note = folder / f"{name}.json"
    note.unlink(missing_ok=True)
    with whole_or_nothing(folder / f"{name}.parquet") as temporary:
        table.write_parquet(temporary)
    with whole_or_nothing(folder / f"{name}.csv") as temporary:
        table.write_csv(temporary)
    with whole_or_nothing(note) as temporary:
        temporary.write_text(json.dumps({"fingerprint": fingerprint, "rows": table.height}) + "\n")


def read_table(folder: Path, name: str, fingerprint: str) -> pl.DataFrame | None:
    """The table, if it is there and was made from the same things; None otherwise."""
    note = folder / f"{name}.json"
    try:
        found = json.loads(note.read_text())
        if found["fingerprint"] != fingerprint:
            return None
        table = pl.read_parquet(folder / f"{name}.parquet")
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        return None
    return table if table.height == found["rows"] else None
