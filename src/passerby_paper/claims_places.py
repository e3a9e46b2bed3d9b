"""Claims about the number of places M, on simulated data."""

from __future__ import annotations

from .claims import FAILS, HOLDS, PART, Claim, Finding, Tables, judge
from .curves import described, distances, trends
from .rules import VISIBLE, falls
from .settings import Settings
from .simulated import averaged
from .wording import ends, loss_at, shown, values

#: What the paper reads off its figure for MAP at small M.
READ_OFF = 0.30


def loss_falls(tables: Tables, settings: Settings) -> Finding:
    """Loss against M."""
    means = averaged(tables["places"])
    m = means["places"].to_list()
    return judge(
        trends(means, falls, settings.traces),
        f"M = {m[0]} to {m[-1]}: MAP {ends(means, 'map')}; loss {loss_at(means, 0)} down to {loss_at(means, -1)}; "
        f"tight {ends(means, 'tight')}; loose {ends(means, 'loose')}",
    )


def map_at_few(tables: Tables, settings: Settings) -> Finding:
    """MAP at the smallest M; in part where it passes the paper's number further along the sweep."""
    means = averaged(tables["places"])
    attack, m = values(means, "map"), means["places"].to_list()
    near = [abs(value - READ_OFF) <= VISIBLE for value in attack]
    passes = max(attack) >= READ_OFF >= min(attack)
    verdict = HOLDS if near[0] else PART if any(near) or passes else FAILS
    measured = (
        f"M = {m[0]}: MAP {shown(attack[0])} exactly, {shown(means['map_mc'][0])} by Monte Carlo, the best attack "
        f"found {shown(means['lower'][0])}; at M = {m[1]} MAP {shown(attack[1])}"
    )
    why = "" if verdict != PART else f"not at the smallest M, but between M = {m[0]} and M = {m[-1]}"
    return Finding(verdict, measured, why)


def bounds_tighten(tables: Tables, settings: Settings) -> Finding:
    """Difference and ratio of each bound to the loss, at the smallest and the largest M."""
    means = averaged(tables["places"])[[0, -1]]
    m = means["places"].to_list()
    return judge(
        {f"{name} shrinks": falls(*span) for name, span in distances(means).items()},
        described(means, f"M = {m[0]}", f"M = {m[1]}"),
    )


CLAIMS = (
    Claim(
        "Loss and number of places",
        "4.2.2",
        "We find that the privacy loss decreases as the number of locations M gets larger.",
        ("places",),
        loss_falls,
    ),
    Claim(
        "MAP with few places",
        "4.2.2",
        "We also see that the privacy loss for MAP is high ≈ 30 % for small M.",
        ("places",),
        map_at_few,
    ),
    Claim(
        "Bounds and number of places",
        "4.2.2",
        "We also observe the upper bounds get tight when M is large.",
        ("places",),
        bounds_tighten,
    ),
)
