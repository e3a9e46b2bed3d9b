"""The library's complaints in the words of Python, put into the words of the command line."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Collection

from passerby.audits.wording import Options

_VALUE = r"'[^']*'|\"[^\"]*\"|[\w.+-]+"
#: Part of a path, of a longer word or of a quoted name: not the name of a setting.
_APART = r"(?<![\w/\\.'\"-]){}(?![\w/\\'\"-]|\.\w)"


def in_options(message: str, settings: Collection[str]) -> str:
    """A message with settings as options on the command line.

    Three forms are rewritten: a setting with a value (`place='loc'`, but not `Rounding(base=5)`), a name outside
    English (`grid_metres`), and a name at the head of a sentence about an error in it (`until is ...`, `holdout: ...`).

    >>> in_options("give grid_metres, as in grid_metres=500; since is 'May'", {"grid_metres", "since"})
    "give --grid-metres, as in --grid-metres 500; --from is 'May'"
    """
    words = Options()
    for name in sorted(settings, key=len, reverse=True):
        option = words.name(name).replace("\\", r"\\")
        given = re.compile(rf"(?<![\w(-]){name}=({_VALUE})")
        message = given.sub(lambda match, name=name: words.given(name, _plain(match[1])), message)  # type: ignore[misc]
        if "_" in name:
            message = re.sub(_APART.format(name), option, message)
        message = re.sub(rf"(?m)(^|[:;] ){name}(?=: | (?:is|names|has|needs|cannot) )", rf"\1{option}", message)
    return message


def _plain(value: str) -> object:
    """A value as it is typed."""
    return literal_eval(value) if value[0] in "'\"" else value
