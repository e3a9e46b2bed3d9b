"""A simulated city of any size, for demonstrations, tests and benchmarks.

People live in home areas; most work, some commute by train, and all run errands at a few favourite places. Weekdays
differ from weekends, few places draw most visits, some people hardly move and some roam. Each record is a function of
the seed, the person and the time alone, so that a city can be made piece by piece.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_whole, number

from .steps import parse_instant, parse_length
from .table import TIME, Skipped, Visits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Words = NDArray[np.uint64]

_FAVOURITES = 6
_WARDS, _WARDS_OF_DISTRICT = 12, 3
_WORK = ("office", "school", "factory", "hospital")
_ERRANDS = ("market", "café", "park", "supermarket", "restaurant", "gym", "library", "cinema", "pharmacy", "museum")


#: The largest city, so that its numbers fit into 32 bits and its days into a century, and the most records.
MOST = {"people": 1_000_000_000, "places": 1_000_000, "days": 36_525}
MOST_ROWS = 5_000_000_000


@dataclass(frozen=True)
class City:
    """The numbers that make a city."""

    people: int = 2000
    places: int = 200
    days: int = 14
    step: str | timedelta = "1h"
    """Each person may be recorded once in each step, at a random moment of it."""
    seed: int = 0
    seen: float = 1.0
    """Share of the steps in which a person is recorded."""
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
        """Steps that fit into the days."""
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
        """A place (by its number), a zone and a level in each row: wards, which are near each other, and districts.

        Places of each kind lie in a row through the city, which wards cut into pieces; three wards are a district.

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
        """Uniform numbers in [0, 1) that depend on seed, purpose, person and moment alone (SplitMix64)."""
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
    """The visits of a simulated city: homes, work, errands, a daily rhythm, few places that draw many.

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
    """Codes that follow the sorted names of those that occur, as if the records had been read from a file."""
    occurring = numbers.unique()
    occurring = occurring.gather(names.gather(occurring).arg_sort())
    code = np.zeros(len(names), dtype=np.uint32)
    code[occurring.to_numpy()] = np.arange(len(occurring), dtype=np.uint32)
    return pl.Series(code).gather(numbers), names.gather(occurring)
