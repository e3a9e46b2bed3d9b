"""Plans with other limits, one after another, about the same people: what a reader of all of their files can work out.

The reader knows the rules. A number of people is given away by what is told of it, if no other number of people would
be told in the same way by each of the plans.
"""

from pathlib import Path
from typing import Any

import pytest

import passerby as pb
from passerby.audits.wording import Options, Source
from passerby.plans.limit import GRAIN, Tally, check_told
from passerby.plans.record import TallyRecord, _tally
from passerby.plans.settings import check_plan
from passerby.support.rule_of_five import FEW

PEOPLE = 60


def told(count: int, allowed: int) -> TallyRecord:
    """What a plan tells of a release that puts so many of sixty people above a limit, where so many are allowed."""
    limit = pb.Limit(share=allowed / PEOPLE, above=0.5)
    return _tally(0, Tally(limit, PEOPLE, count, count, count, count, True))


#: A series of plans with every limit that may be shared.
SHARED = [0, *range(FEW - 1, PEOPLE)]


def alike(count: int) -> list[int]:
    """The numbers of people of whom the whole series says the same as of this one."""
    series = [told(count, allowed) for allowed in SHARED]
    return [other for other in range(PEOPLE + 1) if [told(other, allowed) for allowed in SHARED] == series]


@pytest.mark.parametrize("count", range(PEOPLE + 1))
def test_a_series_of_plans_tells_no_number_of_people(count: int) -> None:
    """But for nobody and everybody: from 1 to 4, from 5 to 9, and so on, all numbers look alike."""
    first = FEW * (count // FEW)
    inside = range(max(1, first), min(first + FEW, PEOPLE)) if 0 < count < PEOPLE else range(count, count + 1)
    assert set(alike(count)) >= set(inside)


def test_exact_verdicts_would_tell_it() -> None:
    """What must not be told: the least share that is kept is the number itself."""
    kept = [allowed for allowed in range(PEOPLE) if pb.Limit(share=allowed / PEOPLE, above=0.5).allowed(PEOPLE) >= 23]
    assert min(kept) == 23


@pytest.mark.parametrize("allowed", SHARED)
@pytest.mark.parametrize("count", [0, 1, 4, 5, 11, 14, 15, 16, 33, 59, 60])
def test_verdicts_are_right_and_agree_with_the_numbers_beside_them(count: int, allowed: int) -> None:
    found = told(count, allowed)
    assert found.at_least * PEOPLE <= count + 1e-9
    assert found.at_most * PEOPLE >= count - 1e-9
    if found.verdict == "sure":
        assert count <= allowed
        assert found.at_most * PEOPLE <= allowed + 1e-9
    elif found.verdict == "refused":
        assert count > allowed
        assert found.at_least * PEOPLE > allowed - 1e-9 or allowed == 0
    else:
        assert abs(count - allowed) < FEW  # it is open by less than five people


@pytest.mark.parametrize("level", [0.020001, 0.02 + 1e-9, 0.0219, 0.5000001, 0.9999])
@pytest.mark.parametrize("kind", ["added", "above"])
def test_limits_that_are_nearly_equal_are_refused(level: float, kind: str) -> None:
    near: list[dict[str, Any]] = [{kind: round(level, 2) % 1}, {kind: level}]
    with pytest.raises(pb.InputError, match=f"limits: {kind} is {level!r}; limits are told in steps of half a point"):
        check_told([pb.Limit(share=0.1, **each) for each in near])
    typed = Source({"visits": "v.csv", "at_most": "0.1", kind: repr(level)}, "options", Options())
    with pytest.raises(pb.PasserbyError, match="in steps of half a point"):
        check_plan(typed)


@pytest.mark.parametrize("level", [0.005, 0.01, 0.02, 0.025, 0.3, 0.7, 0.1 + 0.2, 0.95, 0.995])
def test_half_points_are_steps(level: float, tmp_path: Path) -> None:
    check_told([pb.Limit(share=0.1, added=level), pb.Limit(share=0.2, above=level)])
    assert round(level / GRAIN) * GRAIN == pytest.approx(level)
    assert check_plan(Source({"visits": tmp_path / "v.csv", "limits": [{"share": 0.1, "added": level}]})).limits
