"""Finished pieces of work on disk, so that what was interrupted goes on where it was."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passerby.errors import PasserbyError

from .files import make_folder, whole_or_nothing, why


@dataclass(frozen=True)
class Pieces:
    """Pieces by their number: lines of a file where `path` ends in .jsonl, else a folder of Parquet files.

    Lines hold lists of numbers and texts; Parquet files are polars tables, each written whole. `mark` tells what the
    pieces depend on (see `fingerprint`): pieces with another mark are not taken, and `begin` removes them. They tell of
    single people: their owner alone can read them.
    """

    path: Path
    mark: str
    left: bool = False
    """Whether finished tables are left on disk: `begin` then tells their numbers alone, with None for each."""

    def foreign(self) -> bool:
        """Whether pieces of something else lie there."""
        return (self._sheet if self._tables else self.path).exists() and not self.own()

    def own(self) -> bool:
        """Whether pieces of this work lie there, if only the mark that it was begun."""
        return self._marked() == self.mark

    def begin(self) -> dict[int, Any]:
        """The pieces that are finished; after this, others can be added."""
        return self._begin_tables() if self._tables else self._begin_lines()

    def add(self, number: int, piece: Any) -> None:
        """Write one more piece."""
        if self._tables:
            with whole_or_nothing(self.path / f"{number:09d}.parquet", private=True) as draft:
                piece.write_parquet(draft)
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([number, piece]) + "\n")
        except OSError as error:
            reason = why(error, self.path)
            raise PasserbyError(f"{self.path} could not be written: {reason}; earlier results are kept") from error

    @property
    def _tables(self) -> bool:
        return self.path.suffix != ".jsonl"

    @property
    def _sheet(self) -> Path:
        """The file that holds the mark of a folder."""
        return self.path / "mark.json"

    def _marked(self) -> str | None:
        """The mark that is found; None where there is none, or none that can be read."""
        try:
            if self._tables:
                return str(json.loads(self._sheet.read_text(encoding="utf-8"))["mark"])
            with self.path.open(encoding="utf-8", errors="replace") as file:
                return file.readline().rstrip("\n")
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _begin_lines(self) -> dict[int, Any]:
        lines: list[str] = []
        if self.own():
            lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")[1:-1]
        found = dict(pair for line in lines if (pair := _pair(line)))
        with whole_or_nothing(self.path, private=True) as draft:
            rows = (json.dumps([number, piece]) for number, piece in found.items())
            draft.write_text("".join(f"{line}\n" for line in (self.mark, *rows)), encoding="utf-8")
        return found

    def _begin_tables(self) -> dict[int, Any]:
        import polars as pl

        make_folder(self.path, "folder", private=True)
        if not self.own():
            for file in self.path.glob("*.parquet"):
                file.unlink()
            with whole_or_nothing(self._sheet, private=True) as draft:
                draft.write_text(json.dumps({"mark": self.mark}), encoding="utf-8")
        found = {}
        for file in sorted(self.path.glob("*.parquet")):
            try:
                table = pl.read_parquet(file, glob=False)
                found[int(file.stem)] = None if self.left else table
            except (pl.exceptions.PolarsError, OSError, ValueError):
                continue  # it is done again
        return found


def _pair(line: str) -> tuple[int, Any] | None:
    """The number and the piece of a line; None where it was damaged."""
    try:
        number, piece = json.loads(line)
    except (ValueError, TypeError):
        return None
    return (number, piece) if isinstance(number, int) else None
