"""Checkpoints: finished parts of a task on disk, for resuming it; and fingerprints of inputs."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from passerby import __version__
from passerby.errors import PasserbyError

from .files import make_folder, whole_or_nothing, why


@dataclass(frozen=True)
class Checkpoints:
    """Pieces by their number: lines of a file if `path` ends in .jsonl, else a folder of Parquet files.

    Lines hold lists of numbers and texts; Parquet files are polars tables, each written whole. `mark` stands for the
    inputs of the pieces (see `fingerprint`): pieces with another mark are not taken, and `begin` removes them. Each has
    a seal, in its line or in its name. The seal tells a whole piece from a damaged one, or from one of other work. They
    tell of single people: their owner alone can read them.
    """

    path: Path
    mark: str
    left: bool = False
    """Whether finished tables are left on disk: `begin` then tells their numbers alone, with None for each."""

    def foreign(self) -> bool:
        """Whether pieces of something else lie there."""
        return (self._sheet if self._tables else self.path).exists() and not self.own()

    def damaged(self) -> bool:
        """Whether the owner of these pieces is unknown: the file of the mark cannot be read."""
        return self._tables and self._sheet.exists() and self._marked() is None

    def own(self) -> bool:
        """Whether pieces of this work lie there, if only its mark."""
        return self._marked() == self.mark

    def begin(self) -> dict[int, Any]:
        """The finished pieces; after this, others can be added."""
        return self._begin_tables() if self._tables else self._begin_lines()

    def add(self, number: int, piece: Any) -> None:
        """Write one more piece."""
        if self._tables:
            content = BytesIO()
            piece.write_parquet(content)
            table = content.getvalue()
            with whole_or_nothing(self.path / self._name(number, table), private=True) as draft:
                draft.write_bytes(table)
            return
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(self._line(number, piece))
        except OSError as error:
            reason = why(error, self.path)
            raise PasserbyError(f"{self.path} could not be written: {reason}; earlier results are kept") from error

    def tables(self) -> list[Path]:
        """The files of finished tables, in the order of their numbers; a folder is none of them, and is left alone."""
        return sorted(file for file in self.path.glob("*.parquet") if not file.is_dir())

    def whole(self) -> dict[int, Path]:
        """The files of finished tables by their numbers, without the damaged or replaced ones."""
        found = ((self._opened(file), file) for file in self.tables())
        return {piece[0]: file for piece, file in found if piece is not None}

    def _seal(self, content: bytes) -> str:
        return hashlib.blake2b(content, digest_size=8, key=self.mark.encode()[:64]).hexdigest()

    def _name(self, number: int, table: bytes) -> str:
        """The name of a file; its seal covers its number, too."""
        return f"{number:09d}-{self._seal(b'%d ' % number + table)}.parquet"

    def _line(self, number: int, piece: Any) -> str:
        text = json.dumps([number, piece])
        return f"{self._seal(text.encode())} {text}\n"

    @property
    def _tables(self) -> bool:
        return self.path.suffix != ".jsonl"

    @property
    def _sheet(self) -> Path:
        """The file with the mark of a folder."""
        return self.path / "mark.json"

    def _marked(self) -> str | None:
        """The mark on disk; None without a readable one."""
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
        texts = (line.partition(" ") for line in lines)
        found: dict[int, Any] = dict(json.loads(text) for seal, _, text in texts if seal == self._seal(text.encode()))
        with whole_or_nothing(self.path, private=True) as draft:
            rows = (self._line(number, piece) for number, piece in found.items())
            draft.write_text("".join((f"{self.mark}\n", *rows)), encoding="utf-8")
        return found

    def _begin_tables(self) -> dict[int, Any]:
        import polars as pl

        make_folder(self.path, "folder", private=True)
        if not self.own():
            for file in self.tables():
                file.unlink()
            with whole_or_nothing(self._sheet, private=True) as draft:
                draft.write_text(json.dumps({"mark": self.mark}), encoding="utf-8")
        found = {}
        for file in self.tables():
            piece = self._opened(file)
            if piece is None:
                file.unlink()  # it is done again
            else:
                number, table = piece
                found[number] = None if self.left else pl.read_parquet(BytesIO(table))
        return found

    def _opened(self, file: Path) -> tuple[int, bytes] | None:
        """The number and the bytes of a table; None if it was changed."""
        number, table = _number(file), _content(file)
        if number is None or table is None or file.name != self._name(number, table):
            return None
        return number, table


def _number(file: Path) -> int | None:
    """The number in the name of a file; None for a foreign name."""
    digits = file.name.partition("-")[0]
    return int(digits) if digits.isdecimal() else None


def _content(file: Path) -> bytes | None:
    """The bytes of a file; None if the disk does not give them."""
    try:
        return file.read_bytes()
    except OSError:
        return None


def fingerprint(*parts: object) -> str:
    """A digest of everything in `parts` and of the version of this package.

    Arrays and polars columns count by their content, records by their fields, lists and mappings by their items,
    and all else by its text.

    >>> fingerprint(np.arange(3), "a") == fingerprint(np.arange(3), "a") != fingerprint(np.arange(4), "a")
    True
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in _flat((__version__, *parts)):
        digest.update(part)
    return digest.hexdigest()


def _flat(part: Any) -> Iterator[Any]:
    """A value as bytes, one after another; each begins with its kind and length, and no two run into one."""
    kind = type(part)
    if isinstance(part, np.ndarray) and part.dtype.hasobject:
        yield from _flat(part.tolist())
    elif isinstance(part, np.ndarray):
        yield f"{part.dtype}{part.shape}".encode()
        yield np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
    elif isinstance(part, list | tuple | range):
        yield f"{kind.__name__}{len(part)}".encode()
        for each in part:
            yield from _flat(each)
    elif isinstance(part, Mapping):
        yield f"mapping{len(part)}".encode()
        for pair in part.items():
            yield from _flat(pair)
    elif is_dataclass(part) and not isinstance(part, type):
        yield kind.__qualname__.encode()
        yield from _flat([(each.name, getattr(part, each.name)) for each in fields(part)])
    elif kind.__module__.partition(".")[0] == "polars":
        frame = hasattr(part, "get_columns")
        yield from _flat(part.get_columns()) if frame else _flat((part.name, str(part.dtype), repr(part.to_list())))
    elif "__repr__" not in {name for each in kind.__mro__[:-1] for name in vars(each)}:
        # It looks like its address; its content tells more.
        yield kind.__qualname__.encode()
        yield from _flat(vars(part)) if hasattr(part, "__dict__") else (pickle.dumps(part),)
    else:
        text = repr(part)
        yield f"{kind.__name__}{len(text)}:{text}".encode(errors="backslashreplace")
