"""The workers of an audit: processes of this machine, an executor, or dask.

The progress of a long work: its stage, and the finished part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from passerby import kernels
from passerby.errors import ConfigError
from passerby.support.checks import is_word
from passerby.support.dask import Cluster, asked, dask_cluster
from passerby.support.workers import Progress, check_executor, silent


@contextmanager
def engine_of(
    engine: Any, scheduler: str | None = None, workers: int | None = None, executor: Executor | None = None
) -> Iterator[Executor | None]:
    """The executor of an engine: "processes", "dask", or a `distributed.Client`.

    None stands for processes of this machine; they begin with the first work. Before the first task, one worker of each
    node of a cluster compiles the kernels. The others of the node then find them on disk.
    """
    here = is_word(engine, ("processes",))
    check_executor(executor)
    if executor is not None or here:
        if executor is not None and not here:
            raise ConfigError("engine and executor both say who shares the work; give one of them")
        if scheduler is not None:
            raise ConfigError(f"scheduler: {scheduler!r} is for engine='dask'")
        yield executor
        return
    if isinstance(engine, str) and engine != "dask":
        raise ConfigError(f"engine: {engine!r}; choose 'processes', 'dask' or a distributed.Client")
    if not isinstance(engine, str) and not hasattr(engine, "get_executor"):
        raise ConfigError(f"engine is a {type(engine).__name__}; choose 'processes', 'dask' or a distributed.Client")
    with dask_cluster(engine, scheduler, workers) as cluster:
        warm_nodes(cluster)
        yield cluster


def warm_nodes(cluster: Cluster) -> None:
    """Load all kernels in one worker of each node: missing ones are compiled there."""
    nodes = {address.rpartition(":")[0]: address for address in cluster.client.nthreads()}
    asked(cluster.client, load_kernels, [*nodes.values()])


def load_kernels() -> None:
    """Import all kernels: each is compiled, or found on disk."""
    for module in walk_packages(kernels.__path__, f"{kernels.__name__}."):
        import_module(module.name)


#: The callback gets the name of a stage, the finished amount, and the whole (0 if unknown).
Tell = Callable[[str, int, int], None]

#: The stages of an audit.
READING = "Reading the visits"
FITTING = "Fitting everyone's habits"
AUDITING = "Auditing people"
ASKING = "Asking other questions of people"
PRESENCE = "Asking who can be told to have been where"
TRYING = "Trying out sensors and steps"
COMPARING = "Trying out noise and rounding"
GOING_BACK = "Trying habits on earlier steps"
OTHERS = "Trying other adversaries"
KNOWING = "Asking what knowing some of the others adds"
WRITING = "Writing the report"
TIMING = "Timing a handful of people"
TIMING_TRIALS = "Timing a few trials"
TIMING_BACKTEST = "Timing habits on earlier steps"
TIMING_ADVERSARIES = "Timing other adversaries"


def begin(tell: Tell | None, stage: str) -> Progress:
    """Announce a stage; the returned function reports its progress.

    >>> progress = begin(print, "Auditing people")
    Auditing people 0 0
    >>> progress(3, 8)
    Auditing people 3 8
    """
    if tell is None:
        return silent
    tell(stage, 0, 0)
    return partial(tell, stage)
