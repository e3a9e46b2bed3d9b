"""Pieces of work, alone and shared."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

import pytest

import passerby as pb
from passerby_paper import work
from passerby_paper.work import done


def _rows(start: int) -> list[dict[str, Any]]:
    return [{"value": start + i} for i in range(2)]


def test_pieces_are_the_same_with_several_workers() -> None:
    pieces = [partial(_rows, start) for start in range(4)]
    alone, together = dict(done(pieces, 1)), dict(done(pieces, 2))
    assert alone == together == {i: _rows(i) for i in range(4)}


def test_a_killed_worker_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[dict[str, bool]] = []

    class Broken:
        def __init__(self, *_: object, **__: object) -> None: ...

        def submit(self, _: object) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool("a process in the process pool was terminated abruptly"))
            return future

        def shutdown(self, **how: bool) -> None:
            ended.append(how)

    monkeypatch.setattr(work, "ProcessPoolExecutor", Broken)
    with pytest.raises(pb.PasserbyError, match=r"ended before its time .* finished experiments are kept: run the same"):
        list(done([partial(_rows, start) for start in range(2)], 2))
    assert ended == [{"wait": True, "cancel_futures": True}]
