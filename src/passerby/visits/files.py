"""Files of visits: their list, their uncompressed bytes, damage, and people named by them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os.path
import re
import stat
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from glob import has_magic
from pathlib import Path
from typing import Any, Literal

import polars as pl

from passerby.errors import InputError
from passerby.support.processes import raise_about_memory
from passerby.support.workers import Progress

from .names import name_of

CHUNK = 64 << 20
"""Bytes read at a time, about a million check-ins: large enough for both cores, small enough for any machine."""
LINES = 500_000
"""Lines handed on at a time if a file is unpacked as a whole."""

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

#: Kinds of paths other than files, by their tests.
_KINDS = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a terminal or another device"))

DAMAGED = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""Polars' errors for a damaged file; some damage makes it panic, which is no `Exception`."""


def check_file(path: Path) -> bytes:
    """The first bytes of an existing, readable file that is not obviously something else than a table."""
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
    except (OSError, ValueError) as error:  # a ValueError for a path with the character NUL
        raise InputError(f"{str(path)!r} cannot be read: {getattr(error, 'strerror', error)}") from None
    if not magic:
        raise InputError(f"{path} is empty: it holds no bytes")
    for start, what in _NO_TABLE.items():
        if magic.startswith(start):
            raise InputError(f"{path} is {what}, not a table; export it as CSV, TSV or Parquet")
    return magic


def _check_kind(path: Path) -> None:
    """Refuse inputs readable only once: files are looked at before they are read, and may be read again."""
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
    """Turn messages of compression libraries about damaged files into an `InputError`."""
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
    """Polars unpacks zstd (Python only from 3.14 on): the file is read as one column of lines."""
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


#: Marks of a folder of results, also if they are not finished, to tell it from a folder of visits.
WRITTEN = (
    *("audit.toml", "plan.toml", "decision.json", "together.toml", "together.json"),
    *("parts/audit.toml", "parts/store", "mark.json"),
)


#: Names of files beside tables, left by Spark and others as marks of their writing.
SIGNED = ("_SUCCESS", "_metadata", "_common_metadata", "_committed_", "_started_")


def list_files(source: Any) -> list[Path] | None:
    """The files to read, in order; None for a table in memory. A path is taken as it is written."""
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.is_dir():
            check_file(path)
            return [path]
        if not (files := sorted(_files_in(path))):
            raise InputError(f"{path} is a folder without files; give a file, or a folder that holds some")
        return files
    if isinstance(source, Sequence) and not isinstance(source, bytes):
        if not source or not all(isinstance(file, str | Path) for file in source):
            raise InputError("a list of visits must hold the paths of files, at least one")
        return [file for path in source for file in list_files(path) or []]
    return None


def _files_in(folder: Path) -> Iterator[Path]:
    """All files at any depth, but for hidden ones, marks of tables, and files in folders of this package."""
    for path in folder.iterdir():
        if path.is_dir():
            if not path.is_symlink() and not any((path / name).exists() for name in WRITTEN):
                yield from _files_in(path)
        elif path.is_file() and not path.name.startswith((".", *SIGNED)):
            yield path


#: Endings of the name of a table, plain or packed.
ENDING = re.compile(r"(\.(csv|tsv|txt|tab|dat|parquet|pq))?(\.(gz|bz2|xz|zst))?$", re.IGNORECASE)

#: A message for people told apart by folders.
BY_FOLDER = (
    "Files of the same name lie in different folders: each is a person of its own, named by folder and file. Where "
    "they hold the visits of one person, write who it is in a column."
)


def people_of_files(files: Sequence[Path]) -> tuple[list[str], tuple[str, ...]]:
    """The person of each file, and remarks for a reader.

    It is the part before the first dot of the name. If two files have this part in common, it is the name without its
    ending. If this is common too, the folder is added, from below the folder of all files.

    >>> people_of_files([Path("ann.csv"), Path("bob.csv.gz")])[0]
    ['ann', 'bob']
    >>> people_of_files([Path("b.jones.csv"), Path("b.smith.csv")])[0]
    ['b.jones', 'b.smith']
    >>> people_of_files([Path("north/0.csv"), Path("south/0.csv")])[0]
    ['north/0', 'south/0']
    """
    # Links are not followed: the given names are theirs.
    places = [Path(os.path.normpath(file.absolute())) for file in files]
    root = os.path.commonpath([place.parent for place in places])
    folders = [place.parent.relative_to(root).parts for place in places]
    for names, by_folder in _namings(places, folders):
        if _apart(names, places):
            if by_folder and any("=" in part for parts in folders for part in parts):
                raise InputError(
                    "person='{file}': files of the same name lie in partitions (folders such as day=2024-05-01), and "
                    "their names do not tell whose visits they hold; write the person in a column of each file"
                )
            return names, (BY_FOLDER,) if by_folder else ()
    raise InputError(
        "person='{file}': there are files whose names differ by their endings alone, and they do not tell whose visits "
        "the files hold; rename or remove some, or write the person in a column"
    )


def _namings(places: Sequence[Path], folders: Sequence[tuple[str, ...]]) -> Iterator[tuple[list[str], bool]]:
    """Ways to name people, the shortest first, and whether folders are a part of them."""
    short = [place.name.split(".")[0] for place in places]
    long = [ENDING.sub("", place.name) for place in places]
    yield short, False
    yield long, False
    for names in (short, long):
        yield ["/".join((*parts, name)) for parts, name in zip(folders, names, strict=True)], True


def _apart(names: Sequence[str], places: Sequence[Path]) -> bool:
    """Whether no two files have the same name, as names of people are read; a file may be given twice."""
    read = {(name_of(name), place) for name, place in zip(names, places, strict=True)}
    return len({name for name, _ in read}) == len({place for _, place in read})
