"""People by the names of their files, where there is a file for each: two files are never taken for one person."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from passerby.errors import InputError

from .names import name_of

#: What ends the name of a table, and of one that is packed.
ENDING = re.compile(r"(\.(csv|tsv|txt|tab|dat|parquet|pq))?(\.(gz|bz2|xz|zst))?$", re.IGNORECASE)

#: Said where people are told apart by folders.
BY_FOLDER = (
    "Files of the same name lie in different folders: each is a person of its own, named by folder and file. Where "
    "they hold the visits of one person, write who it is in a column."
)


def people_of_files(files: Sequence[Path]) -> tuple[list[str], tuple[str, ...]]:
    """The person of each file, and what a reader should know.

    It is what stands before the first dot of the name. Where two files have that in common, it is the name without
    its ending, and then the folder as well, from the one on that holds all files.

    >>> people_of_files([Path("ann.csv"), Path("bob.csv.gz")])[0]
    ['ann', 'bob']
    >>> people_of_files([Path("b.jones.csv"), Path("b.smith.csv")])[0]
    ['b.jones', 'b.smith']
    >>> people_of_files([Path("north/0.csv"), Path("south/0.csv")])[0]
    ['north/0', 'south/0']
    """
    # Links are not followed: it is their names that were given.
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
