"""Kernels as the plain functions that they are written as.

Helpers of kernels are compiled into each of their callers, so calling one from a test compiles it anew, for seconds.
On chains of a few places plain functions are as quick as needed.
"""

import pkgutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import numpy as np
import pytest

import passerby.kernels as package


@contextmanager
def uncompiled() -> Iterator[None]:
    """Within this, nothing in `passerby.kernels` is compiled."""
    # All are there before the first one changes: one that is compiled later on needs the others as they were.
    modules = [import_module(found.name) for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        for module in modules:
            for name, value in list(vars(module).items()):
                if hasattr(value, "py_func"):
                    patch.setattr(module, name, value.py_func)
        yield
