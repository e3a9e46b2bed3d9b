"""The summary of the table of questions: means and ranks over people, each of at least five."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.questions.question import Question
from passerby.support.rule_of_five import (
    FEW,
    at_rank,
    mean_told,
    merged_sizes,
    middle,
    reached,
    rests_on_few,
    two_in_fives,
)

from .asking import sentence_of
from .question_rows import ENDS, WEEKS, Asked
from .question_words import Named
from .record import Answers, Bracket, Ends, PartAnswer, Statistics, StepAnswer, WeekAnswer, with_some
from .results import COUNTED, ROWS

Floats = NDArray[np.float64]

#: Statuses of people with an open answer, and of people with the same answer whatever is published.
OPEN, CLOSED = ("ok", "wide"), ("certain", "impossible")
_PAIRS = (*ENDS, "year")
_NUMBERS = ("chance", "lower", "upper", "baseline", *(f"{name}_{end}" for name in _PAIRS for end in ("lower", "upper")))


def told_answers(
    rows: pl.DataFrame | pl.LazyFrame, asked: Asked, named: Named, sighted: pl.LazyFrame | None = None
) -> list[Answers]:
    """What is told of the questions of everybody, in memory or in a file.

    With how likely each person is to be in a published count (`person`, `sighted`), membership is told of those who
    are counted, and of the others.
    """
    steps, lazy, out = asked.job.release.steps, rows.lazy(), []
    for each, words in zip(asked.questions, asked.words, strict=True):
        found = _answers(lazy, each, words, asked.adversary, named, steps)
        if each.kind == "in_data" and sighted is not None:
            found = found.model_copy(update={"groups": _groups(lazy, words, asked.adversary, sighted)})
        out.append(found)
    return out


def _groups(rows: pl.LazyFrame, words: str, adversary: str, sighted: pl.LazyFrame) -> list[PartAnswer]:
    """Means over people who are counted and over those who hardly ever are; none where few would be told of."""
    names = [f"{name}_{end}" for name in ("advantage", "power") for end in ("lower", "upper")]
    own = rows.filter(
        (pl.col("question") == words) & (pl.col("adversary") == adversary) & pl.col("status").is_in(list(OPEN))
    )
    table = own.select("person", *names).join(sighted.select("person", "sighted"), on="person").collect()
    counted = table["sighted"].fill_null(0.0) >= COUNTED
    parts = {True: table.filter(counted), False: table.filter(~counted)}
    if any(part.height < FEW or rests_on_few(part["advantage_lower"].to_numpy()) for part in parts.values()):
        return []
    size, weight = two_in_fives(parts[True].height, parts[False].height, table.height)
    own_means, others = ({name: _bracket(part, name) for name in ("advantage", "power")} for part in parts.values())
    rest = {name: with_some(others[name], own_means[name], weight) for name in others}
    return [
        PartAnswer(counted=True, people=size, **own_means),
        PartAnswer(counted=False, people=table.height - size, **rest),
    ]


def _bracket(part: pl.DataFrame, name: str) -> Bracket:
    # In whatever order the rows were put together.
    lower, upper = (fsum(part[f"{name}_{end}"].to_list()) / part.height for end in ("lower", "upper"))
    return Bracket(lower=lower, upper=max(lower, upper))


def _answers(rows: pl.LazyFrame, question: Question, words: str, adversary: str, named: Named, steps: int) -> Answers:
    own = rows.filter((pl.col("question") == words) & (pl.col("adversary") == adversary))
    table = own.select("status", *_NUMBERS, "weeks_lower", "weeks_upper").collect()
    groups = {"open": OPEN, "closed": CLOSED}
    sizes = {name: table.filter(pl.col("status").is_in(list(kinds))).height for name, kinds in groups.items()}
    sizes["refused"] = table.height - sum(sizes.values())
    shared = merged_sizes(sizes)
    some = table.filter(pl.col("status").is_in(list(OPEN)))
    ends: dict[str, Any] = {name: _ends(some, f"{name}_lower", f"{name}_upper") for name in _PAIRS}
    return Answers(
        question=words,
        sentence=sentence_of(question, named, steps),
        kind=question.kind,
        adversary=adversary,
        people=shared["open"] + shared["closed"],
        open=shared["open"],
        chance=_statistics(some["chance"]),
        loss=_ends(some, "lower", "upper"),
        baseline=_ends(some, "baseline", "baseline"),
        **ends,
        weeks=told_weeks(some) if question.kind != "each_step" else [],
        by_step=_by_step(own, steps) if question.kind == "each_step" and some.height >= FEW else [],
    )


def told_weeks(some: pl.DataFrame) -> list[WeekAnswer]:
    """Means over people of the advantage after several weeks; none where they are few, or were not asked."""
    rows = some.drop_nulls("weeks_lower")
    if rows.height < FEW:
        return []
    lower, upper = (np.array(rows[f"weeks_{end}"].to_list()).mean(axis=0) for end in ("lower", "upper"))
    ends = zip(WEEKS, lower.tolist(), upper.tolist(), strict=True)
    return [WeekAnswer(weeks=weeks, lower=round(low, 6), upper=round(high, 6)) for weeks, low, high in ends]


def _ends(some: pl.DataFrame, lower: str, upper: str) -> Ends | None:
    low, high = _statistics(some[lower]), _statistics(some[upper], up=True)
    return None if low is None or high is None else Ends(lower=low, upper=high)


def _statistics(column: pl.Series, *, up: bool = False) -> Statistics | None:
    """The statistics of people with the number; None if they are few. A mean that counts them is in fives, or `up`."""
    values = column.drop_nulls().to_numpy()
    middling = middle(values)
    if len(values) < FEW or middling is None:
        return None
    return Statistics(
        mean=mean_told(values, up=up),
        median=middling,
        percentile_95=at_rank(values, 0.95),
        reached_by_five=reached(values),
    )


def _by_step(own: pl.LazyFrame, steps: int) -> list[StepAnswer]:
    """Means over people, added up over blocks of rows: the same wherever the rows are."""
    names = ("lower_by_step", "upper_by_step", "baseline_by_step")
    total, count = np.zeros((len(names), steps)), 0
    kept = own.filter(pl.col("status").is_in(list(OPEN))).select(names)
    first = 0
    while True:
        block = kept.slice(first, ROWS).collect()
        if not block.height:
            break
        total += [_sum(block[name], steps) for name in names]
        count, first = count + block.height, first + ROWS
    lower, upper, baseline = (total / max(1, count)).tolist()
    rows: Sequence[tuple[float, float, float]] = list(zip(lower, upper, baseline, strict=True))
    return [StepAnswer(step=t, lower=low, upper=high, baseline=base) for t, (low, high, base) in enumerate(rows)]


def _sum(column: pl.Series, steps: int) -> Floats:
    return np.asarray(column.explode().to_numpy().reshape(-1, steps).sum(axis=0))
