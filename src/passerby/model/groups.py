"""Groups of people who move as one, of which the target is one."""

from __future__ import annotations

from typing import Any

from passerby.errors import InputError, UnsupportedRelease
from passerby.mechanisms import Mechanism
from passerby.mechanisms.checks import MOST_PEOPLE
from passerby.others.crowd import Crowd
from passerby.support.checks import whole


def checked_size(size: Any, others: object) -> int:
    """How many people move as one, if that can be; else an error. In a crowd, everybody moves by themselves."""
    number: int = whole(size, "size", 1, MOST_PEOPLE)
    if number > 1 and isinstance(others, Crowd):
        raise UnsupportedRelease(
            f"size: a group of {number} beside {others!r} is not modelled: its numbers of others are of people who "
            "move by themselves; give the numbers of others, which is an upper end for whoever knows less"
        )
    return number


def check_sizes(one: int, two: int) -> None:
    """Refuse releases about groups of two sizes."""
    if one != two:
        raise InputError(
            f"size: releases about the same people are about groups of one size, not of {one} and of {two}; give both "
            "the same"
        )


def of_size(size: int) -> str:
    """A size as it is written; nothing for one person."""
    return "" if size == 1 else f", size={size}"


def in_words(published: Mechanism | str, crowd: Crowd | None, size: int) -> str:
    """What is published, of whom."""
    beside = "" if crowd is None else f" with {crowd!r}"
    group = "" if size == 1 else f" of groups of {size}"
    return f"{published if isinstance(published, str) else repr(published)}{beside}{group}"
