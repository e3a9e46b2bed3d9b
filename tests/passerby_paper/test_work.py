"""Pieces of work, alone and shared."""

from functools import partial
from typing import Any

from passerby_paper.work import done


def _rows(start: int) -> list[dict[str, Any]]:
    return [{"value": start + i} for i in range(2)]


def test_pieces_are_the_same_with_several_workers() -> None:
    pieces = [partial(_rows, start) for start in range(4)]
    alone, together = dict(done(pieces, 1)), dict(done(pieces, 2))
    assert alone == together == {i: _rows(i) for i in range(4)}
