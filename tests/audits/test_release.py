"""Mechanisms by their names, and sensors by a rule."""

import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits.release import build_mechanism, build_release
from passerby.audits.settings import SETTINGS
from passerby.audits.validation import check_settings
from passerby.mechanisms.registry import BY_SETTING


@pytest.mark.parametrize("name", BY_SETTING)
def test_every_mechanism_can_be_asked_for(name: str) -> None:
    assert isinstance(build_mechanism(check_settings({"visits": "v", "mechanism": name})), pb.Mechanism)
    assert name in SETTINGS["mechanism"].metadata["text"]


def test_sensors_follow_their_rule() -> None:
    people = pb.fit_people(random_traces(5, 8, 9, 6), holdout=3)

    def sensors(**values: object) -> tuple[tuple[int, ...], ...]:
        chosen = check_settings({"visits": "v", "holdout": 3, **values})
        return build_release(chosen, people, chosen.seed).sensors

    assert sensors(sensor_count=2) == pb.Release(pb.most_visited_sensors(people, 2)).sensors
    assert sensors(sensors="random", seed=4) == pb.Release(pb.random_sensors(people, 1, seed=4)).sensors
    assert sensors(sensors="fixed", sensor_places=["place 2", "place 0"]) == ((2, 0),) * 3
