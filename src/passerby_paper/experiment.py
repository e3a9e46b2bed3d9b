"""What every experiment has: pieces of work, a table, and a figure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from .pieces import Piece, Row
from .settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .people import Data


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper, or one that looks at it more closely.

    `pieces(settings, data)` lists the work, `data` being the files by name (none for simulated experiments);
    `table(rows, settings)` makes one table of its rows; `draw(table)` a figure of the table, None where there is
    nothing to draw.
    """

    name: str
    title: str
    kind: Literal["simulated", "real"]
    pieces: Callable[[Settings, dict[str, Data]], list[Piece]]
    draw: Callable[[pl.DataFrame], Figure] | None
    table: Callable[[list[Row], Settings], pl.DataFrame] = field(default=lambda rows, settings: tabled(rows))

    @property
    def real(self) -> bool:
        """Whether it needs files of check-ins."""
        return self.kind == "real"


def tabled(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Rows as a table, whichever order their columns come in."""
    return pl.DataFrame(rows, infer_schema_length=None)
