"""The people of real check-in files, prepared as the paper does, and under other readings of what it leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import passerby as pb

from .settings import LAYOUTS, Settings

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Where = Literal["random", "most-visited"]
Unseen = Literal["spread", "own", "stay"]


@dataclass(frozen=True)
class Reading:
    """One way to read what the paper leaves open about the preparation.

    `rule`: which place stands for a window with visits to several. `smoothing`: the weight, in steps, of frequencies
    that are mixed into each row of the transition matrix, those of the population (`toward="population"`) or equal
    ones ("uniform"); 0 leaves rows with counts as they are. `unseen`: without smoothing, the row of a place that a
    person never left is those frequencies ("spread") or the person's own ("own"), or remains there ("stay").
    """

    name: str
    words: str = ""
    rule: Literal["most-visited", "first", "last"] = "most-visited"
    smoothing: float | Literal["auto"] = 1.0
    toward: Literal["population", "uniform"] = "population"
    unseen: Unseen = "spread"


@dataclass(frozen=True, eq=False, repr=False)
class Unsmoothed(pb.People):
    """People whose seen rows are their own counts, without anything mixed in."""

    unseen: Unseen = "spread"

    def prior(
        self, person: int, sensed: Sequence[int] = (), *, reduced: bool = True, zones: Ints | None = None
    ) -> tuple[pb.MarkovPrior, Ints]:
        """One person's chain and the places of its states, as `People.prior` gives them, from counts alone."""
        smoothed, states = super().prior(person, sensed, reduced=reduced, zones=zones)
        state_of = {int(place): state for state, place in enumerate(states)}
        steps = np.array([state_of[int(place)] for place in self.fitted[person]])
        moves = np.zeros(smoothed.transition.shape)
        np.add.at(moves, (steps[:-1], steps[1:]), 1.0)
        never = moves.sum(axis=1) == 0
        # Smoothing leaves nothing but what is mixed in to the row of a place that was never left.
        moves[never] = {
            "spread": smoothed.transition,
            "own": np.tile(np.bincount(steps, minlength=len(states)), (len(states), 1)),
            "stay": np.eye(len(states)),
        }[self.unseen][never]
        moves /= moves.sum(axis=1, keepdims=True)
        # In the long run they are at places that can be reached from those they visited.
        there = reached(moves, steps)
        start = np.zeros(len(states))
        start[there] = pb.MarkovPrior.stationary(moves[np.ix_(there, there)]).initial
        return replace(smoothed, initial=start, transition=moves), states


def reached(moves: Floats, start: Ints) -> Ints:
    """The states that a chain can get to from any of `start`, which are among them."""
    found = np.zeros(len(moves), dtype=bool)
    found[start] = True
    while (more := found | (moves[found] > 0).any(axis=0)).sum() > found.sum():
        found = more
    return np.flatnonzero(found)


def read_file(name: str, path: Path) -> pb.Visits:
    """A file of check-ins in the layout of its name, "foursquare" or "gowalla"."""
    try:
        return pb.read_visits(path, layout="foursquare" if name == "foursquare" else "gowalla")
    except pb.InputError as error:
        raise pb.InputError(f"--{name}, which takes the layout of {LAYOUTS[name]}: {error}") from None


def prepare(name: str, visits: pb.Visits, settings: Settings, reading: Reading | None = None) -> pb.People:
    """The people of a file under a reading (the default one: as the rest of this package fits habits)."""
    reading = reading or Reading("default", smoothing=settings.smoothing)
    try:
        people = pb.fit_people(
            paper_traces(visits, settings, reading),
            holdout=settings.holdout,
            smoothing=reading.smoothing or 1.0,
            name_elsewhere=True,
            habits="paper",
        )
    except pb.InputError as error:
        raise pb.InputError(f"--{name}: too little is left by the paper's preparation ({error})") from None
    if reading.toward == "uniform":
        people = replace(people, background=np.full(len(people.places), 1 / len(people.places)))
    if reading.smoothing == 0:
        parts = {f.name: getattr(people, f.name) for f in fields(pb.People)}
        people = Unsmoothed(**parts, unseen=reading.unseen)
    return people if settings.most_people is None else part(people, 0, settings.most_people)


def paper_traces(visits: pb.Visits, settings: Settings, reading: Reading) -> pb.Traces:
    """Places by the visits of the fitted steps, and people who are active in enough of all steps, as the paper has it.

    An audit counts fitted steps alone: who was there in the steps to be found must not choose who is looked at.
    """
    steps: dict[str, Any] = {"window": settings.window, "origin": "first-visit", "rule": reading.rule}
    ranked = pb.window_visits(visits, places=settings.real_places, min_active=1, holdout=settings.holdout, **steps)
    return pb.window_visits(visits, places=ranked.places[:-1], min_active=settings.min_active, **steps)


def part(people: pb.People, start: int, stop: int) -> pb.People:
    """Some of the people."""
    chosen = slice(start, stop)
    return replace(people, fitted=people.fitted[chosen], actual=people.actual[chosen], ids=people.ids[chosen])


def sensors_for(people: pb.People, settings: Settings, where: Where) -> list[list[int]]:
    """One sensor a step: drawn uniformly, or the most visited place throughout."""
    if where == "random":
        return pb.random_sensors(people, 1, settings.seed)
    # A reading may mix in other frequencies than those of the visits.
    visited = np.bincount(people.fitted.ravel(), minlength=len(people.places)) / people.fitted.size
    return pb.most_visited_sensors(replace(people, background=visited), 1)
