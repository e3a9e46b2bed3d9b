"""What results depend on, as a short text."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from passerby import __version__


def fingerprint(*parts: object) -> str:
    """A digest of everything in `parts` and of the version of this package.

    Arrays and polars columns count by their content, records by their fields, lists and mappings by what they hold,
    and all else by what it looks like.

    >>> fingerprint(np.arange(3), "a") == fingerprint(np.arange(3), "a") != fingerprint(np.arange(4), "a")
    True
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in _flat((__version__, *parts)):
        digest.update(part)
    return digest.hexdigest()


def _flat(part: Any) -> Iterator[Any]:
    """A value as bytes, one after another; each begins with its kind and length, so that no two run into one."""
    kind = type(part)
    if isinstance(part, np.ndarray) and part.dtype.hasobject:
        yield from _flat(part.tolist())
    elif isinstance(part, np.ndarray):
        yield f"{part.dtype}{part.shape}".encode()
        yield np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
    elif isinstance(part, list | tuple | range):
        yield f"{kind.__name__}{len(part)}".encode()
        for each in part:
            yield from _flat(each)
    elif isinstance(part, Mapping):
        yield f"mapping{len(part)}".encode()
        for pair in part.items():
            yield from _flat(pair)
    elif is_dataclass(part) and not isinstance(part, type):
        yield kind.__qualname__.encode()
        yield from _flat([(each.name, getattr(part, each.name)) for each in fields(part)])
    elif kind.__module__.partition(".")[0] == "polars":
        frame = hasattr(part, "get_columns")
        yield from _flat(part.get_columns()) if frame else _flat((part.name, str(part.dtype), repr(part.to_list())))
    elif "__repr__" not in {name for each in kind.__mro__[:-1] for name in vars(each)}:
        # It looks like its address; what it holds tells more.
        yield kind.__qualname__.encode()
        yield from _flat(vars(part)) if hasattr(part, "__dict__") else (pickle.dumps(part),)
    else:
        text = repr(part)
        yield f"{kind.__name__}{len(text)}:{text}".encode(errors="backslashreplace")
