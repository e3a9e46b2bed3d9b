"""The paper's simulated sweeps: how far apart the two ends are, and where other bounds stand beside the best attack.

Sizes, sensors and budget are those of `passerby reproduce`, for its first draw of sensors.
"""

import time
from collections.abc import Iterator

import passerby as pb
from benchmarks.record import Section, rounded
from passerby_paper.settings import Settings
from passerby_paper.simulated import sensors_of

#: Bounds that are set beside the interval; the last one holds for noise only.
BOUNDS = ("tight", "loose", "dp")

#: Places, steps, misses, and the noise's standard deviation.
Point = tuple[int, int, int, float | None]


def sweeps(given: Settings) -> Iterator[tuple[str, Point]]:
    """Every point of every sweep, with the name that `passerby reproduce` gives the sweep."""
    places, steps = given.places, given.steps
    yield from (("places", (size, steps, given.misses, None)) for size in given.places_grid)
    yield from (("right", (places, steps, misses, None)) for misses in range(steps))
    yield from (("right", (places, given.holdout, misses, None)) for misses in range(given.holdout))
    yield from (("steps-half", (places, length, length // 2, None)) for length in given.steps_grid)
    yield from (("steps-two", (places, length, length - 2, None)) for length in given.steps_grid)
    yield from (("sigma", (places, steps, given.misses, sigma)) for sigma in given.sigma_grid)
    yield from (("noise", (places, steps, steps - 1, sigma)) for sigma in given.sigma_grid)


def run(quick: bool = False) -> Section:
    section = Section("the paper's sweeps")
    given = Settings.fast() if quick else Settings()
    for name, (places, steps, misses, sigma) in sweeps(given):
        prior = pb.line_prior(places, given.tau)
        release = pb.Release(sensors_of(given, 0, places, steps), None if sigma is None else pb.Gaussian(sigma))
        start = time.process_time()
        loss = pb.measure(prior, release, misses, budget=steps * given.budget, runs=given.runs)
        spent = time.process_time() - start
        section.add(
            sweep=name,
            places=places,
            steps=steps,
            misses=misses,
            sigma=sigma,
            lower=rounded(loss.lower),
            upper=rounded(loss.upper),
            ratio=rounded(loss.upper / loss.lower, 6),
            **{bound: rounded(loss.bounds[bound] / loss.lower) for bound in BOUNDS if bound in loss.bounds},
            decided_by=loss.effort.bound,
            sampled=loss.effort.sampled,
            seconds=rounded(spent, 3),
        )
    return section
