"""What is told about the tests: the page shows the results, and the rules hold for mutants that exist."""

import json
import threading
import time
from pathlib import Path

import pytest
from trust import page, results, rules
from trust.changed import mutants
from trust.coverage import stretches, wait_for_quiet
from trust.tally import FATES, UNEXPLAINED

RESULTS = json.loads(results.FILE.read_text(encoding="utf-8"))
TEXT = page.PAGE.read_text(encoding="utf-8")


def test_the_page_says_what_was_found() -> None:
    assert page.filled(TEXT, RESULTS) == TEXT, "run `python -m trust.page`"


@pytest.mark.parametrize("name", page.TABLES)
def test_every_table_has_its_place(name: str) -> None:
    assert TEXT.count(f"<!-- table: {name} -->") == 1


def test_the_page_does_without_what_was_not_run() -> None:
    assert page.filled(TEXT, {}).count("Not measured yet.") == len(page.TABLES)


def test_every_survivor_is_explained_and_every_line_that_is_not_run() -> None:
    found = RESULTS["mutants"]
    assert UNEXPLAINED not in found["survived"]
    assert {fate for fates in found["files"].values() for fate in fates} <= set(FATES)
    assert all(why for _, _, why in RESULTS["coverage"]["missing"])


def test_nothing_failed() -> None:
    assert RESULTS["deep"]["failures"] == []
    assert RESULTS.get("fuzz", {}).get("failed", 0) == 0


def test_nine_in_ten_mutants_of_kernels_bounds_and_attacks_are_killed() -> None:
    named = [fates for file, fates in RESULTS["mutants"]["files"].items() if page.first(file)]
    tried, noticed, equal = page.judged(page.added(named))
    assert noticed >= 0.9 * (tried - equal)


def test_mutants_are_told_in_words_and_a_few_of_many() -> None:
    assert page.in_words("a.py f | x = y + 1 | 1 -> 2 #3") == "`f` in `a.py`: `x = y + 1` has `2` for `1`"
    assert page.in_words("a.py C.f | x | x -> pass") == "`C.f` in `a.py`: `x` is left out"
    names = ["a.py f | x = y + 1 | 1 -> 2", "a.py f | x = y | x = y -> pass", "a.py g | u = v | v -> w"]
    assert page.examples([*names, "a.py h | p = q | r | q -> r"], 2).count("<br>") == 1
    for name in ("equal", "survivors"):
        shown = page.TABLES[name][1](RESULTS["mutants"]).splitlines()
        assert all(line.count("<br>") <= 2 for line in shown)


def test_exact_intervals() -> None:
    # Nobody of ten: 1 - 0.025^(1/10) is the upper end.
    assert page.interval(0, 10) == "0.0 % (0.0 to 30.8 %)"
    assert page.interval(10, 10) == "100.0 % (69.2 to 100.0 %)"
    assert page.interval(45, 50) == "90.0 % (78.2 to 96.7 %)"


def test_every_rule_is_for_some_mutant() -> None:
    every = [(m.file, m.function, m.text, m.change) for file in results.FILES for m in mutants(results.SOURCE, file)]
    for rule in (*rules.LEFT_OUT, *rules.EQUAL, *rules.OPEN):
        assert any(rule.holds(*mutant) for mutant in every), rule


def test_lines_that_are_not_run_are_told_in_stretches(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    path.write_text("if x:\n    a = (\n        1\n    )\n    b = 2\nc = 3\nd = 4\n")
    assert list(stretches(path, {2, 5, 7})) == [(2, 5, "a = ("), (7, 7, "d = 4")]
    assert list(stretches(path, set())) == []


def test_data_of_processes_that_end_late_is_waited_for(tmp_path: Path) -> None:
    def write() -> None:
        for number in range(4):
            (tmp_path / str(number)).write_text("")
            time.sleep(0.05)

    late = threading.Thread(target=write)
    late.start()
    wait_for_quiet(tmp_path, 0.3)
    assert len(list(tmp_path.iterdir())) == 4
    late.join()
