"""How kernels are compiled."""

import ast
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from numba.core import runtime
from numba.extending import is_jitted
from tests import house

import passerby
from passerby import Gaussian, MarkovPrior, Raw, Release, kernels, line_prior, measure
from passerby.cli.warm_up import SHARES

SOURCES = Path(passerby.__file__).parent
INSIDE = Path(kernels.__file__).parent
RUNTIME: Any = runtime


def is_helper(found: Any) -> bool:
    return is_jitted(found) and bool(found.targetoptions.get("no_cpython_wrapper"))


def dotted(path: Path) -> str:
    """The name of a module of kernels."""
    inside = path.relative_to(INSIDE).with_suffix("").parts
    return ".".join((kernels.__name__, *(part for part in inside if part != "__init__")))


def names_in(path: Path, tree: ast.Module) -> dict[str, Any]:
    """What the names of a file stand for, as far as they have to do with kernels."""
    names = dict(vars(import_module(dotted(path)))) if path.is_relative_to(INSIDE) else {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(kernels.__name__):
            module = import_module(str(node.module))
            for alias in node.names:
                whole = not hasattr(module, alias.name)
                found = import_module(f"{node.module}.{alias.name}") if whole else getattr(module, alias.name)
                names[alias.asname or alias.name] = found
    return names


def called(path: Path) -> Iterator[Any]:
    """What a file's functions call of the kernels, but for those functions that are compiled themselves."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = names_in(path, tree)
    tree.body = [part for part in tree.body if not is_jitted(cast(Any, names.get(getattr(part, "name", ""))))]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield names.get(node.func.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = names.get(node.func.value.id) if isinstance(node.func.value, ast.Name) else None
            yield getattr(owner, node.func.attr, None)


def test_no_helper_is_called_from_python() -> None:
    """Helpers have no wrapper for Python: to call one would end the process without a word."""
    found: list[tuple[Path, Any]] = [
        (path, function) for path in SOURCES.rglob("*.py") for function in called(path) if is_jitted(function)
    ]
    assert len({function for _, function in found}) > 20
    assert not [(path.name, function.__name__) for path, function in found if is_helper(function)]


def reached(module: str, known: set[str]) -> set[str]:
    """A module of kernels and all that it imports."""
    if module in known:
        return known
    graph = house.graph(deep=False)
    nearby = [name for name in graph[module] if name.startswith(f"{kernels.__name__}.")]
    return reduce(lambda found, other: reached(other, found), nearby, known | {module})


def test_all_kernels_are_compiled_ahead_of_use() -> None:
    having = {dotted(path) for path in INSIDE.rglob("*.py") if "\n@kernel(" in path.read_text(encoding="utf-8")}
    named = [f"{kernels.__name__}.{module}" for share in SHARES for module in share]
    assert having <= reduce(lambda found, module: reached(module, found), named, set[str]())


def arrays_held() -> int:
    """How many arrays that kernels made are still there."""
    found = RUNTIME.rtsys.get_allocation_stats()
    return int(found.mi_alloc - found.mi_free)


def uneven(seed: int, places: int) -> MarkovPrior:
    rng = np.random.default_rng(seed)
    return MarkovPrior(rng.dirichlet(np.ones(places)), rng.dirichlet(np.ones(places), places))


@pytest.mark.parametrize("mechanism", [Raw(), Gaussian(1.0)], ids=repr)
@pytest.mark.parametrize(
    "prior", [uneven(0, 5), MarkovPrior.mixture([0.6, 0.4], [uneven(1, 4), uneven(2, 4)]), line_prior(30)], ids=repr
)
def test_arrays_are_given_back(prior: MarkovPrior, mechanism: Raw | Gaussian) -> None:
    """Helpers that do not count who holds an array neither keep one nor give back one that others hold."""
    RUNTIME._nrt_python.memsys_enable_stats()
    held = []
    for seed in range(3):
        # A small budget has long series looked at stretch by stretch, and by lot; what is remembered is of one size.
        for steps in (5, 16):
            measure(prior, Release([[1, 2]] * steps, mechanism), 2, budget=1e7, runs=20, seed=seed)
        held.append(arrays_held())
    assert held[1] == held[2]
