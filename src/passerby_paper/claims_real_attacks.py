"""Claims about attacks on the real traces."""

from __future__ import annotations

import polars as pl

from .claims import Finding, Tables, judge, real_claim
from .real import HIT_OF
from .rules import Answer, beyond, falls, more
from .settings import Settings
from .simulated import averaged
from .style import LOOKS, PAPER_BOUNDS
from .wording import between, ends, shown, values

#: Who is lucky with the constant attack.
LUCKY = {
    "one place for everyone": "hit_everyone",
    "each person's own best": "hit_constant",
    "the best in hindsight": "hit_hindsight",
}


def _simulated(tables: Tables, settings: Settings) -> pl.DataFrame:
    """The simulated sweep at the length of the real traces."""
    return averaged(tables["right"]).filter(pl.col("steps") == settings.holdout).sort("right")


def loss_falls(tables: Tables, settings: Settings) -> Finding:
    """Attacks on real traces and bounds against the number of steps that must be right."""
    table = tables["real-right"].sort("right")
    return judge(
        {
            **{f"the {LOOKS[name].label}": falls(values(table, column)) for name, column in HIT_OF.items()},
            "the mean loss": falls(values(table, "lower"), values(table, "upper")),
            **{f"the mean {bound} bound": falls(values(table, bound)) for bound in PAPER_BOUNDS},
        },
        f"1 to {table['right'][-1]} steps right: MAP {ends(table, 'hit_map')}, constant {ends(table, 'hit_everyone')}, "
        f"mean loss {between(table['lower'][0], table['upper'][0])} down to "
        f"{between(table['lower'][-1], table['upper'][-1])}, tight {ends(table, 'tight')}, loose "
        f"{ends(table, 'loose')}",
    )


def succeed_more(tables: Tables, settings: Settings) -> Finding:
    """MAP and prior on real traces beside the same on simulated ones of the same length."""
    table, simulated = tables["real-right"].sort("right"), _simulated(tables, settings)
    people = int(table["people"][0])
    at = settings.holdout - settings.real_misses - 1
    return judge(
        {
            f"the {LOOKS[name].label} at every number of steps": more(
                values(table, HIT_OF[name]), values(simulated, name), people
            )
            for name in ("map", "prior")
        },
        f"{at + 1} of {settings.holdout} steps right: MAP {shown(table['hit_map'][at])} on real traces, "
        f"{shown(simulated['map'][at])} simulated; the fitted habits promise {shown(table['map'][at])}",
    )


def habits_are_off(tables: Tables, settings: Settings) -> Finding:
    """Success of MAP on real traces beside what the fitted habits promise."""
    table = tables["real-right"].sort("right")
    people = int(table["people"][0])
    parts: dict[str, Answer] = {}
    words = []
    for row in table.iter_rows(named=True):
        parts[f"{row['right']} right"] = beyond(row["hit_map"], row["map"], people) != 0
        words.append(f"{row['right']}: {shown(row['map'])} promised, {shown(row['hit_map'])} found")
    return judge(parts, f"MAP, by steps right: {', '.join(words)}")


def constant_succeeds(tables: Tables, settings: Settings) -> Finding:
    """The constant attack on real traces under three readings of who is lucky."""
    table, simulated = tables["real-right"].sort("right"), _simulated(tables, settings)
    people = int(table["people"][0])
    at = settings.holdout - settings.real_misses - 1
    parts, words = {}, []
    for name, column in LUCKY.items():
        parts[name] = more(values(table, column), values(simulated, "constant"), people)
        words.append(f"{name} {shown(table[column][at])} ({shown(table[column][0])} for one step)")
    return judge(
        parts,
        f"{at + 1} of {settings.holdout} right: {', '.join(words)}; simulated {shown(simulated['constant'][at])} "
        f"({shown(simulated['constant'][0])})",
    )


CLAIMS = (
    real_claim(
        "Loss and steps that must be right, real",
        "4.2.2",
        "We observe almost the same trend as the one from the simulated data that the privacy loss diminishes as the "
        "number of time steps for success gets larger.",
        ("real-right",),
        loss_falls,
    ),
    real_claim(
        "Attacks on real data",
        "4.2.2",
        "However, we see the adversarial attacks succeed more for the real datasets.",
        ("real-right", "right"),
        succeed_more,
    ),
    real_claim(
        "Habits and the real traces",
        "4.2.2",
        "We anticipate this is partly because our assumption on the prior of individual locations does not necessarily "
        "hold.",
        ("real-right",),
        habits_are_off,
    ),
    real_claim(
        "The constant attack on real data",
        "4.2.2",
        "The adversary can identify people's locations more easily in the real-world setting, even with a very simple "
        "attack such as the lucky constant estimator.",
        ("real-right", "right"),
        constant_succeeds,
    ),
)
