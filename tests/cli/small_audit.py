"""A small audit that others look at: a town with nasty names of places and of people."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
from tests.cli.test_main import Done

import passerby as pb

Made = tuple[Path, Done]
Call = Callable[..., Done]

NASTY = ('<script>alert("1")</script>', "=1+1", 'a "quoted", name', "café ☕")
FILES = {"audit.toml", "internal.html", "people.parquet", "questions.parquet", "report.html", "summary.json"}
TRIED = (
    "--sensor-count",
    "3",
    "--explore",
    "6",
    "--sigmas",
    "1",
    "--bases",
    "5",
    "--backtest",
    "12",
    "--adversaries",
    "6",
)
#: The losses alone, and nothing tried out.
ALONE = ("--explore", "0", "--backtest", "0", "--adversaries", "0")
OPTIONS = ("--window", "3h", "--places", "12", "--min-active", "2", "--holdout", "4", "--workers", "1")


def person(number: int) -> str:
    """An id that cannot occur by chance."""
    return f"zq{number:03d}wx"


def write_visits(path: Path, people: int = 40) -> None:
    """A town of people with telling ids, whose most visited places have nasty names."""
    city = pb.simulate_city(people, 20, 4, seed=3)
    table = city.table.with_columns(place=city.places.gather(city.table["place"]))
    most = table["place"].value_counts(sort=True)["place"].head(len(NASTY)).to_list()
    table = table.with_columns(
        pl.col("place").replace(dict(zip(most, NASTY, strict=True))),
        person=pl.col("person").map_elements(person, return_dtype=pl.String),
    )
    table.write_parquet(path)


def counts(folder: Path, change: int = 0) -> list[dict[str, Any]]:
    """The true counts of two places at the held-out steps, the first one changed."""
    visits = pb.read_visits(folder / "visits.parquet")
    people = pb.fit_people(visits, window="3h", places=12, min_active=2, holdout=4)
    rows: list[dict[str, Any]] = [
        {"step": t + 1, "place": people.places[x], "count": int(people.counts[t, x])} for t in range(4) for x in (0, 5)
    ]
    rows[0]["count"] += change
    return rows
