"""The words of questions and the names of places, without any measurement: settings are checked at once.

Sensitive places: named in settings, or in a file with a label for each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from passerby.errors import InputError
from passerby.support.checks import nearest
from passerby.visits.delimited import Header, read_table
from passerby.visits.table import ELSEWHERE

Zone = tuple[int, ...]
#: Places by their numbers, or places and zones by name.
Named = Sequence[str] | Mapping[str, Zone]

#: Words forming a question by themselves, and words before a place.
ALONE = ("trace", "counted", "each-step")
ABOUT = ("visited", "never", "moved", "never moved")
_STEPS = r"(?: at steps? (?P<steps>\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*))?"
_FORM = re.compile(rf"(?P<verb>never moved|[\w-]+)(?: (?P<times>\d+) times?)?{_STEPS}:(?P<place>.*)", re.DOTALL)
_TRACE = re.compile(r"trace with (?P<misses>\d+) miss(?:es)?")
#: The possible questions, for messages.
SUCH = "trace, counted, each-step, visited:PLACE, visited 3 times:PLACE, never:PLACE or moved:PLACE>PLACE"


def places_by_name(places: Sequence[str], zones: Mapping[str, Zone] | None = None) -> dict[str, Zone]:
    """Places and zones by name, without elsewhere; a zone with the name of a place has *zone* before its name.

    >>> places_by_name(["gate", "park", "elsewhere"], {"park": (0, 1)})
    {'gate': (0,), 'park': (1,), 'zone park': (0, 1)}
    """
    found: dict[str, Zone] = {name: (number,) for number, name in enumerate(places) if name != ELSEWHERE}
    for name, zone in (zones or {}).items():
        found[f"zone {name}" if name in found else name] = zone
    return found


def check_words(text: str) -> tuple[str, int | None, str | None, str]:
    """The question, its times (or misses), its steps, and its place: the parts readable without known places.

    >>> check_words("visited 2 times at steps 9-17:gate")
    ('visited', 2, '9-17', 'gate')
    """
    words = text.strip()
    if words in ALONE:
        return words, None, None, ""
    trace = _TRACE.fullmatch(words)
    if trace:
        return "trace", int(trace["misses"]), None, ""
    if words == "replaced":
        raise InputError(
            f"question {text!r}: an audit does not know who would be there instead; ask counted here, or "
            "measure(prior, release, InData(instead=...)) of one person"
        )
    form = _FORM.fullmatch(words)
    verb = form["verb"] if form else words.partition(":")[0].partition(" ")[0]
    if form is None or verb not in ABOUT:
        near = nearest(verb, (*ALONE, *ABOUT))
        hint = f"did you mean {near}? " if near and near != verb else ""
        if verb in ABOUT and ":" not in words:
            hint = f"which place? {verb}:PLACE. "
        raise InputError(f"question {text!r} is not understood; {hint}Ask {SUCH}")
    times = None if form["times"] is None else int(form["times"])
    moved = verb.endswith("moved")
    if times == 0 or (moved and times is not None):
        why = (
            "0 times is never: never:PLACE" if times == 0 else "how often somebody goes is not asked: moved:PLACE>PLACE"
        )
        raise InputError(f"question {text!r}: {why}")
    place = form["place"].strip()
    if not place or (moved and ">" not in place):
        raise InputError(f"question {text!r}: which place? {verb}:{'PLACE>PLACE' if moved else 'PLACE'}")
    return verb, times, form["steps"], place


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
