"""Names of places in a form for pages: of one direction, without invisible marks, and not too long."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from passerby.audits.subjects import Subject, Zone

#: The most letters of a shown name.
LONGEST = 54
#: The sign for an unshown character: line ends, controls, and marks for the direction of text.
HIDDEN = "\N{REPLACEMENT CHARACTER}"
#: Invisible marks in the middle of a visible sign, such as the joints of an emoji.
JOINERS = ("\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}")


def readable(names: Sequence[str]) -> tuple[str, ...]:
    r"""Names in the same order, all different.

    Long ones lose their middle; if two are then the same, the later one gets a number.

    >>> readable(["park", "gate\t1", "gate\n1"])
    ('park', 'gate�1', 'gate�1 (2)')
    """
    out: list[str] = []
    taken = {name for name in names if _plain(name) == name}
    for name in names:
        shown = first = _plain(name)
        number = 1
        while shown != name and shown in taken:
            number += 1
            shown = f"{first} ({number})"
        taken.add(shown)
        out.append(shown)
    return tuple(out)


@dataclass(frozen=True)
class About:
    """The subject of a count, by names: the whole, its kind, and for a flow the zones of its start and its end."""

    name: str
    kind: str
    zones: tuple[str, ...]


def named(subjects: Sequence[Subject], places: Sequence[str], zones: Mapping[Zone, str]) -> list[About]:
    """Names of the counted subjects, all different: names of nameless zones come from their places.

    >>> [each.name for each in named([Subject("present", ((0, 1, 2),)), Subject("moved", ((0,), (1,)))], "abcd", {})]
    ['a, b and 1 more', 'a → b']
    """
    every = list(dict.fromkeys(zone for subject in subjects for zone in subject.zones))
    names_of = [zones.get(zone) or _zone_name(zone, places) for zone in every]
    # Zones with the same first places get a number.
    names_of = [name if k == names_of.index(name) else f"{name} ({k + 1})" for k, name in enumerate(names_of)]
    called = dict(zip(every, readable(names_of), strict=True))
    out = []
    for subject in subjects:
        names = tuple(called[zone] for zone in subject.zones)
        often = f", {subject.times} times or more" if subject.times > 1 else ""
        whole = {"present": names[0], "moved": " → ".join(names), "visitors": f"visitors of {names[0]}{often}"}
        other = f"{subject.kind} of {' and '.join(names)}"
        out.append(About(whole.get(subject.kind, other), subject.kind, names))
    return out


def _zone_name(zone: Zone, places: Sequence[str]) -> str:
    if len(zone) < 3:
        return " and ".join(places[place] for place in zone)
    return f"{places[zone[0]]}, {places[zone[1]]} and {len(zone) - 2:,} more"


def seen(text: str) -> str:
    r"""A text without invisible marks.

    >>> seen("to\u202eetag")
    'to�etag'
    """
    return "".join(HIDDEN if _unseen(letter) else letter for letter in text)


def _plain(name: str) -> str:
    shown = seen(name)
    half = LONGEST // 2
    return shown if len(shown) <= LONGEST else f"{shown[:half]}…{shown[-half + 1 :]}"


def _unseen(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in JOINERS
