"""The summary's part on habits: the outcomes of such predictions, and the success of other adversaries.

Every number rests on at least five people, and shares of people really found are in steps of five.

The summary of questions about people: means over them, and evidence on presence at a place.

Every number rests on at least five people. Places are counted places and zones; groups of one to four are not told.
"""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from .windows import CLOSE


class Record(BaseModel):
    """A part of `summary.json`, or of another file of results."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Statistics(Record):
    """Four numbers over all measured people, none of them the value of one person."""

    mean: float
    median: float = Field(description="Mean of the five people around the middle.")
    percentile_95: float | None = Field(
        description="The value that 5 % of the people exceed: mean of the five people around this rank; null where "
        "fewer than five are above them."
    )
    reached_by_five: float | None = Field(
        description="At least five people have this value or more: mean of the five people up to the fifth from above, "
        "rounded down to 0.01; null where fewer than five are below them."
    )


class Ends(Record):
    """Both ends of everybody's interval: the best attack found, and a bound on all if the habits are right."""

    lower: Statistics
    upper: Statistics


class Promise(Record):
    """What one attack promised with so many misses, and how many people it really found."""

    attack: str
    misses: int
    promised: float = Field(description="Mean chance to be found that the habits promised.")
    right: float = Field(description="Share of the people who were really found, in steps of five people.")
    lower: float | None = Field(
        description="Right minus promised that was to be expected at the published window, at least (90 %), by the "
        "earlier ones; null for one origin alone."
    )
    upper: float | None = Field(description="The same at most.")
    verdict: str = Field(description="Of the published window, as in `windows`.")
    published_promised: float | None = Field(
        default=None, description="What was promised for the published window, of which the verdict is."
    )
    published_right: float | None = Field(default=None, description="What was right there, in steps of five people.")
    nats: float | None = Field(
        description="The least departure of people from their habits, on average and in nats, that explains so many "
        "being found at the published window; null where none does."
    )
    nats_upper: float | None = Field(description="A departure that covers a window in 90 of 100 cases.")


class Window(Record):
    """What was promised for one window, and what was right: the published one, or one at an earlier origin."""

    what: str = Field(
        description="An attack; added: how many more the likeliest trace finds with the counts than without; visited: "
        "to be ever at a counted place, on average; visited test, counted test: to be found by a test of either."
    )
    steps_before: int = Field(description="How many steps it lies before the published ones; 0 for these.")
    people: int = Field(description="On how many people it rests, in fives, rounded down.")
    promised: float
    right: float = Field(description="What was right, in steps of five people.")
    chance: float = Field(description="How far both differ by chance alone, if habits are right (95 %).")
    counts: float = Field(description="What the window counts where windows are pooled.")
    lower: float | None = Field(
        description="Of the published window: right minus promised that was to be expected, at least (90 %), by the "
        "earlier ones; null for one origin alone, and for earlier windows."
    )
    upper: float | None = Field(description="The same at most.")
    verdict: str | None = Field(
        description="Of the published window. did not come true: promised and right differ by more than is close "
        f"({CLOSE:g} near one half, and less near 0 and 1), and by more than chance; came true: they are close, as was "
        "to be expected, and little else was; cannot be told: neither."
    )


class EventPromise(Record):
    """What was promised of an event at one origin, and what was really so."""

    event: str = Field(description="visited: to be ever at a counted place; counted: to be counted at all.")
    steps_before: int = Field(description="How many steps the origin lies before the published ones; 0 for these.")
    people: int = Field(description="On how many people it rests, in fives, rounded down.")
    places: int = Field(description="Counted places that are looked at.")
    promised: float | None = Field(description="Mean chance, over people and places, that habits promised.")
    right: float | None = Field(description="In what share of these it was really so, in steps of five people.")
    visitors: int | None = Field(description="People who were really at one of the places, in fives, rounded down.")
    tested: int = Field(description="People for whom it is so and who were looked for, in fives, rounded down.")
    power: float | None = Field(description="Mean share of them that a test at 1 % false alarms should find.")
    found: float | None = Field(description="The share of them that it found, in steps of five people.")


class Added(Record):
    """What counts add: how many more people are found with them than without, at the published window."""

    verdict: str
    sentence: str
    promised: float
    right: float = Field(description="In steps of five people.")


class Tested(Added):
    """What tests with 1 % of false alarms find, at the published window."""

    event: str = Field(description="visited: of those who were at a counted place; counted: of all who are counted.")


class Promises(Record):
    """People by what one attack promised for them, at the misses of the audit."""

    attack: str
    promised: float
    right: float = Field(description="Share of them who were really found, in steps of five people.")
    lower: float | None = Field(description="That share, at least (95 %); null for one origin alone.")
    upper: float | None = Field(description="That share, at most (95 %).")
    people: int


class Mean(Record):
    """Limits of the mean loss over all measured people together: chance cancels out over people.

    Much narrower than the means of everybody's own limits, wherever series were drawn.
    """

    lower: float
    upper: float
    confidence: float | None = Field(description="How sure both are together; null where nothing was drawn.")


class Robust(Record):
    """The mean upper end where people depart from their habits, on average over people."""

    nats: float = Field(description="The departure, in nats.")
    upper: float = Field(description="No attack has a mean chance above this.")


class Backtest(Record):
    """What habits promised at earlier origins, and what came true."""

    verdict: str = Field(
        description="Of the published window at the misses of the audit. did not come true: an attack, or what counts "
        "add, did not; came true: the likeliest traces did, with the counts and without; cannot be told: neither."
    )
    sentence: str
    too_low: bool = Field(description="Whether more people were found than promised, by more than is close.")
    origins: int = Field(description="Earlier steps from which on habits were tried.")
    independent: int = Field(description="Origins that the intervals count for: fewer where the steps after overlap.")
    people: int = Field(description="Different people on whom habits were tried, in fives, rounded down.")
    share: float = Field(description="Share of the people who were known well enough at an origin, to a hundredth.")
    gap: float = Field(description="Mean of |promised - right| over the attacks map and prior and all misses tried.")
    by_misses: list[Promise]
    by_promise: list[Promises]
    windows: list[Window] = Field(default=[], description="Each promise at each origin, the published window first.")
    about: str = Field(description="What the sentence is about: an attack, or added.")
    added: Added | None = Field(default=None, description="What counts add, at the published window.")
    events: list[EventPromise] = Field(
        default=[], description="Presence at counted places and being counted, at each origin."
    )
    tested: list[Tested] = Field(default=[], description="Tests of both, at the published window.")
    robust: Robust | None = Field(
        description="Under the least departure that explains the published window; null where no departure does."
    )
    robust_upper: Robust | None = Field(
        description="Under a departure that covers a window in 90 of 100 cases, and the published one."
    )


class Adversary(Record):
    """One kind of adversary, on some people."""

    adversary: str
    people: int
    baseline: float = Field(description="Mean chance to be found without the release.")
    lower: float = Field(description="Mean chance with the release, of the best attack found.")
    upper: float = Field(description="Mean chance with the release that no attack of this adversary exceeds.")
    least: float = Field(description="What the mean over all people is, at least (95 %).")
    most: float = Field(description="What the mean over all people is, at most (95 %).")
    right: float = Field(description="Share of the people who were really found, in steps of five people.")


#: A single count is worth a sentence if it has so large a share of all people ever at the place.
OFTEN = 0.05


class Bracket(Record):
    """Means over people of both ends."""

    lower: float
    upper: float


Means = TypeVar("Means", Bracket, Mean)


def with_some(others: Means, some: Means, weight: float) -> Means:
    """The means of others, with those of some who were rounded away, of this weight (`two_in_fives`)."""
    lower, upper = (
        weight * one + (1 - weight) * other for one, other in ((some.lower, others.lower), (some.upper, others.upper))
    )
    return others.model_copy(update={"lower": lower, "upper": max(lower, upper)})


class StepAnswer(Record):
    """The chance of the best guess of one step, over people."""

    step: int = Field(description="The number of a published step, from 0.")
    lower: float
    upper: float
    baseline: float = Field(description="That chance without the release.")


class PartAnswer(Record):
    """Whether people are counted at all, of those who are counted or of those who hardly ever are."""

    counted: bool = Field(description="Whether these are the people who are counted.")
    people: int = Field(
        description="How many of those it is open for: counted people in fives, rounded down, and the rest of them. "
        "The means of the rest are as if the counted people who were rounded away were among them."
    )
    advantage: Bracket
    power: Bracket


class WeekAnswer(Record):
    """The advantage where the same is published for so many weeks, in all of which it holds or in none."""

    weeks: int
    lower: float
    upper: float


class Answers(Record):
    """One question and one adversary, over people."""

    question: str = Field(description="The question in words, as it is asked in settings.")
    sentence: str = Field(description="The question in words, as it is read.")
    kind: str = Field(description="trace, event, in_data or each_step.")
    adversary: str = Field(description="insider: knows where everybody else was; habits: knows the others by habits.")
    people: int = Field(description="People who were asked about and have an answer. One to four are told as five.")
    open: int = Field(
        description="Of these, people for whom it is neither certain nor impossible; numbers are over them. One to "
        "four are told as five, and the others as so many less."
    )
    chance: Statistics | None = Field(default=None, description="Of events: their chance without the release.")
    loss: Ends | None = Field(
        default=None, description="Of guesses: their chance to be right; for each step, the mean over steps."
    )
    baseline: Ends | None = Field(default=None, description="The same without the release.")
    advantage: Ends | None = Field(
        default=None,
        description="Of events: the best test's true positives minus its false ones. Of guesses: what is added.",
    )
    power: Ends | None = Field(
        default=None, description="Of events: share found of those for whom it holds, at 1 % false alarms."
    )
    certain: Ends | None = Field(
        default=None, description="Of events: how often it becomes at least 90 % likely where it holds."
    )
    absent: Ends | None = Field(default=None, description="The same of its absence, where it does not hold.")
    year: Ends | None = Field(
        default=None, description="Of events: the advantage where the same is published 52 times, and habits are known."
    )
    weeks: list[WeekAnswer] = Field(
        default=[],
        description="Of events: means over people of the advantage after 1, 4, 12, 26 and 52 weeks, if habits are "
        "known.",
    )
    by_step: list[StepAnswer] = Field(default=[], description="For each step: means over people.")
    groups: list[PartAnswer] = Field(
        default=[],
        description="Of being counted at all: people who are counted, and then people who hardly ever are; none where "
        "either are one to four, or where nearly all is found of so few.",
    )


class ShareAnswers(Record):
    """One question to somebody who knows habits, and of the others where such a share of them was: means over some."""

    question: str = Field(description="counted, or visited and the place that tells most, as in settings.")
    place: str | None = Field(description="The place, if it is about one.")
    share: float = Field(description="The share of the others who are known: 0 knows habits alone, 1 is an insider.")
    people: int = Field(description="People of the sample, in fives, rounded down.")
    advantage: Bracket = Field(description="The best test's true positives minus its false ones.")
    power: Bracket = Field(description="Share found of those for whom it holds, at 1 % false alarms.")


class HourAnswer(Record):
    """A single count of a place, for somebody who knows the others by their habits."""

    step: int = Field(description="The number of a published step, from 0.")
    begins: str = Field(default="", description="When the step begins, on the clock.")
    people: float | None = Field(
        description="How many people are expected there by habits, in fives, rounded down; null below five."
    )
    advantage: float = Field(description="What this count alone tells of who is counted in it: at most so much.")
    share: float = Field(
        default=1.0, description="How likely somebody is in this count who is ever at the place, by habits."
    )

    @property
    def when(self) -> str:
        """When the count is made, in words.

        >>> HourAnswer(step=3, people=None, advantage=0.5, begins="03:00").when
        'at 03:00'
        """
        return f"at {self.begins}" if self.begins else f"in step {self.step + 1}"

    @property
    def telling(self) -> bool:
        """Whether it is of some people at the place: an hour with hardly anybody there exposes nobody."""
        return self.share >= OFTEN

    @property
    def exposed(self) -> float:
        """The share of all people ever at the place revealed by this count."""
        return self.advantage * self.share


class WayAnswer(Record):
    """Another way to publish the same counts of a place, for somebody who knows the others by their habits."""

    way: str = Field(description="The way in words.")
    advantage: float = Field(description="What the most telling single count tells, as a mean over people.")
    power: float | None = Field(
        default=None, description="Share found of those who were there, by that count alone, at 1 % false alarms."
    )
    day: Bracket | None = Field(
        default=None,
        description="The same by all counts together, as a mean over few people; null where that was not tried.",
    )
    day_people: int | None = Field(default=None, description="How many people `day` rests on, in fives, rounded down.")


class PlaceAnswers(Record):
    """Whether it can be told that somebody was at a counted place or zone, at any published step."""

    place: str
    label: str | None = Field(description="What a sensitive place is, as its file says.")
    sensitive: bool = Field(description="Whether it was named as a place that nobody wants to be seen at.")
    adversary: str = Field(description="insider: knows where everybody else was; habits: knows the others by habits.")
    people: int = Field(
        description="People of the sample who may well be there, and may well not: with a chance of 1 % to 99 %. "
        "Numbers are means over them, null where they are fewer than five. They are told in fives, rounded "
        "down, and one to four as five."
    )
    visitors: int | None = Field(
        description="How many of all people were really there in the published steps, in fives, rounded down; null "
        "where one to four were."
    )
    chance: float | None = Field(description="The chance to be there without the release.")
    advantage: Bracket | None = Field(description="The best test's true positives minus its false ones.")
    power: Bracket | None = Field(description="Share found of those who were there, at 1 % false alarms.")
    certain: Bracket | None = Field(
        description="How often it becomes at least 90 % likely for those who were there, of whom it was less likely "
        "before; null where these are fewer than five."
    )
    weeks: list[WeekAnswer] = Field(
        default=[],
        description="The advantage after 1, 4, 12, 26 and 52 weeks, of somebody who is there every week or never.",
    )
    by_step: list[HourAnswer] = Field(default=[], description="The single counts; of the adversary `habits` alone.")
    ways: list[WayAnswer] = Field(default=[], description="Ways to publish; of the adversary `habits` alone.")
