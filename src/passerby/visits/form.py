"""What the caller says about the form of files of visits: their layout, their columns, and what is between them."""

from collections.abc import Sequence
from dataclasses import dataclass

from passerby.errors import InputError
from passerby.support.checks import is_word, text, whole

from .layouts import FIXED

FILE_NAME = "{file}"
"""In the place of a column: the name of the file, where there is one for each person."""


@dataclass(frozen=True)
class Form:
    """What the caller says about the form of the files."""

    layout: str
    given: dict[str, str | None]
    coordinates: bool
    columns: tuple[str, ...] | None = None
    separator: str | None = None
    skip_lines: int = 0

    @classmethod
    def checked(
        cls,
        layout: str,
        given: dict[str, str | None],
        coordinates: bool,
        columns: str | Sequence[str] | None,
        separator: str | None,
        skip_lines: int,
    ) -> "Form":
        """A form, unless what is said about it makes no sense."""
        if not is_word(layout, ("auto", "table", *FIXED)):
            known = ", ".join(map(repr, ("auto", "table", *FIXED)))
            raise InputError(f"layout is {layout!r}, which is not known; choose one of {known}")
        for role, column in given.items():
            text(column, role)
        idle = ("place",) if coordinates else ("latitude", "longitude")
        for role in idle:
            if given[role] is not None:
                beside = "with grid_metres or h3_resolution" if coordinates else "without grid_metres or h3_resolution"
                raise InputError(f"{role}={given[role]!r} has no effect {beside}; leave it out")
        lines = whole(skip_lines, "skip_lines", 0, 1000)
        return cls(layout, given, coordinates, _names(columns), check_separator(separator), lines)


def _names(columns: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if columns is None:
        return None
    names = columns.split(",") if isinstance(columns, str) else columns
    if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"columns is {columns!r}; expected the names of all columns in order, as in columns='a,b,c'")
    return tuple(names)


def check_separator(separator: str | None) -> str | None:
    """The character between columns; one that cannot be is refused."""
    words = {"tab": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";", "\\t": "\t"}
    text(separator, "separator")
    wanted = None if separator is None else words.get(separator, separator)
    if wanted is not None and (len(wanted) != 1 or wanted in '"\r\n' or wanted.isalnum()):
        raise InputError(f"separator is {separator!r}; give one character, or 'tab', 'blank', 'comma' or 'semicolon'")
    return wanted
