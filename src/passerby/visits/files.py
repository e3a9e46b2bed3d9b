"""The bytes of a file, uncompressed, in chunks; and what can go wrong with them."""

import bz2
import gzip
import lzma
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import has_magic
from pathlib import Path
from typing import Any, Literal

import polars as pl

from passerby.errors import InputError
from passerby.support.memory import raise_about_memory
from passerby.support.workers import Progress

CHUNK = 64 << 20
"""Bytes read at a time, about a million check-ins: large enough for both cores, small enough for any machine."""
LINES = 500_000
"""Lines handed on at a time where a file is unpacked as a whole."""

_OPENERS: dict[bytes, Callable[[Any, Literal["rb"]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_ZSTD = b"\x28\xb5\x2f\xfd"
_NO_TABLE = {
    b"PK\x03\x04": "a zip archive or spreadsheet",
    b"\x89PNG": "an image",
    b"%PDF": "a PDF",
    b"SQLi": "a database",
}

#: What is no file, by what tells it.
_KINDS = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a terminal or another device"))

DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What polars raises on a file that is damaged; some damage makes it panic, which is no `Exception`."""


def check_file(path: Path) -> bytes:
    """The first bytes of a file that exists, can be read, and is not obviously something else than a table."""
    _check_kind(path)
    try:
        with path.open("rb") as file:
            magic = file.read(8)
    except FileNotFoundError:
        if has_magic(str(path)):
            raise InputError(
                f"{path} does not exist; a shell puts in the files that a pattern stands for, unless it is quoted: "
                "leave out the quotes, or give the folder of the files"
            ) from None
        raise InputError(f"{path} does not exist; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; give the path of one file") from None
    except (OSError, ValueError) as error:  # a ValueError for a path that holds the character NUL
        raise InputError(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', error)}") from None
    if not magic:
        raise InputError(f"{path} is empty: it holds no bytes")
    for start, what in _NO_TABLE.items():
        if magic.startswith(start):
            raise InputError(f"{path} is {what}, not a table; export it as CSV, TSV or Parquet")
    return magic


def _check_kind(path: Path) -> None:
    """Refuse what can be read once at most: files are looked at before they are read, and may be read again."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return  # it is said why when it is opened
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = next((word for check, word in _KINDS if check(mode)), "a device")
        raise InputError(
            f"{path} is {kind}, which can be read once, if at all; write what comes out of it to a file, and give that"
        )


def read_chunks(path: Path, size: int = CHUNK, progress: Progress | None = None) -> Iterator[bytes]:
    """The uncompressed bytes of a file in order, about `size` at a time. The compression is told by the first bytes.

    `progress(done, all)` is told how many bytes of the file itself have been read.
    """
    magic = check_file(path)
    with damage_reported(path):
        if magic.startswith(_ZSTD):
            yield from _zstd_chunks(path)
            return
        opener = next((opener for start, opener in _OPENERS.items() if magic.startswith(start)), None)
        everything = path.stat().st_size
        with path.open("rb") as raw, opener(raw, "rb") if opener else raw as file:
            while chunk := file.read(size):
                if progress:
                    progress(raw.tell(), everything)
                yield chunk


@contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """Turn what compression libraries say about damaged files into an `InputError`."""
    try:
        yield
    except EOFError:
        raise InputError(
            f"{path} is truncated: the compressed data ends too early; copy or download the file again"
        ) from None
    except (OSError, zlib.error, lzma.LZMAError) as error:
        raise_about_memory(error)
        raise InputError(f"{path} is damaged or cannot be read: {error}; copy or download it again") from None


def _zstd_chunks(path: Path) -> Iterator[bytes]:
    """Polars unpacks zstd, which Python learns only in 3.14: the file is read as one column of lines."""
    try:
        lines = pl.read_csv(
            path, has_header=False, separator="\x01", quote_char=None, infer_schema=False, truncate_ragged_lines=True
        ).to_series()
    except DAMAGED as error:
        raise_about_memory(error)
        raise InputError(
            f"{path} is truncated or damaged: it cannot be unpacked as zstd text; copy or download the file again"
        ) from None
    for start in range(0, len(lines), LINES):
        part = lines.slice(start, LINES).fill_null("")
        yield ("\n".join(part) + "\n").encode()
