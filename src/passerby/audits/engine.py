"""The workers of an audit: processes of this machine, an executor, or dask."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from passerby import kernels
from passerby.errors import ConfigError
from passerby.support.checks import is_word
from passerby.support.dask import Cluster, asked, dask_cluster
from passerby.support.workers import check_executor


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
