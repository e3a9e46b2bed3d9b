"""Helpers are built within kernels only, and as all else where numba does not know how."""

from typing import Any

import numpy as np
import pytest
from numba import njit, types

from passerby.kernels import draft

SIGNATURE = types.float64(types.float64[::1])


def halved(values):  # type: ignore[no-untyped-def]
    out = np.empty(values.shape[0])
    for i in range(values.shape[0]):
        out[i] = values[i] / 2.0
    return out


def built(options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """A helper, a helper of which it is one, and a function that Python calls."""
    half = njit(halved, **options)

    @njit(**options)
    def quarter(values):  # type: ignore[no-untyped-def]
        return half(half(values))

    @njit(SIGNATURE)
    def total(values):  # type: ignore[no-untyped-def]
        return quarter(values).sum() + half(values)[0]

    return half, quarter, total


def libraries(function: Any) -> list[Any]:
    return [found.library for found in function.overloads.values()]


def test_helpers_are_drafts_and_kernels_are_not() -> None:
    *helpers, total = built(draft.options())
    for helper in helpers:
        (library,) = libraries(helper)
        assert isinstance(library, draft._Draft)
        assert library.get_pointer_to_function(library.name) == 0
    (library,) = libraries(total)
    assert not isinstance(library, draft._Draft)
    assert total(np.array([1.0, 2.0, 4.0])) == 7 / 4 + 1 / 2


def test_where_numba_builds_otherwise_helpers_are_built_as_all_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "_KNOWN", ("_optimize_final_module", "no_such_way"))
    options = draft.options()
    assert "pipeline_class" not in options
    *helpers, total = built(options)
    assert not any(isinstance(library, draft._Draft) for helper in helpers for library in libraries(helper))
    assert total(np.array([1.0, 2.0, 4.0])) == 7 / 4 + 1 / 2
