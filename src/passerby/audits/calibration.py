"""Promised against really right: tables, intervals, and a verdict in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_whole, word
from passerby.support.groups import FEW, fives_below, in_fives
from passerby.support.numerals import percent

from .attacks import BACKTESTED
from .departure import least_departure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Verdict = Literal["came true", "did not come true", "cannot be told"]

#: Promises and outcomes that differ by no more are taken to agree, if the interval lies within the margin.
CLOSE, MARGIN = 0.05, 0.10
#: The level of the intervals.
LEVEL = 0.95
#: Classes of the promise, at most, and the fewest people in one.
CLASSES, FEWEST = 10, 4 * FEW
#: The attacks whose promises `gap` is about: the likeliest trace with the counts, and without them.
PLAIN = ("map", "prior")
#: The attacks that look at the counts.
AIDED = ("map", "marginal")


@dataclass(frozen=True)
class Tried:
    """One origin: `promised` and `right` (N, attacks, misses), and the mean log probability of a real step (N,).

    `who` (N,) are numbers of people, the same at all origins, drawn from so many who were `eligible`.
    """

    start: str
    habits: str
    who: Ints
    eligible: int
    promised: Floats
    right: Floats
    logs: Floats


@dataclass(frozen=True, eq=False)
class Calibration:
    """What habits promised, and what came true.

    `by_misses` has a row for each attack and number of misses: the mean promise, the share that was really right, their
    `difference` with an interval of 95 % (`lower`, `upper`; null for one origin alone), a `verdict`, and `nats`, the
    least departure of people from their habits, on average, that explains so many being right (`nats_upper`: that
    explains the upper end of the interval); `told_nats` and `told_nats_upper` are those of the share in steps of five
    people, which may be told beside it. `by_promise` has a row for each attack and tenth of the promises, at
    `misses`. `by_origin` tells from when on which habits were in use, for how many people `of` how many, and `score`,
    the mean log probability that they gave to a step that was really made.

    `verdict` is about all attacks at `misses`: "came true" where each differs by at most `CLOSE` and its interval lies
    within `MARGIN`, "did not come true" where one differs by more and its interval leaves out 0, else "cannot be told".
    `people` is the number of different people, `share` of those who could have been attacked. `independent` is how many
    origins the intervals count for: fewer than `origins` where the steps after them overlap. `gap` is the mean of
    `|promised - right|` over `map`, `prior` and all misses.
    """

    by_misses: pl.DataFrame
    by_promise: pl.DataFrame
    by_origin: pl.DataFrame
    misses: int
    steps: int
    people: int
    share: float
    origins: int
    independent: int
    gap: float
    verdict: Verdict

    def row(self, attack: str, misses: int | None = None) -> dict[str, float]:
        """The row of `by_misses` of an attack, at `misses` unless told otherwise."""
        word(attack, "attack", self.by_misses["attack"].unique(maintain_order=True).to_list())
        wanted = self.misses if misses is None else misses
        if not is_whole(wanted) or wanted not in self.by_misses["misses"]:
            known = self.by_misses["misses"].unique().sort().to_list()
            raise InputError(f"misses: expected one of {', '.join(map(str, known))}, got {wanted!r}")
        return self.by_misses.row(by_predicate=(pl.col("attack") == attack) & (pl.col("misses") == wanted), named=True)

    @property
    def nats(self) -> float:
        """The least departure from habits, on average over people, that explains what came true for all attacks."""
        return self._largest("nats") or 0.0

    @property
    def nats_upper(self) -> float | None:
        """The same at the upper ends of the intervals; None for one origin alone."""
        return self._largest("nats_upper")

    @property
    def told_nats(self) -> tuple[float, float | None]:
        """Both from shares of people in steps of five."""
        return self._largest("told_nats") or 0.0, self._largest("told_nats_upper")

    def _largest(self, column: str) -> float | None:
        """Over all attacks at `misses`; None where it is not known."""
        found = [self.row(name)[column] for name in BACKTESTED]
        return None if None in found else max(found)

    @property
    def telling(self) -> dict[str, Any]:
        """The first row at `misses` with the verdict: that of `map`, unless only others decide it."""
        rows = self.by_misses.filter((pl.col("misses") == self.misses) & (pl.col("verdict") == self.verdict))
        return rows.row(0, named=True)

    @property
    def sentence(self) -> str:
        """The verdict."""
        row = self.telling
        promised, right = percent(row["promised"]), percent(row["right"])
        return verdict_sentence(self.verdict, self.origins, row["attack"], promised, right)


def verdict_sentence(verdict: str, origins: int, attack: str, promised: str, right: str) -> str:
    """A verdict in a sentence.

    >>> verdict_sentence("came true", 5, "map", "35 %", "36 %")
    'Such predictions came true: at 5 earlier times, habits promised that 35 % of the people would be found with the \
counts, and 36 % were.'
    """
    start = "Whether such predictions come true cannot be told" if verdict == "cannot be told" else "Such predictions"
    what = "" if verdict == "cannot be told" else f" {verdict}"
    times = "an earlier time" if origins == 1 else f"{origins} earlier times"
    how = "with the counts" if attack in AIDED else "without the counts"
    promise = f"habits promised that {promised} of the people would be found {how}, and {right} were"
    return f"{start}{what}: at {times}, {promise}."


def calibrate(
    tried: Sequence[Tried], tried_misses: Sequence[int], misses: int, steps: int, independent: int
) -> Calibration:
    """The tables of several origins, from the latest; `tried_misses` are the misses of their arrays."""
    promised, right = (np.concatenate([getattr(each, name) for each in tried]) for name in ("promised", "right"))
    who = np.concatenate([each.who for each in tried])
    origin = np.repeat(np.arange(len(tried)), [len(each.who) for each in tried])
    rows = []
    for a, name in enumerate(BACKTESTED):
        for column, allowed in enumerate(tried_misses):
            said, was = promised[:, a, column], right[:, a, column]
            rows.append({"attack": name, "misses": allowed, **compared(said, was, origin, who, independent)})
    by_misses = pl.DataFrame(rows, infer_schema_length=None)
    asked = by_misses.filter(pl.col("misses") == misses)
    verdicts = set(asked["verdict"])
    at = list(tried_misses).index(misses)
    plain = by_misses.filter(pl.col("attack").is_in(PLAIN))
    return Calibration(
        by_misses=by_misses,
        by_promise=_by_promise(promised[:, :, at], right[:, :, at], origin, who, independent),
        by_origin=pl.DataFrame(
            [(each.start, len(each.who), each.eligible, float(each.logs.mean()), each.habits) for each in tried],
            schema=["start", "people", "of", "score", "habits"],
            orient="row",
        ),
        misses=misses,
        steps=steps,
        people=len(np.unique(who)),
        share=len(who) / max(1, sum(each.eligible for each in tried)),
        origins=len(tried),
        independent=independent,
        gap=float((plain["right"] - plain["promised"]).abs().mean()),  # type: ignore[arg-type]
        verdict=_worst(verdicts),
    )


def _worst(verdicts: set[Verdict]) -> Verdict:
    if "did not come true" in verdicts:
        return "did not come true"
    return "came true" if verdicts == {"came true"} else "cannot be told"


def compared(
    promised: Floats, right: Floats, origin: Ints, who: Ints, independent: int
) -> dict[str, float | str | None]:
    """Promises (N,) against what was right, with an interval, a verdict and the departure that explains it."""
    said, was = float(promised.mean()), float(right.mean())
    ends = interval(right - promised, origin, who, independent)
    lower, upper = ends or (None, None)
    told = in_fives(was, fives_below(len(right)))

    def at_most(share: float) -> float | None:
        return None if upper is None else least_departure(promised, min(1.0, max(0.0, said + upper + share - was)))

    return {
        "promised": said,
        "right": was,
        "difference": was - said,
        "lower": lower,
        "upper": upper,
        "verdict": judged(was - said, ends),
        "nats": least_departure(promised, was),
        "nats_upper": at_most(was),
        "told_nats": least_departure(promised, told),
        "told_nats_upper": at_most(told),
    }


def judged(difference: float, ends: tuple[float, float] | None) -> Verdict:
    """Whether a promise came true, from right minus promised and its interval.

    >>> judged(0.02, (-0.03, 0.07)), judged(0.2, (0.1, 0.3)), judged(0.2, (-0.1, 0.5)), judged(0.0, None)
    ('came true', 'did not come true', 'cannot be told', 'cannot be told')
    """
    if ends is None:
        return "cannot be told"
    if abs(difference) <= CLOSE and ends[0] >= -MARGIN and ends[1] <= MARGIN:
        return "came true"
    return "did not come true" if abs(difference) > CLOSE and not ends[0] <= 0 <= ends[1] else "cannot be told"


def interval(values: Floats, origin: Ints, who: Ints, independent: int) -> tuple[float, float] | None:
    """An interval for the mean of values (N,) by origin and person; None without a second origin to tell drift by.

    People share what changes for all, so origins are drawn at random, and people within them. The mean has the variance
    `Σ w² τ²` for drift, w the origins' shares of the people and τ² how much more their means vary than people alone
    explain (DerSimonian and Laird 1986), and that of people besides. The interval is Student's, with as many degrees of
    freedom as the two together have (Satterthwaite 1946): few where drift decides.
    """
    from scipy.special import stdtrit

    every = np.bincount(origin)
    counts = every[every > 0]
    means = np.bincount(origin, values)[every > 0] / counts
    k, mean = len(counts), float(values.mean())
    n = min(k, independent)
    if n < 2:
        return None
    inside = values - (np.bincount(origin, values) / np.maximum(every, 1))[origin]
    drift = _drift(means, counts, float((inside**2).sum()) / max(1, len(values) - k))
    drift *= float(((counts / len(values)) ** 2).sum()) * k / n
    people = float((np.bincount(who, inside) ** 2).sum()) / len(values) ** 2
    both = drift + people
    if both <= 0:
        return mean, mean
    freedom = both**2 / (drift**2 / (n - 1) + people**2 / max(1, len(np.unique(who)) - 1))
    half = float(stdtrit(freedom, (1 + LEVEL) / 2)) * sqrt(both)
    return max(-1.0, mean - half), min(1.0, mean + half)


def _drift(means: Floats, counts: Ints, spread: float) -> float:
    """How much the means of origins vary beyond what people within them explain, by the method of moments: τ²."""
    k = len(means)
    if spread <= 0:
        return float(means.var(ddof=1))
    total = int(counts.sum())
    middle = float(counts @ means) / total
    excess = float(counts @ (means - middle) ** 2) / spread - (k - 1)
    return max(0.0, excess * spread / (total - float((counts**2).sum()) / total))


def _by_promise(promised: Floats, right: Floats, origin: Ints, who: Ints, independent: int) -> pl.DataFrame:
    """Tenths of the promises of each attack, or fewer classes where people are few."""
    rows = []
    # Whoever is in a class at all origins is still one person.
    classes = max(1, min(CLASSES, len(who) // (FEWEST * len(np.unique(origin)))))
    for a, name in enumerate(BACKTESTED):
        order = np.argsort(promised[:, a], kind="stable")
        for k, part in enumerate(np.array_split(order, classes), start=1):
            said, was = promised[part, a], right[part, a]
            ends = interval(was - said, origin[part], who[part], independent)
            lower, upper = ((said.mean() + end).clip(0, 1) for end in ends) if ends else (None, None)
            rows.append((name, k, said.mean(), was.mean(), lower, upper, len(np.unique(who[part])), len(part)))
    kinds = {
        "attack": pl.String,
        "class": pl.Int64,
        **dict.fromkeys(("promised", "right", "lower", "upper"), pl.Float64),
    }
    return pl.DataFrame(rows, schema={**kinds, "people": pl.Int64, "tries": pl.Int64}, orient="row")
