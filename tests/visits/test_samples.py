"""The paper's preparation on samples of its data sets, where they are at hand."""

from pathlib import Path

import pytest

from passerby.visits import read_visits, window_visits

DATA = Path(__file__).parents[2].parent / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the sample check-ins are not at hand")


@pytest.mark.parametrize(
    ("name", "rows", "people", "places", "steps", "kept"),
    [
        ("gowalla_subset.txt.gz", 157_251, 1_000, 24_209, 32, 129),
        ("foursquare_subset_checkins.txt.gz", 185_984, 4_969, 8_000, 27, 423),
    ],
)
def test_paper_settings(name: str, rows: int, people: int, places: int, steps: int, kept: int) -> None:
    visits = read_visits(DATA / name)
    assert visits.skipped.rows == rows
    assert (len(visits.people), len(visits.places)) == (people, places)
    traces = window_visits(visits, window="20d", places=100, min_active=10, origin="first-visit")
    assert traces.array.shape == (kept, steps)
    assert len(traces.places) == 101


def test_coordinates_of_gowalla_can_be_the_places() -> None:
    visits = read_visits(DATA / "gowalla_subset.txt.gz", layout="gowalla", grid_metres=1000)
    assert 1_000 < len(visits.places) < 24_209
    assert visits.skipped.coordinates == visits.skipped.missing == 0
