"""Numbers as cities write them: decimal commas, separators of thousands, and words for hidden numbers."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passerby.errors import InputError
from passerby.support.checks import shown

#: The words of three languages for columns, cells and rows.
WORDS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
#: Nothing was counted, or nothing is published; and an existing count, hidden because it is small.
MISSING, HIDDEN_WORDS = (frozenset(WORDS["cells"][name]) for name in ("missing", "hidden"))
_BELOW = re.compile(r"(?:<|below|under|fewer than|less than|unter|weniger als|moins de)\s*(\d+)", re.I)
_UP_TO = re.compile(r"(?:<=|≤|=<|up to|at most|bis(?: zu)?|höchstens|jusqu'à|au plus)\s*(\d+)", re.I)
_RANGE = re.compile(r"\d+\s*(?:-|–|to|bis|à)\s*(\d+)", re.I)
_NUMBER = re.compile(r"[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?|[+-]?[.,]\d+")
_COUNT = re.compile(r"[+-]?[.,]?\d")
_GROUPED = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:\{mark}\d{{3}})+") for mark in ".,"}
#: Blanks of any width, and the Swiss marks between thousands.
_BLANKS = re.compile(r"(?<=\d)[\s'’\u00a0\u2009\u202f](?=\d{3}(?!\d))")
#: Beyond this number floats miss whole numbers.
LARGEST = 2**53


@dataclass(frozen=True)
class CellValue:
    """The content of a cell: a number, or a hidden or missing one; hidden ones may be known to be `most` at most."""

    number: float = math.nan
    hidden: bool = False
    most: float = math.nan


@dataclass(frozen=True)
class Numerals:
    """How a table writes numbers: the decimal sign, and the sign between thousands; either may be none."""

    decimal: str = "."
    thousands: str = ""
    #: A number with two possible readings.
    doubtful: str = ""

    @classmethod
    def of(cls, texts: Iterable[str]) -> Numerals:
        """The one way to read all of some cells.

        >>> Numerals.of(["12", "1.204,5"]).decimal
        ','
        >>> Numerals.of(["1.204", "12"]).thousands
        '.'
        >>> Numerals.of(["0.125", "12"]).decimal
        '.'
        """
        bare = [_BLANKS.sub("", text) for text in texts]
        numbers = [text for text in bare if _NUMBER.fullmatch(text)]
        marked = [text for text in numbers if "." in text or "," in text]
        decimal = {_decimal(text): text for text in marked} if marked else {}
        sure = {mark: text for mark, text in decimal.items() if mark}
        if len(sure) > 1:
            one, other = sure.values()
            raise InputError(
                f"{one!r} and {other!r} write numbers in two ways: the decimal sign of one is the sign of thousands of "
                "the other; write all alike"
            )
        if sure:
            (mark,) = sure
            return cls(mark, "," if mark == "." else ".")
        if not marked:
            return cls()
        # Three digits after each mark. If 1000 is written without a mark elsewhere, the mark is no sign of thousands.
        (mark,) = {"." if "." in text else "," for text in marked} if len({"." in x for x in marked}) == 1 else ("",)
        if not mark:
            raise InputError(f"{marked[0]!r} and others like it use both '.' and ','; write all numbers alike")
        plain = any(text.lstrip("+-").isdigit() and len(text.lstrip("+-")) > 3 for text in numbers)
        if plain:
            return cls(mark, "")
        return cls("," if mark == "." else ".", mark, marked[0])

    def read(self, text: str, where: str) -> CellValue:
        """The value of a cell.

        >>> Numerals().read("< 10", "").most
        9.0
        >>> Numerals(",", ".").read("1.204,5", "").number
        1204.5
        """
        bare = text.strip().strip("\u00a0\u202f")
        word = bare.lower()
        if word in MISSING:
            return CellValue()
        if word in HIDDEN_WORDS:
            return CellValue(hidden=True)
        if found := _BELOW.fullmatch(word):
            return CellValue(hidden=True, most=max(0.0, float(found[1]) - 1))
        if found := _UP_TO.fullmatch(word) or _RANGE.fullmatch(word):
            return CellValue(hidden=True, most=float(found[1]))
        return CellValue(self._number(bare, where))

    def _number(self, text: str, where: str) -> float:
        digits = _BLANKS.sub("", text)
        if self.thousands:
            digits = digits.replace(self.thousands, "") if self._grouped(digits) else digits
        digits = digits.replace(self.decimal, ".")
        try:
            value = float(digits) if _NUMBER.fullmatch(digits) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InputError(
                f"{where}: {shown(text)} is no number of people; expected one such as 12, a word for a hidden count "
                "such as '< 10' or '*', or an empty cell"
            )
        if not 0 <= value <= LARGEST:
            raise InputError(f"{where}: the count is {text}; expected a number from 0 to 2**53")
        return value

    def _grouped(self, digits: str) -> bool:
        whole = digits.partition(self.decimal)[0]
        return bool(_GROUPED[self.thousands].fullmatch(whole))


def may_be_count(text: str) -> bool:
    """Whether a cell looks like a number of people, or a word for a hidden one.

    >>> may_be_count("unter 5"), may_be_count("1.204,5"), may_be_count("rain")
    (True, True, False)
    """
    word = text.strip().lower()
    forms = (_BELOW, _UP_TO, _RANGE)
    return word in HIDDEN_WORDS or any(form.fullmatch(word) for form in forms) or bool(_COUNT.match(word))


def _decimal(text: str) -> str:
    """The only possible decimal sign of a number; none if its marks may be of thousands."""
    last = max(text.rfind("."), text.rfind(","))
    mark = text[last]
    other = "," if mark == "." else "."
    if other in text:
        if text.count(mark) > 1:
            raise InputError(f"{text!r} is no number: it has several decimal signs")
        return mark
    return "" if _GROUPED[mark].fullmatch(text) else mark
