import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby import InputError
from passerby.visits.names import METRES_PER_DEGREE, Cells, grid_names

LATITUDE = st.floats(-85, 85)
LONGITUDE = st.floats(-180, 180)


def cell(latitude: float, longitude: float, metres: float) -> str:
    return str(grid_names(pl.Series([latitude]), pl.Series([longitude]), metres)[0])


@given(LATITUDE, LONGITUDE, st.floats(50, 5000), st.floats(0, 2 * math.pi))
def test_points_farther_apart_than_a_cell_differ(
    latitude: float, longitude: float, metres: float, angle: float
) -> None:
    far = 1.6 * metres / METRES_PER_DEGREE
    north, east = far * math.sin(angle), far * math.cos(angle) / math.cos(math.radians(latitude))
    moved = (longitude + east + 180) % 360 - 180
    if abs(latitude + north) <= 85:
        assert cell(latitude, longitude, metres) != cell(latitude + north, moved, metres)


def test_cells_have_nearly_the_same_size_everywhere() -> None:
    for latitude in (0.0, 45.0, -60.0, 80.0):
        degrees = [number / 10_000 for number in range(10_000)]
        names = grid_names(pl.Series([latitude] * 10_000), pl.Series(degrees), 1000)
        width = METRES_PER_DEGREE * math.cos(math.radians(latitude)) / names.n_unique()
        assert width == pytest.approx(1000, rel=0.06)


def test_poles_and_the_date_line() -> None:
    assert cell(10, 180, 500) == cell(10, -180, 500)
    assert cell(-90, 0, 500).startswith("r0c")


@pytest.mark.parametrize("metres", [1, 500, 12_345.6, 5_000_000])
@pytest.mark.parametrize("pole", [-90.0, 90.0])
def test_a_pole_is_one_place_at_any_longitude(pole: float, metres: float) -> None:
    assert len({cell(pole, longitude, metres) for longitude in (-180.0, -60.0, 0.0, 60.0, 179.0)}) == 1


def test_h3() -> None:
    with pytest.raises(InputError, match="h3_resolution is 16; expected a whole number from 0 to 15"):
        Cells(h3_resolution=16)
    pytest.importorskip("h3")
    names = Cells(h3_resolution=9).names(
        pl.Series([37.769377, 0.0, 37.769377]), pl.Series([-122.388903, 0.0, -122.388903])
    )
    assert names[0] == names[2] == "89283082e73ffff"
    assert names[1] != names[0]
