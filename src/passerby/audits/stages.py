"""The progress of a long work: its stage, and the finished part of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from passerby.support.workers import Progress, silent

#: The callback gets the name of a stage, the finished amount, and the whole (0 if unknown).
Tell = Callable[[str, int, int], None]

#: The stages of an audit.
READING = "Reading the visits"
FITTING = "Fitting everyone's habits"
AUDITING = "Auditing people"
ASKING = "Asking other questions of people"
PRESENCE = "Asking who can be told to have been where"
TRYING = "Trying out sensors and steps"
COMPARING = "Trying out noise and rounding"
GOING_BACK = "Trying habits on earlier steps"
OTHERS = "Trying other adversaries"
KNOWING = "Asking what knowing some of the others adds"
WRITING = "Writing the report"
TIMING = "Timing a handful of people"
TIMING_TRIALS = "Timing a few trials"
TIMING_BACKTEST = "Timing habits on earlier steps"
TIMING_ADVERSARIES = "Timing other adversaries"


def begin(tell: Tell | None, stage: str) -> Progress:
    """Announce a stage; the returned function reports its progress.

    >>> progress = begin(print, "Auditing people")
    Auditing people 0 0
    >>> progress(3, 8)
    Auditing people 3 8
    """
    if tell is None:
        return silent
    tell(stage, 0, 0)
    return partial(tell, stage)
