"""The numbers behind the figures: Parquet and CSV, each with a note of what it was made from.

A table whose note tells of other code, settings or files is made anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path

import polars as pl

import passerby as pb

from .settings import Settings

#: Sources that no table depends on, by the beginning of their path: they show what was measured.
SHOWING = ("cli/", "report/", "claims", "figures", "page")


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """A draft beside the target that becomes the target on success, and vanishes on failure."""
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield draft
        draft.replace(target)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise pb.PasserbyError(f"{target} could not be written: {error}; nothing was left behind") from error
    finally:
        draft.unlink(missing_ok=True)


def write_table(folder: Path, name: str, table: pl.DataFrame, mark: str) -> None:
    """Write a table whole, and last of all the note that vouches for it."""
    note = folder / f"{name}.json"
    note.unlink(missing_ok=True)
    with whole(folder / f"{name}.parquet") as draft:
        table.write_parquet(draft)
    with whole(folder / f"{name}.csv") as draft:
        table.write_csv(draft)
    with whole(note) as draft:
        draft.write_text(json.dumps({"fingerprint": mark, "rows": table.height}) + "\n")


def read_table(folder: Path, name: str, mark: str) -> pl.DataFrame | None:
    """The table, if it is there and was made from the same things; None otherwise."""
    try:
        found = json.loads((folder / f"{name}.json").read_text())
        if found["fingerprint"] != mark:
            return None
        table = pl.read_parquet(folder / f"{name}.parquet")
    except (OSError, ValueError, KeyError, TypeError, pl.exceptions.PolarsError):
        return None
    return table if table.height == found["rows"] else None


def fingerprint(name: str, settings: Settings, files: Mapping[str, Path]) -> str:
    """A digest of all that an experiment's table depends on: the code, the settings, and the files it looks at."""
    digest = hashlib.blake2b(digest_size=16)
    made_by = (pb.__version__, *(sources(Path(module).parent) for module in (pb.__file__, __file__)))
    digest.update(repr((made_by, name, asdict(settings))).encode())
    for file in sorted(files):
        digest.update(file.encode())
        digest.update(_glance(files[file]))
    return digest.hexdigest()


@cache
def sources(root: Path) -> str:
    """A digest of a package's sources, but for those that only show what was measured."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(SHOWING):
            digest.update(name.encode() + path.read_bytes())
    return digest.hexdigest()


def _glance(path: Path) -> bytes:
    """The size of a file, its beginning and its end: enough to tell files of check-ins apart, however long."""
    size, some = path.stat().st_size, 1 << 20
    with path.open("rb") as file:
        head = file.read(some)
        file.seek(max(0, size - some))
        return str(size).encode() + head + file.read(some)
