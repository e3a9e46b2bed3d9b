"""People from a table of homes and workplaces against people from visits, in simulated cities (docs/personas.md)."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import polars as pl

import passerby as pb
from passerby.audits.job import only, some_people

ASKED: list[Any] = [pb.Trace(2), "counted"]
EFFORT: dict[str, Any] = {"workers": 1, "budget": 1e7, "tolerance": 0.05}


def tables(city: pb.Visits) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Who lives and works where, by name, and everybody's hours with their group, of all days but the last."""
    visits = city.table.with_columns(
        hour=pl.col("time").dt.hour(), weekend=pl.col("time").dt.weekday() >= 6, date=pl.col("time").dt.date()
    )
    visits = visits.filter(pl.col("date") < pl.col("date").max())
    home = visits.filter(pl.col("hour") < 6).group_by("person").agg(home=pl.col("place").mode().sort().first())
    visits = visits.join(home, on="person")
    core = visits.filter(~pl.col("weekend") & pl.col("hour").is_between(9, 15))
    away = (
        core.filter(pl.col("place") != pl.col("home"))
        .group_by("person")
        .agg(work=pl.col("place").mode().sort().first())
    )
    known = (
        core.join(away, on="person")
        .group_by("person")
        .agg(pl.col("work").first(), share=(pl.col("place") == pl.col("work")).mean())
    )
    visits = visits.join(known.filter(pl.col("share") > 0.25).drop("share"), on="person", how="left").with_columns(
        at_home=pl.col("place") == pl.col("home"), at_work=(pl.col("place") == pl.col("work")).fill_null(False)
    )
    who = visits.group_by("person").agg(
        pl.col("home").first(), pl.col("work").first(), out=1 - (pl.col("at_home") | pl.col("at_work")).mean()
    )
    names = city.places
    flows = who.with_columns(
        home=names.gather(who["home"]), work=pl.Series([None if x is None else names[x] for x in who["work"]])
    )
    return flows.group_by("home", "work").len("people"), visits.join(who.select("person", "out"), on="person")


def profile(visits: pl.DataFrame, out: int, begin: int) -> pl.DataFrame:
    """Shares by the hour of so many groups by how much people are out, each in so many by when they begin to work."""
    first = visits.filter(pl.col("at_work") & ~pl.col("weekend")).group_by("person", "date").agg(pl.col("hour").min())
    people = visits.group_by("person").agg(pl.col("out").first(), works=pl.col("work").first().is_not_null())
    people = people.join(first.group_by("person").agg(pl.col("hour").median().alias("begin")), on="person", how="left")
    people = people.with_columns(
        a=((pl.col("out").rank("ordinal").over("works") - 1) * out // pl.len().over("works"))
    ).with_columns(
        b=((pl.col("begin").fill_null(0).rank("ordinal").over("works", "a") - 1) * begin // pl.len().over("works", "a"))
    )
    people = people.with_columns(group=pl.format("{} {} {}", "works", "a", "b"))
    weights = people.group_by("group").len("weight")
    shares = (
        visits.join(people.select("person", "group"), on="person")
        .group_by("group", "hour", "weekend")
        .agg(home=pl.col("at_home").mean(), work=pl.col("at_work").mean())
    )
    day = pl.when("weekend").then(pl.lit("weekend")).otherwise(pl.lit("workday"))
    shares = shares.with_columns(elsewhere=(1 - pl.col("home") - pl.col("work")).clip(0, 1), day=day)
    return shares.drop("weekend").join(weights, on="group").sort("group", "day", "hour")


def found(people: pb.People, names: list[str], mechanism: pb.Mechanism) -> list[float]:
    """Without the counts, with them, what they add, and membership, on average over people."""
    table = pb.audit(people, pb.Release(pb.fixed_sensors(people, names), mechanism), 2, questions=ASKED, **EFFORT)
    weight = people.weights if people.weights is not None else np.ones(len(people))
    trace, counted = (table.filter(pl.col("question") == name) for name in ("trace", "counted"))

    def mean(values: pl.Series) -> float:
        kept = values.is_not_null().to_numpy()
        return float(np.average(values.to_numpy()[kept], weights=weight[kept]))

    aided = mean((trace["lower"] + trace["upper"]) / 2)
    without = mean(trace["baseline"])
    return [without, aided, aided - without, mean((counted["advantage_lower"] + counted["advantage_upper"]) / 2)]


def city_rows(seed: int, people: int, measured: int) -> list[list[float]]:
    """For each mechanism and each kind of people, the figures of one city."""
    city = pb.simulate_city(people, 40, 10, seed=seed)
    flows, visits = tables(city)
    by_work = flows.drop_nulls().group_by("work").agg(pl.col("people").sum()).sort("people", "work", descending=True)
    names = by_work["work"].head(3).to_list()
    fitted = pb.fit_people(city, window="2h", places=40, min_active=1, holdout=12)
    start = str(visits["date"].max() + np.timedelta64(1, "D").astype(object))
    profiles = [profile(visits, 3, 4), profile(visits, 1, 1), "resident"]
    groups: list[pb.People] = [only(fitted, some_people(fitted, measured))]
    how: dict[str, Any] = {"start": start, "step": "2h", "steps": 12, "people": measured, "seed": seed}
    groups += [pb.people_from_flows(flows, profile=each, **how) for each in profiles]
    return [found(some, names, rule) for rule in (pb.Raw(), pb.Gaussian(2.0)) for some in groups]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    seeds, people, measured = (1, 120, 10) if quick else (4, 1000, 150)
    means = np.mean([city_rows(seed, people, measured) for seed in range(seeds)], axis=0)
    print("| counts | habits | without | with | added | counted at all |")
    print("|---|---|---|---|---|---|")
    kinds = ("visits", "flows, profile by groups", "flows, one profile", "flows, ready profile")
    for number, row in enumerate(means.tolist()):
        how = ("raw", "noise 2")[number // len(kinds)]
        print(f"| {how} | {kinds[number % len(kinds)]} | {' | '.join(f'{100 * value:.0f} %' for value in row)} |")


if __name__ == "__main__":
    main()
