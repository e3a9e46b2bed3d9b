"""What is told about the tests: the page shows the results, and the runs look at files that exist."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from trust import coverage, fuzz, mutants, page, results
from trust.coverage import stretches, wait_for_quiet

RESULTS = json.loads(results.FILE.read_text(encoding="utf-8"))
TEXT = "".join(path.read_text(encoding="utf-8") for path in page.PAGES)


def test_the_page_says_what_was_found() -> None:
    assert page.filled(TEXT, RESULTS) == TEXT, "run `python -m trust.page`"


@pytest.mark.parametrize("name", page.TABLES)
def test_every_table_has_its_place(name: str) -> None:
    assert TEXT.count(f"<!-- table: {name} -->") == 1


def test_the_page_does_without_what_was_not_run() -> None:
    assert page.filled(TEXT, {}).count("Not measured yet.") == len(page.TABLES)


def test_results_say_of_which_source_they_are() -> None:
    found = {"properties": 2, "examples": 50, "factor": 5, "seed": 1, "failures": []}
    text = "<!-- table: deep -->\n<!-- end of table -->"
    assert "an earlier layout" in page.filled(text, {"deep": found})
    assert "*Measured on a day.*" in page.filled(text, {"deep": {**found, "measured": "on a day"}})


def test_nothing_failed_and_every_line_that_is_not_run_is_explained() -> None:
    assert RESULTS["deep"]["failures"] == []
    assert RESULTS.get("fuzz", {}).get("failed", 0) == 0
    assert all(why for _, _, why in RESULTS.get("coverage", {}).get("missing", []))


def test_files_that_are_nearly_right_are_as_many_as_asked_for() -> None:
    """Where tests that take long are left out, a property gets a few examples, however many are asked for."""
    command = fuzz.command(1)
    assert command[command.index("pytest") + 1 :].count("-m") == 1
    assert "thorough or not thorough" in command


def test_exact_intervals() -> None:
    # Nobody of ten: 1 - 0.025^(1/10) is the upper end.
    assert page.interval(0, 10) == "0.0 % (0.0 to 30.8 %)"
    assert page.interval(10, 10) == "100.0 % (69.2 to 100.0 %)"
    assert page.interval(45, 50) == "90.0 % (78.2 to 96.7 %)"


def test_mutants_are_told_by_file_and_survivors_one_by_one() -> None:
    found = {"seed": 3, "all": 6000, "files": {"a.py": [9, 1], "b.py": [5, 0]}, "survivors": [["a.py:7", "x | y -> x"]]}
    assert "| all | 15 | 14 | 1 | 93.3 % (68.1 to 99.8 %) |" in page.mutants(found)
    assert page.sample(found) == "15 were drawn, with seed 3, of 6,000 in all. 14 were killed: 93.3 % (68.1 to 99.8 %)."
    assert r"| `a.py:7` | `x \| y` | `x` |" in page.survivors(found)


def test_every_file_that_is_changed_has_tests() -> None:
    assert mutants.mirror("kernels/chain/recursions.py") == ["tests/kernels/chain/test_recursions.py"]
    assert mutants.mirror("questions/trace/methods/formula.py")[0] == "tests/questions/trace/test_methods.py"
    assert mutants.mirror("outcomes/of_another_name.py") == ["tests/outcomes"]
    for file in mutants.files():
        assert all((results.ROOT / tests).exists() for tests in mutants.mirror(file)), file


def test_tests_beside_are_for_files_that_exist_and_have_no_mirror() -> None:
    for file in mutants.BESIDE:
        assert (results.SOURCE / file).exists()
        assert not list((results.ROOT / "tests" / file).parent.glob(f"test_{Path(file).name}"))


def test_a_change_is_told_as_before_and_after() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n a = 1\n-    b = -c\n+    b = c\n d = 2"
    assert mutants.changed(diff) == "b = -c -> b = c"


@pytest.mark.thorough
@pytest.mark.parametrize("kept", [None, {"test_it.py::test_quick": 0.1}])
def test_only_quick_tests_are_run_without_compilation(tmp_path: Path, kept: dict[str, float] | None) -> None:
    (tmp_path / "test_it.py").write_text(
        "def test_quick(): pass\ndef test_wrong(): assert False\ndef test_endless():\n    while True: pass\n"
    )
    (tmp_path / "conftest.py").write_text("from hypothesis import settings\nsettings.register_profile('passerby')\n")
    times = tmp_path / "times.json"
    if kept is not None:
        times.write_text(json.dumps(kept))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-pno:cacheprovider", "-ptrust.quick", "-n0", "test_it.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(results.ROOT), "PASSERBY_QUICK": str(times)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 passed" in done.stdout
    assert ("2 failed" in done.stdout) == (kept is None)
    assert list(json.loads(times.read_text())) == ["test_it.py::test_quick"]


def test_lines_without_a_test_have_reasons_that_are_for_lines_that_exist() -> None:
    for file, text, _ in coverage.UNRUN:
        lines = [line.strip() for line in (results.SOURCE / file).read_text(encoding="utf-8").splitlines()]
        assert text in lines, f"{file} no longer holds {text!r}"
    assert all((results.ROOT / tests).is_dir() for tests in coverage.PLAIN)


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
