"""Tests by a score: some draws choose where a test says yes, and others score it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.audits.presence_crowd import Table
from passerby.audits.question_rows import FALSE, SURE
from passerby.mechanisms import Mechanism
from passerby.mechanisms.composition import grouped
from passerby.others.crowd import channel_of
from passerby.outcomes.stand_ins import stand_ins
from passerby.questions.laws import Law
from passerby.questions.laws import log_odds as log_odds_of
from passerby.support.statistics import share_limits

Floats = NDArray[np.float64]

#: False alarms that are as good as none.
LEAST = 1e-12


@dataclass(frozen=True)
class Scored:
    """What tests by a score achieve at least; `edges` are true and false positives of each, at once."""

    advantage: float
    power: float
    sure: float
    edges: tuple[tuple[float, float], ...]

    def repeated(self, times: int) -> float:
        """The advantage of a test that says yes where any of so many weeks, or all of them, are as telling."""
        gains = ((1 - wrong) ** times - (1 - true) ** times for true, wrong in self.edges)
        every = (true**times - wrong**times for true, wrong in self.edges)
        return max(0.0, *gains, *every)


def tested(choosing: Sequence[Floats], scoring: Sequence[Floats], level: float, log_odds: float) -> Scored:
    """What tests by a score achieve at least: the advantage, the power at the share of false alarms, and who is sure.

    Scores are of draws where the event holds, and where it does not. Of the tests that say yes from a score on, the
    advantage has the one from likelier than not on. For the others, some draws choose, and other draws score the one
    that is chosen: the best of several scores would be that of somebody who knows more. A test with too many false
    alarms is mixed with one that never says yes. How often somebody is sure follows from the true positives less so
    many times the false ones (`Law.surely`).
    """
    doubt, dear = 1 - (1 - level) / 2, math.exp(min(700.0, log_odds_of(SURE) - log_odds))
    gains: list[Callable[[Floats, Floats], Floats]] = [
        lambda true, wrong: true - wrong,
        lambda true, wrong: true * np.minimum(1.0, FALSE / wrong),
        lambda true, wrong: true - dear * wrong,
    ]
    edges = np.unique(choosing[0])
    yes, no = (len(side) - np.searchsorted(np.sort(side), edges, side="left") for side in choosing)
    # As many false alarms as the others may turn out to have at most.
    true, wrong = yes / len(choosing[0]), _at_most(no / len(choosing[1]), len(scoring[1]), doubt)
    ends, limits = list[float](), list[tuple[float, float]]()
    for gain, usual in zip(gains, (0.0, None, None), strict=True):
        edge = edges[int(np.argmax(gain(true, wrong)))] if usual is None else usual
        found, alarms = (side >= edge for side in scoring)
        least, most = share_limits(found, doubt)[0], share_limits(alarms, doubt)[1]
        ends.append(float(gain(np.array(least), np.array(max(most, LEAST)))))
        all_at_once = 1 - (1 - doubt) / len(gains)
        limits.append((share_limits(found, all_at_once)[0], share_limits(alarms, all_at_once)[1]))
    return Scored(max(0.0, ends[0]), ends[1], max(0.0, ends[2]), tuple(limits))


def _at_most(share: Floats, draws: int, confidence: float) -> Floats:
    """About what the limit of a share is for so many draws: only a choice depends on it."""
    doubt = -math.log(1 - confidence) / max(1, draws)
    return share + doubt + np.sqrt(doubt * (doubt + 2 * share))


def measures(laws: Sequence[Law], odds: float) -> tuple[float, float, float]:
    """The most evidence of single counts: the advantage, the power, and the least frequency of being sure."""
    return (
        max((law.advantage for law in laws), default=0.0),
        max((law.power(FALSE) for law in laws), default=FALSE),
        max((law.surely(SURE, odds) for law in laws), default=0.0),
    )


def shifted(table: Table, cell: int, share: float, size: int) -> Law:
    """The law of a raw count: in a share of the cases, the person and their companions are counted as well."""
    chances = table.chances[cell]
    absent, present = np.append(chances, np.zeros(size)), np.append(np.zeros(size), chances)
    return Law(share * present + (1 - share) * absent, absent)


def single_law(way: Mechanism, table: Table, cell: int, known: int, share: float, size: int) -> Law | None:
    """The same for a count under a mechanism, or a slightly less informative law; None if it cannot be found."""
    least, chances = table.at(cell)
    channel = channel_of(way, (known + least, chances))
    pair = stand_ins(grouped(channel.mechanism, channel.others, size), channel.others)
    if pair is None:
        return None
    absent, present = pair[0].T
    return Law(share * present + (1 - share) * absent, absent)
