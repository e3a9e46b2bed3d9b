"""A simulated city of any size, for demonstrations, tests and benchmarks.

People live in home areas; most work, some commute by train, and all run errands at a few favourite places. Weekdays
differ from weekends, few places draw most visits, some people hardly move and some roam. Each record is a function of
the seed, the person and the time alone, so a city can be made piece by piece.
"""

import gzip
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import IO, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_whole, number
from passerby.support.files import remove_drafts, whole_folder, whole_or_nothing
from passerby.support.workers import Progress

from .steps import parse_instant, parse_length
from .table import TIME, Skipped, Visits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

_FAVOURITES = 6
_WARDS, _WARDS_OF_DISTRICT = 12, 3
_WORK = ("office", "school", "factory", "hospital")
_ERRANDS = ("market", "café", "park", "supermarket", "restaurant", "gym", "library", "cinema", "pharmacy", "museum")


#: The largest city: its numbers fit into 32 bits and its days into a century; and the most records.
MOST = {"people": 1_000_000_000, "places": 1_000_000, "days": 36_525}
MOST_ROWS = 5_000_000_000


@dataclass(frozen=True)
class City:
    """The parameters of a city."""

    people: int = 2000
    places: int = 200
    days: int = 14
    step: str | timedelta = "1h"
    """Each person may be recorded once in each step, at a random moment of it."""
    seed: int = 0
    seen: float = 1.0
    """Share of the steps with a record of a person."""
    start: str | datetime = "2024-01-01"

    def __post_init__(self) -> None:
        for name, least in (("people", 1), ("places", 4), ("days", 1), ("seed", 0)):
            value = getattr(self, name)
            if not is_whole(value) or value < least:
                raise InputError(f"a city's {name} cannot be {value!r}; the least is {least}")
            if name in MOST and value > MOST[name]:
                raise InputError(f"a city's {name} cannot be {value!r}; the most is {MOST[name]:,}")
        number(self.seen, "seen", 0, 1)
        if self.seen == 0:
            raise InputError(f"seen is {self.seen}; it is a share, above 0 and at most 1")
        parse_instant(self.start, "start")
        if not parse_length(self.step, "step") <= timedelta(days=self.days):
            raise InputError(f"step is {self.step!r}, longer than the {self.days} days of the city")
        if self.people * self.steps * self.seen > MOST_ROWS:
            raise InputError(
                f"a city of {self.people:,} people who are recorded in {self.seen:g} of {self.steps:,} steps each has "
                f"more than {MOST_ROWS:,} records, which take days; take fewer people or days, longer steps, or a "
                "smaller seen"
            )

    @property
    def steps(self) -> int:
        """Steps within the days."""
        return timedelta(days=self.days) // parse_length(self.step)

    @cached_property
    def kinds(self) -> dict[str, tuple[int, int]]:
        """First place and number of places of each kind."""
        homes, work, stations = (max(1, self.places * share // 100) for share in (40, 20, 5))
        sizes = {"home": homes, "work": work, "station": stations, "errand": self.places - homes - work - stations}
        firsts = np.cumsum([0, *sizes.values()]).tolist()
        return {kind: (first, size) for (kind, size), first in zip(sizes.items(), firsts, strict=False)}

    def place_names(self) -> list[str]:
        """Names of the places, such as 'station 3' or 'home-area 17'."""
        width = len(str(self.places))
        labels = {"home": ("home-area",), "work": _WORK, "station": ("station",), "errand": _ERRANDS}
        names: list[str] = []
        for kind, (_, size) in self.kinds.items():
            words = labels[kind]
            names += [f"{words[i % len(words)]} {i // len(words) + 1:0{width}d}" for i in range(size)]
        return names

    def zones(self) -> list[tuple[int, str, str]]:
        """A place (by its number), a zone and a level in each row: wards of neighbouring places, and districts.

        Places of each kind lie in a row through the city, cut into pieces by wards; three wards are a district.

        >>> [row for row in City(places=20).zones() if row[0] == 19]
        [(19, 'ward 3', 'ward'), (19, 'district A', 'district')]
        """
        wards = max(2, min(_WARDS, self.places // 6))
        wards -= wards % _WARDS_OF_DISTRICT if wards > _WARDS_OF_DISTRICT else 0
        width, out = len(str(wards)), []
        for first, size in self.kinds.values():
            for i in range(size):
                ward = i * wards // size
                district = chr(ord("A") + ward // _WARDS_OF_DISTRICT)
                out += [
                    (first + i, f"ward {ward + 1:0{width}d}", "ward"),
                    (first + i, f"district {district}", "district"),
                ]
        return out

    def chunks(self, rows: int = 1_000_000) -> Iterator[pl.DataFrame]:
        """Records (person, time, place) with people and places as numbers, person by person, about `rows` at a time."""
        group = max(1, int(rows / self.seen / self.steps))
        for first in range(0, self.people, group):
            yield self._records(np.arange(first, min(first + group, self.people)))

    def _records(self, people: Integers) -> pl.DataFrame:
        seconds = parse_length(self.step) // timedelta(seconds=1)
        person, step = np.repeat(people, self.steps), np.tile(np.arange(self.steps), len(people))
        if self.seen < 1:
            here = self._draw("seen", person, step) < self.seen
            person, step = person[here], step[here]
        moment = step * seconds + (self._draw("moment", person, step) * seconds).astype(np.int64)
        start = parse_instant(self.start, "start")
        micros = np.int64(round(start.timestamp())) * 1_000_000 + moment * 1_000_000
        clock = moment + (start.hour * 60 + start.minute) * 60 + start.second
        place = self._where(person, clock // 86400, clock % 86400 / 3600, start.weekday())
        columns = {"person": person.astype(np.uint32), "time": micros, "place": place.astype(np.uint32)}
        return pl.DataFrame(columns).with_columns(pl.col("time").cast(TIME))

    def _where(self, person: Integers, day: Integers, hour: Floats, weekday: int) -> Integers:
        """The place of each record; later lines overrule earlier ones."""
        weekend = (day + weekday) % 7 >= 5
        kind = self._draw("kind", person)
        # 15 % hardly move, 10 % roam, the others lie between.
        moves = np.select([kind < 0.15, kind > 0.9], [0.04, 0.95], 0.2 + 0.6 * self._draw("moves", person))
        roams = np.where(kind > 0.9, 0.5, 0.05)
        home = self._pick("home", self._draw("home", person) ** 1.5)
        place = home.copy()

        begin = 6.5 + 4 * self._draw("begin", person) ** 2 + 0.5 * self._draw("late", person, day)
        finish = begin + 6 + 3 * self._draw("long", person)
        works = (self._draw("job", person) < 0.75) & (
            self._draw("works", person, day) < np.where(weekend, 0.06, 0.93) * np.where(kind < 0.15, 0.3, 1.0)
        )
        travels = works & (self._draw("train", person) < 0.5) & (hour > begin - 0.7) & (hour < finish + 0.7)
        (first_home, homes), (first_station, stations) = self.kinds["home"], self.kinds["station"]
        np.copyto(place, first_station + (home - first_home) * stations // homes, where=travels)
        at_work = works & (hour >= begin) & (hour < finish)
        np.copyto(place, self._zipf("work", self._draw("work", person)), where=at_work)

        for outing, earliest, spread, length, share_week, share_end in (
            ("lunch", 11.75, 1.0, 0.8, 0.6, 0.2),
            ("day", 9.5, 4.0, 3.0, 0.15, 0.9),
            ("evening", 17.0, 4.0, 2.5, 0.7, 0.9),
        ):
            leaves = earliest + spread * self._draw(outing + " leaves", person, day)
            stays = 0.5 + length * self._draw(outing + " stays", person, day)
            goes = self._draw(outing + " goes", person, day) < moves * np.where(weekend, share_end, share_week)
            out = goes & (hour >= leaves) & (hour < leaves + stays)
            if outing == "day":
                out &= ~at_work
            where = np.flatnonzero(out)
            place[where] = self._errand(outing, person[where], day[where], roams[where])
        return place

    def _errand(self, outing: str, person: Integers, day: Integers, roams: Floats) -> Integers:
        """A favourite place, the first ones more often; or, roaming, any."""
        favourite = (_FAVOURITES * self._draw(outing + " choice", person, day) ** 2).astype(np.int64)
        usual = self._draw("favourites", person, favourite)
        fresh = self._draw(outing + " fresh", person, day)
        roaming = self._draw(outing + " roams", person, day) < roams
        return self._zipf("errand", np.where(roaming, fresh, usual))

    def _pick(self, kind: str, uniform: Floats) -> Integers:
        first, size = self.kinds[kind]
        return first + np.minimum((uniform * size).astype(np.int64), size - 1)

    def _zipf(self, kind: str, uniform: Floats) -> Integers:
        """The k-th place of a kind with a probability proportional to log(1 + 1/k), nearly 1/k."""
        first, size = self.kinds[kind]
        rank: Integers = np.exp(uniform * np.log(size + 1)).astype(np.int64) - 1
        return first + np.minimum(rank, size - 1)

    def _draw(self, purpose: str, person: Integers, moment: Integers | None = None) -> Floats:
        """Uniform numbers in [0, 1) depending on seed, purpose, person and moment alone (SplitMix64)."""
        words = np.frombuffer(purpose.encode().ljust(-len(purpose.encode()) // 8 * -8, b"\0"), dtype="<u8")
        key = _mixed(np.array([self.seed % 2**64], dtype=np.uint64))
        for word in words:
            key = _mixed(key + word)
        key = _mixed(key + person.astype(np.uint64) * _GOLDEN)
        if moment is not None:
            key = _mixed(key + (moment.astype(np.uint64) + np.uint64(1)) * _GOLDEN)
        return (key >> np.uint64(11)).astype(np.float64) * 2.0**-53


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mixed(x: Words) -> Words:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014, figure 16)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def simulate_city(
    people: int = 2000,
    places: int = 200,
    days: int = 14,
    step: str | timedelta = "1h",
    seed: int = 0,
    *,
    seen: float = 1.0,
    start: str | datetime = "2024-01-01",
) -> Visits:
    """The visits of a simulated city: homes, work, errands, a daily rhythm, and a few popular places.

    Each person is recorded in a share `seen` of the steps of length `step`, over so many `days` from `start`.
    People are numbered from 0, and the same arguments give the same city.

    >>> simulate_city(people=100, places=50, days=7)
    Visits(rows=16800, people=100, places=50)
    """
    city = City(people, places, days, step, seed, seen, start)
    table = pl.concat(city.chunks())
    names = pl.Series("place", city.place_names())
    person, ids = _recoded(table["person"], pl.Series("person", np.arange(people)))
    place, labels = _recoded(table["place"], names)
    return Visits(
        pl.DataFrame({"person": person, "time": table["time"], "place": place}), ids, labels, Skipped(rows=table.height)
    )


def _recoded(numbers: pl.Series, names: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Codes following the sorted names in use, as if the records had been read from a file."""
    occurring = numbers.unique()
    occurring = occurring.gather(names.gather(occurring).arg_sort())
    code = np.zeros(len(names), dtype=np.uint32)
    code[occurring.to_numpy()] = np.arange(len(occurring), dtype=np.uint32)
    return pl.Series(code).gather(numbers), names.gather(occurring)


_FOURSQUARE_TIME = "%a %b %d %H:%M:%S +0000 %Y"
#: The endings of a file of visits; without an ending it is a folder.
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

    The table has the columns person, time and place. It is Parquet if the path ends so and otherwise CSV, with gzip if
    the path ends in `.gz`. "foursquare" is the layout of the TIST2015 check-ins. A path without an ending becomes a
    folder of Parquet files of about a million visits each. All visits of a person are in one of them. A file takes its
    name only once it is complete; leftovers of killed calls are removed. `progress(done, all)` is told how many people
    are done.
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
    frames = (chunk.with_columns(place=names.gather(chunk["place"])) for chunk in _with_progress(city, progress))
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


def _with_progress(city: City, progress: Progress | None) -> Iterator[pl.DataFrame]:
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
    """A Parquet file for each frame: its number of rows, and its path."""
    for at, frame in enumerate(frames):
        part = folder / f"{at:06d}.parquet"
        frame.write_parquet(part)
        yield frame.height, part


def _venue_ids(places: int) -> list[str]:
    """Ids of 24 hexadecimal digits, as Foursquare's."""
    return [f"{0x4B << 88 | index * 0x9E3779B97F4A7C15F39CC1 % (1 << 88):024x}" for index in range(places)]
