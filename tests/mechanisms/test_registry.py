"""A line in the registry is all that notation, settings and reports need."""

from dataclasses import fields

import pytest
from tests.mechanisms.test_conformance import EVERY

import passerby as pb
from passerby.audits.release import build_mechanism
from passerby.audits.settings import SETTINGS
from passerby.audits.validation import check_settings
from passerby.mechanisms import check_mechanism
from passerby.mechanisms.registry import BY_SETTING, PARAMETERS, REGISTRY, Entry, described, read_mechanism
from passerby.report.words import mechanism as in_words


def example(entry: Entry) -> pb.Mechanism:
    return next(mechanism for mechanism in EVERY if type(mechanism) is entry.kind)


@pytest.mark.parametrize("entry", REGISTRY, ids=lambda entry: entry.notation)
class TestEntry:
    def test_is_read_as_it_is_written(self, entry: Entry) -> None:
        assert read_mechanism(repr(example(entry))) == example(entry)

    def test_has_words(self, entry: Entry) -> None:
        words = in_words(repr(example(entry)))
        assert words == described(example(entry))
        assert "(" not in words
        assert "{" not in words

    def test_keeps_its_promises(self, entry: Entry) -> None:
        check_mechanism(example(entry), counts=(0, 5))

    def test_is_made_from_settings(self, entry: Entry) -> None:
        if entry.setting is None:
            return
        asked = check_settings({"visits": "v", "mechanism": entry.setting})
        made = build_mechanism(asked)
        assert type(made) is entry.kind
        for name in entry.parameters:
            assert getattr(made, name) == PARAMETERS[name].default
            assert name in {f.name for f in fields(made)}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", PARAMETERS)
def test_settings_have_the_limits_of_the_registry(name: str) -> None:
    parameter = PARAMETERS[name]
    assert SETTINGS[name].default == parameter.default
    assert SETTINGS[name].metadata["limits"] == parameter.limits
    least = parameter.limits.get("ge", parameter.limits.get("gt", 0)) - 1
    with pytest.raises(pb.ConfigError, match=rf"{name} = .*should be greater than"):
        check_settings({"visits": "v", name: least})


def test_names_are_used_once() -> None:
    assert len({entry.notation for entry in REGISTRY}) == len(REGISTRY)
    assert len(BY_SETTING) == sum(entry.setting is not None for entry in REGISTRY)


def test_flags_are_told() -> None:
    words = described(pb.Laplace(2.0, rounded=True, clamped=True))
    assert words == "counts with Laplace noise of scale 2, rounded to whole numbers, negative ones shown as 0"
    assert described(pb.Suppression(4, keep_zeros=True)).endswith("left empty, zeros shown")
