"""Names of places as a page can show them: of one direction, without marks that are not seen, and not too long."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

#: The most letters of a name that are shown.
LONGEST = 54
#: What stands for a character that is not shown: line ends, controls, and marks that turn the direction of text.
HIDDEN = "\N{REPLACEMENT CHARACTER}"
#: Marks without a picture that belong to what they join, such as the parts of an emoji.
JOINERS = ("\N{ZERO WIDTH JOINER}", "\N{ZERO WIDTH NON-JOINER}")


def readable(names: Sequence[str]) -> tuple[str, ...]:
    r"""Names in the same order, all different.

    Long ones lose their middle; of those that are then the same, later ones get a number.

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


def _plain(name: str) -> str:
    seen = "".join(HIDDEN if _unseen(letter) else letter for letter in name)
    half = LONGEST // 2
    return seen if len(seen) <= LONGEST else f"{seen[:half]}…{seen[-half + 1 :]}"


def _unseen(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in JOINERS
