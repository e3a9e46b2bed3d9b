"""What the benchmarks make of their measurements; the measurements themselves depend on a clock, and are not run."""

import json

import pytest
from benchmarks import growth, pages, record
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
