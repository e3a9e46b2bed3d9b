"""What each figure needs: small tables made from an audit, about groups of people and never about a named one.

Points of single people are rounded, put in a random order and carry no id. Groups of fewer than `FEW` people are not
described.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np
import polars as pl

from passerby.audits.what_if import Findings
from passerby.model.release import Release
from passerby.people.habits import People

#: The smallest group of people that is described.
FEW = 5
#: The most points that are drawn in a figure, and the most places.
POINTS, PLACES = 1500, 40

WITHOUT, FOUND, BOUND = "without the release", "with it: best attack found", "with it: no attack can do better"
HAPPENED = "given what was published"


def step_labels(people: People) -> list[str]:
    """When each published step begins, as short as tells them apart."""
    starts = [_moment(start) for start in people.starts[people.fitted.shape[1] :]]
    whole_days = all(start.hour == start.minute == 0 for start in starts)
    if whole_days:
        return [f"{start:%Y-%m-%d}" for start in starts]
    same_day = len({start.date() for start in starts}) == 1
    return [f"{start:%H:%M}" if same_day else f"{start:%Y-%m-%d %H:%M}" for start in starts]


def _moment(start: np.datetime64) -> datetime:
    moment: datetime = start.astype("datetime64[us]").item()
    return moment


def published_counts(people: People, release: Release) -> pl.DataFrame:
    """The true count behind each published one: step (from 1), start, place, count; null where it is below `FEW`."""
    labels, counts = step_labels(people), people.counts
    rows = [
        (t + 1, labels[t], people.places[x], int(counts[t, x]) if counts[t, x] >= FEW else None)
        for t, step in enumerate(release.sensors)
        for x in step
    ]
    kinds = {"step": pl.Int64, "start": pl.String, "place": pl.String, "count": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def measured(table: pl.DataFrame) -> pl.DataFrame:
    """The people with a loss interval."""
    return table.filter(pl.col("lower").is_not_null())


def exposure(table: pl.DataFrame) -> pl.DataFrame:
    """For chances from 0 to 1: the share of people who are found at least so often; long, with a column `which`."""
    columns = {WITHOUT: "baseline_lower", FOUND: "lower", BOUND: "upper"}
    if "realised_lower" in table.columns:
        columns[HAPPENED] = "realised_lower"
    chances = np.linspace(0, 1, 101)
    parts = []
    for which, column in columns.items():
        values = np.sort(table[column].drop_nulls().to_numpy())
        share = 1 - np.searchsorted(values, chances - 1e-12) / max(1, len(values))
        parts.append(pl.DataFrame({"which": [which] * len(chances), "chance": chances.round(2), "share": share}))
    return pl.concat(parts)


def quantiles(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The values of people at given ranks, the table behind a distribution; empty where there are too few people."""
    levels = (0.05, 0.25, 0.5, 0.75, 0.95) if table.height >= FEW else ()
    values = {name: [float(np.quantile(table[name].to_numpy(), q)) for q in levels] for name in columns}
    return pl.DataFrame({"share_below": levels, **values}, schema=dict.fromkeys(("share_below", *columns), pl.Float64))


def thresholds(table: pl.DataFrame, levels: tuple[float, ...]) -> pl.DataFrame:
    """The share of people at or above each level; null where these are fewer than `FEW` people, but some."""

    def share(column: str, level: float) -> float | None:
        count = int((table[column] >= level).sum())
        return None if 0 < count < FEW else count / max(1, table.height)

    columns = {"without": "baseline_lower", "found": "lower", "bound": "upper"}
    rows = [{"level": level, **{name: share(column, level) for name, column in columns.items()}} for level in levels]
    return pl.DataFrame(rows, schema={"level": pl.Float64, **dict.fromkeys(columns, pl.Float64)})


def advantages(table: pl.DataFrame) -> pl.DataFrame:
    """The share of people by advantage, in ten classes; long, with a column `which`."""
    edges = np.linspace(0, 1, 11)
    parts = []
    for which, column in ((FOUND, "advantage_lower"), (BOUND, "advantage_upper")):
        counts, _ = np.histogram(table[column].to_numpy().clip(0, 1), bins=edges)
        names = [f"{round(100 * low)}–{round(100 * high)} %" for low, high in pairwise(edges)]
        share = counts / max(1, table.height)
        parts.append(pl.DataFrame({"which": [which] * 10, "advantage": names, "share": share}))
    return pl.concat(parts)


def points(table: pl.DataFrame, people: People, seed: int = 0) -> pl.DataFrame:
    """An anonymous point per person (or for some of them, where there are many), in random order.

    Columns: `sighted`, `spectral_gap`, `baseline`, `lower`, `upper`, `places`.
    """
    rows = np.flatnonzero(table["lower"].is_not_null().to_numpy())
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(rows)[:POINTS]
    part = table[chosen.tolist()]
    gap = part["spectral_gap"]
    if gap.null_count():
        # Habits that follow a rhythm have no single chain; take the one that ignores it.
        plain = replace(people, phase=None)
        gap = pl.Series([plain.prior(int(person))[0].spectral_gap for person in chosen], dtype=pl.Float64)
    return pl.DataFrame(
        {
            "sighted": part["sighted"].round(3),
            "spectral_gap": gap.round(3),
            "baseline": part["baseline_lower"].round(3),
            "lower": part["lower"].round(3),
            "upper": part["upper"].round(3),
            "places": part["places"],
        }
    )


def classes(dots: pl.DataFrame, column: str) -> pl.DataFrame:
    """Medians of the loss in five classes of equal width of a column, for classes of at least `FEW` people."""
    top = max(float(dots[column].max() or 0.0), 1e-9)  # type: ignore[arg-type]
    width = top / 5
    index = (pl.col(column) / width).floor().clip(0, 4).cast(pl.Int64)
    groups = (
        dots.with_columns(index=index)
        .group_by("index")
        .agg(pl.len().alias("people"), pl.col("baseline", "lower", "upper").median())
    )
    kept = groups.filter(pl.col("people") >= FEW).sort("index")
    names = [f"{i * width:.2f} to {(i + 1) * width:.2f}" for i in kept["index"]]
    return kept.drop("index").insert_column(0, pl.Series("class", names, dtype=pl.String))


def profile(dots: pl.DataFrame) -> pl.DataFrame | None:
    """Medians of the most exposed tenth, and of the tenth to whom the release adds most, beside those of all.

    None where a tenth is too small a group.
    """
    count = len(dots) // 10
    if count < FEW:
        return None
    groups = {
        "most_exposed": dots.sort("lower", descending=True).head(count),
        "most_added": dots.sort(pl.col("lower") - pl.col("baseline"), descending=True).head(count),
        "everyone": dots,
    }
    columns = ("baseline", "lower", "upper", "sighted", "spectral_gap", "places")
    medians = {name: [_median(group[column]) for column in columns] for name, group in groups.items()}
    return pl.DataFrame({"column": columns, **medians})


def _median(values: pl.Series) -> float | None:
    value = values.median()
    return float(value) if isinstance(value, int | float) else None


def left_out(findings: Findings, people: People, what: str) -> pl.DataFrame:
    """How much the chance falls without each sensor, step or count, in percentage points; the largest first.

    Columns: `name`, `place` and `step` (from 1) and `start` where there are such, `with_all`, `without` (chances),
    `fall` and `error` (points).
    """
    labels = step_labels(people)
    rows = findings.left_out.filter(pl.col("what") == what)
    places = [None if place is None else people.places[place] for place in rows["place"]]
    starts = [None if step is None else labels[step] for step in rows["step"]]
    known = {"place": places, "start": starts}
    rows = rows.with_columns(step=pl.col("step") + 1, fall=100 * pl.col("fall"), error=100 * pl.col("error"))
    rows = rows.with_columns(pl.Series(name, values, dtype=pl.String) for name, values in known.items())
    steps = pl.format("{}: {}", "step", "start")
    name = {"sensor": pl.col("place"), "step": steps, "count": pl.format("{}, step {}", "place", steps)}[what]
    columns = ("name", "place", "step", "start", "with_all", "without", "fall", "error")
    return rows.with_columns(name=name).select(columns).sort("fall", descending=True, maintain_order=True)
