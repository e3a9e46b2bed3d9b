"""The columns that a small table may have, and those that it must have: any other is refused.

A column that nobody looks at would change what its rows mean: a row without its `step` is about all steps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from passerby.errors import InputError
from passerby.support.spelling import nearest

#: The column for remarks, in any table: nobody looks at it.
NOTE = "note"
#: Unknown columns that a message names, at most.
NAMED = 5
#: What pandas calls the row numbers of a table that it writes as Parquet.
ROW_NUMBERS = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Header:
    """What a table is of, and the columns that it may have.

    Of each group in `needs`, one of its sets of columns must be there; `needed` says so in words. `hints` have other
    names for some columns, by which these are not read.
    """

    what: str
    known: tuple[str, ...]
    needs: tuple[tuple[frozenset[str], ...], ...]
    needed: str
    hints: Mapping[str, str] = field(default_factory=dict)

    def check(self, columns: Sequence[str], path: Path) -> None:
        """Refuse a table that lacks a column, or has one that is not known. Blanks and capitals are gone by now."""
        unknown = [(number, name) for number, name in enumerate(columns, start=1) if name not in (*self.known, NOTE)]
        if not all(any(some <= {*columns} for some in group) for group in self.needs):
            near = [(name, nearest(name, self.known)) for _, name in unknown]
            # What is like no known name may be a row, with somebody's id in it: it is not shown.
            meant = "; ".join(f"{name!r}: did you mean {known}?" for name, known in near if known)
            some = f"{len(columns)} column{'s' * (len(columns) != 1)}"
            raise InputError(
                f"{path}: {self.what} need {self.needed}; its first line names {some} that are not all of these"
                f"{f' ({meant})' if meant else ''}"
            )
        if unknown:
            more = f", and {len(unknown) - NAMED} more" if len(unknown) > NAMED else ""
            shown = ", ".join(self._unknown(number, name) for number, name in unknown[:NAMED])
            raise InputError(
                f"{path}: {self.what} have no column {shown}{more}; they may have {', '.join(self.known)}, and {NOTE} "
                "for remarks. Correct the name, or take the column out"
            )

    def _unknown(self, number: int, name: str) -> str:
        near = self.hints.get(name) or nearest(name, self.known)
        if not name:
            return f"without a name (column {number})"
        return f"{name!r} (did you mean {near}?)" if near else repr(name)


def names_of(columns: Sequence[str]) -> list[str]:
    """The names of columns in small letters, without blanks around them.

    >>> names_of([" Place", "STEP "])
    ['place', 'step']
    """
    return [name.strip().lower() for name in columns]
