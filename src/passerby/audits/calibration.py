"""Promised against really right: tables of each window and of all, and a verdict in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.support.checks import is_whole, word
from passerby.support.numbers import percent
from passerby.support.rule_of_five import FEW, fives_below, in_fives

from .attacks import BACKTESTED
from .event_promises import TESTS, VISITED, Events
from .windows import LEVEL as LEVEL
from .windows import Verdict, Windows, close, least_departure, variance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Promised and right (N,).
Pair = tuple[Floats, Floats]

#: Classes of the promise, at most, and the fewest people in one.
CLASSES, FEWEST = 10, 4 * FEW
#: The attacks whose promises `gap` is about: the likeliest trace with the counts, and without them.
PLAIN = ("map", "prior")
#: The attacks with the counts.
AIDED = ("map", "marginal")
#: The gain from counts: the further people found by the likeliest trace with them.
ADDED = "added"


@dataclass(frozen=True)
class Tried:
    """One origin: `promised` and `right` (N, attacks, misses), and the mean log probability of a real step (N,).

    `who` (N,) are numbers of people, the same at all origins, drawn from so many `eligible` ones. The origin lies
    `before` so many steps before the published ones.
    """

    start: str
    habits: str
    who: Ints
    eligible: int
    promised: Floats
    right: Floats
    logs: Floats
    events: Events | None = None
    before: int = 0

    def of(self, what: str, column: int) -> Pair:
        """Promised and right (N,) of an attack, of the gain from counts, or of being at counted places."""
        if what == VISITED:
            events = self.events
            if events is None or not events.chance.shape[1]:
                return np.empty(0), np.empty(0)
            return events.chance.mean(axis=1), events.there.mean(axis=1)
        if what in TESTS:
            return (np.empty(0), np.empty(0)) if self.events is None else self.events.tests[TESTS[what]][1:]
        if what == ADDED:
            return _added(self.of("map", column), self.of("prior", column))
        a = BACKTESTED.index(what)
        return self.promised[:, a, column], self.right[:, a, column]


def _added(aided: Pair, blind: Pair) -> Pair:
    """The gain from counts for each person."""
    return aided[0] - blind[0], aided[1] - blind[1]


@dataclass(frozen=True, eq=False)
class Calibration:
    """The promises of habits, and the real outcomes.

    `windows` has a row for each attack, for what counts add ("added"), for being at counted places ("visited"), for
    tests of that and of being counted at all ("visited test", "counted test"), and each window, the published one
    first: how many steps `before` it, the mean promise, the share that was right, what `chance` alone leaves of
    their difference, how much the window `counts` where all are pooled, and of the published one the `verdict` with
    the interval (`lower`, `upper`) in which right minus promised was to be expected there.

    `by_misses` has a row for each attack and number of misses. It holds promised and right over all windows, each
    weighed by its information, their `difference`, and the interval and the verdict of the published window. `nats` is
    the least mean departure from habits that explains the share that was right there. `nats_upper` is a departure that
    covers an unseen window in 90 of 100 cases. `told_nats` and `told_nats_upper` are the same for shares in steps of
    five people, for use beside such shares. `by_promise` has a row for each attack and tenth of the promises, at
    `misses`. `by_origin` has the first origin of the habits in use, the number of people, and `of` how many. Its
    `score` is the mean log probability of a real step under them.

    `verdict` is about the published window, all attacks at `misses`, and the gain from counts. It is "did not come
    true" if one of these did not, and "came true" if the likeliest trace did with counts and without. `people` is the
    number of different people, `share` their share of all attackable people. `independent` is the number of origins
    without overlap. `gap` is the mean of `|promised - right|` over `map`, `prior` and all misses. `tried` holds the
    findings at each origin.
    """

    by_misses: pl.DataFrame
    by_promise: pl.DataFrame
    by_origin: pl.DataFrame
    windows: pl.DataFrame
    tried: tuple[Tried, ...]
    tried_misses: tuple[int, ...]
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

    def published(self, what: str) -> dict[str, Any]:
        """The row of `windows` of the published window: of an attack, "added" or "visited"."""
        return self.windows.filter(pl.col("what") == what).row(0, named=True)

    def with_everyone(self, table: pl.DataFrame) -> Calibration:
        """The same with everybody in the table of an audit at the published window, instead of a sample."""
        everyone = of_everyone(table)
        if not everyone or len(everyone[ADDED][0]) < len(self.tried[0].who):
            return self
        return calibrate(self.tried, self.tried_misses, self.misses, self.steps, self.independent, everyone)

    @property
    def nats(self) -> float:
        """The least departure from habits, on average over people, that explains the published window."""
        return self._largest("nats") or 0.0

    @property
    def nats_upper(self) -> float | None:
        """A departure covering a window in 90 of 100 cases; None for one origin alone."""
        return self._largest("nats_upper")

    @property
    def told_nats(self) -> tuple[float, float | None]:
        """Both from shares of people in steps of five."""
        return self._largest("told_nats") or 0.0, self._largest("told_nats_upper")

    def _largest(self, column: str) -> float | None:
        """Over all attacks at `misses`; None if it is not known."""
        found = [self.row(name)[column] for name in BACKTESTED]
        return None if None in found else max(found)

    @property
    def telling(self) -> dict[str, Any]:
        """The first row of `windows`, of the published one, with the verdict: `map` unless only others decide it."""
        rows = [self.published(name) for name in (*BACKTESTED, ADDED)]
        return next((row for row in rows if row["verdict"] == self.verdict), rows[0])

    @property
    def too_low(self) -> bool:
        """Whether more were found at the published window than promised, for any subject of the verdict."""
        row = self.telling
        return bool(row["right"] - row["promised"] > close(row["promised"]))

    @property
    def sentence(self) -> str:
        """The verdict."""
        row = self.telling
        return verdict_sentence(self.verdict, self.origins, row["what"], row["promised"], row["right"])


def verdict_sentence(verdict: str, origins: int, what: str, promised: float, right: float) -> str:
    """A verdict on an attack, or on the gain from counts, in a sentence.

    >>> verdict_sentence("came true", 5, "map", 0.35, 0.36)
    'Such predictions came true: for the published steps, habits promised that 35 % of the people would be found with \
the counts, and 36 % were. So much was to be expected from 4 earlier times.'
    """
    told = verdict != "cannot be told"
    earlier = "an earlier time" if origins == 2 else f"{origins - 1} earlier times"
    more = f" So much was to be expected from {earlier}." if verdict == "came true" else ""
    if what == ADDED:
        start = f"What the counts add {verdict}" if told else "Whether what the counts add comes true cannot be told"
        said, was = (f"{percent(abs(each))} {'fewer' if each < 0 else 'more'}" for each in (promised, right))
        return f"{start}: with them, {said} of the people were to be found than without them, and {was} were.{more}"
    start = f"Such predictions {verdict}" if told else "Whether such predictions come true cannot be told"
    found = f"would be found {'with' if what in AIDED else 'without'} the counts, and {percent(right)} were"
    return f"{start}: for the published steps, habits promised that {percent(promised)} of the people {found}.{more}"


def of_everyone(table: pl.DataFrame) -> dict[str, Pair]:
    """Promised and right of all measured people, by attack; empty if the table has no such columns.

    Impossible traces under the habits are not found.
    """
    columns = [f"{side}_{name}" for name in BACKTESTED for side in ("attack", "hit")]
    if not set(columns) <= set(table.columns):
        return {}
    rows = table.drop_nulls([f"attack_{name}" for name in BACKTESTED])
    found = {
        name: (rows[f"attack_{name}"].to_numpy(), rows[f"hit_{name}"].fill_null(False).cast(pl.Float64).to_numpy())
        for name in BACKTESTED
    }
    return {**found, ADDED: _added(found["map"], found["prior"])}


def calibrate(
    tried: Sequence[Tried],
    tried_misses: Sequence[int],
    misses: int,
    steps: int,
    independent: int,
    everyone: Mapping[str, Pair] | None = None,
) -> Calibration:
    """The tables of several origins, from the latest; `tried_misses` are the misses of their arrays.

    `everyone` has promised and right of everybody at the published window and `misses`, by attack.
    """
    promised, right = (np.concatenate([getattr(each, name) for each in tried]) for name in ("promised", "right"))
    who = np.concatenate([each.who for each in tried])
    origin = np.repeat(np.arange(len(tried)), [len(each.who) for each in tried])
    rows = []
    for name in BACKTESTED:
        for column, allowed in enumerate(tried_misses):
            sides = _sides(tried, name, column, everyone if allowed == misses else None)
            found = windows_of(sides, independent)
            rows.append({"attack": name, "misses": allowed, **compared(found, sides[0][0])})
    by_misses = pl.DataFrame(rows, infer_schema_length=None)
    at = list(tried_misses).index(misses)
    windows = by_window(tried, at, independent, everyone)
    plain = by_misses.filter(pl.col("attack").is_in(PLAIN))
    return Calibration(
        by_misses=by_misses,
        by_promise=_by_promise(promised[:, :, at], right[:, :, at], origin, who, independent),
        by_origin=pl.DataFrame(
            [(each.start, len(each.who), each.eligible, float(each.logs.mean()), each.habits) for each in tried],
            schema=["start", "people", "of", "score", "habits"],
            orient="row",
        ),
        windows=windows,
        tried=tuple(tried),
        tried_misses=tuple(tried_misses),
        misses=misses,
        steps=steps,
        people=len(np.unique(who)),
        share=len(who) / max(1, sum(each.eligible for each in tried)),
        origins=len(tried),
        independent=independent,
        gap=float((plain["right"] - plain["promised"]).abs().mean()),  # type: ignore[arg-type]
        verdict=_worst(windows),
    )


def _sides(tried: Sequence[Tried], what: str, column: int, everyone: Mapping[str, Pair] | None) -> list[Pair]:
    """Promised and right (N,) at each window, of everybody at the published one if they are known."""
    sides = [each.of(what, column) for each in tried]
    return [everyone[what], *sides[1:]] if everyone and what in everyone else sides


def windows_of(sides: Sequence[Pair], independent: int, *, single: bool = True) -> Windows:
    """One promise at all windows; `single` as in `variance`."""
    means = [[float(side.mean()) for side in pair] for pair in sides]
    chance = np.array([variance(*pair, single=single) for pair in sides])
    promised, right = np.array(means).T
    return Windows(promised, right, chance, independent)


#: The columns of windows.
WINDOWS: dict[str, Any] = {
    "what": pl.String,
    "before": pl.Int64,
    "people": pl.Int64,
    **dict.fromkeys(("promised", "right", "chance", "counts"), pl.Float64),
    "verdict": pl.String,
    "lower": pl.Float64,
    "upper": pl.Float64,
}


def by_window(
    tried: Sequence[Tried], column: int, independent: int, everyone: Mapping[str, Pair] | None = None
) -> pl.DataFrame:
    """A row for each promise and window, the published one first."""
    rows: list[tuple[Any, ...]] = []
    for what in (*BACKTESTED, ADDED, VISITED, *TESTS):
        sides = _sides(tried, what, column, everyone)
        if not all(len(said) for said, _ in sides):
            continue
        found = windows_of(sides, independent, single=what in (*BACKTESTED, *TESTS))
        for k, each in enumerate(tried):
            numbers = (float(found.promised[k]), float(found.right[k]), found.by_chance(k), float(found.weights[k]))
            judged = (None, None, None) if k else (found.verdict, *(found.expected() or (None, None)))
            rows.append((what, each.before, len(sides[k][0]), *numbers, *judged))
    return pl.DataFrame(rows, schema=WINDOWS, orient="row")


def _worst(windows: pl.DataFrame) -> Verdict:
    """The overall verdict: it fails with any attack or the gain from counts, and holds if the likeliest traces do."""
    found = dict(windows.drop_nulls("verdict").select("what", "verdict").iter_rows())
    if "did not come true" in [found.get(name) for name in (*BACKTESTED, ADDED)]:
        return "did not come true"
    return "came true" if {found[name] for name in PLAIN} == {"came true"} else "cannot be told"


def compared(found: Windows, promised: Floats) -> dict[str, float | str | None]:
    """A promise over all windows, and the verdict and departures of the published one, with `promised` (N,) there."""
    said, was = found.pooled
    ends = found.expected()
    lower, upper = ends or (None, None)
    people, covered = fives_below(len(promised)), found.covered()
    told = in_fives(float(found.right[0]), people)

    def needed(share: float) -> float:
        return least_departure(promised, share)

    def covering(share: float) -> float | None:
        if covered is None:
            return None
        return needed(min(float((promised > 0).mean()), max(share, float(promised.mean()) + covered, 0.0)))

    return {
        "promised": said,
        "right": was,
        "difference": was - said,
        "lower": lower,
        "upper": upper,
        "verdict": found.verdict,
        "nats": needed(float(found.right[0])),
        "nats_upper": covering(float(found.right[0])),
        "published_promised": float(found.promised[0]),
        "published_right": told,
        "told_nats": needed(told) if people else None,
        "told_nats_upper": covering(told) if people else None,
    }


def interval(values: Floats, origin: Ints, who: Ints, independent: int) -> tuple[float, float] | None:
    """An interval for the mean of values (N,) by origin and person; None without a second origin to tell drift by.

    People share common changes, so origins are drawn at random, and people within them. The mean has the variance `Σ w²
    τ²` for drift, and the variance of people besides. Here w are the origins' shares of the people, and τ² is the
    variance of their means beyond the people's own (DerSimonian and Laird 1986). The interval is Student's, with the
    degrees of freedom of both variances together (Satterthwaite 1946): few if drift decides.
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
    """The variance of origins' means beyond the variance of people within them, by the method of moments: τ²."""
    k = len(means)
    if spread <= 0:
        return float(means.var(ddof=1))
    total = int(counts.sum())
    middle = float(counts @ means) / total
    excess = float(counts @ (means - middle) ** 2) / spread - (k - 1)
    return max(0.0, excess * spread / (total - float((counts**2).sum()) / total))


def _by_promise(promised: Floats, right: Floats, origin: Ints, who: Ints, independent: int) -> pl.DataFrame:
    """Tenths of the promises of each attack, or fewer classes if people are few."""
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
