"""What the benchmarks make of their measurements; and that each of them runs to its end, in a quick form."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks import __main__ as command
from benchmarks import figures, growth, pages, record
from benchmarks.growth import Point, Task, fitted

RESULTS = json.loads(record.RESULTS.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", pages.PAGES)
def test_pages_say_what_was_measured(name: str) -> None:
    text = (pages.DOCS / name).read_text(encoding="utf-8")
    assert pages.MARK.search(text)
    assert pages.filled(text, RESULTS) == text, "run `python -m benchmarks.pages`"


def test_pages_do_without_what_was_not_measured() -> None:
    for name in pages.PAGES:
        assert "Not measured yet." in pages.filled((pages.DOCS / name).read_text(encoding="utf-8"), {})


def test_a_ratio_is_that_of_the_best_times() -> None:
    section = record.Section("task")
    section.ratio("case", {"places": 3}, "peer", [(1.0, 10.0), (2.0, 8.0), (4.0, 20.0)])
    [row] = section.written()["rows"]
    assert (row["ratio"], row["lowest"], row["highest"], row["repeats"]) == (8.0, 4.0, 10.0, 3)


def test_a_peer_that_is_not_there_is_left_out_with_the_reason() -> None:
    section = record.Section("task")
    assert section.peer("nothing", "no_such_module") is None
    assert "no_such_module" in section.written()["missing"]["nothing"]
    assert section.peer("numpy", "numpy.linalg") is not None


def test_a_power_law_is_found_and_carried_on_to_the_wall() -> None:
    task = Task("task", "n²", growth.reading, {"n": 1}, {"n": growth.ANY}, lambda n: n * n, lambda n: n)
    points = {n: Point(1e-3 * n**2, int(1e7 * n)) for n in (1, 2, 4, 8, 16)}
    row = fitted(task, "n", points)
    assert row["time"] == {"exponent": 2.0, "expected": 2.0, "wall": pytest.approx((60 / 1e-3) ** 0.5, rel=0.05)}
    assert row["memory"] == {"exponent": 1.0, "expected": 1.0, "wall": pytest.approx(800)}


def test_what_is_too_small_to_be_noticed_is_not_fitted() -> None:
    task = Task("task", "n", growth.reading, {"n": 1}, {"n": growth.ANY})
    row = fitted(task, "n", {n: Point(float(n), 1000) for n in (1, 2, 4)})
    assert "memory" not in row
    assert "expected" not in row["time"]


def test_every_file_is_a_benchmark_or_a_part_of_one() -> None:
    """So that none is left out of the quick runs below."""
    found = sorted(path.stem for path in Path(record.__file__).parent.glob("*.py") if not path.stem.startswith("__"))
    known = sorted((*command.BENCHMARKS, *command.SCRIPTS, *command.PARTS))
    assert known == found, "a new file is named in benchmarks/__main__.py; a script takes --quick"


@pytest.mark.thorough
@pytest.mark.parametrize("name", command.BENCHMARKS)
def test_a_benchmark_runs_to_its_end(name: str, tmp_path: Path) -> None:
    into = tmp_path / "section.json"
    ended = _run("benchmarks", name, "--quick", "--into", str(into))
    assert ended.returncode == 0, ended.stderr
    section = json.loads(into.read_text())
    absent = set(section["missing"])
    assert not {peer for peer in absent if find_spec(peer) is not None}, "a peer that is there failed to load"
    if not section["rows"]:
        pytest.skip(f"without {', '.join(absent)} there is nothing to compare with")
    assert all(row.get("ratio", 1.0) > 0 for row in section["rows"])


@pytest.mark.thorough
@pytest.mark.parametrize("name", command.SCRIPTS)
def test_a_script_runs_to_its_end(name: str) -> None:
    ended = _run(f"benchmarks.{name}", "--quick")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()


@pytest.mark.thorough
def test_figures_are_drawn_of_what_was_measured(tmp_path: Path) -> None:
    figures.draw(RESULTS, tmp_path)
    assert all(path.stat().st_size > 1000 for path in tmp_path.iterdir())
    assert {path.name for path in tmp_path.iterdir()} >= {"speed.svg", "growth.svg"}


def test_quick_runs_write_nothing(tmp_path: Path) -> None:
    before = record.RESULTS.read_bytes()
    assert _run("benchmarks", "joint_maxima", "--quick").returncode == 0
    assert record.RESULTS.read_bytes() == before


def _run(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A module as a command, in a process of its own."""
    folder = Path(record.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-m", module, *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
