"""Mechanisms from their text."""

import numpy as np
import pytest
from tests.mechanisms.test_conformance import EVERY

import passerby as pb
from passerby.audits.release import build_mechanism
from passerby.audits.validation import check_settings
from passerby.mechanisms.registry import BY_NOTATION, read_mechanism

WRITTEN = tuple(mechanism for mechanism in EVERY if type(mechanism).__name__ in BY_NOTATION)


@pytest.mark.parametrize("mechanism", WRITTEN, ids=repr)
def test_what_is_shown_can_be_read(mechanism: pb.Mechanism) -> None:
    assert read_mechanism(repr(mechanism)) == mechanism
    assert build_mechanism(check_settings({"visits": "v", "mechanism": repr(mechanism)})) == mechanism


def test_a_bar_puts_one_after_another() -> None:
    made = read_mechanism("Sampling(0.2) | Scaled(5) | Suppression(5)")
    assert made == pb.Then(pb.Then(pb.Sampling(0.2), pb.Scaled(5)), pb.Suppression(5))
    assert made == pb.Sampling(0.2) | pb.Scaled(5) | pb.Suppression(5)
    assert build_mechanism(check_settings({"visits": "v", "mechanism": "Scaled(5) | Suppression(5)"})) == pb.Then(
        pb.Scaled(5), pb.Suppression(5)
    )
    assert read_mechanism("RoundingBySize([[15, 10], [100, 50]])").sample([99], np.random.default_rng(0)) == [100]


def test_all_of_them_are_known() -> None:
    assert {type(mechanism).__name__ for mechanism in WRITTEN} == set(BY_NOTATION)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Rounding(1)", r"base must be a whole number of at least 2"),
        ("Suppression(0)", r"below must be a whole number of at least 1"),
        ("Sampling(1.2)", r"rate must be a probability"),
        ("Miscount(-0.5)", r"miss must be a probability"),
        ("Rounding()", r"Rounding\(\): Rounding missing 1 required positional argument: 'base'"),
        ("Rounding(base=5, bas=2)", r"unexpected keyword argument 'bas'"),
        ("Rouding(5)", r"'Rouding' is not a mechanism; expected one of Raw, "),
        ("Rounding(5) | 3", r"second = 3: expected a Mechanism"),
        ("Rounding(5) + Raw()", r"expected a mechanism, a number"),
        ("Then(Rounding(5), 3)", r"second = 3: expected a Mechanism"),
        ("Bands([10, 'many'])", r"many.* in .*: expected a mechanism, a number"),
        ("__import__('os').system('true')", r"is not a mechanism; expected one of"),
        ("Rounding(5", r"is not a mechanism; expected something like Rounding\(5\)"),
        ("(5)", r"is not a mechanism; expected something like"),
    ],
)
def test_bad_input_says_which_and_why(text: str, message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        read_mechanism(text)
    with pytest.raises(pb.ConfigError, match=r"mechanism: .*" + message):
        check_settings({"visits": "v", "mechanism": text})
