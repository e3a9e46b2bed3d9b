"""The settings stand in one place: what else knows them says the same."""

from dataclasses import MISSING, fields
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import passerby as pb
from passerby.audits.setting_rules import idle_settings
from passerby.audits.settings import (
    BASE,
    GROUPS,
    NOISE,
    SETTINGS,
    AuditSettings,
    DataSettings,
    Measurement,
    ReportSettings,
    StepSettings,
    default_of,
    group_of,
)
from passerby.audits.validation import check_settings
from passerby.mechanisms.checks import MOST_NOISE, MOST_PEOPLE


def test_defaults_pass_the_checks() -> None:
    idle = {each.name for each in idle_settings(AuditSettings(visits=(Path("v"),)))}
    defaults = {name: each.default for name, each in SETTINGS.items() if each.default is not MISSING}
    checked = check_settings({"visits": "v", **{name: defaults[name] for name in defaults if name not in idle}})
    assert checked == check_settings({"visits": "v"}) == AuditSettings(visits=checked.visits)
    for name, each in SETTINGS.items():
        assert each.metadata["text"].endswith("."), name


@pytest.mark.parametrize(
    ("function", "group", "but"),
    [
        (pb.read_visits, DataSettings, {"visits"}),
        (pb.fit_people, StepSettings, {"place_names"}),
        (pb.audit, Measurement, set()),
    ],
)
def test_functions_have_the_same_defaults(function: Any, group: type[Any], but: set[str]) -> None:
    known = {name: each.default for name, each in signature(function).parameters.items()}
    for each in fields(group):
        if each.name not in but:
            assert known[each.name] == each.default, each.name


def test_the_limits_of_mechanisms_are_theirs() -> None:
    assert NOISE == {"ge": 1 / MOST_NOISE, "le": MOST_NOISE}
    assert BASE == {"ge": 2, "le": MOST_PEOPLE}
    for limit in NOISE.values():
        pb.Gaussian(limit)
        pb.Laplace(limit)
    for limit in BASE.values():
        pb.Rounding(int(limit))


def test_every_setting_but_the_folder_is_in_one_group() -> None:
    grouped = [each.name for group in GROUPS.values() for each in fields(group)]
    assert grouped == [name for name in SETTINGS if name != "out"]
    assert group_of("title") == "Report"


def test_a_group_can_be_taken_out() -> None:
    settings = check_settings({"visits": "v", "misses": 2, "runs": 7, "title": "A town"})
    assert settings.measurement == Measurement(2, runs=7)
    assert settings.only(ReportSettings, "explore", "sigmas", "bases", "thresholds", "delta") == {"title": "A town"}


@pytest.mark.parametrize(("name", "shown"), [("visits", ""), ("window", "auto"), ("delta", "1e-5"), ("bases", "5 20")])
def test_defaults_in_words(name: str, shown: str) -> None:
    assert default_of(name) == shown
