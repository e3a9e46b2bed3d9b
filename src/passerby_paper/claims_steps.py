"""Claims about the number of steps T, on simulated data."""

from __future__ import annotations

import polars as pl

from .claims import Claim, Finding, Tables, judge
from .curves import described, distances, trends
from .rules import ROUNDING, Answer, close, rises
from .settings import Settings
from .simulated import averaged
from .style import PAPER_BOUNDS
from .wording import ends, loss_at, times, values


def constant_with_half(tables: Tables, settings: Settings) -> Finding:
    """S = T/2: attack, loss and bounds against T."""
    means = averaged(tables["steps-half"])
    ranges = {"the MAP attack": ("map", "map"), "the loss": ("lower", "upper")}
    ranges |= {f"the {bound} bound": (bound, bound) for bound in PAPER_BOUNDS}
    parts = {
        f"{name} {sense}": answer
        for name, (low, high) in ranges.items()
        for sense, answer in close(values(means, low), values(means, high)).items()
    }
    drop = means["lower"][0] / means["upper"][-1]
    measured = (
        f"T = {means['steps'][0]} to {means['steps'][-1]}: MAP {ends(means, 'map')}, loss {loss_at(means, 0)} down to "
        f"{loss_at(means, -1)} (at least {times(drop)} less), tight {ends(means, 'tight')}, loose "
        f"{ends(means, 'loose')}"
    )
    unseen = means.filter(pl.col("map_mc") == 0)["steps"].to_list()
    if unseen:
        measured += f"; {settings.traces:,} traces show no success of MAP at T = {', '.join(map(str, unseen))}"
    return judge(parts, measured)


def grows_with_two(tables: Tables, settings: Settings) -> Finding:
    """S = T - 2: attack, loss and bounds against T."""
    means = averaged(tables["steps-two"])
    return judge(
        trends(means, rises, settings.traces),
        f"T = {means['steps'][0]} to {means['steps'][-1]}: MAP {ends(means, 'map')}, loss {loss_at(means, 0)} up to "
        f"{loss_at(means, -1)}, tight {ends(means, 'tight')}, loose {ends(means, 'loose')}",
    )


def tightest_at_few(tables: Tables, settings: Settings) -> Finding:
    """Difference and ratio of each bound to the loss, against T with s = T - 2."""
    means = averaged(tables["steps-two"])
    steps = means["steps"].to_list()
    return judge(
        {f"by {name}": _smallest_first(*span) for name, span in distances(means).items()},
        described(means, f"T = {steps[0]}", f"T = {steps[-1]}"),
    )


def _smallest_first(low: list[float], high: list[float]) -> Answer:
    """Whether the first of several values, known to lie between `low` and `high`, is the smallest."""
    if min(high) < low[0] - ROUNDING:
        return False
    return True if high[0] <= min(low[1:]) + ROUNDING else None


CLAIMS = (
    Claim(
        "Steps with s = T/2",
        "4.2.2",
        "For the first case [s = T/2], the privacy loss remains almost constant across T's.",
        ("steps-half",),
        constant_with_half,
    ),
    Claim(
        "Steps with s = T-2",
        "4.2.2",
        "For the second case [s = T-2], the privacy loss increases as T grows.",
        ("steps-two",),
        grows_with_two,
    ),
    Claim(
        "Tightness and number of steps",
        "4.2.2",
        "The tightness of the upper bounds is the best when T is the smallest.",
        ("steps-two",),
        tightest_at_few,
    ),
)
