"""Helpers of kernels as drafts: translated for LLVM, but optimised and made native only within the kernels they end in.

numba builds each function that it compiles as if Python were to call it, and once more within each function that calls
it. Nobody calls a helper but kernels, so the first build is for nothing, and is a sixth of all the time that compiling
takes. How a function is built is not part of what numba promises to keep; where it is found to be done otherwise,
helpers are built as all else is.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.options import DefaultOptions

#: What a draft does otherwise, or needs.
_KNOWN = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "get_pointer_to_function")


class _Nowhere:
    """What builds code, without an address to put a function's constants at: a draft has none."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def set_env(self, name: str, constants: Any) -> None:
        """Nothing to do."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._builder, name)


class _Draft(JITCodeLibrary):
    """The code of a helper, to be linked into that of kernels."""

    @property
    def codegen(self) -> Any:
        return _Nowhere(self._codegen)

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None, as for each name that Python cannot call."""
        self._ensure_finalized()
        return 0


class _Helper(CompilerBase):
    """How helpers are compiled."""

    def define_pipelines(self) -> list[Any]:
        """The usual passes, whose code goes to a draft."""
        self.state.library = _Draft(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


def options() -> dict[str, Any]:
    """Options of numba for helpers: no wrappers for Python and C, and drafts where numba can do with them."""
    unwrapped = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    known = all(hasattr(JITCodeLibrary, name) for name in _KNOWN)
    return {**unwrapped, "pipeline_class": _Helper} if known else unwrapped


def uncounted() -> dict[str, Any]:
    """Options of numba for helpers that neither make nor return arrays: without counts of who holds an array."""
    return {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}
