"""What is known before anybody is measured."""

from pathlib import Path

import polars as pl
import pytest

import passerby as pb
from passerby.audits.inputs import gather
from passerby.audits.validation import check_settings
from passerby.visits import write_city

SMALL = {"window": "3h", "places": 12, "min_active": 2, "holdout": 4}


def test_people_are_those_of_the_library(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    write_city(file, 20, 20, 4)
    told: list[tuple[str, int, int]] = []
    settings = check_settings({**SMALL, "visits": file, "sample": 7, "seed": 3, "sensor_count": 2})
    found = gather(settings, tell=lambda *stage: told.append(stage))
    people = pb.fit_people(pb.read_visits(file), window="3h", places=12, min_active=2, holdout=4)
    assert (len(found.people), found.eligible) == (7, len(people))
    assert set(found.people.ids) <= set(people.ids)
    assert found.release.sensors == pb.Release(pb.most_visited_sensors(people, 2)).sensors
    assert found.coverage.rows.kept == found.coverage.rows.read > 0
    assert [stage for stage, _, everything in told if everything == 0] == [
        "Reading the visits",
        "Fitting everyone's habits",
    ]
    assert told[-2][1:] == (file.stat().st_size, file.stat().st_size)


def test_sensors_are_those_that_published(tmp_path: Path) -> None:
    city = pb.simulate_city(20, 20, 4)
    people = pb.fit_people(city, window="3h", places=12, min_active=2, holdout=4)
    rows = {"step": [2, 4], "place": [people.places[3], people.places[1]], "count": [4, 2]}
    pl.DataFrame(rows).write_csv(tmp_path / "counts.csv")
    settings = check_settings({**SMALL, "visits": "none", "published": tmp_path / "counts.csv"})
    found = gather(settings, city)
    assert found.release.sensors == ((), (3,), (), (1,))
    assert found.published
    assert found.published.values == [[], [4.0], [], [2.0]]
    assert found.job(settings.measurement).measurement.misses == 1


def test_a_group_is_of_people_who_are_there(tmp_path: Path) -> None:
    city = pb.simulate_city(20, 20, 4)
    settings = check_settings({**SMALL, "visits": "none", "together": 21})
    with pytest.raises(pb.InputError, match="together: a group of 21 people moves as one, and the visits are of 20"):
        gather(settings, city)
    people = pb.fit_people(city, window="3h", places=12, min_active=2, holdout=4)
    with pytest.raises(pb.InputError, match="size: a group of 21 people moves as one"):
        pb.audit(people, pb.Release([0, 1, 2, 3], size=21))
    assert gather(check_settings({**SMALL, "visits": "none", "together": 20}), city).release.size == 20
