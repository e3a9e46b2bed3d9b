"""Whatever is handed to whatever is public, there is a result or an error of passerby, at once, in its own words."""

from __future__ import annotations

import inspect
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.audits.settings import SETTINGS
from tests.doors import BASES, GROUPS, HOSTILE, RECORDS, WITHIN, Door

#: Seconds after which something never ends: only what is wrong takes a thousandth of it.
PATIENCE = 60
#: Where what is let in takes longest, each argument is tried with one value of so many, each value at some of them.
SLOW = {"audit of questions": 2, "audit_folder": 8, "audit_report": 6, "backtest": 3, "together": 2}


class Endless(BaseException):
    """Somebody waits for something that does not end."""


@contextmanager
def patience() -> Iterator[None]:
    """Raise `Endless` where something does not end."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def enough(*_: Any) -> None:
        raise Endless

    before = signal.signal(signal.SIGALRM, enough)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(door: Door, **wrong: str) -> str:
    """What is wrong with what comes of it; nothing if it is a result or an error that was meant."""
    try:
        with patience():
            door.knock(**{name: HOSTILE[value]() for name, value in wrong.items()})
    except pb.PasserbyError as error:
        return "" if len(str(error)) < 2000 else f"{door}({wrong}): a message of {len(str(error)):,} letters"
    except (Exception, Endless) as error:
        return f"{door}({wrong}): {type(error).__name__}: {error}"[:300]
    return ""


def sane(name: str, value: str) -> bool:
    """Whether it is no order for as many processes as there are cores, which would start them each time."""
    return (name, value) != ("workers", "None")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word may be the name of a file, which is written here."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_one_argument_that_is_wrong(group: Callable[[], Iterator[Door]]) -> None:
    found = []
    for door in group():
        door.knock()
        for number, name in enumerate(door.arguments):
            every = SLOW.get(door.name, 1)
            values = [*HOSTILE][number % every :: every]
            found += [outcome(door, **{name: value}) for value in values if sane(name, value)]
    assert not [wrong for wrong in found if wrong]


@cache
def every_door() -> list[Door]:
    """All that take something."""
    return [door for group in GROUPS for door in group() if door.arguments]


@pytest.mark.thorough
@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.data())
def test_several_arguments_that_are_wrong(data: st.DataObject) -> None:
    door = data.draw(st.sampled_from(every_door()))
    names = data.draw(st.lists(st.sampled_from(sorted(door.arguments)), min_size=1, max_size=3, unique=True))
    values = {name: data.draw(st.sampled_from([*HOSTILE])) for name in names}
    wrong = outcome(door, **{name: value for name, value in values.items() if sane(name, value)})
    assert not wrong, wrong


def _is_error(public: object) -> bool:
    return isinstance(public, type) and issubclass(public, Exception)


def test_whatever_is_public_is_tried() -> None:
    doors = [door for group in GROUPS for door in group()]
    for name in pb.__all__:
        public = getattr(pb, name)
        if not callable(public) or name in RECORDS | BASES or _is_error(public):
            continue
        tried = {argument for door in doors if door.name.split(" ")[0] == name for argument in door.arguments}
        arguments = inspect.signature(public).parameters.values()
        named = {each.name for each in arguments} - {"self"}
        if "__signature__" in vars(public):
            named -= set(SETTINGS)  # they are checked together, and tried where they are
        assert any(door.name.split(" ")[0] == name for door in doors), f"{name} is not tried"
        assert named <= tried, f"{name}: {named - tried} are not tried"


def test_whatever_methods_people_call_are_tried() -> None:
    doors = {door.name.split(" ")[0] for group in GROUPS for door in group()}
    kinds: dict[type, str] = {pb.Mechanism: "Mechanism", pb.Release: "Release"}
    kinds |= dict.fromkeys((pb.Present, pb.Moved, pb.Visitors), "Count")
    kinds |= dict.fromkeys((pb.Trace, pb.Event, pb.InData, pb.EachStep), "Question")
    for name in pb.__all__:
        public = getattr(pb, name)
        if not isinstance(public, type) or _is_error(public) or name in BASES:
            continue
        kind = next((kinds[each] for each in public.__mro__ if each in kinds), name)
        within = WITHIN.get(kind, set()) | WITHIN.get(name, set())
        for method in dir(public):
            plain = inspect.getattr_static(public, method)
            takes = isinstance(plain, staticmethod | classmethod) or inspect.isfunction(plain)
            if method.startswith("_") or not takes or method in within:
                continue
            given = [name for name in inspect.signature(getattr(public, method)).parameters if name != "self"]
            if given:
                assert f"{name}.{method}" in doors, f"{name}.{method} is not tried"


def test_what_is_refused_says_what_it_is() -> None:
    """The cases that showed it, each with its words."""
    prior, entropy, word, none = pb.line_prior(3), pb.entropy, cast(Any, "x"), cast(Any, np.array([]))
    for call, said in (
        (lambda: pb.simulate_city(people=2**70), "a city's people cannot be .*; the most is 1,000,000,000"),
        (lambda: pb.simulate_city(people=10**9, days=30), "has more than 5,000,000,000 records, which take days"),
        (lambda: pb.MarkovPrior.mixture(1.5, [prior]), r"weights: expected one for each of the 1 priors"),
        (lambda: pb.line_prior(5, tau=word), "tau: expected a finite number above 0, got 'x'"),
        (lambda: prior.sample(word, 2, np.random.default_rng()), "size is 'x'; expected a whole number"),
        (
            lambda: entropy(prior, 2**70),
            "steps: expected a whole number from 1 to 1,000,000, got 118059162",
        ),
        (lambda: pb.mutual_information(prior, pb.Release([0]), none), r"method: expected one of .*, got array"),
    ):
        with pytest.raises(pb.InputError, match=said):
            call()
