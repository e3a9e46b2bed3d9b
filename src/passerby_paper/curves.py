"""What a sweep shows: whether its curves fall or rise, and how far the paper's bounds are from the loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from .rules import Answer
from .style import LOOKS, PAPER_BOUNDS
from .wording import shown, times, values

Range = tuple[list[float], list[float]]


def trends(
    means: pl.DataFrame, change: Callable[..., Answer], traces: int, attacks: Sequence[str] = ("map",)
) -> dict[str, Answer]:
    """Whether attacks, the loss and the bounds all change as `change` tells: `falls` or `rises`."""
    return {
        **{f"the {LOOKS[name].label}": change(values(means, name), traces=traces) for name in attacks},
        "the loss": change(values(means, "lower"), values(means, "upper")),
        **{f"the {bound} bound": change(values(means, bound)) for bound in PAPER_BOUNDS},
    }


def distances(means: pl.DataFrame) -> dict[str, Range]:
    """The least and the most of each distance along a sweep, by difference and by ratio.

    The loss is known to lie in an interval, and so are they.
    """
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
