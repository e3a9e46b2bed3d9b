"""Processes that share work end when they should, and say what is wrong with the script that starts them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby.support.numbers import chance, span


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "0 %"),
        (1e-300, "1.0e-300"),
        (5.43e-10, "5.4e-10"),
        (0.00099, "9.9e-4"),
        (0.001, "0.10 %"),
        (0.00994, "0.99 %"),
        (0.00996, "1.0 %"),
        (0.0264, "2.6 %"),
        (0.0994, "9.9 %"),
        (0.0996, "10 %"),
        (0.5, "50 %"),
        (0.99, "99 %"),
        (0.99999, "> 99 %"),
        (1 - 1e-15, "100 %"),
        (1.0, "100 %"),
    ],
)
def test_chances_have_two_digits(p: float, text: str) -> None:
    assert chance(p) == text


@given(st.floats(1e-12, 0.989))
def test_what_is_shown_is_near_the_truth(p: float) -> None:
    text = chance(p)
    shown = float(text.removesuffix(" %")) / 100 if text.endswith("%") else float(text)
    assert shown == pytest.approx(p, rel=0.06)


def test_spans() -> None:
    assert span(0.01, 0.02) == "1.0 % to 2.0 %"
    assert span(0.0, 1.2e-278, chance) == "< 1e-12"
    assert span(0.0, 1e-9, chance) == "0 % to 1.0e-9"
    assert span(0.0, 1e-9) == "< 0.01 %"
    assert span(0.0, 0.0, chance) == "0 %"
    assert span(1.01e-9, 1.02e-9, chance) == "1.0e-9"
