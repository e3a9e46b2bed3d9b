"""Names of places on a page."""

import pytest

from passerby.report.evidence import HIDDEN, LONGEST, readable


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("café ☕", "café ☕"),
        ("<script>", "<script>"),
        ("عربي", "عربي"),
        ("👩\u200d🌾", "👩\u200d🌾"),
        ("a\nb\tc\x1b[31m", f"a{HIDDEN}b{HIDDEN}c{HIDDEN}[31m"),
        ("\u202eevil\u2066\u200f", f"{HIDDEN}evil{HIDDEN}{HIDDEN}"),
        ("one\u2028two", f"one{HIDDEN}two"),
        ("x" * LONGEST, "x" * LONGEST),
        ("a" * 40 + "b" * 5000 + "c" * 40, "a" * 27 + "…" + "c" * 26),
    ],
)
def test_what_cannot_be_seen_is_marked_and_long_names_lose_their_middle(name: str, shown: str) -> None:
    assert readable([name]) == (shown,)


def test_different_names_stay_different() -> None:
    names = ["x" * 99, f"x\n{'x' * 98}", "x" * 100, f"a{HIDDEN}", "a\t", "a\r", "plain", "plain "]
    shown = readable(names)
    assert len(set(shown)) == len(names)
    assert shown[3] == names[3]
    assert shown[-2:] == ("plain", "plain ")
    assert max(map(len, shown)) <= LONGEST + 4
