"""The sweeps on real data, and the numbers of people and windows (the paper's figures 6 and 8, section 4.1).

Attacks are scored on the real held-out traces, bounds and intervals are averaged over people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from passerby.visits.traces import window_visits

from . import style
from .audits import audits
from .experiment import Experiment
from .people import Data, prepare
from .pieces import Piece, Row
from .settings import FULL_FILES, Settings
from .sweep_sigma import against_sigma

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEYS = ("dataset", "right", "misses", "sigma")
MEANS = (
    "lower", "upper", "baseline_lower", "baseline_upper", "tight", "loose", "map", "prior", "constant",
    "spectral_gap", "sighted",
)  # fmt: skip
HITS = ("hit_map", "hit_prior", "hit_constant", "hit_ascent", "hit_hindsight")


def means_of(rows: list[Row], keys: tuple[str, ...] = KEYS) -> pl.DataFrame:
    """Averages over people: a row per point.

    An attack that is not tried, because the real trace cannot happen under the fitted habits, counts as failed.
    `hit_everyone` is the constant attack that names the same place for all people, the best such place.
    """
    table = pl.DataFrame(rows, schema_overrides={"sigma": pl.Float64}, infer_schema_length=None)
    people = table.group_by(*keys).agg(
        pl.len().alias("people"),
        *[pl.col(c).mean() for c in MEANS],
        *[pl.col(c).fill_null(False).mean() for c in HITS],
        pl.col("failed").sum(),
    )
    lucky = (
        table.select(*keys, "right_places")
        .explode("right_places", empty_as_null=True)
        .drop_nulls("right_places")
        .group_by(*keys, "right_places")
        .len()
        .group_by(*keys)
        .agg(pl.col("len").max().alias("most"))
    )
    joined = people.join(lucky, on=list(keys), how="left", nulls_equal=True)
    everyone = (pl.col("most").fill_null(0) / pl.col("people")).alias("hit_everyone")
    return joined.with_columns(everyone).drop("most").sort(*keys, nulls_last=False)


def counted(name: str, rows: int, windows: int, people: int) -> list[Row]:
    """How many rows, windows and people there are, beside the paper's numbers."""
    paper = FULL_FILES[name]
    return [
        {
            "dataset": name,
            "rows": rows,
            "windows": windows,
            "people": people,
            "paper_rows": paper["rows"],
            "paper_windows": paper["windows"],
            "paper_people": paper["people"],
        }
    ]


def count_pieces(settings: Settings, data: dict[str, Data]) -> list[Piece]:
    """A row per file."""
    out = []
    for name, file in data.items():
        traces = window_visits(
            file.visits, window=settings.window, places=settings.real_places, min_active=settings.min_active
        )
        people, windows = traces.array.shape
        out.append(Piece(counted, {"name": name, "rows": file.rows, "windows": windows, "people": people}))
    return out


def right_pieces(settings: Settings, data: dict[str, Data]) -> list[Piece]:
    """Every number of steps that must be right."""
    out = []
    for name, file in data.items():
        people = prepare(file, settings)
        for misses in range(settings.holdout):
            labels = {"dataset": name, "right": settings.holdout - misses, "misses": misses, "sigma": None}
            out += audits(people, settings, labels, "random", misses, None)
    return out


def sigma_pieces(settings: Settings, data: dict[str, Data]) -> list[Piece]:
    """Every sigma and raw counts, from sensors at random places."""
    return _sigmas(settings, data, "random")


def noise_pieces(settings: Settings, data: dict[str, Data]) -> list[Piece]:
    """Every sigma and raw counts, from a sensor at the most visited place."""
    return _sigmas(settings, data, "most-visited")


def _sigmas(settings: Settings, data: dict[str, Data], where: str) -> list[Piece]:
    out = []
    misses = settings.real_misses
    for name, file in data.items():
        people = prepare(file, settings)
        for sigma in (*settings.sigma_grid, None):
            labels = {"dataset": name, "right": settings.holdout - misses, "misses": misses, "sigma": sigma}
            out += audits(people, settings, labels, "random" if where == "random" else "most-visited", misses, sigma)
    return out


def draw_right(table: pl.DataFrame) -> Figure:
    """Mean loss against the number of steps that must be right, a panel per file."""
    figure, axes = style.panels(table["dataset"].n_unique(), 3.3)
    for axis, (name, group) in zip(axes, _files(table), strict=True):
        x = group["right"].to_list()
        style.band(axis, "interval", x, group["lower"].to_list(), group["upper"].to_list())
        for bound in style.PAPER_BOUNDS:
            style.line(axis, bound, x, group[bound].to_list())
        for attack, column in HIT_OF.items():
            style.line(axis, attack, x, group[column].to_list())
        axis.set_ylim(-0.03, 1.04)
        axis.set_xticks(x)
        axis.set_xlabel("steps that must be right, $T - s$")
        axis.set_title(style.NAMES[name])
    axes[0].set_ylabel("mean loss, success rate")
    style.legend(figure, axes, "attacks: on the real traces; bounds and loss: under the fitted habits")
    return figure


def draw_sigma(table: pl.DataFrame) -> Figure:
    """Mean loss against sigma, a panel per file."""
    figure, axes = style.panels(table["dataset"].n_unique(), 3.4)
    for axis, (name, group) in zip(axes, _files(table), strict=True):
        scored = group.with_columns(*[pl.col(column).alias(attack) for attack, column in HIT_OF.items()])
        against_sigma(axis, scored)
        axis.set_ylim(-0.03, 1.04)
        axis.set_title(style.NAMES[name])
    axes[0].set_ylabel("mean loss, success rate")
    note = "attacks: on the real traces; thin level lines: raw counts"
    style.legend(figure, axes, note)
    return figure


def draw_noise(table: pl.DataFrame) -> Figure:
    """The interval and the baseline against sigma, with a sensor at the most visited place: a panel per file."""
    figure, axes = style.panels(table["dataset"].n_unique(), 3.2)
    for axis, (name, group) in zip(axes, _files(table), strict=True):
        against_sigma(axis, group.drop("prior", "constant"), bounds=False, baseline=True, attacks=("map",))
        low, high = group["baseline_lower"].min(), group["upper"].max()
        assert isinstance(low, float)
        assert isinstance(high, float)
        axis.set_ylim(low - 0.25 * (high - low), high + 0.25 * (high - low))
        axis.set_title(style.NAMES[name])
    axes[0].set_ylabel("mean success probability")
    style.legend(figure, axes, "under the fitted habits; thin level lines: raw counts", columns=4)
    return figure


def _files(table: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [(name, table.filter(pl.col("dataset") == name)) for name in sorted(set(table["dataset"].to_list()))]


#: The columns that score the paper's attacks on real traces: a constant guess names the same place for everyone.
HIT_OF = {"prior": "hit_prior", "constant": "hit_everyone", "map": "hit_map"}

COUNTS = Experiment("people", "Real: numbers of windows and people", "real", count_pieces, None)
REAL_RIGHT = Experiment(
    "real-right", "Real: steps that must be right", "real", right_pieces, draw_right, lambda rows, s: means_of(rows)
)
REAL_SIGMA = Experiment("real-sigma", "Real: noise", "real", sigma_pieces, draw_sigma, lambda rows, s: means_of(rows))
REAL_NOISE = Experiment(
    "real-noise",
    "Real: noise at the most visited sensor",
    "real",
    noise_pieces,
    draw_noise,
    lambda rows, s: means_of(rows),
)
