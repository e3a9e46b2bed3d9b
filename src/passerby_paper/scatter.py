"""Losses of persons against what should drive them (the paper's figures 3 and 4).

`sensor-visits`: how often the person visited the one, most visited, place with a sensor. `spectral-gap`: how fast the
person's chain forgets where it was. The loss is the tight bound, as in the paper, and this tool's upper end beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from . import style
from .audits import audits
from .experiment import Experiment
from .people import Data, Where, prepare
from .pieces import Piece, Row
from .ranks import spearman
from .rules import HALF
from .settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Ways to measure a person's loss: column, look, words.
WAYS = (("tight", "tight", "tight bound (paper)"), ("upper", "interval", "upper end of the loss"))
COLUMNS = ("dataset", "frequency", "spectral_gap", "tight", "lower", "upper", "baseline_lower", "sighted")


def pieces(settings: Settings, data: dict[str, Data], where: Where) -> list[Piece]:
    """Everyone's loss from raw counts."""
    out = []
    for name, file in data.items():
        people = prepare(file, settings)
        out += audits(people, settings, {"dataset": name}, where, settings.real_misses, None)
    return out


def persons(rows: list[Row], settings: Settings) -> pl.DataFrame:
    """A row per person, in an order that says nothing about who is who."""
    table = pl.DataFrame(rows, infer_schema_length=None)
    return table.filter(~pl.col("failed")).select(COLUMNS).sort(COLUMNS)


def visitors(table: pl.DataFrame) -> dict[str, float]:
    """How many frequent visitors of the sensor there are, their lowest and median loss, and the others' median."""
    often, others = table.filter(pl.col("frequency") >= HALF), table.filter(pl.col("frequency") < HALF)
    out: dict[str, float] = {"frequent": often.height}
    for way, _, _ in WAYS:
        losses, rest = often[way].to_numpy(), others[way].to_numpy()
        out[f"{way}_lowest"] = float(losses.min()) if losses.size else np.nan
        out[f"{way}_median"] = float(np.median(losses)) if losses.size else np.nan
        out[f"{way}_others"] = float(np.median(rest)) if rest.size else np.nan
    return out


def draw_against(table: pl.DataFrame, x: str, label: str, *, apart: float = 0.0) -> Figure:
    """A panel per file and way of measuring: the paper's tight bound above, this tool's upper end below.

    People with the same value are moved sideways by up to `apart`, so that they can be told apart.
    """
    names = sorted(set(table["dataset"].to_list()))
    figure, axes = style.grid(2, len(names), 4.8, shared=True)
    for column, name in enumerate(names):
        group = table.filter(pl.col("dataset") == name)
        where = group[x].to_numpy() + apart * np.random.default_rng(0).uniform(-1, 1, group.height)
        for row, (loss, look, words) in enumerate(WAYS):
            axis = axes[row][column]
            colour, mark = style.LOOKS[look].colour, style.LOOKS[look].mark or "o"
            axis.scatter(where, group[loss], s=11, color=colour, marker=mark, alpha=0.4, linewidth=0, zorder=3)
            value = spearman(group[x].to_numpy(), group[loss].to_numpy(), np.ones((1, group.height)))[0]
            found = f"rank correlation {value:+.2f}".replace("-", "\N{MINUS SIGN}")
            axis.set_title(f"{style.NAMES[name]}: {found}")
            axis.set_ylim(-0.03, 1.04)
            axes[row][0].set_ylabel(words)
        axes[1][column].set_xlabel(label)
    return figure


VISITS = Experiment(
    "sensor-visits",
    "Real: loss and visits to a fixed sensor",
    "real",
    lambda s, data: pieces(s, data, "most-visited"),
    lambda table: draw_against(table, "frequency", "share of fitted steps at the sensor", apart=0.01),
    persons,
)
GAP = Experiment(
    "spectral-gap",
    "Real: loss and spectral gap",
    "real",
    lambda s, data: pieces(s, data, "random"),
    lambda table: draw_against(table, "spectral_gap", "spectral gap of the person's chain"),
    persons,
)
