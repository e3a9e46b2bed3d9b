"""People of real check-in files, prepared as in the paper: how far apart the two ends are for each number of misses.

For raw counts at several tolerances and for Gaussian noise, with sensors at random places and at the most visited one:
quantiles over people of upper/lower, the medians of the paper's bounds and of that of differential privacy as
multiples of the best attack, and the milliseconds of one core that a person takes. Nobody is named.
"""

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import passerby as pb
from benchmarks.read_visits import generate
from benchmarks.record import Section, pace, rounded
from passerby.audits.job import Job
from passerby.audits.person import audit_person
from passerby.audits.settings import Measurement as Effort
from passerby_paper.people import Where, prepare, read_file, sensors_for
from passerby_paper.settings import Settings

QUANTILES = {"median": 0.5, "most": 0.95, "largest": 1.0}
BOUNDS = ("tight", "loose", "dp")
#: Noise, tolerance, and where the sensors are.
CASES: tuple[tuple[float | None, float, Where], ...] = (
    (None, 0.04, "random"),
    (None, 0.01, "random"),
    (None, 0.004, "random"),
    (None, 0.001, "random"),
    (None, 0.01, "most-visited"),
    (1.0, 0.04, "random"),
    (1.0, 0.01, "random"),
    (1.0, 0.04, "most-visited"),
    (1.0, 0.01, "most-visited"),
)
#: Raw counts and noise; of a file that is made up.
QUICK = (CASES[0], CASES[-2])


def made_up(path: Path) -> Path:
    """A file in Foursquare's layout, for a quick run."""
    generate(path, 20_000)
    return path


def run(files: Mapping[str, Path], quick: bool = False) -> Section:
    section = Section("people of the samples")
    section.add(case="pace", seconds=pace())
    given = Settings.fast() if quick else Settings()
    for name, path in files.items():
        people = prepare(name, read_file(name, path), given)
        for sigma, tolerance, where in QUICK if quick else CASES:
            release = pb.Release(sensors_for(people, given, where), None if sigma is None else pb.Gaussian(sigma))
            for misses in range(given.holdout):
                job = Job(people, release, Effort(misses, tolerance=tolerance))
                start = time.process_time()
                rows = [audit_person(job, person) for person in range(len(people))]
                spent = time.process_time() - start
                lower = np.array([row["lower"] for row in rows], dtype=float)
                ratio = np.array([row["upper"] for row in rows], dtype=float) / lower
                beside = {
                    bound: float(np.median(np.array([row[f"bound_{bound}"] for row in rows], dtype=float) / lower))
                    for bound in BOUNDS
                    if f"bound_{bound}" in rows[0]
                }
                section.add(
                    file=name,
                    people=len(people),
                    sensors=where,
                    sigma=sigma,
                    tolerance=tolerance,
                    misses=misses,
                    **{word: rounded(float(np.quantile(ratio, level)), 6) for word, level in QUANTILES.items()},
                    **{bound: rounded(value) for bound, value in beside.items()},
                    sampled=rounded(float(np.mean([bool(row["sampled"]) for row in rows]))),
                    milliseconds=rounded(1000 * spent / len(people), 3),
                )
    return section
