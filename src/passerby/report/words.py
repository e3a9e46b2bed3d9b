"""Words and columns shared by sections: mechanisms, lengths of time, shares, questions, and presence at places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from passerby.audits.record import Bracket, HourAnswer, PlaceAnswers, Statistics
from passerby.audits.summary import Above, Summary
from passerby.errors import PasserbyError
from passerby.mechanisms.registry import described, read_mechanism
from passerby.model.release import Release
from passerby.support.numbers import at_least, at_most, percent, span
from passerby.support.rule_of_five import FEW, rank_ranks
from passerby.visits.steps import parse_length

from .evidence import readable
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


INSIDER, HABITS = "insider", "habits"
#: The adversaries in words, by the names of `questions.profiles`.
WHO = {
    INSIDER: "an insider who knows where everybody else was",
    HABITS: "an acquaintance who knows everybody's habits alone",
}
#: The meaning of power, once and for all.
POWER = (
    "How many of 100 people who were there a test finds that wrongly accuses 1 of 100 who were not is the power of the "
    "test. A blind guess finds 1."
)
#: Shares of people found: from these on counts reveal somebody, or do so often; and at most so many are hardly any.
MOST, MANY, HARDLY = 0.5, 0.2, 0.05
#: The evidence of an exact count is certain for an adversary with the others' places; a smaller gap is rounding.
SURE = 1 - 1e-6
#: Whom exact counts tell all, which is said once.
WHOEVER, SURELY = "An insider, who knows where everybody else was,", "reads for certain"
#: How single counts are introduced, by the lead and by an alert.
HOURLY, SINGLE = "Hour by hour it differs", "Single counts give away"
#: The most places in a sentence.
NAMED = 3


@dataclass(frozen=True)
class Spot:
    """A counted place, and the success of each adversary there."""

    name: str
    label: str | None
    sensitive: bool
    insider: PlaceAnswers | None
    habits: PlaceAnswers | None

    @property
    def known(self) -> PlaceAnswers:
        """The remarks on the place, apart from any adversary."""
        one = self.habits or self.insider
        assert one
        return one

    @property
    def words(self) -> str:
        """The name, with the kind of place."""
        return f"{self.name} ({self.label})" if self.label else self.name

    @property
    def peak(self) -> HourAnswer | None:
        """The single count revealing most of the people ever at the place."""
        hours = self.habits.by_step if self.habits else []
        telling = [each for each in hours if each.telling and each.advantage >= MANY]
        return max(telling, key=lambda each: each.exposed, default=None)

    @property
    def worst(self) -> HourAnswer | None:
        """The single count that gives away most of whoever is in it, also where hardly anybody is."""
        hours = [each for each in (self.habits.by_step if self.habits else []) if each.share > 0]
        return max(hours, key=lambda each: each.advantage, default=None)

    def found(self, adversary: str) -> Bracket | None:
        """The share of the people there found by this adversary."""
        one = self.insider if adversary == INSIDER else self.habits
        return None if one is None else one.power


def spots(presence: Iterable[PlaceAnswers], called: Mapping[str, str] | None = None) -> list[Spot]:
    """The places: sensitive ones first, and of each kind the most telling ones first.

    `called` are names as a page shows them.
    """
    by_place: dict[str, dict[str, PlaceAnswers]] = {}
    for each in presence:
        by_place.setdefault(each.place, {})[each.adversary] = each
    names = dict(zip(by_place, readable([*by_place]), strict=True)) | dict(called or {})
    out = []
    for place, found in by_place.items():
        one = next(iter(found.values()))
        label = readable([one.label])[0] if one.label else None
        out.append(Spot(names[place], label, one.sensitive, found.get(INSIDER), found.get(HABITS)))
    return sorted(out, key=_rank)


def _rank(spot: Spot) -> tuple[bool, float, float, str]:
    power = spot.found(HABITS) or Bracket(lower=-1.0, upper=-1.0)
    return (not spot.sensitive, -power.lower, -power.upper, spot.name)


def of_hundred(found: Bracket) -> str:
    """Of 100 people, so many.

    >>> of_hundred(Bracket(lower=0.62, upper=0.8)), of_hundred(Bracket(lower=1.0, upper=1.0))
    ('62 to 80', '100')
    >>> of_hundred(Bracket(lower=0.01, upper=0.014)), of_hundred(Bracket(lower=0.997, upper=1.0))
    ('1', 'more than 99')
    """
    if 0.995 < found.lower < SURE:
        return "more than 99"
    return span(found.lower, found.upper, _number)


def _number(value: float) -> str:
    if 0 < value < 0.005:
        return "fewer than 1"
    return "more than 99" if 0.995 < value < SURE else f"{100 * value:.0f}"


def _verdict(spot: Spot) -> str:
    """The effect of the counts there, by the sure finds and by their upper bound."""
    power = spot.found(HABITS)
    assert power
    assert spot.habits
    sure = spot.habits.certain
    if power.lower >= MOST or (sure and sure.lower >= MOST):
        return "give away who was"
    if power.lower >= MANY:
        return "give away many of those who were"
    if power.upper <= HARDLY:
        peak = spot.peak
        return f"tell hardly anything{' on average' * bool(peak and peak.advantage >= MOST)} of who was"
    return "tell something of who was" if power.upper < MOST else "may give away who was"


def lead(summary: Summary, called: Mapping[str, str] | None = None) -> list[str]:
    """The first words of a page: on sensitive places, or else on the most telling one, and on the insider.

    `called` are names of places as a page shows them.
    """
    every = spots(summary.presence, called)
    if not every:
        return [
            "Whether it can be told that somebody was at a place was not measured here: what follows is about whole "
            "traces, and a count may tell for certain that somebody was there all the same."
        ]
    told = [spot for spot in every if spot.found(HABITS)]
    chosen = [spot for spot in told if spot.sensitive][:NAMED] or told[:1]
    out = [*map(_of_spot, chosen), *_of_hours(chosen, [spot for spot in told if spot not in chosen])]
    unsaid = [spot.words for spot in every if spot.sensitive and not spot.found(HABITS)]
    if unsaid:
        out.append(
            f"What the counts tell of {_listed(unsaid)} is not said: whether they were there is open for {few()} "
            "people of the sample. That does not make it harmless."
        )
    elif not told:
        out.append(
            f"What the counts tell of who was where is not said: of each counted place, whether they were there is "
            f"open for {few()} people of the sample. That does not make it harmless."
        )
    return [*out, *of_insider(every)]


def _of_spot(spot: Spot) -> str:
    """One place, for somebody with the others' habits only."""
    power, habits = spot.found(HABITS), spot.habits
    assert power
    assert habits
    certain = habits.certain
    more = (
        ""
        if certain is None
        else f" For {of_hundred(certain)} of 100 for whom it was less likely before, it becomes at least 90 % likely "
        "that they were there."
    )
    said = (
        f"The counts {_verdict(spot)} at {spot.words}, where {_were(habits)}. Of 100 people who were there, "
        f"{WHO[HABITS]} finds {of_hundred(power)}, wrongly accusing 1 of 100 who were not."
    )
    return f"{said}{more}"


def _of_hours(chosen: Sequence[Spot], others: Sequence[Spot]) -> list[str]:
    """Very telling single counts, of all places in one sentence: a mean over the day hides them.

    Places named before are included, unless the whole day reveals most; others, if half or more are found.
    """
    named = [(spot, spot.peak) for spot in chosen if spot.peak and _bare(spot) < MOST]
    more = [(spot, spot.peak) for spot in others if spot.peak and spot.peak.advantage >= MOST]
    every = [*named, *sorted(more, key=lambda each: -each[1].exposed)]
    if not every:
        return []
    said = [f"{100 * peak.advantage:.0f} at {spot.words} {peak.when}{_worst(spot, peak)}" for spot, peak in every]
    return [f"{HOURLY}. Of 100 people who are in one count, that count alone gives away about {_listed(said)}."]


def _worst(spot: Spot, peak: HourAnswer) -> str:
    """The count that gives away most of whoever is in it, if it is another one."""
    worst = spot.worst
    if worst is None or f"{worst.advantage:.2f}" <= f"{peak.advantage:.2f}":
        return ""
    return f" (up to {100 * worst.advantage:.0f} {worst.when}, for whoever is there then)"


def in_groups(size: int) -> str:
    """What is assumed of others where people move as one."""
    return (
        f"It is asked of each member of a group of {size} who move as one. All other people are taken to move each by "
        "themselves. If they move in groups, too, their numbers vary in another way, and what is said of somebody who "
        "knows only their habits may be wrong, in either direction."
    )


def _bare(spot: Spot) -> float:
    power = spot.found(HABITS)
    return power.lower if power else 0.0


def _were(found: PlaceAnswers) -> str:
    if found.visitors is None:
        return f"{few()} people were"
    return f"at least {found.visitors:,} people were" if found.visitors else "nobody was"


def of_insider(every: list[Spot]) -> list[str]:
    """The insider's view of the counts: stated once for all places."""
    found = [spot.insider for spot in every if spot.insider is not None and spot.insider.advantage is not None]
    powers = [each.power for each in found if each.power is not None]
    if not powers:
        return []
    exact = [each for each in found if each.advantage and each.advantage.lower >= SURE]
    if len(exact) == len(found):
        where = "every counted place" if len(found) == len(every) else "every counted place of which it can be told"
        return [f"{WHOEVER} {SURELY} from these counts who was there, at {where}."]
    least, most = min(powers, key=lambda each: each.lower), max(powers, key=lambda each: each.upper)
    whole = Bracket(lower=least.lower, upper=most.upper)
    some = f" For {len(exact):,} of {len(found):,} places they tell it for certain." if exact else ""
    between = "" if len(found) == 1 else ", depending on the place"
    return [
        f"{WHOEVER} finds {of_hundred(whole)} of 100 people who were there{between}, wrongly accusing 1 of 100 who "
        f"were not.{some}"
    ]


def _listed(names: list[str]) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def visitors(found: PlaceAnswers) -> str:
    """How many people were really there.

    >>> from passerby.audits.record import PlaceAnswers
    >>> of = PlaceAnswers.model_construct
    >>> visitors(of(visitors=12)), visitors(of(visitors=None)), visitors(of(visitors=0))
    ('at least 12', 'fewer than 5', '0')
    """
    if found.visitors is None:
        return f"fewer than {FEW}"
    return f"at least {found.visitors:,}" if found.visitors else "0"
