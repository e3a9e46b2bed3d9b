"""Settings under which every experiment takes a moment."""

import dataclasses

from passerby_paper.settings import Settings

TINY = dataclasses.replace(
    Settings.fast(),
    places=8,
    steps=4,
    misses=2,
    traces=50,
    budget=1e6,
    close_budget=1e6,
    runs=30,
    close_runs=30,
    places_grid=(4, 8),
    steps_grid=(2, 4),
    sigma_grid=(0.25, 1.0),
    window="2h",
    real_places=8,
    min_active=1,
    real_budget=1e6,
    most_people=12,
    resamples=50,
)
