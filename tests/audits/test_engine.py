"""Dask gives the same bytes as processes, whoever dies; what cannot be a cluster is refused at once."""

import asyncio
import errno
import logging
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits import everyone
from passerby.audits.engine import engine_of
from passerby.support import dask, workers
from passerby.support.dask import Cluster, asked, check_versions, dask_cluster
from passerby.support.workers import collect

pytest.importorskip("distributed", reason="dask.distributed is not installed (extra `cluster`)")
RELEASE = pb.Release([0, 1, 2], pb.Gaussian(1.0))


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(random_traces(5, 80, 12, 15), holdout=3)


@pytest.fixture(scope="module")
def table(people: pb.People) -> pl.DataFrame:
    return audited(people, workers=1)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with dask_cluster("dask", workers=2) as found:
        yield found.client


def audited(people: pb.People, **how: Any) -> pl.DataFrame:
    return pb.audit(people, RELEASE, 1, runs=20, **how)


def bytes_of(table: pl.DataFrame, path: Path) -> bytes:
    table.write_parquet(path)
    return path.read_bytes()


def die_once(marker: str, item: int) -> int:
    """A task whose worker is killed the first time that it is done."""
    if item == 5 and not Path(marker).exists():
        Path(marker).write_text("")
        os._exit(9)
    return item * item


def always_die(_: None, item: int) -> int:
    os._exit(9)


def forbidden(_: None, item: int) -> int:
    raise PermissionError("not for you")


def imported(name: str, _: int) -> None:
    raise ModuleNotFoundError(f"No module named {name!r}", name=name)


INTERRUPTED = """
import signal, time
from passerby.support.dask import dask_cluster

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with dask_cluster("dask", workers=2) as cluster:
        try:
            print("begun", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            time.sleep(0.5)
            print("interrupted, and", {2: "two"}[len(cluster.client.run(int))], "workers are there", flush=True)
"""


class TestSameBytes:
    def test_two_processes_of_dask_and_of_our_own(
        self, people: pb.People, table: pl.DataFrame, client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        expected = bytes_of(table, tmp_path / "one")
        assert bytes_of(audited(people, workers=2), tmp_path / "two") == expected
        for size in (everyone.PARTITION, 5):
            monkeypatch.setattr(everyone, "PARTITION", size)
            found = audited(people, engine=client, folder=tmp_path / str(size))
            assert bytes_of(found, tmp_path / "dask") == expected
            assert len([*(tmp_path / str(size) / "parts").glob("*.parquet")]) == -(-80 // min(size, 8))
        assert client.submit(pow, 2, 3).result() == 8  # it is left running

    def test_after_a_worker_was_killed(
        self, people: pb.People, table: pl.DataFrame, client: Any, tmp_path: Path
    ) -> None:
        killed: list[int] = []

        def kill(done: int, everyone: int) -> None:
            if done >= 24 and not killed:
                (pid, *_) = client.run(os.getpid).values()
                killed.append(pid)
                os.kill(pid, 9)

        found = audited(people, engine=client, folder=tmp_path / "audit", progress=kill)
        assert killed
        assert bytes_of(found, tmp_path / "dask") == bytes_of(table, tmp_path / "one")

    @pytest.mark.thorough
    def test_what_a_dead_worker_was_at_is_done_again(self, client: Any, tmp_path: Path) -> None:
        marker = str(tmp_path / "died")
        assert collect(die_once, marker, range(12), executor=Cluster(client)) == [n * n for n in range(12)]
        assert Path(marker).exists()


def test_what_a_worker_logs_of_a_task_names_nobody(people: pb.People) -> None:
    """Some versions of dask write what a task that failed was called with."""
    sent: list[object] = []

    class Listening:
        def submit(self, *call: object, **_: object) -> None:
            sent.extend(call)
            raise OSError

    named = replace(people, ids=pl.Series([f"somebody {number}" for number in range(len(people))]))
    with pytest.raises(BrokenExecutor):
        Cluster(Listening()).submit(len, [named.ids, named])
    assert sent
    assert "somebody" not in repr(sent)


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no groups of processes")
def test_a_key_that_interrupts_is_left_to_whoever_started_workers(tmp_path: Path) -> None:
    """It reaches all processes of a terminal; workers that end by it would be waited for."""
    (tmp_path / "script.py").write_text(INTERRUPTED)
    command = [sys.executable, str(tmp_path / "script.py")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    said, errors = process.communicate(timeout=60)
    assert said == "interrupted, and two workers are there\n"
    assert "Traceback" not in errors


async def let_in(address: str, security: Any) -> bool:
    """Whether somebody with these credentials is answered."""
    from distributed.comm import connect

    try:
        comm = await connect(address, timeout=2, **security.get_connection_args("client"))
        await comm.write({"op": "identity", "reply": True})
        answer = await asyncio.wait_for(comm.read(), 2)
        comm.abort()
    except (OSError, RuntimeError, TimeoutError):
        return False
    return "address" in answer or "id" in answer


class TestNobodyElseComesIn:
    def test_without_the_credentials_of_the_cluster(self, client: Any) -> None:
        """Not to the scheduler, a worker, or the one who looks after a worker: each of them runs what it is sent."""
        from distributed import Security

        there = client.scheduler_info()
        doors = [there["address"]]
        for address, worker in there["workers"].items():
            doors += [address, worker["nanny"]]
        assert len(doors) == 5
        for door in doors:
            assert door.startswith("tls://127.0.0.1:")
            assert asyncio.run(let_in(door, client.security))
            assert not asyncio.run(let_in(door, Security.temporary()))
            assert not asyncio.run(let_in(door.replace("tls:", "tcp:"), Security()))

    def test_nobody_reads_what_is_at_work(self, client: Any) -> None:
        port = client.cluster.scheduler.http_server.port
        for page in ("info/main/workers.html", "json/identity.json", "json/counts.json", "metrics"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=5)

    def test_nobody_reads_what_workers_put_on_disk(self, client: Any) -> None:
        folders = {Path(folder) for folder in client.run(lambda dask_worker: dask_worker.local_directory).values()}
        scratch = {next(parent for parent in folder.parents if "passerby-dask-" in parent.name) for folder in folders}
        assert len(folders) == 2
        assert [stat.S_IMODE(each.stat().st_mode) for each in scratch] == [0o700]

    def test_without_cryptography_there_is_no_cluster(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "cryptography", None)
        needs = r"needs cryptography, .*pip install 'passerby\[cluster\]'"
        with pytest.raises(pb.ConfigError, match=needs), dask_cluster("dask", workers=1):
            pass

    def test_a_scheduler_of_ones_own_says_who_is_trusted(self, caplog: pytest.LogCaptureFixture) -> None:
        from distributed import LocalCluster

        with LocalCluster(n_workers=1, processes=False, **dask.UNSEEN) as here:
            with dask_cluster("dask", here.scheduler_address):
                pass
            said = f"scheduler {here.scheduler_address} is trusted: whoever can connect to it may run code"
        assert said in caplog.text


class TestRefused:
    def test_work_that_kills_every_worker(self, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)  # else it is tried on four of them
        with pytest.raises(pb.PasserbyError, match="ended before its time"):
            collect(always_die, None, range(3), executor=Cluster(client))
        client.wait_for_workers(1, timeout=30)

    @pytest.mark.parametrize("trouble", [KeyError("a"), AssertionError(), TimeoutError(), OSError("closed")])
    def test_what_closing_trips_over_is_nobodys_matter(self, trouble: Exception, caplog: Any) -> None:
        class Ending:
            def close(self) -> None:
                logging.getLogger("asyncio").error("Task exception was never retrieved")
                raise trouble

        dask._closed(Ending())
        assert not caplog.records
        with pytest.raises(KeyboardInterrupt):
            dask._closed(SimpleNamespace(close=lambda: signal.raise_signal(signal.SIGINT)))

    def test_a_cluster_that_does_not_start(self, people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
        def failing(*_: object, **__: object) -> None:
            raise RuntimeError("Nanny failed to start.")

        monkeypatch.setattr("distributed.LocalCluster", failing)
        with pytest.raises(pb.PasserbyError, match=r"could not be started .*Nanny failed.*run it again, .*with fewer"):
            audited(people, engine="dask", workers=1)

    @pytest.mark.parametrize("lost", ["nthreads", "submit", "result"])
    def test_a_scheduler_that_ends_is_told_from_a_worker_that_does(self, lost: str) -> None:
        class Ending:
            """A client whose scheduler ends, which is first seen by one of its calls."""

            status = "cancelled"

            def nthreads(self) -> dict[str, int]:
                if lost == "nthreads":
                    raise OSError("Timed out trying to connect")
                return {"tcp://a": 1}

            def submit(self, *_: object, **__: object) -> "Ending":
                if lost == "submit":
                    raise RuntimeError("the client is closed")
                return self

            def add_done_callback(self, told: Any) -> None:
                told(self)

            def result(self) -> None:
                raise CancelledError

        with pytest.raises(pb.PasserbyError, match=r"^the scheduler .* does not answer any more; run it again, once"):
            collect(pow, 2, [1, 2], executor=Cluster(Ending()))

    def test_an_error_of_a_task_is_raised_as_it_is(self, client: Any) -> None:
        with pytest.raises(ZeroDivisionError):
            collect(divmod, 1, [0, 0], executor=Cluster(client))
        with pytest.raises(PermissionError):
            collect(forbidden, None, [0, 0], executor=Cluster(client))

    @pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense://x", "nowhere", ""])
    def test_a_scheduler_that_is_not_there(
        self, people: pb.People, address: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(dask, "PATIENCE", 0.3)
        began = time.monotonic()
        with pytest.raises(pb.ConfigError, match=r"scheduler: .* cannot be reached .*dask scheduler"):
            audited(people, engine="dask", scheduler=address)
        assert time.monotonic() - began < 10

    @pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["nothing", "something else"])
    def test_what_listens_is_no_scheduler(
        self, people: pb.People, answer: bytes, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Such as the page of a scheduler, at the next port."""
        monkeypatch.setattr(dask, "PATIENCE", 0.3)
        with socket.create_server(("127.0.0.1", 0)) as server:

            def serve() -> None:
                other, _ = server.accept()
                with other:
                    other.sendall(answer)
                    while other.recv(4096):
                        pass

            listening = threading.Thread(target=serve, daemon=True)
            listening.start()
            with pytest.raises(pb.ConfigError, match="cannot be reached"):
                audited(people, engine="dask", scheduler=f"tcp://127.0.0.1:{server.getsockname()[1]}")
            listening.join(10)

    def test_a_client_that_cannot_be_asked(self, people: pb.People) -> None:
        from distributed import Client, LocalCluster

        with LocalCluster(n_workers=1, processes=False, **dask.UNSEEN) as here:
            with Client(here, set_as_default=False) as closed:
                pass
            with pytest.raises(pb.ConfigError, match="engine: the client is closed; make another one"):
                audited(people, engine=closed)

            async def inside() -> None:
                async with Client(here.scheduler_address, asynchronous=True, set_as_default=False) as waiting:
                    with pytest.raises(pb.ConfigError, match="engine: the client is asynchronous"):
                        audited(people, engine=waiting)

            asyncio.run(inside())

    def test_all_workers_leave(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Others may come, but not for ever."""

        class Left:
            """A client whose workers leave with the first task."""

            threads = 2

            def nthreads(self) -> dict[str, int]:
                return {"tcp://a": self.threads} if self.threads else {}

            def submit(self, *_: object, **__: object) -> "Left":
                self.threads = 0
                return self

            def add_done_callback(self, told: Any) -> None:
                pass

            def cancel(self) -> None:
                pass

        monkeypatch.setattr(workers, "PULSE", 0.01)
        monkeypatch.setattr(dask, "ABSENT", 0.05)
        with pytest.raises(pb.PasserbyError, match=r"no worker of the cluster has been there for 0.05 seconds; run it"):
            collect(pow, 2, [1, 2], executor=Cluster(Left()))

    @pytest.mark.parametrize("by", ["client", pytest.param("address", marks=pytest.mark.thorough)])
    def test_a_cluster_without_workers(self, people: pb.People, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
        from distributed import Client, LocalCluster

        monkeypatch.setattr(dask, "PATIENCE", 0.3)
        with LocalCluster(n_workers=0, processes=False, **dask.UNSEEN) as empty:
            if by == "client":
                client = r"engine: the client has no workers after 0.3 seconds; .*scale\(2\).*adapt\(minimum=1\)"
                with Client(empty, set_as_default=False) as nobody, pytest.raises(pb.ConfigError, match=client):
                    audited(people, engine=nobody)
            else:
                address = r"scheduler: '(.*)' has no workers .*; start some with `dask worker \1`, .*adapt\(minimum=1\)"
                with pytest.raises(pb.ConfigError, match=address):
                    audited(people, engine="dask", scheduler=empty.scheduler_address)

    def test_a_worker_with_another_version(self, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(dask, "__version__", "9.9")
        with pytest.raises(pb.ConfigError, match=rf"this process, 9\.9: tls://.* has passerby {pb.__version__}"):
            check_versions(client)
        with pytest.raises(pb.PasserbyError, match=rf"9\.9: a worker that joined has passerby {pb.__version__}"):
            collect(pow, 2, [1, 2], executor=Cluster(client))

    def test_a_scheduler_or_worker_without_the_package_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Elsewhere:
            """A cluster one of whose workers has this package, but not numpy."""

            def run(self, version: Any, **_: object) -> dict[str, Any]:
                monkeypatch.setitem(sys.modules, "numpy", None)
                return {"tcp://a": version()}

            def run_on_scheduler(self, version: Any) -> Any:
                monkeypatch.setitem(sys.modules, "passerby", None)
                return version()

        with monkeypatch.context(), pytest.raises(pb.ConfigError) as caught:
            check_versions(Elsewhere())
        assert f"tcp://a has passerby {pb.__version__} without numpy, the scheduler has none" in str(caught.value)

    def test_a_worker_that_dies_when_it_is_asked(self, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """The others go on without it; what else is wrong with one is raised."""
        monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://a": 3, "tcp://b": OSError("closed")})
        assert asked(client, int) == {"tcp://a": 3}
        monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://a": 3, "tcp://b": ValueError("no kernel")})
        with pytest.raises(ValueError, match="no kernel"):
            asked(client, int)
        full = OSError(errno.ENOSPC, "no space left")  # its own disk, and not the way to it
        monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://a": 3, "tcp://b": full})
        with pytest.raises(OSError, match="no space left"):
            asked(client, int)

    def test_a_late_worker_without_the_package(self, client: Any) -> None:
        """Its first task cannot be read there."""
        with pytest.raises(pb.PasserbyError, match="a worker that joined cannot import away; install passerby"):
            collect(imported, "away", [1, 2], executor=Cluster(client))

    @pytest.mark.parametrize(
        ("engine", "more", "message"),
        [
            ("spark", {}, "choose 'processes', 'dask' or a distributed.Client"),
            (3, {}, "engine is a int"),
            ("processes", {"scheduler": "tcp://x"}, "is for engine='dask'"),
        ],
    )
    def test_what_is_no_engine(self, engine: Any, more: dict[str, Any], message: str) -> None:
        with pytest.raises(pb.ConfigError, match=message), engine_of(engine, **more):
            pass

    def test_an_engine_beside_an_executor(self, client: Any) -> None:
        with pytest.raises(pb.ConfigError, match="give one of them"), engine_of(client, executor=Cluster(client)):
            pass
