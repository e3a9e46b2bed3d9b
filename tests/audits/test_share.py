"""Shares of the visits that are audited one by one give the rows of all together."""

from typing import Any

import polars as pl
import pytest

import passerby as pb

MEASURE = {"runs": 20, "budget": 1e7}


@pytest.fixture(scope="module")
def frame() -> pl.DataFrame:
    city = pb.simulate_city(people=40, places=20, days=5, seed=3, seen=0.6)
    columns = {"person": city.people.gather(city.table["person"]), "place": city.places.gather(city.table["place"])}
    return city.table.select("time").with_columns(**columns)


def fitted(frame: pl.DataFrame, habits: str = "auto") -> pb.People:
    visits = pb.read_visits(frame)
    return pb.fit_people(visits, window="3h", places=9, min_active=12, holdout=4, habits=habits)  # type: ignore[arg-type]


@pytest.mark.parametrize("habits", ["auto", pytest.param("paper", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("mechanism", [None, pb.Gaussian(1.0), pb.Rounding(5)])
def test_all_partitions_together_are_the_audit(
    frame: pl.DataFrame, habits: str, mechanism: pb.Mechanism | None
) -> None:
    like = fitted(frame, habits)
    release = pb.Release([[0, 1], 1, [2, 3], 0], mechanism)
    whole = pb.audit(like, release, 1, workers=1, **MEASURE)  # type: ignore[arg-type]
    shares = [frame.filter(pl.col("person") % 3 == part) for part in range(3)]
    more: dict[str, Any] = {"min_active": 12, **MEASURE}
    rows = [pb.audit_partition(share, like, release, 1, **more) for share in shares]
    assert pl.concat(rows).sort("person").equals(whole.sort("person"))


def test_a_share_in_which_nobody_is_seen_is_empty(frame: pl.DataFrame) -> None:
    like, release = fitted(frame), pb.Release([0, 1, 2, 3])
    whole = pb.audit(like, release, 1, workers=1)
    nobody = [
        frame.with_columns(place=pl.lit("nowhere")),
        frame.with_columns(time=pl.col("time").dt.offset_by("10y")),
        frame.head(3),
    ]
    for share in nobody:
        found = pb.audit_partition(share, like, release, 1)
        assert found.height == 0
        assert found.schema == whole.schema


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"like": 3}, "like is a int"),
        ({"rule": "best"}, "rule is 'best'"),
        ({"release": pb.Release([0, 1, 2, 3], pb.Rounding(5), others=pb.Crowd())}, "use audit instead"),
        ({"misses": 9}, "misses"),
    ],
)
def test_bad_input(frame: pl.DataFrame, change: dict[str, object], message: str) -> None:
    given = {"like": fitted(frame), "release": pb.Release([0, 1, 2, 3]), "min_active": 1, **change}
    with pytest.raises(pb.InputError, match=message):
        pb.audit_partition(frame, **given)  # type: ignore[arg-type]
