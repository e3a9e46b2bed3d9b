"""Work that is shared gives the same whoever does it, and nothing that is finished is lost."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

import pytest

from passerby.errors import PasserbyError
from passerby.support import workers
from passerby.support.checkpoints import Checkpoints
from passerby.support.processes import one_thread_each
from passerby.support.workers import collect, stream

ITEMS = list(range(1, 40))
EXPECTED = [pow(2, item) for item in ITEMS]


def thirds(data: list[int], item: int) -> list[float | None]:
    """A task that tells what it was asked."""
    data.append(item)
    return [item / 3, None]


class Heavy:
    """Data that counts how often it is sent, in a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (self.file,)


def _received(file: Path) -> Heavy:
    with file.open("a") as out:
        out.write("x")
    return Heavy(file)


def process_of(data: Heavy, item: int) -> int:
    return os.getpid()


def doze(data: int, item: bool) -> None:
    if item:
        time.sleep(data)


def refuse(data: int, item: int) -> int:
    if item == data:
        raise PasserbyError(f"not {item}")
    return item


@pytest.fixture(params=["threads", "processes"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """Executors that somebody else has made."""
    spawn = get_context("spawn")
    with ThreadPoolExecutor(3) if request.param == "threads" else ProcessPoolExecutor(2, spawn) as pool:
        yield pool


class TestStream:
    def test_results_come_with_their_numbers_as_they_are_done(self) -> None:
        slow = threading.Event()

        def task(_: None, item: int) -> int:
            if item == 0:
                assert slow.wait(30)
            return item * item

        with ThreadPoolExecutor(2) as pool:
            found = stream(task, None, range(6), executor=pool)
            first = [next(found) for _ in range(5)]
            slow.set()
            assert list(found) == [(0, 0)]
        assert sorted(first) == [(n, n * n) for n in range(1, 6)]

    def test_few_are_handed_out_at_a_time(self) -> None:
        """However many there are: to wait for all of them again and again would take long."""
        waiting: list[Future[Any]] = []

        class Counting(ThreadPoolExecutor):
            most = 0

            def submit(self, task: Any, /, *args: Any, **_: Any) -> Future[Any]:
                waiting.append(super().submit(task, *args))
                Counting.most = max(Counting.most, sum(not future.done() for future in waiting))
                return waiting[-1]

        with Counting(2) as pool:
            assert sorted(stream(pow, 2, ITEMS, executor=pool)) == list(enumerate(EXPECTED))
        assert len(waiting) == len(ITEMS)
        assert Counting.most <= workers.AHEAD * 2

    def test_what_was_begun_and_given_up_is_cancelled(self) -> None:
        with ThreadPoolExecutor(1) as pool:
            found = stream(pow, 2, ITEMS, executor=pool)
            next(found)
            found.close()  # type: ignore[attr-defined]
            assert pool.submit(pow, 3, 2).result() == 9
        assert not workers._adopted


class TestCollect:
    @pytest.mark.parametrize("chunk", [1, 16])
    @pytest.mark.parametrize("count", [1, 2])
    def test_any_number_of_workers_gives_the_same(self, count: int, chunk: int) -> None:
        assert collect(pow, 2, ITEMS, workers=count, chunk=chunk) == EXPECTED

    def test_any_executor_gives_the_same(self, executor: Executor) -> None:
        assert collect(pow, 2, ITEMS, executor=executor) == EXPECTED
        assert collect(pow, 3, ITEMS, executor=executor, chunk=4, workers=2) == [3**item for item in ITEMS]
        assert executor.submit(pow, 2, 3).result() == 8  # it is left running

    def test_nothing_to_do(self, executor: Executor) -> None:
        assert collect(pow, 2, [], executor=executor) == collect(pow, 2, []) == []

    @pytest.mark.parametrize("given", [False, True])
    def test_data_is_sent_to_each_worker_once(self, tmp_path: Path, given: bool) -> None:
        data = Heavy(tmp_path / "sent")
        with ProcessPoolExecutor(2, get_context("spawn")) as pool:
            asked = collect(process_of, data, ITEMS, workers=2, executor=pool if given else None)
        assert os.getpid() not in asked
        # A worker that starts late may get it twice over, in the place of another one.
        assert len(set(asked)) <= len(data.file.read_text()) <= 4

    def test_a_worker_without_the_data_is_sent_it(self) -> None:
        """As on a cluster that starts workers as it likes."""

        class Forgetful(ThreadPoolExecutor):
            def submit(self, task: Any, /, *args: Any, **_: Any) -> Future[Any]:
                workers._forget(args[0])
                return super().submit(task, *args)

        with Forgetful(1) as pool:
            assert collect(pow, 2, ITEMS, executor=pool, workers=1) == EXPECTED

    def test_workers_hold_the_data_of_few_callers(self) -> None:
        for name in ("a", "b", "c"):
            assert workers._do(name, pow, (2,), [3]) == [8]
        assert list(workers._adopted) == ["b", "c"]
        assert workers._do("a", pow, None, [3]) is None
        assert workers._do("b", pow, None, [3]) == [8]
        for name in ("b", "c"):
            workers._forget(name)

    @pytest.mark.parametrize("count", [1, 2])
    def test_an_error_of_a_task_is_raised(self, count: int, tmp_path: Path) -> None:
        kept = Checkpoints(tmp_path / "x.jsonl", "mark")
        with pytest.raises(PasserbyError, match="not 30"):
            collect(refuse, 30, ITEMS, workers=count, kept=kept)
        done = kept.begin()
        assert len(done) >= 25
        assert all(piece == ITEMS[number] for number, piece in done.items())

    def test_progress_may_be_told_in_sizes(self) -> None:
        told: list[tuple[int, int]] = []
        collect(pow, 2, [1, 2], workers=1, sizes=[5, 3], progress=lambda *pair: told.append(pair))
        assert told == [(0, 8), (5, 8), (8, 8)]

    def test_an_interruption_does_not_wait_for_workers(self) -> None:
        def stop(done: int, everything: int) -> None:
            if done:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            collect(doze, 3600, [False, True], workers=2, progress=stop)
        assert not active_children()


class TestKept:
    def test_what_is_kept_is_not_done_again(self, tmp_path: Path) -> None:
        kept = Checkpoints(tmp_path / "x.jsonl", "mark")
        asked: list[int] = []
        first = collect(thirds, asked, [1, 2], workers=1, kept=kept)
        told: list[tuple[int, int]] = []
        both = collect(thirds, asked, [1, 2, 5], workers=1, kept=kept, progress=lambda *pair: told.append(pair))
        assert asked == [1, 2, 5]
        assert both == [*first, [5 / 3, None]]
        assert told == [(2, 3), (3, 3)]
        assert collect(thirds, asked, [1, 2, 5], workers=1, kept=kept) == both
        assert asked == [1, 2, 5]

    def test_results_may_be_kept_out_of_order(self, tmp_path: Path) -> None:
        kept, asked = Checkpoints(tmp_path / "x.jsonl", "mark"), list[int]()
        kept.begin()
        kept.add(2, [3.0, None])
        kept.add(0, [1.0, None])
        assert collect(thirds, asked, [3, 6, 9], workers=1, kept=kept) == [[1.0, None], [2.0, None], [3.0, None]]
        assert asked == [6]

    def test_many_workers_keep_the_same(self, tmp_path: Path) -> None:
        kept = Checkpoints(tmp_path / "x.jsonl", "m")
        assert collect(pow, 2, ITEMS, workers=2, chunk=3, kept=kept) == EXPECTED
        assert kept.begin() == dict(enumerate(EXPECTED))


class Dying(Executor):
    """A pool one of whose workers is killed during the second part of the work; both are heard of at once."""

    def __init__(self, *_: object, **__: object) -> None:
        self.parts = 0

    def submit(self, task: Any, /, *args: Any, **_: Any) -> Future[Any]:
        self.parts += 1
        future: Future[Any] = Future()
        if self.parts == 2:
            future.set_exception(BrokenProcessPool("a process in the process pool was terminated abruptly"))
        else:
            future.set_result(task(*args))
        return future


def test_a_killed_worker_is_said_and_results_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, asked = Checkpoints(tmp_path / "x.jsonl", "mark"), list[int]()
    monkeypatch.setattr("passerby.support.processes.ProcessPoolExecutor", Dying)
    with pytest.raises(
        PasserbyError, match=r"ended before its time .* is finished is kept: .* fewer workers"
    ) as caught:
        collect(thirds, asked, [3, 4, 5], workers=2, kept=kept)
    assert caught.value.__suppress_context__
    assert asked == [3, 5]  # what was done beside what failed is not lost
    assert collect(thirds, asked, [3, 4, 5], workers=1, kept=kept) == [[1.0, None], [4 / 3, None], [5 / 3, None]]
    assert asked == [3, 5, 4]
    with pytest.raises(PasserbyError, match=r"ended before its time .*; run it again, with fewer workers"):
        collect(thirds, asked, [3, 4, 5], workers=2)


class Gone(Dying):
    """A pool that is found dead when it is handed the third part."""

    def submit(self, task: Any, /, *args: Any, **_: Any) -> Future[Any]:
        self.parts += 1
        if self.parts >= 3:
            raise BrokenProcessPool("the pool is not usable anymore")
        future: Future[Any] = Future()
        future.set_result(task(*args))
        return future


def test_what_was_done_before_a_pool_died_is_kept(tmp_path: Path) -> None:
    kept, asked = Checkpoints(tmp_path / "x.jsonl", "mark"), list[int]()
    with pytest.raises(PasserbyError, match=r"ended before its time"):
        collect(thirds, asked, [3, 4, 5], workers=2, executor=Gone(), kept=kept)
    assert kept.begin() == {0: [1.0, None], 1: [4 / 3, None]}


def test_workers_have_one_thread_each_and_others_what_they_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("POLARS_MAX_THREADS", raising=False)
    with one_thread_each():
        assert os.environ["OMP_NUM_THREADS"] == os.environ["POLARS_MAX_THREADS"] == "1"
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "POLARS_MAX_THREADS" not in os.environ
