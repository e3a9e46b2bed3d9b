"""Numbers: their words on the screen and in reports; logarithms of probabilities and of sizes of sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

#: An upper end below this is what reckoning leaves of none.
TINY = 1e-12


def percent(value: float | None) -> str:
    """A share or a chance as a percentage of two digits; a dash for None.

    >>> [percent(p) for p in (0.0, 0.00001, 0.004, 0.0264, 0.257, 0.999, 1.0, None)]
    ['0 %', '< 0.01 %', '0.40 %', '2.6 %', '26 %', '> 99 %', '100 %', '–']
    """
    if value is None:
        return "–"
    if value <= 0:
        return "0 %"
    if value < 0.0001:
        return "< 0.01 %"
    if value >= 1 - 1e-9:
        return "100 %"
    if value > 0.995:
        return "> 99 %"
    return f"{100 * value:.{0 if value >= 0.0995 else 1 if value >= 0.00995 else 2}f} %"


def size(value: float) -> str:
    """A number of people, on average: two digits, and whole from ten on.

    >>> [size(x) for x in (0.0, 0.0004, 0.0321, 2.71, 234.5, 1104.0)]
    ['0', '< 0.001', '0.032', '2.7', '234', '1,104']
    """
    if 0 < value < 0.001:
        return "< 0.001"
    return f"{value:.2g}" if value < 9.95 else f"{value:,.0f}"


def at_least(value: float) -> str:
    """A lower end of a share or a chance, in words.

    >>> at_least(0.26), at_least(0.999), at_least(1.0), at_least(0.00001)
    ('at least 26 %', 'more than 99 %', '100 %', 'more than 0 %')
    """
    said = percent(value)
    if value >= 1:
        return said
    if said.startswith("<"):
        return "more than 0 %"
    return f"more than {said[2:]}" if said.startswith(">") else f"at least {said}"


def at_most(value: float) -> str:
    """An upper end of a share or a chance, in words.

    >>> at_most(0.26), at_most(0.00001), at_most(0.0), at_most(0.998)
    ('at most 26 %', 'less than 0.01 %', '0 %', 'at most 100 %')
    """
    said = percent(value)
    if value <= 0:
        return said
    if said.startswith(">"):
        return "at most 100 %"
    return f"less than {said[2:]}" if said.startswith("<") else f"at most {said}"


def chance(value: float) -> str:
    """The same, with powers of ten for chances below 0.1 %.

    >>> [chance(p) for p in (0, 5.43e-10, 0.0264, 0.9999)]
    ['0 %', '5.4e-10', '2.6 %', '> 99 %']
    """
    if not 0 < value < 0.001:
        return percent(value)
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}e{int(power)}"


def span(lower: float, upper: float, say: Callable[[float], str] = percent) -> str:
    """Two ends of an interval in words; one number if they look the same, or are next to nothing.

    >>> span(0.1, 0.25), span(0.1, 0.1001), span(1e-9, 2e-9, chance)
    ('10 % to 25 %', '10 %', '1.0e-9 to 2.0e-9')
    >>> span(0, 1.2e-278), span(0, 1.2e-278, chance)
    ('< 0.01 %', '< 1e-12')
    """
    low, high = say(lower), say(upper)
    if lower <= 0 < upper < TINY and not high.startswith("<"):
        return f"< {TINY:g}"
    if lower <= 0 and high.startswith("<"):
        return high
    return low if low == high else f"{low} to {high}"


def duration(seconds: float) -> str:
    """A length of time in words, rounded for reading.

    >>> [duration(s) for s in (0.2, 42, 100, 7300)]
    ['a second', '42 seconds', '2 minutes', '2.0 hours']
    """
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return f"{seconds:.0f} seconds"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours"


def lot_size(rows: int, people: int, group: int) -> int:
    """The size of lots for rounding others' numbers of rows: the rows of a `group` of people, ten at least.

    Rows of so many people on average, rounded up to 1, 2 or 5 times a power of ten.

    >>> lot_size(147_938, 2000, 5), lot_size(640, 60, 5), lot_size(0, 0, 5)
    (500, 100, 10)
    """
    least = max(10.0, group * rows / max(1, people))
    unit = int(10 ** math.floor(math.log10(least)))
    return next(lot for lot in (unit, 2 * unit, 5 * unit, 10 * unit) if lot >= least - 1e-9)


def rows_in_lots(rows: int, lot: int) -> int:
    """A number of rows for others to see, to two digits and in lots: two such numbers tell no one person's rows.

    As many as a lot or fewer are told as one lot, and more as two at least.

    >>> [rows_in_lots(rows, 500) for rows in (0, 3, 501, 1760, 147_938)]
    [0, 500, 1000, 2000, 150000]
    """
    if rows <= lot:
        return lot if rows else 0
    step = max(lot, 10 ** (math.floor(math.log10(rows)) - 1))
    return int(max(2 * lot, step * round(rows / step)))


def rows_in_words(rows: int, lot: int) -> str:
    """The same in words; exact for lots of one row.

    >>> rows_in_words(150_000, 500), rows_in_words(500, 500), rows_in_words(147_938, 1), rows_in_words(0, 500)
    ('about 150,000', '500 or fewer', '147,938', '0')
    """
    if lot == 1 or not rows:
        return f"{rows:,}"
    return f"{rows:,} or fewer" if rows == lot else f"about {rows:,}"


Floats = NDArray[np.float64]


def logs(values: Floats) -> Floats:
    """Natural logarithms, minus infinity at zero, without a warning."""
    with np.errstate(divide="ignore"):
        return np.log(values)


def log_product(sizes: Iterable[float]) -> float:
    """The logarithm of a product of sizes; minus infinity if one is 0.

    >>> round(log_product([2] * 1250), 3), log_product([3, 0]), log_product([])
    (866.434, -inf, 0.0)
    """
    return math.fsum(math.log(size) if size else -math.inf for size in sizes)


def exceeds(log_size: float, most: float) -> bool:
    """Whether a size, by its logarithm, is above a number of listable size.

    Of whole numbers, the last digits of a logarithm do not decide.

    >>> exceeds(log_product([2] * 12), 4096), exceeds(log_product([2] * 12), 4095), exceeds(1e4, 4096)
    (False, True, True)
    """
    return most <= 0 or log_size > math.log(most) + 1e-9


def size_in_words(log_size: float) -> str:
    """How many, by the logarithm: a whole number, or its power of ten beyond twelve digits.

    >>> size_in_words(log_product([6, 7])), size_in_words(log_product([2] * 20_000)), size_in_words(math.inf)
    ('42', 'about 10^6021', 'endlessly many')
    """
    if math.isinf(log_size):
        return "endlessly many" if log_size > 0 else "0"
    return f"{round(math.exp(log_size)):,}" if log_size < math.log(1e12) else f"about 10^{log_size / math.log(10):.0f}"
