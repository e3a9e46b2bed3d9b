"""How verdicts are reached."""

from typing import Any

import pytest
from tests.passerby_paper.made_up import CLAIMS, SETTINGS

from passerby_paper.claims import FAILS, HOLDS, OPEN, PART, Finding, grade, together


def test_grades() -> None:
    assert grade({"a": True, "b": True}) == (HOLDS, "")
    assert grade({"a": False}) == (FAILS, "does not: a")
    assert grade({"a": None}) == (OPEN, "cannot be told: a")
    assert grade({"a": False, "b": None})[0] == FAILS
    assert grade({"a": True, "b": False, "c": None}) == (PART, "holds: a; does not: b; cannot be told: c")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([HOLDS, HOLDS], HOLDS),
        ([FAILS, FAILS], FAILS),
        ([HOLDS, FAILS], PART),
        ([HOLDS, OPEN], PART),
        ([FAILS, OPEN], FAILS),
        ([OPEN, OPEN], OPEN),
        ([PART, HOLDS], PART),
    ],
)
def test_several_files_give_one_verdict(verdicts: list[Any], expected: str) -> None:
    findings = {f"file{i}": Finding(verdict, "x", "y") for i, verdict in enumerate(verdicts)}
    assert together(findings).verdict == expected
    assert together(findings).why == "y"


def test_what_was_not_run_cannot_be_judged() -> None:
    for claim in CLAIMS:
        found = claim.judged({}, SETTINGS)
        assert found.verdict == OPEN
        assert all(f"`{name}`" in found.why for name in claim.needs)
