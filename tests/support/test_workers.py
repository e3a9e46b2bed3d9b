import os
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from passerby.errors import PasserbyError
from passerby.support import workers
from passerby.support.workers import Kept, one_thread_each, shared


def squared(data: list[int], item: int) -> list[float | None]:
    """A task that tells what it was asked."""
    data.append(item)
    return [item / 3, None]


def test_what_is_kept_is_not_done_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "x.jsonl", "mark")
    asked: list[int] = []
    first = shared(squared, asked, [1, 2], workers=1, kept=kept)
    told: list[tuple[int, int]] = []
    both = shared(squared, asked, [1, 2, 5], workers=1, kept=kept, progress=lambda *pair: told.append(pair))
    assert asked == [1, 2, 5]
    assert both == [*first, [5 / 3, None]]
    assert told == [(2, 3), (3, 3)]
    assert shared(squared, asked, [1, 2, 5], workers=1, kept=kept) == both
    assert asked == [1, 2, 5]


@pytest.mark.parametrize("damage", ["[2.0, nu", "\x00", "[1"])
def test_a_line_that_was_not_finished_is_done_again(tmp_path: Path, damage: str) -> None:
    kept = Kept(tmp_path / "x.jsonl", "mark")
    asked: list[int] = []
    shared(squared, asked, [3], workers=1, kept=kept)
    with kept.file.open("a") as file:
        file.write(damage)
    assert shared(squared, asked, [3, 4], workers=1, kept=kept) == [[1.0, None], [4 / 3, None]]
    assert asked == [3, 4]
    assert len(kept.file.read_text().splitlines()) == 3


def test_results_of_something_else_are_not_taken(tmp_path: Path) -> None:
    asked: list[int] = []
    shared(squared, asked, [3], workers=1, kept=Kept(tmp_path / "x.jsonl", "mark"))
    shared(squared, asked, [3], workers=1, kept=Kept(tmp_path / "x.jsonl", "other"))
    assert asked == [3, 3]


def test_a_disk_that_refuses_is_said(tmp_path: Path) -> None:
    with pytest.raises(PasserbyError, match=r"x\.jsonl could not be written"):
        shared(squared, [], [3], workers=1, kept=Kept(tmp_path / "none" / "x.jsonl", "mark"))
    with pytest.raises(PasserbyError, match=r"could not be written.*earlier results are kept"):
        Kept(tmp_path / "none" / "x.jsonl", "mark").add([1])


def test_many_workers_give_the_same(tmp_path: Path) -> None:
    items = list(range(1, 9))
    expected = [pow(2, item) for item in items]
    assert shared(pow, 2, items, workers=2, kept=Kept(tmp_path / "x.jsonl", "m")) == expected


class Broken:
    """A pool one of whose workers is killed after the first result."""

    ended: dict[str, bool]

    def __init__(self, *_: object, **__: object) -> None:
        Broken.ended = {}

    def map(self, task: Any, items: list[int], chunksize: int) -> Iterator[list[float | None]]:
        yield [items[0] / 3, None]
        raise BrokenProcessPool("a process in the process pool was terminated abruptly")

    def shutdown(self, **how: bool) -> None:
        Broken.ended = how


def test_a_killed_worker_is_said_and_results_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, asked = Kept(tmp_path / "x.jsonl", "mark"), list[int]()
    monkeypatch.setattr(workers, "ProcessPoolExecutor", Broken)
    with pytest.raises(PasserbyError, match=r"ended before its time .* run it again with fewer workers") as caught:
        shared(squared, asked, [3, 4, 5], workers=2, kept=kept)
    assert caught.value.__suppress_context__
    assert Broken.ended == {"wait": True, "cancel_futures": True}
    assert shared(squared, asked, [3, 4, 5], workers=1, kept=kept) == [[1.0, None], [4 / 3, None], [5 / 3, None]]
    assert asked == [4, 5]


def test_workers_have_one_thread_each_and_others_what_they_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    with one_thread_each():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["POLARS_MAX_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "POLARS_MAX_THREADS" not in os.environ
