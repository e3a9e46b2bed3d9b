"""The sizes of the paper's experiments, in one place, and smaller ones to try them quickly; and names used all over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]
#: A call that gives rows of a table; it is sent to other processes, so a `functools.partial` of a top-level function.
Piece = Callable[[], list[Row]]

#: The paper's attacks and bounds, in the order in which they are drawn.
ATTACKS = ("prior", "constant", "map")
BOUNDS = ("tight", "loose")
#: Files of check-ins: what they are called, and the layout that they have.
NAMES = {"foursquare": "Foursquare", "gowalla": "Gowalla"}
LAYOUTS = {"foursquare": "dataset_TIST2015_Checkins.txt", "gowalla": "loc-gowalla_totalCheckins.txt"}
#: Rows of the files that the paper used, windows of 20 days in them, and people who are left.
FULL_FILES = {
    "foursquare": {"rows": 33_278_683, "windows": 27, "people": 9_760},
    "gowalla": {"rows": 6_442_890, "windows": 32, "people": 318},
}


@dataclass(frozen=True)
class Settings:
    """What is measured, and with how much effort.

    The first block is the paper's (section 4.1); grids of swept values are not printed in the paper and are chosen to
    cover its figures. `draws` is the number of random sensor placements that simulated points are averaged over,
    `traces` the length of the paper's Monte Carlo. `budget` and `close_budget` are the efforts of `measure`, per step
    of the trace, in sweeps and where a narrow interval matters, `runs` and `close_runs` the numbers of sampled noisy
    series.
    """

    seed: int = 0
    quick: bool = False

    places: int = 100
    steps: int = 10
    tau: float = 0.1
    misses: int = 5
    traces: int = 1000

    draws: int = 3
    budget: float = 1e9
    runs: int = 1000
    close_budget: float = 2e9
    close_runs: int = 2000
    places_grid: tuple[int, ...] = (10, 20, 30, 50, 70, 100, 150, 200)
    steps_grid: tuple[int, ...] = (2, 4, 6, 8, 10, 12, 14, 16, 18, 20)
    sigma_grid: tuple[float, ...] = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)

    window: str = "20d"
    real_places: int = 100
    min_active: int = 10
    holdout: int = 5
    real_misses: int = 1
    smoothing: float = 1.0
    real_budget: float = 5e9
    real_runs: int = 400
    most_people: int | None = None
    resamples: int = 2000

    @classmethod
    def fast(cls, seed: int = 0) -> Settings:
        """Every experiment at a size that takes seconds: to see that it runs, not to quote."""
        return cls(
            seed, True, places=30, steps=6, misses=3, traces=300,
            draws=1, budget=2e7, runs=100, close_budget=1e8, close_runs=200,
            places_grid=(10, 20, 40), steps_grid=(2, 4, 6), sigma_grid=(0.25, 1.0, 4.0),
            real_budget=1e8, real_runs=20, most_people=40, resamples=300,
        )  # fmt: skip
