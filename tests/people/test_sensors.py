from pathlib import Path

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.people import sensors


@pytest.fixture(scope="module")
def people() -> pb.People:
    city = pb.simulate_city(people=40, places=20, days=3, seed=1)
    return pb.fit_people(city, window="2h", places=10, min_active=1, holdout=4)


def test_random_sensors_are_seeded_and_never_elsewhere(people: pb.People) -> None:
    one, again, other = (sensors.random_sensors(people, 3, seed=s) for s in (1, 1, 2))
    assert one == again != other
    assert [len(set(step)) for step in one] == [3] * 4
    assert all(0 <= place < people.elsewhere for step in one for place in step)
    assert {place for s in range(60) for (place,) in sensors.random_sensors(people, 1, seed=s)} == set(range(10))


def test_most_visited(people: pb.People) -> None:
    ((first,), *rest) = sensors.most_visited_sensors(people)
    assert people.background[first] == people.background[:-1].max()
    assert rest == [[first]] * 3
    assert len(sensors.most_visited_sensors(people, 4)[0]) == 4


def test_fixed(people: pb.People) -> None:
    assert sensors.fixed_sensors(people, [people.places[3], people.places[1]]) == [[3, 1]] * 4
    with pytest.raises(pb.InputError, match="'nowhere' is not one of the 10 chosen places"):
        sensors.fixed_sensors(people, ["nowhere"])
    with pytest.raises(pb.InputError, match="not one of"):
        sensors.fixed_sensors(people, ["elsewhere"])
    with pytest.raises(pb.InputError, match="each place once"):
        sensors.fixed_sensors(people, [people.places[1]] * 2)


@pytest.mark.parametrize("count", [0, 11])
def test_too_few_or_too_many(people: pb.People, count: int) -> None:
    for choose in (sensors.random_sensors, sensors.most_visited_sensors):
        with pytest.raises(pb.InputError, match=f"1 to 10 sensors a step .* got {count}"):
            choose(people, count)


def test_a_schedule_by_step_or_time(people: pb.People, tmp_path: Path) -> None:
    names = people.places
    by_step = tmp_path / "steps.csv"
    pl.DataFrame({"step": [1, 1, 4], "place": [names[2], names[0], names[5]]}).write_csv(by_step)
    assert sensors.scheduled_sensors(people, by_step) == [[2, 0], [], [], [5]]
    start = people.starts[people.fitted.shape[1]]
    times = [str(start), str(start + np.timedelta64(people.window * 2.5))]
    by_time = tmp_path / "times.parquet"
    pl.DataFrame({"time": times, "place": [names[2], names[7]]}).write_parquet(by_time)
    assert sensors.scheduled_sensors(people, by_time) == [[2], [], [7], []]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("place\na", r"need the columns place and step \(or time\); its first line names 1"),
        ("step,place\n9,{0}", "line 2: step 9 is outside the 4 steps that are published; expected 1 to 4"),
        ("step,place\n1,{0}\nsoon,{0}", "line 3: step is 'soon'; expected a whole number from 1 to 4"),
        ("step,place\n1,nowhere", "line 2: 'nowhere' is not one of"),
        ("time,place\nnever,{0}", "line 2 is 'never', which is no time"),
    ],
)
def test_bad_schedules(people: pb.People, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "schedule.csv"
    file.write_text(text.format(people.places[0]))
    with pytest.raises(pb.InputError, match=message):
        sensors.scheduled_sensors(people, file)


def test_no_schedule(people: pb.People, tmp_path: Path) -> None:
    with pytest.raises(pb.InputError, match="does not exist"):
        sensors.scheduled_sensors(people, tmp_path / "none.csv")
