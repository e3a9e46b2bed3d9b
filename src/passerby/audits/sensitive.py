"""Sensitive places: named in settings, or in a file with a label for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from passerby.errors import InputError
from passerby.support.checks import nearest
from passerby.visits.small_tables import Header, read_table

from .question_words import Named, Zone, places_by_name

#: The columns of a file of sensitive places, and how names of such files end.
HEADER = Header(
    "sensitive places",
    ("place", "label"),
    needs=((frozenset({"place"}),),),
    needed="the column place (and label, what each place is)",
)
ENDINGS = (".csv", ".tsv", ".txt", ".parquet")


def is_file(name: str) -> bool:
    """Whether a name is the name of a file.

    >>> is_file("places/clinics.csv"), is_file("hospital 001")
    (True, False)
    """
    return Path(name).suffix.lower() in ENDINGS


def check_names(names: Sequence[str]) -> None:
    """Refuse empty names, and a file beside others."""
    if any(not name.strip() for name in names):
        raise InputError("a name is empty; name places, or one file of them")
    if len(names) > 1 and any(map(is_file, names)):
        file = next(name for name in names if is_file(name))
        raise InputError(f"{file!r} is a file beside other names; give one file, or names of places")


def sensitive_places(names: Sequence[str], places: Named, called: str = "sensitive") -> dict[Zone, str | None]:
    """The sensitive places and zones, with their labels. `called` is the setting in the words of whoever gave it.

    >>> sensitive_places(["gate"], ["park", "gate"])
    {(1,): None}
    """
    check_names(names)
    known = places_by_name(places) if isinstance(places, Sequence) else places
    rows = _rows(Path(names[0])) if names and is_file(names[0]) else [(called, name.strip(), None) for name in names]
    found: dict[Zone, str | None] = {}
    for where, name, label in rows:
        if name not in known:
            near = nearest(name, tuple(known))
            hint = f"did you mean {near!r}?" if near else f"such as {', '.join(map(repr, list(known)[:3]))}"
            raise InputError(
                f"{where}: {name!r} is not one of the {len(known):,} chosen places and zones ({hint}); correct its "
                "spelling, leave it out, or keep the place"
            )
        zone = known[name]
        if found.setdefault(zone, label) != label:
            raise InputError(f"{where}: {name!r} has two labels, {found[zone]!r} and {label!r}; keep one of them")
    return found


def _rows(file: Path) -> list[tuple[str, str, str | None]]:
    """The position of each row, the place and its label."""
    _, rows = read_table(file, HEADER)
    out = []
    for line, row in rows:
        name, label = (("" if row.get(key) is None else str(row[key]).strip()) for key in ("place", "label"))
        if not name:
            raise InputError(f"{file}, {line}: it names no place")
        out.append((f"{file}, {line}", name, label or None))
    if not out:
        raise InputError(f"{file}: it holds no place; give a row for each")
    return out
