"""Findings of methods, one record for each, and all knowledge from them so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from passerby.errors import Contradiction

#: A certain floor may exceed a certain ceiling by this share: sums of probabilities are rounded.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Interval:
    """Two numbers with a value between them."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Look:
    """The looks taken: so many published series (or stretches of all of them), and the effort of the search."""

    series: int = 0
    sampled: bool = False
    covered: float = 1.0
    nodes: int = 0
    operations: float = 0.0


@dataclass(frozen=True)
class Pooled:
    """One person's part in an average over people: the loss is between `lower` and `upper`, but for chance.

    If series were drawn, these are plain averages over the draws, without limits. `reach` is `w / sqrt(n)` for n
    independent draws of weight w. Chance cancels out over people, and the limits are for all of them together
    (`passerby.audits.results`). If nothing was drawn, both ends are certain, and `reach` is 0.
    """

    lower: float
    upper: float
    reach: float = 0.0


@dataclass(frozen=True)
class Finding:
    """One method's statement about the loss (or about the baseline: the success without the release).

    The loss is at least `floor` and at most `ceiling`: for certain if `level` is None, otherwise at this level of
    confidence. For an attack, `value` is its success, with its standard `error` (0 if it is exact). `guess` (T,) is its
    guess, if this is always the same. For a bound, `value` is not a number. A finding resting on a possibly false
    assumption names it in `assumes`, and decides nothing. `look` has the looks behind it, and `pooled` its statement on
    the loss without limits of its own.
    """

    name: str
    floor: float = 0.0
    ceiling: float = 1.0
    value: float = math.nan
    error: float = 0.0
    level: float | None = None
    guess: tuple[int, ...] | None = None
    assumes: frozenset[str] = frozenset()
    about: Literal["loss", "baseline"] = "loss"
    look: Look | None = None
    pooled: Pooled | None = None

    @property
    def attack(self) -> bool:
        """Whether it is an attack, and not a bound."""
        return not math.isnan(self.value)

    @property
    def certain(self) -> bool:
        """Whether it holds without a doubt, given the prior."""
        return self.level is None and not self.assumes


def exact(name: str, value: float, guess: tuple[int, ...] | None = None, look: Look | None = None) -> Finding:
    """An attack whose success is known exactly."""
    return Finding(name, floor=value, value=value, guess=guess, look=look)


def limit(name: str, ceiling: float, look: Look | None = None, level: float | None = None) -> Finding:
    """A bound: no guess succeeds more often."""
    return Finding(name, ceiling=min(1.0, ceiling), look=look, level=level)


class Known:
    """Findings in the order they came. `measure` adds to it; methods read it.

    On average over all that can be published, nobody does worse than without the release: with `unaided`, the floor of
    the baseline is one of the loss. A certain floor above a certain ceiling is an error of the package, and raises
    `Contradiction`. `answer` is how a method asks the same of another goal.
    """

    def __init__(self, unaided: bool = True, answer: Callable[[Any], Any] | None = None) -> None:
        self._unaided, self._answer = unaided, answer
        self._findings: list[Finding] = []
        self._by_name: dict[str, list[Finding]] = {}
        self.floor, self.ceiling = Finding("nothing"), Finding("nothing")
        self.baseline = Finding("baseline", about="baseline")

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._findings)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def answer(self, goal: Any) -> Any:
        """The answer to another goal, by all methods."""
        assert self._answer is not None, "whoever runs the methods says how to run all of them"
        return self._answer(goal)

    def add(self, finding: Finding) -> None:
        """Take a finding in; certain ends must fit the earlier certain ends."""
        self._findings.append(finding)
        self._by_name.setdefault(finding.name, []).append(finding)
        if finding.about == "baseline":
            refute(finding, finding)
            self.baseline = finding
        if not finding.certain or (finding.about == "baseline" and not self._unaided):
            return
        if finding.floor > self.floor.floor:
            self.floor = finding
        if finding.about == "loss" and finding.ceiling < self.ceiling.ceiling:
            self.ceiling = finding
        refute(self.floor, self.ceiling)

    def attack(self, name: str, sampled: bool = False) -> Finding | None:
        """The best of the attacks of this name: a certain one, or if `sampled` counts, the surer one."""
        found = [f for f in self._by_name.get(name, ()) if f.attack]
        if len(found) > 1 and not sampled:
            found = [f for f in found if f.level is None] or found
        return max(found, key=lambda f: f.floor, default=None)

    def bound(self, name: str, sampled: bool = False) -> Finding | None:
        """The smallest bound of this name, among the certain ones or, if `sampled` counts, among all."""
        found = [f for f in self._by_name.get(name, ()) if not f.attack and f.about == "loss"]
        if len(found) > 1 and not sampled:
            found = [f for f in found if f.level is None] or found
        return min(found, key=lambda f: f.ceiling, default=None)

    @property
    def spent(self) -> float:
        """Elementary operations of all searches so far."""
        looks = {id(f.look): f.look.operations for f in self._findings if f.look is not None}
        return sum(looks.values())


def refute(floor: Finding, ceiling: Finding) -> None:
    """Raise `Contradiction` if a floor is above a ceiling by more than rounding."""
    if floor.floor > ceiling.ceiling * (1 + ROUNDING):
        raise Contradiction(
            f"{floor.name} achieves {floor.floor!r} for certain, but {ceiling.name} says that nothing achieves more "
            f"than {ceiling.ceiling!r}: one of the two is wrong, so no interval is given. Please report this with the "
            "prior and the release"
        )
