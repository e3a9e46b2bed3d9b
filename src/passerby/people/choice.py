"""The choice of habits: the member of the family with the highest likelihood of later fitted stretches of everybody.

The first chosen part is the chain of people who do as usual. All members share one set of weights of modes for this;
the weights are then fitted to the best member, and the choice is made once more. The modes are chosen next: none, the
same for everybody, or by knowledge of a person. Their weights are fitted to one half of the people and tried on the
other, both ways round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.support.rule_of_five import FEW

from .evidence import Evidence, Past
from .family import FIRST, NAMES, USUAL, Cycle, Floats, Flows, Grouping, Habits, Ints, Trim, fitted_weights, group_of
from .roles import law_weights

SMOOTHINGS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
BACKGROUNDS = (0.3, 1.0, 3.0, 10.0, 30.0)
SHARES = (0.0, 0.3, 0.6, 0.9, 1.0)
#: Choices of everybody's moves, and their share; with a share of 0 they do not matter. Moves by times of coming carry
#: the same knowledge of times as own frequencies do, and may take their place.
TAKEN: tuple[tuple[float, Flows], ...] = tuple(
    (share, flow)
    for share in SHARES
    for flow in get_args(Flows)
    if (share or flow == "places") and (share < 1 or flow == "times")
)
#: Rhythms in order of prior belief: weekends differ, unless the data say otherwise.
CYCLES: tuple[Cycle, ...] = ("none", "workday", "hour", "weekday")


@dataclass(frozen=True, eq=False)
class Choice:
    """The habits in use, and a score of each member of the family.

    `weights` (G, 4) are the weights of the modes, for each group of people. `scores` has a row for each member: its
    values and its `score`. The score is the mean log probability of a step, over stretches of `steps` later steps of
    `people` people; later origins count more than earlier ones. `by_modes` has the score of the chosen chain for each
    way to group weights. Both are empty if habits were given, or without data for a choice.
    """

    chosen: Habits
    weights: Floats = field(default_factory=USUAL.copy)
    scores: pl.DataFrame = field(default_factory=pl.DataFrame)
    by_modes: Mapping[Grouping, float] = field(default_factory=dict)
    steps: int = 0
    people: int = 0
    origins: int = 0

    def laws_of_coming(self, levels: int) -> Floats:
        """The weights of the laws of coming (2 + levels,)."""
        given = np.array(self.chosen.coming)
        return given / given.sum() if len(given) == 2 + levels else np.full(2 + levels, 1 / (2 + levels))

    def of(self, fitted: NDArray[np.int32], elsewhere: int) -> Floats:
        """The weights of modes (4,) of a person with the steps `fitted` (F,)."""
        group = 0 if len(self.weights) == 1 else group_of(fitted, elsewhere, self.chosen.modes)
        return np.asarray(self.weights[group])

    @property
    def gist(self) -> str:
        """The same in plain words: the habits, and the reasons for them."""
        why = "chosen because they foretold later steps of these people best" if self.scores.height else "as given"
        if not self.origins:
            why = "as given, or the usual ones"
        return f"{self.chosen.gist}; {why}"

    @property
    def words(self) -> str:
        """The choice and its reasons, in a few shareable sentences."""
        many = f"{self.people:,}" if self.people >= FEW else f"fewer than {FEW}"
        basis = f"stretches of {self.steps} later fitted steps of {many} people at {_origins(self.origins)}"
        habits = f"Habits: {self.chosen.words}"
        if not self.origins:
            why = "as given, or the usual ones for want of earlier steps to choose by"
            return f"{habits}; {why}. Everybody is taken to do as usual."
        if not self.scores.height:
            return f"{habits}; as given. {self._modes}, by {basis}."
        gains = [f"{words} {gain:.2f}" for words, gain in self.gains.items() if gain >= 0.005]
        return f"{habits}; of {self.scores.height:,} kinds they predicted {basis} best. {self._modes}." + (
            f" What is gained, in nats a step: {', '.join(gains)}." if gains else ""
        )

    @property
    def _modes(self) -> str:
        if self.chosen.modes == "none":
            return "Everybody is taken to do as usual"
        shares = (" / ".join(f"{100 * each:.0f}" for each in column) for column in self.weights.T)
        listed = ", ".join(f"{name} {share} %" for name, share in zip(NAMES, shares, strict=True))
        told = {"seen": " (seen in the last step / not)", "lately": " (seen in the last step / two before / earlier)"}
        return f"Modes{told.get(self.chosen.modes, '')}: {listed}"

    @property
    def gains(self) -> dict[str, float]:
        """The gain of each piece of the habits over the best habits without it, in nats a step."""
        best = float(self.scores["score"][0])
        without = {
            "a rhythm": pl.col("rhythm") == "none",
            "forgetting": pl.col("half_life").is_null(),
            "everybody's moves": pl.col("share") == 0,
            "leaving out steps": pl.col("trim") == "none",
            "roles of places": pl.col("flow") == "places",
            "times of coming": pl.col("flow") != "times",
        }
        found = {name: self.scores.filter(left)["score"] for name, left in without.items()}
        gained = {name: best - float(score[0]) for name, score in found.items() if len(score)}
        return {**gained, "modes": self.by_modes[self.chosen.modes] - self.by_modes["none"]}


def _origins(number: int) -> str:
    return "one origin" if number == 1 else f"{number} origins"


def choose(known: Past, levels: Mapping[Cycle, tuple[Ints, ...]]) -> Choice:
    """The member of the family with the highest probability of stretches of later fitted steps.

    `levels` are the cycles to try, with the parts of each step. Nothing is drawn at random.
    """
    found = {(cycle, trim): known.evidence(trim, parts) for cycle, parts in levels.items() for trim in known.trims()}
    count, everybody = known.count, known.groups("alike")
    coming = {key: law_weights(evidence.chosen, count) for key, evidence in found.items()}
    weights = FIRST[None]
    for _ in range(2):
        rows = [
            {**vars(habits), "score": score}
            for (cycle, trim), evidence in found.items()
            for habits, score in _tried(evidence, cycle, trim, weights[0], coming[cycle, trim], count)
        ]
        best = max(rows, key=lambda row: float(row["score"]))
        laws = coming[best["rhythm"], best["trim"]]
        logs = found[best["rhythm"], best["trim"]].logs(_member(best), laws)
        weights = fitted_weights(logs, everybody, count, "alike")
    each = {grouping: known.scores(logs, grouping) for grouping in get_args(Grouping)}
    by_modes = {grouping: known.mean(found) for grouping, found in each.items()}
    modes = max(by_modes, key=lambda name: by_modes[name])
    if not known.surely_better(each[modes], each["none"]):
        modes = "none"
    scores = pl.DataFrame(rows, infer_schema_length=None).drop("modes", "start", "coming", "common")
    scores = scores.sort("score", descending=True, maintain_order=True)
    weights = fitted_weights(logs, known.groups(modes), count, modes)
    if (weights[:, 1:] == 0.0).all():
        modes, weights = "none", USUAL
    chosen = replace(_member(best), modes=modes, coming=tuple(laws.tolist()) if best["flow"] == "times" else ())
    return Choice(chosen, weights, scores, by_modes, known.stretch, known.people, len(known.looked))


def weigh(known: Past, habits: Habits, levels: tuple[Ints, ...]) -> Choice:
    """Given habits, with the fitted weights of modes."""
    once = replace(known, lives=(habits.half_life,))
    logs = once.evidence(habits.trim, levels, (habits.carry,)).logs(habits)
    weights = fitted_weights(logs, known.groups(habits.modes), known.count, habits.modes)
    return Choice(habits, weights, steps=known.stretch, people=known.people, origins=len(known.looked))


def _tried(
    evidence: Evidence, cycle: Cycle, trim: Trim, weights: Floats, coming: Floats, count: Floats
) -> Iterator[tuple[Habits, float]]:
    """Members of the family with one cycle and trim, and their scores."""
    with np.errstate(divide="ignore"):
        first, *logs = np.log(weights)
    rest = np.logaddexp.reduce(evidence.others + np.array(logs), axis=1)
    steps = float(count.sum()) * evidence.b.shape[1]
    for half_life, background in product(evidence.lives, BACKGROUNDS):
        f = evidence.frequencies(half_life, background)
        for carry, smoothing, (share, flow) in product(evidence.carries, SMOOTHINGS, TAKEN):
            habits = Habits(smoothing, background, share, half_life, trim, "last", cycle, carry, flow=flow)
            total = float(np.logaddexp(evidence.usual(habits, coming, f) + first, rest) @ count)
            yield habits, (total - oddness(habits, evidence.lives)) / steps


def oddness(habits: Habits, lives: Sequence[float | None]) -> float:
    """The penalty for distance from the middle of the grid, in nats over all steps: it decides if people are few.

    It is the squared number of steps on the grid. A normal law with a standard deviation of one step would ask for half
    of this; but each person is seen from several origins, so a step counts half.
    """
    apart = [
        SMOOTHINGS.index(habits.smoothing) - SMOOTHINGS.index(3.0),
        BACKGROUNDS.index(habits.background) - BACKGROUNDS.index(3.0),
        SHARES.index(habits.share) - SHARES.index(0.3),
        lives.index(habits.half_life) - 1,
        habits.trim != "before",
        get_args(Flows).index(habits.flow),
        CYCLES.index(habits.rhythm),
    ]
    return float(sum(each * each for each in apart))


def _member(row: Mapping[str, Any]) -> Habits:
    return Habits(**{each.name: row[each.name] for each in fields(Habits)})
