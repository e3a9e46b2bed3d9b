from pathlib import Path

import pytest

from passerby.errors import PasserbyError
from passerby.pool import Kept, shared


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
