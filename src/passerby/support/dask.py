"""Dask's workers as an `Executor`: of a running scheduler, of a client, or of a cluster on this machine.

Dask does again what a worker had begun or held when it died, and workers may join and leave at any time. Whoever is let
in by a scheduler or a worker may run code there. So a cluster of this machine asks everybody for its own credentials.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from passerby import __version__
from passerby.errors import ConfigError, PasserbyError

from .processes import all_cores, check_may_start, leave_signals, one_thread_each
from .workers import LostWorker

#: Seconds of silence after which a scheduler is not reachable, or a cluster without workers has none.
PATIENCE = 10.0
#: Seconds after which a cluster without any worker left is given up; others may join until then.
ABSENT = 120.0
#: A cluster of this machine has no dashboard. Only this machine reaches dask's other services, at any free port.
UNSEEN: dict[str, Any] = {"dashboard_address": None, "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"}}
#: It has no pages either: some tell every user of this machine about its work.
PAGES = ("distributed.scheduler.http.routes", "distributed.worker.http.routes")
#: Nor does it look at itself all the time, or give back memory as soon as it can: both take processors from the work.
UNWATCHED: dict[str, Any] = {
    **{name: [] for name in PAGES},
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "10s",
}
PRELOAD = "distributed.worker.preload"
SURROUNDINGS, TRIM = "distributed.nanny.pre-spawn-environ", "MALLOC_TRIM_THRESHOLD_"
GONE = "the scheduler of the cluster does not answer any more"
INSTALL = "install it with: pip install 'passerby[cluster]'"
#: The modules trusted by work on workers started by somebody else.
TRUSTED = (
    "scheduler %s is trusted: %s may run code on its workers and in this process, and read what is sent to them, which "
    "tells of single people"
)
_log = logging.getLogger("passerby")


class Cluster(Executor):
    """Hands tasks to the workers of a `distributed.Client`, left running afterwards."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._lock = Lock()
        self._sent: set[Any] = set()
        self._empty: float | None = None

    @property
    def _max_workers(self) -> int:
        """How many tasks run at a time, with the present workers."""
        try:
            threads = int(sum(self.client.nthreads().values()))
        except Exception as error:
            raise LostWorker(GONE) from error
        self._empty = None if threads else self._empty or time.monotonic()
        if self._empty and time.monotonic() - self._empty > ABSENT:
            raise LostWorker(f"no worker of the cluster has been there for {ABSENT:g} seconds")
        return max(1, threads)

    def submit(self, task: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        """Have a task done by any worker, again if one dies."""
        try:
            sent = self.client.submit(_same_version, __version__, _Call(task, args, named), pure=False)
        except Exception as error:
            raise LostWorker(GONE) from error
        out: Future[Any] = Future()
        with self._lock:
            self._sent.add(sent)  # letting go of a task gives it up
        sent.add_done_callback(lambda done: self._pass_on(done, out))
        out.add_done_callback(lambda future: sent.cancel() if future.cancelled() else None)
        return out

    def _pass_on(self, done: Any, out: Future[Any]) -> None:
        with self._lock:
            self._sent.discard(done)
        if not out.set_running_or_notify_cancel():
            return
        from distributed import KilledWorker

        try:
            out.set_result(done.result())
        except KilledWorker as error:
            out.set_exception(BrokenExecutor(str(error)))
        except CancelledError:
            out.set_exception(LostWorker(GONE))  # nobody else gives up an awaited task
        except OSError as error:
            # Either the task's own error, or its result is lost with its holder.
            out.set_exception(error if done.status == "error" else BrokenExecutor(str(error)))
        except ImportError as error:
            lacks = f"a worker that joined cannot import {error.name or error}"
            out.set_exception(PasserbyError(f"{lacks}; install passerby {__version__} there, as in this process"))
        except BaseException as error:
            out.set_exception(error)


class _Call:
    """A task and its arguments, hidden from logs: they tell of people, and workers log the text of failed tasks."""

    def __init__(self, task: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.task, self.args, self.named = task, args, named

    def __call__(self) -> Any:
        """Do it."""
        return self.task(*self.args, **self.named)


def _same_version(version: str, call: _Call) -> Any:
    """The task in a worker, whose version is checked first: workers may join late."""
    if version != __version__:
        raise PasserbyError(other_version({"a worker that joined": __version__}, version))
    return call()


def other_version(found: dict[str, str | None], here: str) -> str:
    """Words about workers: their addresses, and the version of each."""
    said = ", ".join(f"{where} has {f'passerby {has}' if has else 'none'}" for where, has in found.items())
    return (
        f"scheduler and workers must have the same version of passerby as this process, {here}: {said}; install the "
        "same on all"
    )


@contextmanager
def dask_cluster(engine: Any, scheduler: str | None = None, workers: int | None = None) -> Iterator[Cluster]:
    """Workers of a client, of a scheduler by its address, or of a cluster of processes, ended with the work.

    Refused at once if the scheduler cannot be reached, or if it or a worker has another version of this package.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError(f"engine 'dask' needs dask.distributed, which is not there; {INSTALL}") from None
    if isinstance(engine, Client):
        _check_client(engine)
        _wait_for_workers(engine, "engine: the client", "start some with `cluster.scale(2)`")
        check_versions(engine)
        yield Cluster(engine)
        return
    with _here(workers) if scheduler is None else _connected(scheduler) as client:
        check_versions(client)
        yield Cluster(client)


def _check_client(client: Any) -> None:
    """Refuse a client of an unsuitable kind."""
    if client.asynchronous:
        raise ConfigError("engine: the client is asynchronous; make another one, without `asynchronous=True`")
    if client.status != "running":
        raise ConfigError(f"engine: the client is {client.status}; make another one")


async def _greeted(scheduler: str) -> None:
    """Connect and be answered, within the time: a client waits for ever if something else listens."""
    from distributed import Security
    from distributed.comm import connect

    how = Security().get_connection_args("client")
    (await asyncio.wait_for(connect(scheduler, timeout=PATIENCE, **how), PATIENCE + 1)).abort()


@contextmanager
def _connected(scheduler: str) -> Iterator[Any]:
    from distributed import Client
    from distributed.comm import resolve_address

    try:
        address = resolve_address(scheduler)  # a client for a wrong address takes long to close
        with ThreadPoolExecutor(1) as apart:  # this thread may be in a loop of its own, as in a notebook
            apart.submit(lambda: asyncio.run(_greeted(address))).result()
        client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except Exception as error:  # anything but a scheduler may answer anything
        raise ConfigError(
            f"scheduler: {scheduler!r} cannot be reached ({type(error).__name__}: {str(error) or 'no answer'}); start "
            "one with `dask scheduler`, and give its address, such as tcp://10.0.0.1:8786"
        ) from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # losses are told in one sentence
    known = client.scheduler is not None and client.scheduler.address.startswith("tls:")
    _log.warning(TRUSTED, scheduler, "whoever has its certificates" if known else "whoever can connect to it")
    with client:
        _wait_for_workers(client, f"scheduler: {scheduler!r}", f"start some with `dask worker {scheduler}`")
        yield client


def _wait_for_workers(client: Any, name: str, advice: str) -> None:
    """Refuse a cluster without workers: it would keep tasks for ever."""
    try:
        client.wait_for_workers(1, timeout=PATIENCE)
    except TimeoutError:
        raise ConfigError(
            f"{name} has no workers after {PATIENCE:g} seconds; {advice}, and run it again once they are there; a "
            "cluster that grows by itself must keep one, by `cluster.adapt(minimum=1)`"
        ) from None


@contextmanager
def _here(workers: int | None) -> Iterator[Any]:
    import dask
    from distributed import Client

    check_may_start()
    kept = {name: value for name, value in dask.config.get(SURROUNDINGS).items() if name != TRIM}
    first = [*dask.config.get(PRELOAD), __name__]
    with (
        one_thread_each(),
        dask.config.set({**UNWATCHED, SURROUNDINGS: kept, PRELOAD: first}),
        # Dask's own folder for data of workers on disk is open to everybody, and this one to its owner alone.
        tempfile.TemporaryDirectory(
            prefix="passerby-dask-", dir=dask.config.get("temporary-directory", None), ignore_cleanup_errors=True
        ) as scratch,
    ):
        cluster = _started(workers or all_cores(), scratch)
        try:
            client = Client(cluster, set_as_default=False)
            try:
                yield client
            finally:
                _closed(client)
        finally:
            _closed(cluster)


def _closed(ending: Any) -> None:
    """Close a client or a cluster whose work is over: its errors on the way matter to nobody.

    Right after a worker died, dask may have lost count of workers, wait in vain for one, or find a connection closed.
    """
    loud = [logging.getLogger(name) for name in ("asyncio", "tornado.application")]
    levels = [each.level for each in loud]
    for each in loud:
        each.setLevel(logging.CRITICAL + 1)
    try:
        with suppress(Exception):
            ending.close()
    finally:
        for each, level in zip(loud, levels, strict=True):
            each.setLevel(level)


def _started(workers: int, scratch: str) -> Any:
    """A cluster of this machine, closed to all without the credentials made for it alone."""
    from distributed import LocalCluster, Security

    try:
        security = Security.temporary()
    except ImportError:
        raise ConfigError(
            f"engine 'dask' needs cryptography, without which every user of this machine could join; {INSTALL}"
        ) from None
    how: dict[str, Any] = {"threads_per_worker": 1, "processes": True, "silence_logs": 50}
    try:
        return LocalCluster(
            n_workers=workers, protocol="tls", security=security, local_directory=scratch, **how, **UNSEEN
        )
    except (RuntimeError, OSError) as error:
        raise PasserbyError(
            f"a cluster of dask on this machine could not be started ({type(error).__name__}: {error}); run it "
            "again, in a script under a line `if __name__ == '__main__':`, with fewer workers if memory is short, "
            "or without dask (engine='processes')"
        ) from None


def dask_setup(_: Any) -> None:
    """First steps of a worker on this machine; dask calls a function of this name."""
    leave_signals()


def asked(client: Any, question: Callable[[], Any], workers: Sequence[str] | None = None) -> dict[str, Any]:
    """The answer of each worker, except workers dying meanwhile.

    A lost connection is an error of the system without a number; errors within a worker have one.
    """
    found = client.run(question, workers=workers, on_error="return")
    lost = {where for where, answer in found.items() if isinstance(answer, OSError) and answer.errno is None}
    answers = {where: answer for where, answer in found.items() if where not in lost}
    for answer in answers.values():
        if isinstance(answer, BaseException):
            raise answer
    return answers


def check_versions(client: Any) -> None:
    """Refuse workers without this package or its requirements, or with another version of it.

    The scheduler reads the tasks, and so must have the same.
    """

    def version() -> str | None:
        # A function inside another one is sent as it is, and so needs nothing there.
        found = None
        try:
            found = str(__import__("passerby").__version__)
            for name in ("numpy", "scipy", "numba", "polars"):
                __import__(name)
        except ImportError as error:
            return found and f"{found} without {error.name}"
        return found

    everywhere = {**asked(client, version), "the scheduler": client.run_on_scheduler(version)}
    found = {where: has for where, has in everywhere.items() if has != __version__}
    if found:
        raise ConfigError(other_version(found, __version__))


def check_shared(executor: Executor | None, folder: Path, files: Sequence[Path]) -> None:
    """Refuse a cluster unless all workers see the folder of the work, and the files to read."""
    if not isinstance(executor, Cluster):
        return
    names = [str(path.absolute()) for path in (folder, *files)]

    def unseen() -> str | None:
        exists = __import__("os").path.exists
        return next((name for name in names if not exists(name)), None)

    blind = {where: name for where, name in asked(executor.client, unseen).items() if name is not None}
    if blind:
        raise ConfigError(
            f"{', '.join(f'{where} cannot see {name!r}' for where, name in blind.items())}: where everybody is kept on "
            "disk, visits and results must lie on one that all workers share, under the same names; put them there, or "
            "keep everybody in memory (store='memory')"
        )
