"""What is said of rows, times, people and steps, to oneself and to others."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import traces

import passerby as pb
from passerby.audits.alerts import alerts
from passerby.audits.coverage import Rows, coverage_of
from passerby.support.numbers import lot_size, rows_in_lots
from passerby.support.rule_of_five import FEW
from passerby.visits.table import LeftOut, Skipped


def visits(zone: str = "UTC") -> pb.Visits:
    """Six people at two places every hour for two days; one of them once, and one at another place only."""
    rows = [
        (n, f"2024-05-0{day} {hour:02d}:10", "ab"[hour % 2]) for n in range(6) for day in (1, 2) for hour in range(24)
    ]
    rows += [(7, "2024-05-01 08:00", "a"), (8, "2024-05-01 09:30", "z"), (0, "2024-05-01 00:10", "a")]
    table = pl.DataFrame(rows, schema=["person", "time", "place"], orient="row")
    return pb.read_visits(table, timezone=zone)


def test_lines_say_what_was_read_and_left_out_and_by_which_rule() -> None:
    read = visits("Europe/Paris")
    people = pb.fit_people(read, window="1h", places=["a", "b"], min_active=10, holdout=4)
    lines = dict(coverage_of(people, read.skipped, read, 10).lines(exact=True))
    assert lines["rows"] == ("290 of 291 rows; left out: 1 repeated; of no use: 1 at places that were not chosen")
    assert lines["visits"] == "from 2024-05-01 00:10 to 2024-05-02 23:10 (Europe/Paris)"
    assert lines["dates"] == (
        "habits from 2024-05-01 00:00, published from 2024-05-02 20:00 to 2024-05-03 00:00 (Europe/Paris)"
    )
    assert lines["people"] == "6 of 8 can be audited; left out: 1 seen in fewer than 10 steps, 1 in none"
    assert lines["elsewhere"] == "0 % of the fitted person-steps, 0 % of the published ones"
    assert "absent" not in lines


def test_others_are_told_of_no_few_people_and_of_no_minute() -> None:
    read = visits()
    people = pb.fit_people(read, window="1h", places=["a", "b"], min_active=10, holdout=4)
    shared = coverage_of(people, read.skipped, read, 10).shared
    assert (shared.people, shared.kept, shared.seldom, shared.unseen) == (16, 6, 5, 5)
    lines = dict(shared.lines())
    assert lines["visits"] == "from 2024-05-01 to 2024-05-02 (UTC)"
    assert lines["people"] == (
        "6 of about 16 can be audited; left out: 5 or fewer seen in fewer than 10 steps, 5 or fewer in none"
    )


def test_people_who_are_absent_before_or_after_and_a_step_in_part() -> None:
    array = np.zeros((10, 25), dtype=np.int64)
    array[:6, 20:] = 3
    array[6:9, :20] = 3
    people = pb.fit_people(traces(array, 4), holdout=5, habits="paper")
    people = replace(people, left_out=LeftOut(people=10, partial_step=True, outside=3))
    found = coverage_of(people, Skipped(rows=9))
    assert (found.absent_before, found.absent_after) == (3, 6)
    assert dict(found.shared.lines())["absent"] == "5 or fewer people from all fitted steps, 6 from all published ones"
    assert dict(found.lines(exact=True))["absent"] == "3 people from all fitted steps, 6 from all published ones"
    assert dict(found.lines())["dates"].endswith("a last step that the visits cover only in part is left out")
    assert "3 outside of the steps" in dict(found.lines())["rows"]


@pytest.mark.parametrize("away", range(3))
def test_steps_that_few_people_are_elsewhere_are_not_told(away: int) -> None:
    """Of five people and four steps, one step is 5 %: beside *5 or fewer absent*, it told that nobody else was away."""
    array = np.zeros((5, 24), dtype=np.int64)
    array[:away, 20:] = 3
    found = coverage_of(pb.fit_people(traces(array, 4), holdout=4, habits="paper"), Skipped(rows=9))
    assert found.elsewhere_published == away / 5
    assert found.shared.elsewhere_published == 0


def test_nothing_is_told_of_the_steps_of_few_people() -> None:
    array = np.zeros((4, 25), dtype=np.int64)
    array[:, 20:] = 3
    people = pb.fit_people(traces(array, 4), holdout=5, habits="paper")
    found = coverage_of(people, Skipped(rows=9))
    assert found.elsewhere_published == 1
    assert "elsewhere" in dict(found.lines(exact=True))
    assert found.shared.elsewhere_fitted is found.shared.elsewhere_published is None
    assert "elsewhere" not in dict(found.shared.lines())
    assert not any("elsewhere" in alert for alert in alerts(found))


def numbers_of(rows: Rows) -> dict[str, int]:
    return rows.model_dump(exclude={"lot"})


def test_erasing_a_person_tells_not_how_many_rows_were_theirs() -> None:
    """Somebody has what was shared of everybody before one person was erased, and after."""
    rng = np.random.default_rng(4)
    own = np.sort(rng.lognormal(4, 1, 200).astype(int) + 1)
    bad = rng.binomial(own, 0.02)
    total, array = int(own.sum()), np.zeros((200, 25), dtype=np.int64)
    everybody = pb.fit_people(traces(array, 4), holdout=5)

    def told(but: int | None) -> tuple[Rows, Rows]:
        gone, fewer = (0, 0) if but is None else (int(own[but]), int(bad[but]))
        people = replace(everybody, left_out=LeftOut(people=200 - (but is not None), other_places=(total - gone) // 3))
        found = coverage_of(people, Skipped(rows=total - gone, missing=int(bad.sum()) - fewer))
        return found.rows, found.shared.rows

    before, shared = told(None)
    assert shared.lot >= FEW * own.mean()
    changed = 0
    for but in range(200):
        exact, after = told(but)
        assert before.read - exact.read == own[but]  # what must not be told
        assert after.lot == shared.lot
        for name, value in numbers_of(after).items():
            apart = numbers_of(shared)[name] - value
            # Most people leave no trace, and where there is one it is of a lot of rows, whoever it was.
            assert apart == 0 or apart >= shared.lot
            changed += apart != 0
    assert changed < 100


@pytest.mark.parametrize("people", [1, 7, 60, 2000, 10**6])
def test_rows_that_are_told_are_near_the_rows_that_there_are(people: int) -> None:
    for rows in (0, 1, 5, 99, 1234, 147_938, 98_765_432):
        lot = lot_size(rows, people, FEW)
        assert lot >= max(10, FEW * rows / people) - 1e-9
        for some in (rows, rows // 3, rows // 100):
            found = rows_in_lots(some, lot)
            assert (found == 0) == (some == 0)
            assert abs(found - some) <= max(lot, 0.05 * some)
            assert some <= lot or found > lot  # one lot stands for as many or fewer


def test_what_others_see_is_said_to_be_about_so_many() -> None:
    read = visits()
    people = pb.fit_people(read, window="1h", places=["a", "b"], min_active=10, holdout=4)
    found = coverage_of(people, read.skipped, read, 10)
    assert found.shared.shared.rows == found.shared.rows
    assert dict(found.shared.lines())["rows"] == (
        "about 400 of about 400 rows; left out: 200 or fewer repeated; of no use: 200 or fewer at places that were not "
        "chosen"
    )
