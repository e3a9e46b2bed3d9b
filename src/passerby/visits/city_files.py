"""A simulated city written to a file, or to a folder of partitions, in bounded memory, whole or not at all."""

import gzip
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from operator import itemgetter
from pathlib import Path
from typing import IO, Literal

import polars as pl

from passerby.errors import InputError
from passerby.support.files import remove_drafts, whole_folder, whole_or_nothing
from passerby.support.workers import Progress

from .city import City

_FOURSQUARE_TIME = "%a %b %d %H:%M:%S +0000 %Y"
#: What a file of visits may end in; without an ending it is a folder.
ENDINGS = ("", ".csv", ".txt", ".gz", ".parquet")
CHOOSE = "choose .csv, .txt, .gz or .parquet, or no ending for a folder of Parquet files"


def write_city(
    path: str | Path,
    people: int = 2000,
    places: int = 200,
    days: int = 14,
    step: str | timedelta = "1h",
    seed: int = 0,
    *,
    seen: float = 1.0,
    start: str | datetime = "2024-01-01",
    layout: Literal["table", "foursquare"] = "table",
    progress: Progress | None = None,
) -> int:
    """Write the visits of a simulated city to a file and tell how many there are.

    The table has the columns person, time and place, as Parquet where the path ends so and otherwise as CSV, with
    gzip where the path ends in `.gz`; "foursquare" is the layout of the TIST2015 check-ins. A path without an ending
    becomes a folder of Parquet files, about a million visits each, with all visits of a person in one of them. What is
    written takes its name only once it is complete; what calls that were killed have left of it is removed.
    `progress(done, all)` is told how many people are done.
    """
    city = City(people, places, days, step, seed, seen, start)
    if not isinstance(path, str | Path) or not Path(path).name:
        raise InputError(f"path is {path!r}; expected the path of a file to write")
    target = Path(path)
    if layout not in ("table", "foursquare"):
        raise InputError(f"layout {layout!r} cannot be written; choose 'table' or 'foursquare'")
    if target.suffix not in ENDINGS:
        raise InputError(f"{str(path)!r}: a file that ends in {target.suffix} cannot be written; {CHOOSE}")
    names = pl.Series("place", _venue_ids(places) if layout == "foursquare" else city.place_names())
    remove_drafts(target)
    frames = (chunk.with_columns(place=names.gather(chunk["place"])) for chunk in _told(city, progress))
    if not target.suffix:
        if layout != "table":
            raise InputError(f"layout {layout!r} is of one file; give a name with an ending, such as {target.name}.txt")
        with whole_folder(target) as folder:
            return sum(map(itemgetter(0), _write_parts(folder, frames)))
    with whole_or_nothing(target) as temporary:
        if target.suffix == ".parquet" and layout == "table":
            return _write_parquet(temporary, frames)
        with temporary.open("wb") as file:
            if target.suffix != ".gz":
                return _write_text(file, frames, layout)
            with gzip.GzipFile(filename="", mode="wb", compresslevel=5, fileobj=file, mtime=0) as packed:
                return _write_text(packed, frames, layout)


def write_zones(path: str | Path, places: int = 200, *, layout: Literal["table", "foursquare"] = "table") -> int:
    """Write zones of a simulated city of so many places as CSV (place, zone, level) and tell how many there are.

    Each place is in a ward, and each ward in a district.
    """
    city = City(places=places)
    names = _venue_ids(places) if layout == "foursquare" else city.place_names()
    rows = [(names[place], zone, level) for place, zone, level in city.zones()]
    table = pl.DataFrame(rows, schema=["place", "zone", "level"], orient="row")
    with whole_or_nothing(Path(path)) as temporary:
        table.write_csv(temporary)
    return table.select("zone", "level").n_unique()


def _told(city: City, progress: Progress | None) -> Iterator[pl.DataFrame]:
    """The city's records; each chunk is told once it has been used."""
    done = 0
    for chunk in city.chunks():
        yield chunk
        done += chunk["person"].n_unique()
        if progress:
            progress(done, city.people)


def _write_text(file: IO[bytes] | gzip.GzipFile, frames: Iterator[pl.DataFrame], layout: str) -> int:
    rows = 0
    for frame in frames:
        if layout == "foursquare":
            lines = frame.select("person", "place", "time", offset=pl.lit(60))
            text = lines.write_csv(separator="\t", include_header=False, datetime_format=_FOURSQUARE_TIME)
        else:
            text = frame.write_csv(include_header=rows == 0, datetime_format="%Y-%m-%dT%H:%M:%SZ")
        file.write(text.encode())
        rows += frame.height
    return rows


def _write_parquet(path: Path, frames: Iterator[pl.DataFrame]) -> int:
    """Parts of a chunk each, joined as a stream: polars writes no Parquet file bit by bit."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.") as folder:
        rows, parts = zip(*_write_parts(Path(folder), frames), strict=True)
        pl.scan_parquet(list(parts)).sink_parquet(path)
    return sum(rows)


def _write_parts(folder: Path, frames: Iterator[pl.DataFrame]) -> Iterator[tuple[int, Path]]:
    """A Parquet file for each frame: how many rows, and where."""
    for number, frame in enumerate(frames):
        part = folder / f"{number:06d}.parquet"
        frame.write_parquet(part)
        yield frame.height, part


def _venue_ids(places: int) -> list[str]:
    """Ids of 24 hexadecimal digits, as Foursquare's."""
    return [f"{0x4B << 88 | index * 0x9E3779B97F4A7C15F39CC1 % (1 << 88):024x}" for index in range(places)]
