"""A small audit that others look at: a town with nasty names of places and of people."""

from pathlib import Path

import polars as pl

import passerby as pb

NASTY = ('<script>alert("1")</script>', "=1+1", 'a "quoted", name', "café ☕")
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
