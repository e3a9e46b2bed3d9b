"""What is assumed, and what is not covered: the same in each report."""

from __future__ import annotations

from passerby.report.evidence import Evidence
from passerby.report.section import Content, Section

LEAD = "The numbers are about a strong adversary and one question. They are a measurement, not a guarantee."
LIMITS = [
    "The adversary knows where everybody else was, and knows the habits of the person. A raw count then tells them "
    "whether the person was there. Real adversaries know less: the numbers are what to fear, not what to expect.",
    "Habits are where a person goes next, given where they are (and the hour or weekday, if so set). They are taken "
    "from the steps before those that are published, and are treated as the truth.",
    "People are taken to move independently of each other.",
    "The question is the whole trace, but for the allowed misses. A release with a small chance here may still tell "
    "that somebody was at one place once.",
    "Other data that are published about the same people, now or later, are not considered; passerby together looks at "
    "several tables at once.",
    "A person is at one place in a step. Other steps and other places would give other numbers.",
]


def build(_: Evidence) -> Content:
    """The sentences."""
    return Content([LEAD], points=LIMITS)


SECTION = Section("limits", "What is assumed, and what is not covered", build)
