"""The summary of questions about people: means over them, and evidence on presence at a place.

Every number rests on at least five people. Places are counted places and zones; groups of one to four are not told.
"""

from __future__ import annotations

from pydantic import Field

from .record import Ends, Record, Statistics

#: A single count is worth a sentence if it has so large a share of all people ever at the place.
OFTEN = 0.05


class Bracket(Record):
    """Means over people of both ends."""

    lower: float
    upper: float


class StepAnswer(Record):
    """The chance of the best guess of one step, over people."""

    step: int = Field(description="The number of a published step, from 0.")
    lower: float
    upper: float
    baseline: float = Field(description="That chance without the release.")


class PartAnswer(Record):
    """Whether people are counted at all, of those who are counted or of those who hardly ever are."""

    counted: bool = Field(description="Whether these are the people who are counted.")
    people: int = Field(description="How many of those it is open for: in fives, or the rest of them.")
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
