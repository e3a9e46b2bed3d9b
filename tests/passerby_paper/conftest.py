"""A small town, and what all experiments make of it."""

from pathlib import Path

import pytest

import passerby as pb
from passerby.visits import write_city


@pytest.fixture(scope="module")
def city() -> pb.Visits:
    return pb.simulate_city(people=30, places=20, days=4, seed=1)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("city") / "checkins.txt.gz"
    write_city(path, people=30, places=20, days=4, seed=1, layout="foursquare")
    return path
