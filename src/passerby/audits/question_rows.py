"""One person's rows of the table of questions: a row for each question about them.

Rows have the `question` in words, the `adversary` ("insider", who knows where the others were, or "habits", who knows
theirs alone), a `status` ("ok", "wide", "certain" or "impossible" whatever is published, or the reason for a refusal)
and whether ends rest on series that were drawn (`sampled`). Of events they have the `chance` without the release, the
`advantage`, the `power` at 1 % false alarms, `certain` and `absent` at 0.9, `year`, after 52 releases, and `weeks`, a
list after 1, 4, 12, 26 and 52 of them.
Of guesses `lower`, `upper` and `baseline` are chances to be right; of each step, these are means over steps, and rows
have the `easiest` step (from 0) and lists of all. `actual` tells whether it was really so, in the steps that were held
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError, PasserbyError
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.questions.each_step import Curve
from passerby.questions.event import Event
from passerby.questions.event_answer import EventAnswer
from passerby.questions.in_data import InData
from passerby.questions.measure import measure
from passerby.questions.question import Question
from passerby.questions.trace.loss import Loss
from passerby.questions.trace.measure import Trace

from .asking import parse_question, words_of
from .job import Job, by_steps, kept_part, measured, over_states
from .person import stream_of
from .question_words import Named

Ints = NDArray[np.int64]

#: The adversary's knowledge of others: their places, or their habits alone.
INSIDER, HABITS = "insider", "habits"
#: The share of false alarms for `power`, and the confidence for `certain` and `absent`.
FALSE, SURE = 0.01, 0.9
#: A row's names of a pair of ends.
ENDS = ("advantage", "power", "certain", "absent")
#: Releases after which the advantage is told: once, and every week for up to a year.
WEEKS = (1, 4, 12, 26, 52)
_FLOAT, _LIST = pl.Float64(), pl.List(pl.Float64())
#: The columns of the table of questions.
SCHEMA: dict[str, pl.DataType] = {
    "question": pl.String(),
    "adversary": pl.String(),
    "status": pl.String(),
    "sampled": pl.Boolean(),
    **dict.fromkeys(("chance", "lower", "upper", "baseline"), _FLOAT),
    **{f"{name}_{end}": _FLOAT for name in ENDS for end in ("lower", "upper")},
    **dict.fromkeys(("year_lower", "year_upper"), _FLOAT),
    **dict.fromkeys(("weeks_lower", "weeks_upper"), _LIST),
    "easiest": pl.Int64(),
    **dict.fromkeys(("easiest_lower", "easiest_upper"), _FLOAT),
    **dict.fromkeys(("lower_by_step", "upper_by_step", "baseline_by_step"), _LIST),
    "actual": pl.Boolean(),
}
Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """Questions about the people of a job, over the places of these people, with the words for each."""

    job: Job
    questions: tuple[Question, ...]
    words: tuple[str, ...]
    #: Places of the questions: their states must not be merged with others.
    places: tuple[int, ...] = field(default=())
    #: Who asks, if that does not follow from the release.
    adversary_name: str | None = None

    @classmethod
    def of(cls, job: Job, questions: Sequence[Question | str | int], named: Named) -> Asked:
        """Questions, or words for them; each is checked, and asked once."""
        if isinstance(questions, str | bytes) or not isinstance(questions, Sequence) or not questions:
            raise InputError(
                f"questions: expected a list such as [Trace(1), InData()] or ['counted'], got {questions!r}"
            )
        misses, release = job.measurement.misses, job.release
        found = dict.fromkeys(_question(each, named, release, misses) for each in questions)
        words = tuple(words_of(each, named, misses, release.steps) for each in found)
        _check(tuple(found), job.release, len(job.people.places))
        return cls(job, tuple(found), words, cls.places_of(tuple(found), job))

    @staticmethod
    def places_of(questions: Sequence[Question], job: Job) -> tuple[int, ...]:
        """The places in need of a state of their own: in zones other than sums of already distinct parts."""
        label, every = job.zones, len(job.people.places)
        if label is None:
            label = np.zeros(every, dtype=np.int64)
            label[list(job.sensed)] = 1 + np.arange(len(job.sensed))
        out: set[int] = set()
        for each in questions:
            for zone in each.count.zones if isinstance(each, Event) else ():
                inside = np.zeros(every, dtype=bool)
                inside[list(zone)] = True
                if set(label[inside].tolist()) & set(label[~inside].tolist()):
                    out |= set(zone)
        return tuple(sorted(out))

    @property
    def adversary(self) -> str:
        """Who asks."""
        return self.adversary_name or (INSIDER if self.job.release.crowd is None else HABITS)


def _question(asked: Question | str | int, named: Named, release: Release, misses: int) -> Question:
    if isinstance(asked, str):
        return parse_question(asked, named, release, misses)
    if isinstance(asked, Question):
        return asked
    return Trace(release.check_misses(asked))


def _check(questions: tuple[Question, ...], release: Release, places: int) -> None:
    """Refuse questions about unknown steps and places, and questions over places of another numbering."""
    for each in questions:
        if isinstance(each, InData) and each.instead is not None:
            raise InputError(
                "questions: InData(instead=...) is over one person's places; measure that person with measure(...)"
            )
        if isinstance(each, Trace):
            release.check_misses(each.misses)
            each.relabelled({})
        if not isinstance(each, Event):
            continue
        if each.count.read >= release.steps:
            raise InputError(
                f"questions: {each.count!r} is about step {each.count.read}, and {release.steps} steps are "
                f"published, numbered 0 to {release.steps - 1}"
            )
        wrong = [zone[-1] for zone in each.count.zones if zone[-1] >= places]
        if wrong:
            raise InputError(f"questions: {each.count!r}: there are {places} places, numbered 0 to {places - 1}")


def rows_of(asked: Asked, person: int) -> list[Row]:
    """The rows of one person, in the order of the questions."""
    job = asked.job
    actual = job.people.actual[person].astype(np.int64)
    real = [_really(each, actual) for each in asked.questions]
    first = [{"question": words, "adversary": asked.adversary} for words in asked.words]
    try:
        prior, release, _, state_of = over_states(job, person, asked.places)
        part, rest = kept_part(prior, release)
    except PasserbyError as reason:
        found: list[Row] = [{"status": str(reason)}] * len(real)
    else:
        seed = stream_of(job.measurement.seed, job.people.ids[person])
        case = _Case(prior, release, part, rest, {**vars(job.measurement), "seed": seed})
        found = list(_answered(asked.questions, case, state_of))
    return [{**head, **row, "actual": fact} for head, row, fact in zip(first, found, real, strict=True)]


@dataclass(frozen=True)
class _Case:
    """One person: their habits, the release, its rememberable part, and the most evidence of the rest."""

    prior: MarkovPrior
    release: Release
    part: Release
    rest: float
    how: Mapping[str, Any]

    @property
    def tolerance(self) -> float:
        """How close ends should be."""
        return float(self.how["tolerance"])

    def measured(self, questions: list[Question], more: bool = False) -> list[Any]:
        """Answers; an unanswerable question has the reason instead."""
        release = by_steps(self.release) if more else self.part
        how = {name: value for name, value in self.how.items() if name != "misses"}
        try:
            return list(measure(self.prior, release, questions, **how))
        except PasserbyError as reason:
            if len(questions) == 1:
                return [reason]
            return [self.measured([each], more)[0] for each in questions]


def _answered(questions: tuple[Question, ...], case: _Case, state_of: Ints) -> Iterator[Row]:
    """Rows of answers: one observation for all questions but the trace, measured as in `people.parquet`."""
    numbers = dict(enumerate(state_of.tolist()))
    others = [k for k, each in enumerate(questions) if not isinstance(each, Trace)]
    own = [questions[k].relabelled(numbers) for k in others]
    found = dict(zip(others, case.measured(own) if own else [], strict=True))
    more = dict(zip(others, case.measured(own, more=True), strict=True)) if case.rest and own else {}
    for k, each in enumerate(questions):
        if isinstance(each, Trace):
            yield _trace(each, case)
        else:
            yield _row(found[k], case.tolerance, more.get(k))


def _trace(question: Trace, case: _Case) -> Row:
    try:
        found = measured(case.prior, case.release, **{**case.how, "misses": question.misses})
    except PasserbyError as reason:
        return {"status": str(reason)}
    loss: Loss = found.loss
    upper = max(loss.lower, found.upper)
    without = loss.baseline.lower
    whole = found.part is case.release
    above = loss.advantage.upper if whole else (upper - without) / (1 - without) if without < 1 else 0.0
    close = loss.effort.reached if whole else upper <= loss.lower * (1 + case.tolerance)
    return {
        "status": "ok" if close else "wide",
        "sampled": not found.certain,
        "lower": loss.lower,
        "upper": upper,
        "baseline": without,
        "advantage_lower": loss.advantage.lower,
        "advantage_upper": max(above, loss.advantage.lower),
    }


def _row(answer: Any, tolerance: float, more: Any = None) -> Row:
    """The row of an answer; if some counts were left out, its upper ends are from `more`, a stronger adversary."""
    for each in (answer, more):
        if isinstance(each, PasserbyError):
            return {"status": str(each)}
    return _of_event(answer, tolerance, more) if isinstance(answer, EventAnswer) else _of_curve(answer, tolerance, more)


def _of_event(answer: EventAnswer, tolerance: float, more: EventAnswer | None) -> Row:
    ends = {
        "advantage": answer.advantage,
        "power": answer.power(FALSE),
        "certain": answer.certain(SURE),
        "absent": answer.absent(SURE),
    }
    weeks = [answer.weeks(count) for count in WEEKS]
    if more is not None:
        for name, told in (("advantage", more.advantage), ("power", more.power(FALSE))):
            ends[name] = replace(ends[name], upper=max(ends[name].lower, told.upper))
        repeated = (more.weeks(count) for count in WEEKS)
        weeks = [replace(own, upper=max(own.lower, each.upper)) for own, each in zip(weeks, repeated, strict=True)]
        # Nothing is convex about these: only what the advantage allows is known.
        for name, chance in (("certain", answer.event.lower), ("absent", 1 - answer.event.upper)):
            ends[name] = replace(ends[name], lower=0.0, upper=most_sure(chance, ends["advantage"].upper))
    advantage, power = ends["advantage"], ends["power"]
    close = advantage.upper <= advantage.lower * (1 + tolerance) + 1e-12
    close = close and power.upper <= power.lower + tolerance
    return {
        "status": answer.status if answer.status != "open" else "ok" if close else "wide",
        "sampled": answer.sampled or (more is not None and more.sampled),
        "chance": answer.event.lower,
        **{f"{name}_{end}": getattr(pair, end) for name, pair in ends.items() for end in ("lower", "upper")},
        **of_weeks([each.lower for each in weeks], [each.upper for each in weeks]),
    }


def of_weeks(lower: list[float], upper: list[float]) -> Row:
    """What a row holds of both ends after several weeks."""
    return {"weeks_lower": lower, "weeks_upper": upper, "year_lower": lower[-1], "year_upper": upper[-1]}


def most_sure(event: float, advantage: float) -> float:
    """Somebody so sure and right has few false positives: `x (1 - k) <= advantage`, with `k` their odds at most."""
    if not 0 < event < SURE:
        return 1.0
    odds = event / (1 - event) * (1 - SURE) / SURE
    return min(1.0, advantage / (1 - odds)) if odds < 1 else 1.0


def _of_curve(curve: Curve, tolerance: float, more: Curve | None) -> Row:
    lower, baseline = curve.lower, curve.baseline
    upper = curve.upper if more is None else np.maximum(lower, more.upper)
    easiest = int(np.argmax(lower))
    room = np.maximum(1 - baseline, 1e-9)
    return {
        "status": "ok" if (upper <= lower * (1 + tolerance)).all() else "wide",
        "sampled": curve.level is not None or (more is not None and more.level is not None),
        "lower": float(lower.mean()),
        "upper": float(upper.mean()),
        "baseline": float(baseline.mean()),
        "advantage_lower": float(((lower - baseline) / room).mean()),
        "advantage_upper": float(((upper - baseline) / room).mean()),
        "easiest": easiest,
        "easiest_lower": float(lower[easiest]),
        "easiest_upper": float(upper[easiest]),
        "lower_by_step": lower.tolist(),
        "upper_by_step": upper.tolist(),
        "baseline_by_step": baseline.tolist(),
    }


def _really(question: Question, actual: Ints) -> bool | None:
    """The truth of a question; None if it is unknown, or not yes or no."""
    if isinstance(question, InData):
        return True
    if not isinstance(question, Event) or len(actual) <= question.count.read:
        return None
    return bool(question.count.bits(actual[None])[0]) != question.never
