"""The assumptions, and the limits of the audit: the same in each report."""

from __future__ import annotations

from passerby.report.evidence import Evidence
from passerby.report.section import Content, Section

LEAD = "The numbers are about the questions above and two adversaries. They are a measurement, not a guarantee."
LIMITS = [
    "Unless a section says otherwise, the adversary is an insider, who knows where everybody else was, and the habits "
    "of the person. A raw count then tells them whether the person was there. The second adversary of the first "
    "sections, an acquaintance, knows habits alone; whoever knows where some of the others were is between the two.",
    "Nobody is bounded here who knows more of the person than habits, unless a section says so: {knows}.",
    "Habits are where a person goes next, given where they are (and the hour or weekday, if so set). They are taken "
    "from the steps before those that are published, and are treated as the truth.",
    "{moves}",
    "Each section answers one question. A whole trace that is hard to name says nothing of a single visit: that is "
    "what the first section is about, for counted places alone.",
    "That a test finds hardly anybody is true on average over people who may well be there, and over what may be "
    "published. A rare series of counts may still tell of one person.",
    "Other data that are published about the same people, now or later, are not considered; passerby together looks at "
    "several tables at once.",
    "A person is at one place in a step. Other steps and other places would give other numbers.",
]


#: Somebody who knows more than habits, and how people move: each by themselves, and in groups.
KNOWS = (
    "a colleague who saw them at some steps, or family who move with them",
    "a colleague who saw them at some steps, or a member of their own group",
)
MOVES = (
    "People are taken to move independently of each other.",
    "A person and {others} others are taken to move as one. All other people are taken to move independently of each "
    "other.",
)


def build(evidence: Evidence) -> Content:
    """The sentences."""
    return Content([LEAD], points=points(evidence.release.size))


def points(size: int) -> list[str]:
    """The limits of an audit of people in groups of so many."""
    knows, moves = KNOWS[size > 1], MOVES[size > 1].format(others=size - 1)
    return [each.format(knows=knows, moves=moves) for each in LIMITS]


SECTION = Section("limits", "What is assumed, and what is not covered", build)
