"""How far the paper's bounds are from the loss: by difference and by ratio, each known to lie between two values."""

from __future__ import annotations

import polars as pl

from .style import PAPER_BOUNDS
from .wording import shown, times, values

Range = tuple[list[float], list[float]]


def distances(means: pl.DataFrame) -> dict[str, Range]:
    """The least and the most of each distance along a sweep, by what it is."""
    lower, upper = values(means, "lower"), values(means, "upper")
    out: dict[str, Range] = {}
    for bound in PAPER_BOUNDS:
        value = values(means, bound)
        out[f"the difference of the {bound} bound to the loss"] = (
            [v - u for v, u in zip(value, upper, strict=True)],
            [v - low for v, low in zip(value, lower, strict=True)],
        )
        out[f"the ratio of the {bound} bound to the loss"] = (
            [v / u for v, u in zip(value, upper, strict=True)],
            [v / low for v, low in zip(value, lower, strict=True)],
        )
    return out


def described(means: pl.DataFrame, first: str, last: str) -> str:
    """The distances, at the least, at the two ends of a sweep."""
    words = []
    for bound in PAPER_BOUNDS:
        gap, ratio = (low for low, _ in _of(means, bound))
        words.append(
            f"{bound} bound minus loss {shown(gap[0])} and {shown(gap[-1])}, over loss {times(ratio[0])} and "
            f"{times(ratio[-1])}"
        )
    return f"at {first} and {last}, at the least: {'; '.join(words)}"


def _of(means: pl.DataFrame, bound: str) -> list[Range]:
    return [span for name, span in distances(means).items() if f"the {bound} bound" in name]
