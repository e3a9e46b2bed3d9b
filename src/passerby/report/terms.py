"""Words and columns shared by sections: mechanisms, lengths of time, shares, small groups, and questions."""

from __future__ import annotations

from contextlib import suppress

from passerby.audits.record import Statistics
from passerby.audits.shares import Above
from passerby.errors import PasserbyError
from passerby.mechanisms.registry import described, read_mechanism
from passerby.model.release import Release
from passerby.support.numbers import at_least, at_most, percent, span
from passerby.support.rule_of_five import FEW, rank_ranks
from passerby.visits.steps import parse_length

from .section import Columns

#: The columns of a table comparing the chances with the release and without it.
WITH_IT: Columns = {
    "baseline": ("without the release", percent),
    "lower": ("with it: best attack found", percent),
    "upper": ("with it: bound if the habits are right", percent),
}


def question(misses: int, steps: int) -> str:
    """What the adversary is to name.

    >>> question(0, 4), question(1, 4)
    ('where a person was at all 4 steps', 'where a person was at 3 or more of the 4 steps')
    """
    if not misses:
        return f"where a person was at all {steps} steps"
    return f"where a person was at {steps - misses} or more of the {steps} steps"


def has_half(people: int) -> bool:
    """Whether the median of so many is one half's; of few people it is everybody's mean (`middle_ranks`).

    >>> has_half(14), has_half(15)
    (False, True)
    """
    return rank_ranks(people, 0.5) is not None


def tail(statistics: Statistics) -> tuple[str, float] | None:
    """The people behind the highest shown number, and this number; None if people are too few."""
    if statistics.percentile_95 is not None:
        return "one person in twenty", statistics.percentile_95
    return None if statistics.reached_by_five is None else ("five people", statistics.reached_by_five)


def level(value: float) -> str:
    """A chosen share, without spurious digits.

    >>> level(0.05), level(0.5)
    ('5 %', '50 %')
    """
    return f"{100 * value:g} %"


def share_of_people(value: float | None) -> str:
    """A share of people; of small groups, none is told."""
    return "not told" if value is None else percent(value)


def span_of_people(low: float | None, high: float | None) -> str:
    """The share of people between two ends, as far as they are told.

    >>> span_of_people(0.25, 0.5), span_of_people(None, 0.5), span_of_people(0.25, None), span_of_people(None, None)
    ('25 % to 50 %', 'at most 50 %', 'at least 25 %', 'not told')
    """
    if low is not None and high is not None:
        return span(low, high)
    if low is None and high is None:
        return "not told"
    return at_least(low) if low is not None else at_most(high or 0.0)


def often_found(above: Above) -> str:
    """The share of the people above a threshold with the release and without it, and the withheld parts.

    >>> often_found(Above(threshold=0.5, baseline=0.1, loss_lower=0.25, loss_upper=0.25))
    '25 % of the people with the release, 10 % without it.'
    >>> often_found(Above(threshold=0.5, baseline=None, loss_lower=0.25, loss_upper=None))
    'at least 25 % of the people with the release. The share without it would tell of fewer than 5 people.'
    """
    found, known = (above.loss_lower, above.loss_upper), above.baseline
    hidden = f"would tell of {few()} people."
    if found == (None, None):
        return f"{percent(known)} of the people without the release. The share with it {hidden}"
    said = f"{span_of_people(*found)} of the people with the release"
    return f"{said}. The share without it {hidden}" if known is None else f"{said}, {percent(known)} without it."


def few() -> str:
    """The words for a small group."""
    return f"fewer than {FEW}"


def group(people: int) -> str:
    """The size of a group in a summary; smaller ones are stated as `FEW`.

    >>> group(5), group(1200), group(0)
    ('5 or fewer', '1,200', '0')
    """
    return f"{people} or fewer" if people == FEW else f"{people:,}"


def mechanism(name: str) -> str:
    """A mechanism in words, from its name in code; several have a semicolon between.

    >>> mechanism("Gaussian(sigma=2.0)"), mechanism("Mine(x=1)")
    ('counts with normal noise of standard deviation 2', 'Mine(x=1)')
    >>> mechanism("Then(Suppression(below=10), Rounding(base=5))")
    'counts, but those below 10 left empty, then counts rounded to multiples of 5'
    """
    return "; or ".join(_described(each) for each in name.split("; "))


def _described(name: str) -> str:
    with suppress(PasserbyError):
        return described(read_mechanism(name))
    return name


def length(window: str) -> str:
    """The length of a step in words.

    >>> length("1h"), length("20d"), length("90m"), length("90s")
    ('1 hour', '20 days', '90 minutes', '90 seconds')
    """
    seconds = parse_length(window).total_seconds()
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds % size == 0:
            count = int(seconds // size)
            return f"{count:,} {unit}{'s' * (count != 1)}"
    return f"{seconds:g} seconds"


def of_a_crowd(release: Release, what: str) -> list[str]:
    """The caveat on figures without the dependence between numbers of others, if it applies."""
    if release.independent:
        return []
    return [
        f"The adversary knows the others by their habits only. {what} for independent of each other, which they are "
        "not, since the same people are in several counts: these figures are estimates, and may be too high or too low."
    ]
