"""Evidence of counts on the people of a public table: figures about a population, some people standing for many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from passerby.model.release import Release
from passerby.people.flows import Residents
from passerby.questions.trace.measure import Trace
from passerby.support.numbers import percent, span
from passerby.support.workers import Progress

from .audit import audit
from .settings import Measurement

COUNTED, VISITED = "counted", "visited:"
#: By how much the figures of people from flows were off in simulated cities (`benchmarks/flows.py`).
OFF = (
    "Habits are assumed, not fitted to anybody. In simulated cities, with a profile of the city by groups, what counts "
    "add to the trace and who is counted came out within 2 points of an audit of visits, and the chance to be found 8 "
    "to 9 points too low: people are more regular than a table tells. With the ready profile, which is of no city, it "
    "was 34 to 45 points too low, what counts add up to 12 too high, and who is counted 2 to 7 too low."
)


@dataclass(frozen=True, eq=False)
class FlowAudit:
    """The answers for each of some people, `table`, and figures for all for whom they stand, `figures`.

    A row of `figures` is a question: `people` are its subjects (of a place, the people possibly there), and the other
    columns are means over them. `above` is the number of them more likely to be found than not.
    """

    table: pl.DataFrame
    figures: pl.DataFrame
    everybody: float
    misses: int
    steps: int

    def lines(self) -> Iterator[str]:
        """The figures in sentences."""
        yield f"Of the {about(self.everybody, self.everybody)} people of the table:"
        for row in self.figures.iter_rows(named=True):
            yield _sentence(row, self.misses, self.steps, self.everybody)
        unmeasured = self.table.filter(pl.col("status").is_in(("ok", "wide", "certain", "impossible")).not_())
        if unmeasured.height:
            yield f"For {unmeasured.height} answers a bound was refused; they count as anything from 0 to 1."
        yield OFF


def audit_flows(
    people: Residents,
    release: Release,
    misses: int,
    places: Sequence[str],
    *,
    workers: int | None = None,
    progress: Progress | None = None,
    budget: float = Measurement.budget,
) -> FlowAudit:
    """The trace, whether somebody is counted, and presence at `places`, of the people of a public table."""
    asked: list[Any] = [Trace(misses), COUNTED, *(f"{VISITED}{place}" for place in places)]
    table = audit(people, release, misses, questions=asked, workers=workers, progress=progress, budget=budget)
    return FlowAudit(table, figures_of(table), people.everybody, misses, release.steps)


def figures_of(table: pl.DataFrame) -> pl.DataFrame:
    """Means over the represented people of a table of questions, a row per question."""
    event = pl.col("question") != Trace.kind
    there = pl.when(pl.col("question").str.starts_with(VISITED)).then(pl.col("chance").fill_null(0.0)).otherwise(1.0)
    mass = (pl.col("weight") * there).alias("mass")
    # A refused value may be anything; an impossible or certain event leaves nothing to find out.
    lower = pl.when(event).then(pl.col("power_lower")).otherwise(pl.col("lower")).fill_null(0.0)
    upper = pl.when(event).then(pl.col("power_upper")).otherwise(pl.col("upper")).fill_null(1.0)
    ends = {"lower": lower, "upper": upper, "baseline": pl.col("baseline").fill_null(0.0)}
    ends |= {name: pl.col(name).fill_null(n) for n, name in enumerate(("advantage_lower", "advantage_upper"))}
    total = pl.col("mass").sum()
    means = [
        pl.when(total > 0).then((value * pl.col("mass")).sum() / total).alias(name) for name, value in ends.items()
    ]
    above = [(pl.col("mass") * (end > 0.5)).sum().alias(f"above_{name}") for name, end in list(ends.items())[:2]]
    return (
        table.with_columns(mass)
        .group_by("question", maintain_order=True)
        .agg(total.alias("people"), *means, *above)
        .sort(pl.col("question").str.starts_with(VISITED), maintain_order=True)
    )


def about(people: float, everybody: float) -> str:
    """A number of people, in fives; everybody, whose number is public, as they are.

    >>> about(48_001.0, 50_000.0), about(2.4, 464.0), about(463.2, 464.0), about(464.0, 464.0)
    ('about 48,000', 'fewer than 5', 'about 460', '464')
    """
    if people >= everybody - 0.01:
        return f"{everybody:,.0f}"
    fives = 5 * round(people / 5)
    return f"about {fives if fives <= everybody else fives - 5:,}" if people >= 5 else "fewer than 5"


def _sentence(row: dict[str, Any], misses: int, steps: int, everybody: float) -> str:
    """A figure in words."""
    name, found = row["question"], span(row["lower"] or 0.0, row["upper"] or 0.0)
    if name == COUNTED:
        return (
            f"- Whether somebody is counted at all: whoever knows where everybody else was finds {found} of those who "
            "are, at 1 % false alarms."
        )
    if name.startswith(VISITED):
        place = name.removeprefix(VISITED)
        if not row["people"]:
            return f"- At {place}, nobody of the table is expected during {_steps(steps)}."
        return (
            f"- At {place}, where {about(row['people'], everybody)} may be expected at some time: whoever knows where "
            f"everybody else was finds {found} of those who were there, at 1 % false alarms."
        )
    above = sorted((row["above_lower"], row["above_upper"]))
    said = " to ".join(dict.fromkeys(about(each, everybody) for each in above))
    return (
        f"- The chance to name all but {misses} of {steps} steps is {found} on average, {percent(row['baseline'])} "
        f"without the counts; {said} are more likely than not to be found."
    )


def _steps(steps: int) -> str:
    return "the published step" if steps == 1 else f"the {steps} published steps"
