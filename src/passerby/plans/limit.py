"""A limit on how exposed people may be, and whether a release keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from passerby.audits.question_words import check_words
from passerby.errors import InputError
from passerby.questions.question import Question
from passerby.support.checks import nearest, number, whole
from passerby.support.numbers import span
from passerby.support.rule_of_five import FEW

Floats = NDArray[np.float64]
Verdict = Literal["sure", "refused", "open"]
Side = Literal["above", "below", "unclear"]
#: The adversary: somebody with the others' places, or with their habits alone.
Against = Literal["insider", "habits"]
#: The limited number of an event: the advantage, the share found at 1 % false alarms, or how often it is 90 % likely.
Measure = Literal["advantage", "power", "certain"]
AGAINST: tuple[Against, ...] = ("insider", "habits")
#: The knowledge of these adversaries.
KNOWS: dict[Against, str] = {"insider": "where the others were", "habits": "the others by their habits"}
MEASURES: tuple[Measure, ...] = ("advantage", "power", "certain")

#: A chance may exceed a limit by this rounding and still keep it.
ROUNDING = 1e-12
#: Published levels of limits are multiples of this: no two of them are nearer to each other.
GRAIN = 0.005


@dataclass(frozen=True)
class About:
    """The subject of a limit: a question, the adversary, and the limited number of the answer."""

    question: str | Question
    against: Against
    measure: Measure
    #: Whether the limit is on the gain; of each step, this is the largest gain at one.
    added: bool = False

    @property
    def words(self) -> str:
        """The question, as it is asked or in a sentence."""
        return self.question if isinstance(self.question, str) else self.question.sentence

    @property
    def of_event(self) -> bool:
        """Whether the question is one of yes or no."""
        if isinstance(self.question, str):
            return not self.question.strip().startswith(("trace", "each-step"))
        return self.question.kind not in ("trace", "each_step")

    def __str__(self) -> str:
        what = {"advantage": "an advantage", "power": "a power at 1 % false alarms"}.get(self.measure, "a chance")
        sure = " to be found out with 90 % certainty" if self.measure == "certain" else ""
        name = what + sure if self.of_event else "a chance"
        return f"{name} ({self.words}, for somebody who knows {KNOWS[self.against]})"


@dataclass(frozen=True)
class Limit:
    """At most a `share` of people has a chance to be found `above` this, or has more than this `added` by the release.

    `added` is the chance with the release minus the baseline: 0.02 means two points. A share of 0 is a limit for
    everybody. With a `question`, in words or as a `Question`, the chance is the chance of its answer: of an event the
    one named by `measure`, and of each step the largest one. `against` is the adversary.

    >>> print(Limit(share=0.05, above=0.5))
    at most 5 % of people above a chance of 50 %
    >>> print(Limit(share=0.01, added=0.02))
    at most 1 % of people with more than 2 points added
    >>> print(Limit(share=0, above=0.1, question="visited:hospital 001"))
    nobody above an advantage of 10 % (visited:hospital 001, for somebody who knows where the others were)
    """

    share: float
    above: float | None = None
    added: float | None = None
    question: str | Question | None = None
    against: Against = "insider"
    measure: Measure = "advantage"

    def __post_init__(self) -> None:
        number(self.share, "Limit: share", 0.0, 1.0)
        if self.share == 1:
            raise InputError("Limit: share is 1; a limit that everybody may break is none, give a smaller share")
        if (self.above is None) == (self.added is None):
            raise InputError(
                f"Limit: above is {self.above!r} and added is {self.added!r}; give one of them: the chance that few "
                "people may exceed, or what the release may add to their chance"
            )
        name, level = ("above", self.above) if self.added is None else ("added", self.added)
        if number(level, f"Limit: {name}", 0.0, 1.0) == 1:
            raise InputError(f"Limit: {name} is 1, which no chance exceeds; give a smaller number")
        self._check_question()

    def _check_question(self) -> None:
        """Refuse anything but a question, and measures at odds with it."""
        for what, value, known in (("against", self.against, AGAINST), ("measure", self.measure, MEASURES)):
            if not isinstance(value, str) or value not in known:
                near = nearest(str(value), known)
                hint = f"; did you mean {near!r}?" if near else ""
                raise InputError(f"Limit: {what} is {value!r}; expected {' or '.join(map(repr, known))}{hint}")
        if self.question is None:
            if (self.against, self.measure) != ("insider", "advantage"):
                raise InputError("Limit: against and measure go with a question; name one, such as 'counted'")
            return
        if not isinstance(self.question, str | Question):
            raise InputError(f"Limit: question is {self.question!r}; expected words such as 'counted', or InData()")
        if isinstance(self.question, str):
            check_words(self.question)
        about = About(self.question, self.against, self.measure)
        if about.of_event and self.added is not None:
            raise InputError(
                f"Limit: added is for chances to be found; of {about.words!r} limit what is above: the advantage is "
                "what the release adds"
            )
        if not about.of_event and self.measure != "advantage":
            raise InputError(f"Limit: measure is {self.measure!r}, which {about.words!r} has none of; leave it out")

    @property
    def about(self) -> About | None:
        """What is asked; None for the trace, as the plan asks for it."""
        if self.question is None:
            return None
        return About(self.question, self.against, self.measure, self.added is not None)

    @property
    def level(self) -> float:
        """The level only few people may exceed."""
        return float(self.above if self.above is not None else self.added or 0.0)

    def allowed(self, people: int) -> int:
        """How many of so many people may be above.

        >>> Limit(share=0.05, above=0.5).allowed(100), Limit(share=0, above=0.9).allowed(100)
        (5, 0)
        """
        whole(people, "people", 0, 2**53)
        return int(np.floor(self.share * people * (1 + ROUNDING) + ROUNDING))

    def edges(self, people: int) -> tuple[int, int]:
        """The most people above for a sure release, and the most for a release not refused.

        Verdicts are told, and limits can be tried one after another. So a verdict only reveals the five of the number
        of people: 0 to 4, 5 to 9, and so on. The allowed number is taken for the last whole five for "sure", and for
        its own five for "refused". A limit with fewer than four allowed people is taken as it is.

        >>> Limit(share=0.08, above=0.5).edges(100), Limit(share=0.04, above=0.5).edges(100)
        ((4, 9), (4, 4))
        """
        allowed = self.allowed(people)
        if allowed < FEW - 1:
            return allowed, allowed
        return FEW * ((allowed + 1) // FEW) - 1, FEW * (allowed // FEW) + FEW - 1

    def ends(self, lower: Floats, upper: Floats, known: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """The two ends of the limited number, for each person, from the ends of loss and baseline (`known`)."""
        if self.added is None:
            return lower, upper
        return np.maximum(0.0, lower - known[1]), np.maximum(0.0, upper - known[0])

    def exceeded(self, values: Floats) -> NDArray[np.bool_]:
        """Whether each of them is above the limit."""
        return np.asarray(values > self.level + ROUNDING)

    def side(self, lower: float, upper: float, known: tuple[float, float]) -> Side:
        """A person's side of the limit: above it, below it, or unknown."""
        less, more = (lower, upper) if self.added is None else (lower - known[1], upper - known[0])
        return "above" if less > self.level + ROUNDING else "below" if more <= self.level + ROUNDING else "unclear"

    def __str__(self) -> str:
        who = f"at most {100 * self.share:g} % of people" if self.share else "nobody"
        if self.about is not None:
            return f"{who} {self.beyond}"
        if self.added is None:
            return f"{who} above a chance of {100 * self.level:g} %"
        return f"{who} {beyond(None, self.added)}"

    @property
    def beyond(self) -> str:
        """Where the people beyond the limit are, in words.

        >>> Limit(share=0, above=0.1, question="counted", against="habits", measure="power").beyond
        'above a power at 1 % false alarms of 10 % (counted, for somebody who knows the others by their habits)'
        """
        about = self.about
        if about is None:
            return beyond(self.above, self.added)
        name, _, more = str(about).partition(" (")
        if self.added is None:
            return f"above {name} of {100 * self.level:g} % ({more}"
        return f"{beyond(None, self.added)} ({more}"


def beyond(above: float | None, added: float | None) -> str:
    """Where the people beyond a limit are: above a chance, or with so much added.

    >>> beyond(0.5, None), beyond(None, 0.02)
    ('above 50 %', 'with more than 2 points added')
    """
    return f"above {100 * above:g} %" if above is not None else f"with more than {points(added or 0.0)} added"


def points(level: float) -> str:
    """A difference of chances, in points.

    >>> points(0.01), points(0.025)
    ('1 point', '2.5 points')
    """
    return f"{100 * level:g} point{'s' * (level != 0.01)}"


@dataclass(frozen=True)
class Decided:
    """Whether ends of a person's loss and baseline are enough for their side of every limit.

    With `how_far`, people above are measured as closely as requested, by `tolerance`.
    """

    limits: tuple[Limit, ...]
    tolerance: float
    how_far: bool = False

    def __call__(self, lower: float, upper: float, without: float, without_upper: float) -> bool:
        """For both ends of the loss, and of the baseline."""
        if upper <= lower * (1 + self.tolerance):
            return True
        sides = {limit.side(lower, upper, (without, without_upper)) for limit in self.limits}
        return "unclear" not in sides and not (self.how_far and "above" in sides)


@dataclass(frozen=True)
class Tally:
    """How many of the `people` a release puts above a limit: at least `surely`, at most `possibly`.

    If only some of the affected people were measured, both are estimates, and `least` and `most` are their confidence
    limits. If `everyone` was, these are the numbers themselves.
    """

    limit: Limit
    people: int
    surely: float
    possibly: float
    least: int
    most: int
    everyone: bool

    @property
    def verdict(self) -> Verdict:
        """Sure if at most the allowed number is possibly above; refused if more are surely; open otherwise.

        The verdict is in fives of people (`Limit.edges`), so it reveals no more than the numbers beside it.
        """
        kept, broken = self.limit.edges(self.people)
        return "sure" if self.most <= kept else "refused" if self.least > broken else "open"

    def __str__(self) -> str:
        shares = span(self.surely / self.people, self.possibly / self.people)
        return f"{shares} of people {self.limit.beyond}"


def counted(limit: Limit, lower: Floats, upper: Floats, known: tuple[Floats, Floats]) -> Tally:
    """The tally of a group, all of it measured.

    >>> ends = np.array([0.2, 0.6, 0.7]), np.array([0.3, 0.8, 0.9]), (np.zeros(3), np.zeros(3))
    >>> counted(Limit(share=0.5, above=0.65), *ends).verdict
    'open'
    """
    low, high = (int(limit.exceeded(end).sum()) for end in limit.ends(lower, upper, known))
    return Tally(limit, len(lower), low, high, low, high, True)


class Judged(Protocol):
    """Anything with a verdict."""

    @property
    def verdict(self) -> Verdict:
        """Whether a limit is kept."""


def joint(tallies: Sequence[Judged]) -> Verdict:
    """Whether all limits are kept: sure if each is, refused if one is."""
    found = {tally.verdict for tally in tallies}
    return "refused" if "refused" in found else "open" if "open" in found else "sure"


def least_added(limits: Sequence[Limit]) -> float | None:
    """The least gain allowed by a limit; None without such a limit, or if no gain is allowed.

    >>> least_added([Limit(share=0.01, added=0.02), Limit(share=0.05, above=0.5)])
    0.02
    """
    return min((limit.added for limit in limits if limit.added and limit.about is None), default=None)


def check_limits(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """The limits, if there are any and no two of them allow different shares of the same people."""
    if isinstance(limits, Limit):
        limits = [limits]
    if not isinstance(limits, Sequence) or not limits or not all(isinstance(limit, Limit) for limit in limits):
        raise InputError(f"limits: expected one or more, such as [Limit(share=0.05, above=0.5)]; got {limits!r}")
    seen: dict[tuple[object, ...], Limit] = {}
    for limit in limits:
        other = seen.setdefault((limit.above, limit.added, limit.about), limit)
        if other.share != limit.share:
            raise InputError(
                f"limits: {other} contradicts {limit}; both are about the same people, so give the one that you mean"
            )
    return tuple(seen.values())


def check_told(limits: Sequence[Limit]) -> tuple[Limit, ...]:
    """The limits, if their successive verdicts keep to groups of people.

    Verdicts by nearly equal limits reveal people with a chance between them.
    """
    for limit in check_limits(limits):
        name, level = ("above", limit.above) if limit.added is None else ("added", limit.added)
        near = GRAIN * round((level or 0.0) / GRAIN)
        if abs(near - (level or 0.0)) > ROUNDING:
            raise InputError(
                f"limits: {name} is {level!r}; limits are told in steps of half a point ({GRAIN}), since finer "
                f"ones tell by their verdicts whose chance lies between them; give {min(near, 1 - GRAIN) or GRAIN:g}"
            )
    return check_limits(limits)


#: The confidence of statements about everyone from a sample of people.
CONFIDENCE = 0.99
