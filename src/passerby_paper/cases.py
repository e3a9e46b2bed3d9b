"""What needs no sweep: the paper's examples 1 and 2 with numbers, and what it says of its own formulas.

1. New York and Paris: four places in each city, one step, a sensor in New York. Two people with equally uncertain
   habits, one of whom is mostly in New York and the other mostly in Paris (its section 2.2.1).
2. The one who stays and the one who moves: five circles and a place apart, two steps. The first sensor is at one of the
   circles, the second at the place apart. Both are at any circle at first; then one stays, the other goes anywhere
   (its section 2.2.2).
"""

from __future__ import annotations

import numpy as np

import passerby as pb

from .settings import Row, Settings
from .simulated import release_of, sensors_of

#: The share of time in the city where the person does not live, in example 1.
ABROAD = 0.04
#: The probability of leaving for each of the other circles, for the one who stays, in example 2.
RESTLESS = 0.01

People = dict[str, tuple[pb.MarkovPrior, list[int]]]


def new_york_and_paris() -> People:
    """Places 0-3 are in New York, 4-7 in Paris; the sensor is at place 0."""
    home, away = [(1 - ABROAD) / 4] * 4, [ABROAD / 4] * 4
    laws = {"in New York": np.array(home + away), "in Paris": np.array(away + home)}
    return {name: (pb.MarkovPrior(law, np.tile(law, (8, 1))), [0]) for name, law in laws.items()}


def stays_and_moves() -> People:
    """Places 0-4 are the circles and 5 the place apart; the sensors are at 0 and then at 5."""
    start = np.array([0.2] * 5 + [0.0])
    stay, move = np.full((6, 6), RESTLESS), np.full((6, 6), 0.2)
    np.fill_diagonal(stay, 1 - 4 * RESTLESS)
    for moves in (stay, move):
        moves[:, 5] = 0.0
        moves[5] = start
    return {"stays": (pb.MarkovPrior(start, stay), [0, 5]), "moves": (pb.MarkovPrior(start, move), [0, 5])}


def examples(seed: int) -> list[Row]:
    """A row per example, person and kind of counts: all steps must be right."""
    rows = []
    for example, people in ((1, new_york_and_paris()), (2, stays_and_moves())):
        for person, (prior, sensors) in people.items():
            for sigma in (None, 1.0):
                row = {"example": example, "person": person, "sigma": sigma}
                rows.append(row | _example(prior, sensors, sigma, seed))
    return rows


def _example(prior: pb.MarkovPrior, sensors: list[int], sigma: float | None, seed: int) -> Row:
    release, raw = release_of(sensors, sigma), sigma is None
    loss = pb.measure(prior, release, 0, seed=[seed, 4], runs=4000)
    seen = pb.measure(prior, pb.Release(sensors), 0, published=[1, 0][: len(sensors)])
    return {
        "entropy": pb.entropy(prior, len(sensors)),
        "at_sensor": float(prior.initial[sensors[0]]),
        "information": pb.mutual_information(prior, release, "exact" if raw else "per-step"),
        "baseline": loss.baseline.upper,
        "lower": loss.lower,
        "upper": loss.upper,
        "advantage_lower": loss.advantage.lower,
        "advantage_upper": loss.advantage.upper,
        "guo_bound": pb.reconstruction_advantage(prior, release) if raw else None,
        "tight": loss.bounds["tight"],
        "loose": loss.bounds["loose"],
        "epsilon": pb.differential_privacy(release).exact,
        "seen_then_not": seen.lower if raw else None,
    }


def formulas(settings: Settings) -> list[Row]:
    """What is out of reach by the paper, and what differential privacy charges: quantity, steps, misses, value."""
    prior, steps = pb.line_prior(settings.places, settings.tau), settings.steps
    rows: list[Row] = []

    def say(quantity: str, value: float, steps: int, misses: int | None = None) -> None:
        rows.append({"quantity": quantity, "steps": steps, "misses": misses, "value": value})

    for length in (steps, 10 * steps):
        release = pb.Release(sensors_of(settings, 0, settings.places, length))
        say("information, exact", pb.mutual_information(prior, release, "exact"), length)
        say("information, order 1", pb.mutual_information(prior, release, "order1"), length)
    law = series_law(prior, sensors_of(settings, 0, settings.places, steps))
    say("information, by listing all series", float(-(law * np.log(np.where(law > 0, law, 1.0))).sum()), steps)
    for misses in (0, 1, 2, settings.misses, steps - 2, steps - 1):
        loss = pb.measure(prior, pb.Release.silent(steps), misses, budget=steps * settings.close_budget)
        say("baseline, lower", loss.baseline.lower, steps, misses)
        say("baseline, upper", loss.baseline.upper, steps, misses)
    for length in (1, steps, 10 * steps):
        privacy = pb.differential_privacy(release_of([0] * length, 1.0))
        say("epsilon, formula", privacy.formula or 0.0, length)
        say("epsilon, exact", privacy.exact or 0.0, length)
    return rows


def series_law(prior: pb.MarkovPrior, sensors: list[int]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The probability of each series of raw counts, shape (2^T,), one sensor a step: "away" and "there" at each step.

    >>> series_law(pb.MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]]), [0, 0])
    array([0.4 , 0.05, 0.1 , 0.45])
    """
    now = prior.initial[None]
    for t, sensor in enumerate(sensors):
        now = now @ prior.transition if t else now
        there = np.zeros_like(now)
        there[:, sensor] = now[:, sensor]
        now = np.concatenate([now - there, there])
    return np.asarray(now.sum(axis=1))
