"""The published results on presence at counted places: means over five people or more, hours, ways, and alerts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import polars as pl
from numpy.typing import NDArray

from passerby.audits.presence_tests import shifted, single_law
from passerby.mechanisms import Gaussian, Mechanism, Raw, Rounding, Suppression, Then
from passerby.model.counts import Visitors
from passerby.model.release import Release
from passerby.others.counted import numbers
from passerby.people.habits import People
from passerby.questions.laws import Law
from passerby.support.numbers import percent
from passerby.support.rule_of_five import FEW, fives_below, rounded_down

from .presence import Watched
from .presence_crowd import Numbers
from .presence_habits import Beside, Person, cells
from .question_rows import FALSE, HABITS, INSIDER, SURE
from .question_summary import told_weeks
from .question_words import Zone
from .record import Bracket, HourAnswer, PlaceAnswers, WayAnswer

Floats = NDArray[np.float64]

#: Common ways to publish, by name. The first ones are rules: their values follow from the count.
RULES: dict[str, Mechanism] = {
    "raw": Raw(),
    "hidden below 5": Suppression(5),
    "hidden below 10": Suppression(10),
    "rounded to 5": Rounding(5),
    "rounded to 10": Rounding(10),
    "hidden to 7, then rounded to 5": Then(Suppression(8), Rounding(5)),
}
NOISE: dict[str, Mechanism] = {"noise 1": Gaussian(1.0), "noise 2": Gaussian(2.0)}
#: The most people of a place for single counts; fewer if this is slow.
LOOKED_AT, QUICKLY = 20, FEW
#: Noisy single counts in the reckoning: the most telling ones if they are raw.
CLOSELY = 3
#: The least share of found people among those there for an alert; and the same for sensitive places.
MUCH, SENSITIVE = 0.5, 0.2
#: Another way to publish tells clearly less with at most this share of what is told.
CLEARLY = 0.8
#: The most places in an alert.
NAMED = 5
#: An insider's success on an exact count, but for rounding; and nearly the success of a blind guess.
FOR_CERTAIN, NOTHING = 1 - 1e-6, 2 * FALSE


@dataclass(frozen=True)
class About:
    """The knowledge of the places themselves: labels of sensitive ones, and the people really there."""

    sensitive: Mapping[Zone, str | None]
    visitors: tuple[int, ...]

    @classmethod
    def of(cls, watched: Watched, release: Release, people: People, sensitive: Mapping[Zone, str | None]) -> About:
        """With the numbers of all people, also of people seen too seldom, if these are known."""
        steps = range(release.steps)
        if people.whereabouts is None:
            there = [int(np.isin(people.actual, zone).any(axis=1).sum()) for zone in watched.zones]
        else:
            counts = [Visitors(zone, steps) for zone in watched.zones]
            asked = Release(counts=counts, steps=release.steps)
            order = list(asked.listed)
            found = dict(zip(order, numbers(people, asked).tolist(), strict=True)) if counts else {}
            there = [int(found[next(each for each in order if each.zones == (zone,))]) for zone in watched.zones]
        return cls(sensitive, tuple(there))


def told_places(
    rows: pl.DataFrame,
    watched: Watched,
    about: About,
    adversary: str,
    hours: Mapping[str, list[HourAnswer]] | None = None,
    ways: Mapping[str, list[WayAnswer]] | None = None,
) -> list[PlaceAnswers]:
    """A record for each place, from the rows of one adversary."""
    own = rows.filter(pl.col("adversary") == adversary)
    out = []
    for name, zone, there in zip(watched.names, watched.zones, about.visitors, strict=True):
        open_ = own.filter((pl.col("place") == name) & pl.col("status").is_in(["ok", "wide"]))
        enough, unsure = open_.height >= FEW, _unsure(open_)
        out.append(
            PlaceAnswers(
                place=name,
                label=about.sensitive.get(zone),
                sensitive=zone in about.sensitive,
                adversary=adversary,
                people=fives_below(open_.height) if enough or not open_.height else FEW,
                visitors=fives_below(there) if there == 0 or there >= FEW else None,
                chance=_mean(open_, "chance") if enough else None,
                **{each: _bracket(open_, each) if enough else None for each in ("advantage", "power")},
                certain=_bracket(unsure, "certain") if unsure.height >= FEW else None,
                weeks=told_weeks(open_),
                by_step=(hours or {}).get(name, []) if enough else [],
                ways=(ways or {}).get(name, []) if enough else [],
            )
        )
    return out


def _unsure(rows: pl.DataFrame) -> pl.DataFrame:
    """The people who are uncertain before: of the others, presence is likely enough whatever is published."""
    return rows.filter(pl.col("chance") < SURE)


def _mean(rows: pl.DataFrame, column: str) -> float:
    return round(float(np.mean(rows[column].to_numpy())), 6)


def _bracket(rows: pl.DataFrame, name: str) -> Bracket:
    return Bracket(lower=_mean(rows, f"{name}_lower"), upper=_mean(rows, f"{name}_upper"))


def single_counts(
    people: Sequence[Person], zones: Sequence[Zone], everybody: Numbers, rest: NDArray[np.int64], release: Release
) -> tuple[list[HourAnswer], list[WayAnswer]]:
    """The single counts of one place: each hour as it is published, and the most telling one in each way to publish.

    `people` are some uncertain people, each with the place as `zones` over their own states.
    """
    if len(people) < FEW:
        return [], []
    inside = [c for c, (_, own, _) in enumerate(cells(people[0].release)) if set(own) <= set(zones[0])]
    if not inside:
        return [], []
    often = [_often(person, inside, zone) for person, zone in zip(people, zones, strict=True)]
    found = _hours(people, inside, everybody, rest, release)
    share = np.mean(often, axis=0).round(4).tolist()
    hours = [hour.model_copy(update={"share": share[at]}) for at, hour in found]
    return hours, list(_ways(people, inside, often))


def _often(person: Person, inside: list[int], zone: Zone) -> Floats:
    """The chance of being in each count (n,) for somebody ever at the place."""
    prior, steps = person.prior, person.release.steps
    away = ~np.isin(prior.place_of, zone)
    row = prior.initial * away
    for t in range(1, steps):
        row = (row @ prior.matrix(t - 1)) * away
    return np.minimum(person.chance[inside] / max(1e-12, 1 - float(row.sum())), 1.0)


def _hours(
    people: Sequence[Person], inside: list[int], everybody: Numbers, rest: NDArray[np.int64], release: Release
) -> list[tuple[int, HourAnswer]]:
    """The evidence of each count on the people in it: exactly the total variation between both laws."""
    plain = all(way.raw for way in people[0].ways)
    some = people if plain else people[:QUICKLY]
    out = []
    for at, c in enumerate(inside):
        laws = [_law(person.ways[c], person.beside, c, 1.0, release.size, plain) for person in some]
        least, chances = everybody.habits[c]
        there = float(rest[c]) + least + float(np.arange(len(chances)) @ chances)
        if all(law is not None for law in laws):
            told = float(np.mean([law.advantage for law in laws if law is not None]))
            step = int(people[0].columns[0][c])
            expected = fives_below(there) if there >= FEW else None
            out.append((at, HourAnswer(step=step, people=expected, advantage=round(told, 4))))
    return out


def _law(way: Mechanism, beside: Beside, cell: int, share: float, size: int, plain: bool) -> Law | None:
    if plain:
        return shifted(beside.habits, cell, share, size)
    return single_law(way, beside.habits, cell, int(beside.rest[cell]), share, size)


def _ways(people: Sequence[Person], inside: list[int], often: Sequence[Floats]) -> Iterator[WayAnswer]:
    """Means over people of the best test of the event by one count."""
    for name, rule in RULES.items():
        yield _way(name, [_best(_ruled(rule, *case)) for case in zip(people, repeat(inside), often, strict=False)])
    for name, noise in NOISE.items():
        some = list(zip(people, often, strict=True))[:QUICKLY]
        yield _way(name, [_best(_noisy(noise, person, inside, shares)) for person, shares in some])


def _ruled(rule: Mechanism, person: Person, inside: list[int], shares: Floats) -> Iterator[Law]:
    """The laws of counts under a deterministic rule."""
    for c, share in zip(inside, shares.tolist(), strict=True):
        law = shifted(person.beside.habits, c, share, person.size)
        counts = int(person.beside.rest[c]) + int(person.beside.habits.least[c]) + np.arange(len(law.no))
        values = np.nan_to_num(rule.sample(counts, np.random.default_rng(0)), nan=-1.0)
        _, number = np.unique(values, return_inverse=True)
        yes, no = (np.bincount(number.reshape(-1), weights=side).astype(np.float64) for side in (law.yes, law.no))
        yield Law(yes, no)


def _noisy(noise: Mechanism, person: Person, inside: list[int], shares: Floats) -> Iterator[Law]:
    """The laws of noisy counts: of the most telling ones if they are raw."""
    beside = person.beside
    raw = shares * [shifted(beside.habits, c, 1.0, person.size).advantage for c in inside]
    for k in np.argsort(-raw)[:CLOSELY].tolist():
        c = inside[k]
        law = single_law(noise, beside.habits, c, int(beside.rest[c]), float(shares[k]), person.size)
        if law is not None:
            yield law


def _best(found: Iterator[Law]) -> tuple[float, float]:
    """The largest advantage, and the largest power."""
    laws = list(found)
    return max((law.advantage for law in laws), default=0.0), max((law.power(FALSE) for law in laws), default=FALSE)


def _way(name: str, found: Sequence[tuple[float, float]]) -> WayAnswer:
    advantage, power = np.mean(found, axis=0).tolist()
    return WayAnswer(way=name, advantage=round(advantage, 4), power=round(power, 4))


def about_presence(places: Sequence[PlaceAnswers], few: Sequence[str] = ()) -> Iterator[str]:
    """The alerts of presence at counted places; `few` are places with evidence on fewer than five people.

    The adversary with the others' habits ranks places; about insiders there is one sentence.
    """
    telling = sorted(
        (each for each in places if each.adversary == HABITS and _found(each) >= _limit(each)),
        key=lambda each: (not each.sensitive, -_found(each)),
    )
    if telling:
        said = [f"{each.place} (at least {percent(rounded_down(_found(each)))})" for each in telling[:NAMED]]
        yield (
            f"Counts tell who was there, even to an acquaintance, who knows everybody's habits alone: "
            f"{_listed(said, len(telling))}. That is the share of those who were there who are found at 1 % false "
            "alarms, or of whom it becomes at least 90 % likely. Hide small counts, round them, add noise, or leave "
            "these places out."
        )
    yield from _about_hours([each for each in places if each.adversary == HABITS and each not in telling])
    perhaps = sorted(
        (each for each in places if each.adversary == HABITS and _found(each) < _limit(each) <= _perhaps(each)),
        key=lambda each: (not each.sensitive, -_perhaps(each)),
    )
    if perhaps:
        said = [f"{each.place} ({_both(_tested(each), _perhaps(each))})" for each in perhaps[:NAMED]]
        yield (
            "It is open how many of those who were there are found at 1 % false alarms by an acquaintance, who knows "
            f"everybody's habits alone: {_listed(said, len(perhaps))}."
        )
    if few:
        yield (
            "Fewer than five people may well be at "
            f"{_listed(list(few[:NAMED]), len(few))}, and the counts tell which of them were there, even to an "
            "acquaintance, who knows everybody's habits alone. Leave these places out, or hide small counts."
        )
    yield from _about_insiders([each for each in places if each.adversary == INSIDER and each.power is not None])


def _about_insiders(places: Sequence[PlaceAnswers]) -> Iterator[str]:
    """The success of an adversary with everybody else's places: all of an exact count, and some of others."""
    exact = [each for each in places if each.advantage is not None and each.advantage.lower >= FOR_CERTAIN]
    if exact:
        yield "An insider, who knows where everybody else was, reads from any exact count who was there."
    perhaps = sorted(
        (each for each in places if each not in exact and _perhaps(each) >= SENSITIVE),
        key=lambda each: (not each.sensitive, -_perhaps(each)),
    )
    if perhaps:
        ends = [f"{each.place} ({_ends(_tested(each), _perhaps(each))})" for each in perhaps[:NAMED]]
        yield (
            "Counts that are not exact still tell an insider, who knows where everybody else was, of some who were "
            f"there: {_listed(ends, len(perhaps))}. That is the share of those who were there who are found at 1 % "
            "false alarms. More noise, or coarser rounding, tells less."
        )
    yearly = [each for each in places if each not in exact and each.weeks and each.weeks[-1].upper >= _limit(each)]
    yearly.sort(key=lambda each: (not each.sensitive, -each.weeks[-1].upper))
    if yearly:
        ends = [f"{each.place} ({_ends(each.weeks[-1].lower, each.weeks[-1].upper)})" for each in yearly[:NAMED]]
        yield (
            "Week after week counts tell an insider more of somebody who is there every week or never: "
            f"{_listed(ends, len(yearly))}. That is the advantage after a year, if all weeks are like this one."
        )


def _ends(lower: float, upper: float) -> str:
    """Two ends in words; the lower one may be as good as nothing."""
    return f"up to {percent(upper)}" if lower <= NOTHING else _both(lower, upper)


def _both(lower: float, upper: float) -> str:
    """Two ends in words, or one number where they look the same."""
    low, high = percent(lower), percent(upper)
    return f"about {low}" if low == high else f"between {low} and {high}"


def _about_hours(places: Sequence[PlaceAnswers]) -> Iterator[str]:
    """The alert on revealing single counts: a mean over all people ever at the place may hide these.

    Of a place, the count revealing most of the people ever there is named, as by the first words of a page: at midnight
    an office is empty.
    """
    best = [(place, _peak(place)) for place in places if _severe(place)]
    best.sort(key=lambda each: (not each[0].sensitive, -each[1].exposed))
    if best:
        said = [
            f"{place.place} {hour.when} ({percent(hour.advantage)}, with {percent(hour.share)} of those who are ever "
            f"there){_other_hours(place, hour)}"
            for place, hour in best[:NAMED]
        ]
        yield (
            "Single counts give away who is in them, even to an acquaintance, who knows everybody's "
            f"habits alone: {_listed(said, len(best))}. In brackets is the advantage of one count, from 0 % "
            f"(tells nothing) to 100 % (tells for certain), and who may well be in it. {_advice(best)}"
        )


def _peak(place: PlaceAnswers) -> HourAnswer:
    """The count revealing most of the people ever at the place."""
    hours = [hour for hour in place.by_step if hour.telling and hour.advantage >= SENSITIVE]
    return max(hours, key=lambda hour: hour.exposed)


def _other_hours(place: PlaceAnswers, named: HourAnswer) -> str:
    """How many more hours give away who is in them, also where hardly anybody is, and the worst of them."""
    others = [hour for hour in place.by_step if hour.share > 0 and hour.advantage >= _limit(place) and hour != named]
    if not others:
        return ""
    worst = max(others, key=lambda hour: hour.advantage)
    more = f" and {len(others)} other hour{'s' * (len(others) != 1)}"
    return f"{more} (up to {percent(worst.advantage)} {worst.when})"


def _advice(best: Sequence[tuple[PlaceAnswers, HourAnswer]]) -> str:
    """The ways to publish with less told at all of these places, by one count and by all of a day where tried."""
    if not any(place.ways for place, _ in best):
        return "Leave such hours out."
    helpful = [{way.way for way in place.ways if _less(place, hour, way)} for place, hour in best]
    names = [way.way for way in best[0][0].ways if all(way.way in some for some in helpful)]
    if not names:
        return "None of the other ways to publish that were tried is sure to tell less there: leave such hours out."
    return f"Leave such hours out, or publish all counts in another way that tells less there: {'; or '.join(names)}."


def _less(place: PlaceAnswers, hour: HourAnswer, way: WayAnswer) -> bool:
    """Whether another way tells clearly less there: by the most telling count, and by both ends for a day."""
    raw = next((each.day for each in place.ways if each.way == "raw" and each.day is not None), None)
    ends = raw or place.power
    day = ends is None or way.day is None or (way.day.lower <= ends.lower and way.day.upper <= CLEARLY * ends.upper)
    return way.way != "raw" and way.advantage <= CLEARLY * hour.exposed and day


def _severe(place: PlaceAnswers) -> list[HourAnswer]:
    """The hours with strong evidence on people possibly in the count."""
    return [hour for hour in place.by_step if hour.telling and hour.advantage >= _limit(place)]


def _tested(place: PlaceAnswers) -> float:
    """The share of the people there whom a test is sure to find."""
    return 0.0 if place.power is None else place.power.lower


def _found(place: PlaceAnswers) -> float:
    """The share of the people there surely found, by a test or by a likely presence."""
    return max((each.lower for each in (place.power, place.certain) if each is not None), default=0.0)


def _perhaps(place: PlaceAnswers) -> float:
    """The share of the people there who may be found."""
    return 0.0 if place.power is None else place.power.upper


def _limit(place: PlaceAnswers) -> float:
    return SENSITIVE if place.sensitive else MUCH


def _listed(names: list[str], every: int) -> str:
    """Some names, and how many more there are.

    >>> _listed(["a", "b"], 2), _listed(["a", "b"], 9)
    ('a and b', 'a, b and 7 more places')
    """
    left = every - len(names)
    last = [f"{left} more place{'s' * (left != 1)}"] if left else names[-1:]
    first = names if left else names[:-1]
    return f"{', '.join(first)} and {last[0]}" if first else last[0]


def few_and_found(rows: pl.DataFrame, watched: Watched, sensitive: Mapping[Zone, str | None]) -> list[str]:
    """Places with one to four uncertain people, who would be found by an adversary with the others' habits."""
    out = []
    for name, zone in zip(watched.names, watched.zones, strict=True):
        own = rows.filter((pl.col("place") == name) & pl.col("status").is_in(["ok", "wide"]))
        limit = SENSITIVE if zone in sensitive else MUCH
        unsure = _unsure(own)
        sure = _mean(unsure, "certain_lower") if unsure.height else 0.0
        if 0 < own.height < FEW and max(_mean(own, "power_lower"), sure) >= limit:
            out.append(name)
    return out
