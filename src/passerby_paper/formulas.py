"""What the paper says of its own formulas: what is out of reach, and what differential privacy charges."""

from __future__ import annotations

import numpy as np

from passerby.measurement.comparisons import differential_privacy
from passerby.measurement.information import mutual_information, shannon
from passerby.measurement.measure import measure
from passerby.mechanisms import Gaussian
from passerby.model.prior import line_prior
from passerby.model.release import Release
from passerby.outcomes.series import enumerate_series

from .experiment import Experiment
from .pieces import Piece, Row
from .settings import Settings
from .simulated import sensors_of


def checked(settings: Settings) -> list[Row]:
    """Rows (quantity, steps, misses, value)."""
    prior = line_prior(settings.places, settings.tau)
    rows: list[Row] = []

    def say(quantity: str, value: float, steps: int, misses: int | None = None) -> None:
        rows.append({"quantity": quantity, "steps": steps, "misses": misses, "value": value})

    for steps in (settings.steps, 10 * settings.steps):
        release = Release(sensors_of(settings, 0, settings.places, steps))
        say("information, exact", mutual_information(prior, release, "exact"), steps)
        say("information, order 1", mutual_information(prior, release, "order1"), steps)
    steps = settings.steps
    release = Release(sensors_of(settings, 0, settings.places, steps))
    listed = enumerate_series(prior, release)
    if listed is not None and listed.left_over == 0:
        say("information, by listing all series", float(shannon(np.asarray(listed.mass))), steps)
    for misses in (0, 1, 2, settings.misses, steps - 2, steps - 1):
        loss = measure(prior, Release.silent(steps), misses, budget=steps * settings.close_budget)
        say("baseline, lower", loss.baseline.lower, steps, misses)
        say("baseline, upper", loss.baseline.upper, steps, misses)
    for length in (1, steps, 10 * steps):
        privacy = differential_privacy(Release([0] * length, Gaussian(1.0)))
        say("epsilon, formula", privacy.formula or 0.0, length)
        say("epsilon, exact", privacy.exact or 0.0, length)
    return rows


FORMULAS = Experiment(
    "formulas",
    "What is out of reach, and what differential privacy charges",
    "simulated",
    lambda s, data: [Piece(checked, {"settings": s})],
    None,
)
