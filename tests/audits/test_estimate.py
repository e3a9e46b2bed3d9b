"""How long an audit would take."""

from dataclasses import replace
from itertools import count
from types import SimpleNamespace

import pytest

import passerby as pb
from passerby.audits import estimate as module
from passerby.audits.backtest import some_traces
from passerby.audits.estimate import START, WRITE, estimate, evenly, seconds_each
from passerby.audits.inputs import Inputs, gather
from passerby.audits.settings import AuditSettings
from passerby.audits.validation import check_settings

SMALL = {"visits": "none.csv", "window": "3h", "places": 12, "min_active": 2, "holdout": 4}
NOTHING = {"explore": 0, "backtest": 0, "adversaries": 0, "presence": 0}


def asking(cores: int) -> float:
    """Seconds to ask 20 people other questions, of whom four are asked in half a second."""
    return START + 20 * 0.5 / 4 / cores


@pytest.fixture(scope="module")
def prepared() -> tuple[AuditSettings, Inputs]:
    settings = check_settings({**SMALL, **NOTHING, "explore": 6, "sigmas": [1], "bases": []})
    return settings, gather(settings, pb.simulate_city(20, 20, 4))


def ticking(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """A clock that goes on whenever somebody looks."""
    clock = count(0.0, seconds)
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: next(clock)))


def test_no_more_people_are_timed_than_needed(
    prepared: tuple[AuditSettings, Inputs], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, inputs = prepared
    asked, told = list[int](), list[tuple[int, int]]()
    monkeypatch.setattr(module, "audit_person", lambda _, person: asked.append(person))
    ticking(monkeypatch, 2.5)
    assert seconds_each(inputs, settings.measurement, lambda *pair: told.append(pair)) == 2.5
    assert told == [(1, 20), (2, 20), (3, 20), (4, 20)]  # four people take more than six seconds
    assert len(asked) == 5


def test_what_is_done_once_is_not_counted_for_everybody(
    prepared: tuple[AuditSettings, Inputs], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, inputs = prepared
    clock, seen = [0.0], set[int]()

    def audit_person(_: object, person: int) -> None:
        first = person not in seen
        seen.add(person)
        # One of them takes long when it is first measured, and another one whenever it is.
        clock[0] += 100.0 if person == 7 and first else 3.0 if person == 11 else 0.1

    monkeypatch.setattr(module, "audit_person", audit_person)
    monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    monkeypatch.setattr(module, "ENOUGH", 1e6)
    monkeypatch.setattr(module, "evenly", lambda *_: list(range(20)))
    assert seconds_each(inputs, settings.measurement, lambda *_: None) == pytest.approx((19 * 0.1 + 3.0) / 20)


def test_people_are_spread_evenly_over_how_much_they_move(prepared: tuple[AuditSettings, Inputs]) -> None:
    people = prepared[1].people
    visited = [len(set(people.fitted[person].tolist())) for person in evenly(people, 5)]
    everybody = sorted(len(set(row.tolist())) for row in people.fitted)
    assert sorted(visited) == [everybody[rank] for rank in (2, 6, 10, 14, 18)]
    assert sorted(evenly(people, 99)) == list(range(20))


def test_everything_is_counted(prepared: tuple[AuditSettings, Inputs], monkeypatch: pytest.MonkeyPatch) -> None:
    settings, inputs = prepared
    ticking(monkeypatch, 0.5)
    told: list[str] = []
    found = estimate(settings, inputs, 2, lambda stage, *_: told.append(stage))
    # 20 people, then trials on 6 of them, and 2 mechanisms on the same, each in half a second, by 2 workers.
    assert (found.each, found.workers) == (0.5, 2)
    assert found.everything == START + 20 * 0.5 / 2 + START + (6 + 2 * 6) * 0.5 / 2 + asking(2) + WRITE
    assert list(dict.fromkeys(told)) == ["Timing a handful of people", "Timing a few trials"]


def test_without_trials_none_are_timed(prepared: tuple[AuditSettings, Inputs], monkeypatch: pytest.MonkeyPatch) -> None:
    _, inputs = prepared
    ticking(monkeypatch, 0.5)
    found = estimate(check_settings({**SMALL, **NOTHING}), inputs, 1)
    assert found.everything == START + 20 * 0.5 + asking(1) + WRITE


def test_presence_at_places_is_counted(prepared: tuple[AuditSettings, Inputs], monkeypatch: pytest.MonkeyPatch) -> None:
    _, inputs = prepared
    ticking(monkeypatch, 0.5)
    asked = estimate(check_settings({**SMALL, **NOTHING, "presence": 9}), inputs, 1)
    ticking(monkeypatch, 0.5)
    plain = estimate(check_settings({**SMALL, **NOTHING}), inputs, 1)
    assert asked.everything > plain.everything + START


def test_the_backtest_and_other_adversaries_are_counted(
    prepared: tuple[AuditSettings, Inputs], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, inputs = prepared
    ticking(monkeypatch, 0.5)
    told: list[str] = []
    settings = check_settings({**SMALL, **NOTHING, "backtest": 9, "origins": 2, "adversaries": 8})
    found = estimate(settings, inputs, 2, lambda stage, *_: told.append(stage))
    # At each origin habits are fitted and four people are attacked in half a second, and five others as an audit does.
    expected = START + 20 * 0.5 / 2 + START + 2 * (0.5 + 5 * 0.5) / 2 + START + 8 * 0.5 / 4 / 2 + asking(2) + WRITE
    assert found.everything == pytest.approx(expected)
    assert list(dict.fromkeys(told))[1:] == ["Timing habits on earlier steps", "Timing other adversaries"]


def test_a_backtest_that_cannot_be_made_takes_no_time(
    prepared: tuple[AuditSettings, Inputs], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, inputs = prepared
    ticking(monkeypatch, 0.5)
    few = replace(inputs, traces=some_traces(inputs.traces, 3, 0))
    found = estimate(replace(settings, explore=0, backtest=9), few, 1)
    assert found.everything == START + 20 * 0.5 + START + asking(1) + WRITE
