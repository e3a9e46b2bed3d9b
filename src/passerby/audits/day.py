"""The worth of knowing everybody's day: guesses made with it and without it, without any counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from passerby.model.release import Release
from passerby.others.counted import states_by_place
from passerby.people.habits import People
from passerby.people.totals import IMPOSSIBLE, Totals
from passerby.questions.trace.guess import unaided_success
from passerby.questions.trace.methods.baseline import prior_trace
from passerby.support.numbers import percent

from .job import seen_by
from .sample import some_people

#: A note for habits with a common part the adversary cannot learn.
UNTOLD = (
    "What everybody did at the published steps is left out of habits: the adversary knows the others by their habits "
    "alone, and the published totals do not tell it."
)


def worth_of_the_day(people: People, misses: int, sample: int, seed: int = 0) -> tuple[float, float] | None:
    """The mean chance to be found without any counts, without and with knowledge of everybody's day.

    Both guess the likeliest trace, of `sample` people, and are scored by habits with everybody's day. None if habits
    have no such part.
    """
    if people.common is None or not len(people):
        return None
    steps, apart = people.actual.shape[1], replace(people, common=None)
    found = []
    for person in some_people(people, sample, seed).tolist():
        blind, places = apart.prior(person)
        guess = places[prior_trace(blind, steps)]
        known, states = people.prior(person, sorted({int(place) for place in guess if place >= 0}))
        number = states_by_place(states, len(people.places), None)
        found.append([unaided_success(known, each, misses) for each in (number[guess], prior_trace(known, steps))])
    without, with_it = np.mean(found, axis=0).tolist()
    return without, max(without, with_it)


def said_of_the_day(
    people: People, misses: int, sample: int, seed: int = 0, release: Release | None = None
) -> tuple[str, ...]:
    """The same in a sentence, with everybody's day; empty if habits have no such part.

    If others are known by their habits alone, the totals of the `release` are the evidence on the day, if possible.
    """
    wanted, people = people.common, people if release is None else seen_by(people, release)
    if wanted is not None and people.common is None:
        return (UNTOLD,)
    if isinstance(people.common, Totals) and people.common.impossible:
        return (IMPOSSIBLE,)
    worth = worth_of_the_day(people, misses, sample, seed) if sample else None
    if worth is None or people.common is None:
        return ()
    without, with_it = map(percent, worth)
    steps = people.actual.shape[1]
    asked = f"all but {misses} of {steps} steps" if misses else f"all {steps} steps"
    return (
        f"{people.common.words} The adversary knows of it. Without any counts they name {asked} with a chance of "
        f"{with_it} on average, and with {without} if they did not know of it.",
    )
