"""Whatever is handed to a public function of visits and people, it works, or says what is wrong with which argument."""

from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import passerby as pb
from passerby.people.sensors import fixed_sensors, scheduled_sensors
from passerby.visits import write_city

#: Values of every kind, none of which fits everywhere.
ODD: list[Any] = [None, True, -1, 0, 2, 1.5, float("nan"), "", "x", b"x", [], [1], ["x"], {}, (), object(), len]
THOROUGH = pytest.mark.thorough


@pytest.fixture(scope="module")
def good() -> dict[str, Any]:
    visits = pb.simulate_city(12, 20, 3)
    return {"visits": visits, "people": pb.fit_people(visits, window="3h", places=9, min_active=1, holdout=4)}


def arguments(function: Callable[..., Any], leave: tuple[str, ...] = ("progress", "workers", "executor")) -> list[str]:
    return [name for name in signature(function).parameters if name not in leave]


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (pb.read_visits, {"source": None}),
    (pb.window_visits, {"visits": None, "window": "3h", "min_active": 1}),
    (pb.fit_people, {"visits": None, "window": "3h", "min_active": 1, "holdout": 4}),
    (pb.simulate_city, {"people": 3, "places": 20, "days": 1}),
    (write_city, {"path": None, "people": 3, "places": 20, "days": 1}),
    (pb.most_visited_sensors, {"people": None}),
    (pb.random_sensors, {"people": None}),
    (fixed_sensors, {"people": None, "names": ["x"]}),
    (scheduled_sensors, {"people": None, "path": "none.csv"}),
]


@pytest.mark.parametrize(
    ("function", "fitting", "name"),
    [
        # What makes a city is the same for both functions that do.
        pytest.param(function, fitting, name, marks=[] if function != write_city or name == "path" else THOROUGH)
        for function, fitting in CALLS
        for name in arguments(function)
    ],
    ids=lambda value: getattr(value, "__name__", value) if not isinstance(value, dict) else "",
)
def test_every_argument_of_every_kind(
    function: Callable[..., Any],
    fitting: dict[str, Any],
    name: str,
    good: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    table = pl.DataFrame({"person": ["a"] * 3, "time": ["2024-05-01"] * 3, "place": ["p", "q", "r"]})
    there = {**good, "source": table, "path": tmp_path / "city.csv"}
    fit = {key: there[key] if value is None else value for key, value in fitting.items()}
    for value in ODD:
        with suppress(pb.PasserbyError):
            function(**{**fit, name: value})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"places": "x"}, "places is 'x'; expected a whole number, or a list of names"),
        ({"places": True}, "places is True; expected a whole number of at least 1"),
        ({"places": 2.5}, "places is 2.5"),
        ({"places": 0}, "places is 0; expected a whole number of at least 1"),
        ({"min_active": 10**30}, "no person is seen in at least"),
        ({"holdout": 10**30}, "steps; expected a whole number that leaves"),
        ({"places": [1]}, r"places is \[1\]"),
        ({"window": 5}, "window is 5, which is no length of time"),
        ({"window": None}, "window is None, which is no length of time"),
        ({"holdout": "a"}, "holdout: 'a' of"),
        ({"holdout": True}, "holdout: True of"),
        ({"min_active": True}, "min_active is True; expected a whole number of at least 0"),
        ({"min_active": "many"}, "min_active is 'many'"),
        ({"smoothing": [1]}, "smoothing: expected a number"),
        ({"smoothing": True}, "smoothing: expected a number"),
        ({"name_elsewhere": 1}, "name_elsewhere is 1; expected True or False"),
        ({"rhythm": 3}, "rhythm: expected 'none', 'hour', 'weekday'"),
        ({"rule": ["first"]}, "rule is"),
        ({"origin": 5}, "origin is 5; give a datetime"),
        ({"end": "soon"}, "end is 'soon', which is no time"),
        ({"visits": "visits.csv"}, "visits is a str; expected what read_visits returns"),
    ],
)
def test_wrong_kinds_are_named(good: dict[str, Any], arguments: dict[str, Any], message: str) -> None:
    fitting = {"visits": good["visits"], "window": "3h", "min_active": 1, "holdout": 4}
    with pytest.raises(pb.InputError, match=message):
        pb.fit_people(**{**fitting, **arguments})


def test_the_audit_names_what_is_not_people_or_a_release(good: dict[str, Any]) -> None:
    with pytest.raises(pb.InputError, match="people is a str"):
        pb.audit("x", pb.Release([0]))  # type: ignore[arg-type]
    with pytest.raises(pb.InputError, match="release is a list"):
        pb.audit(good["people"], [0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"universe": "many"}, "universe is 'many'; expected a whole number of at least 2"),
        ({"universe": 1}, "universe is 1"),
        ({"universe": True}, "universe is True"),
        ({"elsewhere": 2}, "elsewhere is 2; expected a whole number from 0 to 1"),
        ({"elsewhere": -1}, "elsewhere is -1"),
        ({"elsewhere": "last"}, "elsewhere is 'last'"),
        ({"elsewhere": 0.0}, "elsewhere is 0.0"),
        ({"merged_entropy": [-1.0, 0.0]}, "merged_entropy: an entropy is a finite number of at least 0"),
        ({"merged_entropy": [float("nan"), 0.0]}, "merged_entropy: an entropy"),
        ({"merged_entropy": "much"}, "merged_entropy: expected numbers"),
        ({"merged_entropy": [0.0]}, r"expected a shape \(2,\)"),
        ({"guessable": ["x", "y"]}, "guessable: expected numbers"),
        ({"guessable": [False, False]}, "with a place to guess"),
    ],
)
def test_a_chain_refuses_what_it_cannot_be(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.MarkovPrior([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], **arguments)
