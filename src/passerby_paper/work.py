"""Pieces of work: what an experiment asks for, done in this process or shared by several."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import passerby as pb

Row = dict[str, Any]
#: A call that gives rows of a table; it is sent to other processes, so a `functools.partial` of a top-level function.
Piece = Callable[[], list[Row]]


def done(pieces: Sequence[Piece], workers: int) -> Iterator[tuple[int, list[Row]]]:
    """Do all pieces, and yield the number of each with its rows, in the order in which they finish.

    Pieces are started in their order. With one worker everything is done here.
    """
    yield from pb.stream(_rows, None, pieces, workers=min(workers, len(pieces)))


def _rows(_: None, piece: Piece) -> list[Row]:
    return piece()
