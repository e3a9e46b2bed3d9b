"""Shares of the visits that are audited one by one give the rows of all together."""

from typing import Any

import numpy as np
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


def test_two_places_at_once_are_settled_as_for_everybody() -> None:
    rows = [
        (person, f"2024-05-{day:02d}T{hour:02d}:00:00Z", place)
        for person in range(3)
        for day in range(1, 9)
        for hour in (3, 9, 15, 21)
        for place in (("zoo", "park") if (person + day + hour) % 3 else ("zoo",))
    ]
    frame = pl.DataFrame(rows, schema=["person", "time", "place"], orient="row")
    like = pb.fit_people(pb.read_visits(frame), window="6h", places=4, min_active=1, holdout=4)
    release = pb.Release(pb.most_visited_sensors(like, 1))
    found = pb.audit_partition(frame, like, release, 1, min_active=1)
    assert found.equals(pb.audit(like, release, 1, workers=1).sort("person"))


def test_cut_times_are_read_as_for_everybody() -> None:
    """Dates alone: people who are never at two places on a day are read as the others are."""
    rows = [
        (person, f"2024-05-{day:02d}", place)
        for person in range(6)
        for day in range(1, 21)
        # The last three are at one place a day, several times on some days, which decides a step of two days.
        for place in (["zoo"] * (day % 3) + ["park"] * 2 if person < 3 else ["zoo", "park"][day % 2 :][:1] * (day % 4))
    ]
    frame = pl.DataFrame(rows, schema=["person", "time", "place"], orient="row")
    like = pb.fit_people(pb.read_visits(frame), window="2d", places=2, min_active=1, holdout=3)
    assert like.left_out.cut
    release = pb.Release(pb.most_visited_sensors(like, 1))
    shares = [frame.filter(pl.col("person") // 3 == part) for part in range(2)]
    assert pb.read_visits(shares[1]).skipped.duplicates > 0
    found = pl.concat([pb.audit_partition(share, like, release, 1, min_active=1) for share in shares])
    assert found.equals(pb.audit(like, release, 1, workers=1).sort("person"))


@pytest.mark.parametrize(("start", "hours"), [("2024-03-31T01", 23), ("2024-03-30T06", 19)])
def test_steps_may_begin_or_end_in_an_hour_that_clocks_leave_out(start: str, hours: int) -> None:
    """In Berlin there is no 02:00 on that day: steps that begin or end then are those of everybody all the same."""
    rng, first = np.random.default_rng(0), np.datetime64(start)
    times = [first + np.timedelta64(hour, "h") + np.timedelta64(int(rng.integers(60)), "m") for hour in range(hours)]
    rows = [(person, f"{time}Z", "abc"[rng.integers(3)]) for person in range(6) for time in times]
    frame = pl.DataFrame(rows, schema=["person", "time", "place"], orient="row")
    visits = pb.read_visits(frame, timezone="Europe/Berlin")
    like = pb.fit_people(visits, window="2h" if hours == 23 else "1h", places=3, min_active=1, holdout=4)
    release = pb.Release(pb.most_visited_sensors(like, 1))
    found = pb.audit_partition(frame, like, release, 1, min_active=1)
    assert found.equals(pb.audit(like, release, 1, workers=1).sort("person"))


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
