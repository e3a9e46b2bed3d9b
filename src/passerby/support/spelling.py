"""Names that are nearly right: what was meant instead."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches


def nearest(name: str, known: Collection[str]) -> str | None:
    """The known name that is most like this one; none where no name is.

    >>> nearest("mechansim", ["kind", "mechanism"]), nearest("typ", ["kind", "mechanism"])
    ('mechanism', None)
    """
    return next(iter(get_close_matches(name, known, 1)), None)
