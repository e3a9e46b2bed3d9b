"""Times as they come in files, turned into UTC.

The known forms are ISO 8601 (with or without zone, extended or basic) and dates and times as digits without anything
between them. Seconds or milliseconds since 1970, the form of the Foursquare check-ins, and any given form are known as
well. An unreadable value becomes null: the caller counts and reports.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial

import polars as pl

from passerby.errors import InputError
from passerby.support.checks import is_word

from .table import TIME

FIRST_YEAR, LAST_YEAR = 1900, 2100
"""Years of counts of people, but for the last: digits are known as dates by them, and others are stray."""


def _micros(year: int) -> int:
    """When a year begins, in microseconds since 1970."""
    return round(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000


EARLIEST, LATEST = _micros(FIRST_YEAR), _micros(LAST_YEAR)
_FIRST, _LAST = _micros(1000), _micros(9900)
"""Limits of a time: others, such as 0001-01-01 and 9999-12-31, are written for missing ones."""
_FIRST_SECOND, _LAST_SECOND = 1e8, LATEST / 1e6
"""Limits of a bare number of seconds since 1970 (from 1973 on): smaller ones are something else."""
OFFSETS = (-12 * 60, 14 * 60)
"""Limits of the minutes of clocks ahead of UTC, anywhere, since people were counted."""
COMPACT = (8, 10, 12, 14)
"""Numbers of digits of dates and times written as digits alone: to the day, hour, minute or second."""
MICROS: dict[str, float] = {"ns": 1e-3, "us": 1, "ms": 1e3, "days": 86_400e6}
"""Microseconds of the units of columns of times."""
EARLY, LATE = "a time before the year 1000", "a time in the year 9900 or later"
"""A message for times without a word in Python."""
YEARS = "years are from 1000 to 9899"
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
"""Words for dates such as 03/04/2012, readable in two ways: somebody must choose one."""

Form = Callable[[pl.Series], pl.Series]

_ISO = (
    r"^\s*(?<date>\d{4}-\d{2}-\d{2}(?:[T ]|\b)|\d{8}T)"
    r"(?:(?<hour>\d{2}):?(?<minute>\d{2})(?::?(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?)?"
    r"\s*(?:(?<utc>[Zz]|UTC|GMT)|(?<sign>[+-])(?<off_hour>\d{2}):?(?<off_minute>\d{2})?)?\s*$"
)
_SLASHED = (
    r"^\s*(?<one>\d{1,2})[/.\-](?<two>\d{1,2})[/.\-](?<year>\d{4})"
    r"(?:[T ,]+(?<hour>\d{1,2}):(?<minute>\d{2})(?::(?<second>\d{2})(?:[.,]\d{1,9})?)?)?\s*$"
)
_OFFSET = re.compile(r"(?:T\d{4,6}|:\d\d(?:[.,]\d+)?)\s*([+-])(\d\d):?(\d\d)?(?: \d{4})?$")
_DATE = re.compile(
    r"(19|20)\d\d[-/.]\d\d?[-/.]\d\d?(?!\d)|\d\d?[-/.]\d\d?[-/.](\d\d|\d{4})(?!\d)|[A-Za-z]{3} [A-Za-z]{3} \d"
)


def check_timezone(timezone: str) -> None:
    """Refuse an unknown time zone, or none."""
    try:
        pl.Series([0]).cast(TIME).dt.convert_time_zone(timezone or "none")
    except (pl.exceptions.PolarsError, TypeError, AttributeError, ValueError):
        raise InputError(
            f"timezone is {timezone!r}, which is not known; use a name like 'UTC' or 'Europe/Paris'"
        ) from None


def check_time_format(form: str | None) -> None:
    """Refuse a form of times other than one of the words or a pattern with a year, a month and a day."""
    if form is None or is_word(form, (DAY_FIRST, MONTH_FIRST)):
        return
    if not isinstance(form, str) or not ("%s" in form or re.search(r"%[yYcDFxs]", form)):
        raise InputError(
            f"time_format is {form!r}; give {DAY_FIRST!r}, {MONTH_FIRST!r}, or a pattern such as '%d.%m.%Y %H:%M'"
        )
    try:
        pl.Series([datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)]).dt.strftime(form)
    except pl.exceptions.PolarsError:
        raise InputError(f"time_format is {form!r}, no pattern for times; write it as '%d.%m.%Y %H:%M'") from None


def parse_times(values: pl.Series, timezone: str = "UTC", form: str | None = None) -> pl.Series:
    """Times (n,) of any type as UTC datetimes (n,); null if a value cannot be read.

    Times without a zone are read in `timezone`. Of two possible readings (clocks set back) the earlier is taken. A
    skipped time (clocks set forward) cannot be read. Numbers of 8, 10, 12 or 14 digits are dates if most of the column
    can be read so, as from 1900 to 2099. Other numbers are seconds since 1970. If they are too large for seconds of
    this time, they are milliseconds (microseconds, nanoseconds). Dates such as 03/04/2012 are read only if `form` gives
    the order: "day-first", "month-first", or a pattern such as "%d.%m.%Y %H:%M". Years before 1000 and from 9900 on
    cannot be read.

    >>> parse_times(pl.Series(["2012-04-03T20:00:08+02:00", "1333476008"])).dt.to_string().unique().to_list()
    ['2012-04-03 18:00:08.000000+00:00']
    >>> parse_times(pl.Series(["20240101080000"])).dt.to_string().to_list()
    ['2024-01-01 08:00:00.000000+00:00']
    """
    return read_times(values, timezone, form)[0]


def read_times(values: pl.Series, timezone: str = "UTC", form: str | None = None) -> tuple[pl.Series, int]:
    """The same, and the number of readable times without a zone: these were read in `timezone`."""
    times, bare = _parsed(values, timezone, form)
    reach = times.to_physical()
    outside = (reach < _FIRST) | (reach >= _LAST)
    times = times.set(outside, None) if outside.any() else times
    return times, int((bare & times.is_not_null()).sum()) if bare.any() else 0


def _parsed(values: pl.Series, timezone: str, form: str | None) -> tuple[pl.Series, pl.Series]:
    """Times in UTC, and marks (n,) of times without a zone."""
    dtype = values.dtype
    if form is not None and dtype in (pl.Date, pl.Datetime):
        raise InputError(f"time_format='{form}' has no effect on a column that holds times already; leave it out")
    if dtype in (pl.Date, pl.Datetime):
        forms: list[Form] = [_in_micros]
    elif form is not None:
        values, forms = values.cast(pl.String), [partial(_as_said, form=form)]
    elif dtype.is_numeric():
        forms = [_numbers]
    else:
        values = values.cast(pl.String)
        sample = values.drop_nulls().head(100)
        # The form fitting the first rows goes first.
        forms = sorted(TEXTS, key=lambda each: each(sample).null_count())
    return _by_forms(values, forms, timezone)


def shown(value: object) -> str:
    """A value in the place of a time, fit for a message.

    If it does not even look like a date it may be anything, such as a person's id from a column taken by mistake. So
    only its shape is shown.

    >>> shown("2012-13-03 18:00"), shown("Ann-17"), shown(None)
    ("'2012-13-03 18:00'", "a value like 'Aaa-99'", 'nothing')
    """
    if value is None:
        return "nothing"
    text = str(value).strip()[:40]
    if _DATE.match(text):
        return repr(text)
    return f"a value like {''.join(map(_masked, text))!r}"


def advice(value: object, form: str | None = None) -> str | None:
    """Advice on a value in the place of a time, of a column read in a form.

    >>> advice("03/04/2012"), advice("9999-12-31"), advice(None)
    ("say time_format='day-first' or time_format='month-first'", 'years are from 1000 to 9899', None)
    """
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    if form is not None:
        return f"times are read by time_format={form!r} alone"
    if re.match(_SLASHED.replace("?<", "?P<"), text):
        return f"say time_format={DAY_FIRST!r} or time_format={MONTH_FIRST!r}"
    offset = _OFFSET.search(text)
    if offset and not _known_offset(*offset.groups()):
        return "clocks are from 12 hours behind UTC (-12:00) to 14 hours ahead (+14:00)"
    if re.match(r"(0\d{3}|99\d\d)-", text):
        return YEARS
    if re.match(r"\d{4}-\d\d-\d\d", text):
        return None  # there is no such day or hour
    return "say how they are written, as in time_format='%d.%m.%Y %H:%M'"


def _known_offset(sign: str, hour: str, minute: str | None) -> bool:
    ahead = int(hour) * 60 + int(minute or 0)
    return int(minute or 0) < 60 and OFFSETS[0] <= (-ahead if sign == "-" else ahead) <= OFFSETS[1]


def _masked(character: str) -> str:
    if character.isdigit():
        return "9"
    return ("A" if character.isupper() else "a") if character.isalpha() else character


def _by_forms(values: pl.Series, forms: Sequence[Form], timezone: str) -> tuple[pl.Series, pl.Series]:
    """Each form is tried on the values left by the forms before it."""
    found = forms[0](values)
    times, bare = _in_utc(found, timezone), pl.repeat(_bare(found), len(values), eager=True)
    for form in forms[1:]:
        left = (times.is_null() & values.is_not_null()).arg_true()
        if not len(left):
            break
        found = form(values.gather(left))
        times, bare = times.scatter(left, _in_utc(found, timezone)), bare.scatter(left, _bare(found))
    return times, bare


def unheard(values: pl.Series) -> pl.Series:
    """Whether dates or times lie in impossible years, so there may be no word for them.

    >>> unheard(pl.Series([datetime(2024, 5, 1), datetime(9999, 12, 31), None])).to_list()
    [False, True, False]
    """
    unit = MICROS[values.dtype.time_unit if isinstance(values.dtype, pl.Datetime) else "days"]
    # By division: the limits fit into each unit, and the values may not fit into microseconds.
    count = values.to_physical().cast(pl.Int64)
    return ((count < _FIRST // unit) | (count >= _LAST // unit)).fill_null(False)


def in_words(values: pl.Series) -> pl.Series:
    """Messages for unreadable dates or times; null for readable ones."""
    early = values.to_physical() < 0
    return pl.select(pl.when(early).then(pl.lit(EARLY)).when(early.not_()).then(pl.lit(LATE))).to_series()


def _in_micros(times: pl.Series) -> pl.Series:
    """Dates and times of any unit in microseconds, null if they lie in impossible years."""
    wrong = unheard(times)
    times = times.set(wrong, None) if wrong.any() else times
    return times.cast(pl.Datetime("us", times.dtype.time_zone if isinstance(times.dtype, pl.Datetime) else None))


def _bare(times: pl.Series) -> bool:
    """Whether times have no zone."""
    return isinstance(times.dtype, pl.Datetime) and times.dtype.time_zone is None


def _in_utc(times: pl.Series, timezone: str) -> pl.Series:
    if _bare(times):
        times = times.dt.replace_time_zone(timezone, ambiguous="earliest", non_existent="null")
    return times.dt.convert_time_zone("UTC")


def _fixed(values: pl.Series, pattern: str) -> pl.Series:
    return values.str.to_datetime(pattern, time_unit="us", strict=False, cache=False)


def _fixed_utc(values: pl.Series, pattern: str) -> pl.Series:
    return _fixed(values, pattern).dt.replace_time_zone("UTC")


def _foursquare(values: pl.Series) -> pl.Series:
    """`Tue Apr 03 18:00:08 +0000 2012`. Without the weekday polars parses by fixed positions, 4-5 times as fast."""
    return _fixed_utc(values.str.slice(4), "%b %d %H:%M:%S +0000 %Y")


def _foursquare_zoned(values: pl.Series) -> pl.Series:
    pattern = "%b %d %H:%M:%S %z %Y"
    times, local = _fixed(values.str.slice(4), pattern), values.str.replace(r"[+-]\d{4} ", "+0000 ")
    return _within_offsets(times, _fixed(local.str.slice(4), pattern))


def _within_offsets(times: pl.Series, local: pl.Series) -> pl.Series:
    """Times with a zone, null if no clock of the world shows them then; `local` as if in UTC."""
    ahead = (local - times).dt.total_minutes()
    return times.set(~ahead.is_between(*OFFSETS).fill_null(True), None)


def _as_said(values: pl.Series, form: str) -> pl.Series:
    """Times in the given form."""
    if form not in (DAY_FIRST, MONTH_FIRST):
        text = values.str.strip_chars()
        if "%H" in form and "%M" not in form:  # polars reads no hours without minutes
            text, form = text + " 00", form + " %M"
        if "%s" in form:  # seconds since 1970 are the same everywhere
            return _fixed_utc(text, form)
        times = _fixed(text, form)
        if form.endswith(("%z", "%:z")):
            return _within_offsets(times, _fixed(text.str.replace(r"[+-]\d{2}:?\d{2}$", "+00:00"), form))
        return times
    part = values.str.extract_groups(_SLASHED).struct.unnest()
    day, month = ("one", "two") if form == DAY_FIRST else ("two", "one")
    digits = [pl.col(name).str.zfill(2) for name in (month, day)]
    clock = [pl.col(name).fill_null("00").str.zfill(2) for name in ("hour", "minute", "second")]
    text = part.select(pl.concat_str([pl.col("year"), *digits, *clock])).to_series()
    return _fixed(text, "%Y%m%d%H%M%S")


def _numbers(values: pl.Series) -> pl.Series:
    """Dates as digits if most of the column can be read so, otherwise time since 1970 in a unit told by the size.

    A single stray number must not decide how all the others are read.
    """
    number = values.cast(pl.Float64, strict=False)
    dates = _compact(number)
    ours = dates.dt.year().is_between(FIRST_YEAR, LAST_YEAR - 1).sum()
    return dates if 2 * ours > number.count() else _epoch(number)


def _compact(number: pl.Series) -> pl.Series:
    """Dates and times as 8, 10, 12 or 14 digits; null for others."""
    whole = number.round().cast(pl.Int64, strict=False)
    text = whole.set(whole != number, None).cast(pl.String)
    text = text.set(~text.str.len_bytes().is_in(list(COMPACT)), None)
    # Polars reads no hours without minutes, so all are filled up.
    return _fixed(text.str.pad_end(14, "0"), "%Y%m%d%H%M%S")


def _epoch(number: pl.Series) -> pl.Series:
    """Seconds, milliseconds, microseconds or nanoseconds since 1970; null for numbers outside of our time."""
    out = pl.lit(None, dtype=pl.Float64)
    value = pl.col("number")
    for unit in (1e6, 1e3, 1.0, 1e-3):
        scale = 1e6 / unit
        out = pl.when(value.is_between(_FIRST_SECOND * scale, _LAST_SECOND * scale)).then(value * unit).otherwise(out)
    micros = pl.DataFrame({"number": number}).select(at=out.round()).to_series()
    return micros.cast(pl.Int64, strict=False).cast(TIME)


def _iso(values: pl.Series, *, zoned: bool) -> pl.Series:
    """ISO 8601 in general, with a zone or without one: slower, for the rest after the fixed patterns."""
    part = values.str.extract_groups(_ISO).struct.unnest()
    clock = [pl.col(name).fill_null("00") for name in ("hour", "minute", "second")]
    minute = pl.col("off_minute").fill_null("00").cast(pl.Int64)
    offset = (pl.col("off_hour").cast(pl.Int64) * 60 + minute) * pl.when(pl.col("sign") == "-").then(-1).otherwise(1)
    fraction = pl.col("fraction").fill_null("0").str.pad_end(9, "0").str.slice(0, 6).cast(pl.Int64)
    text = pl.concat_str([pl.col("date").str.replace_all("[-T ]", ""), *clock])
    parsed = part.select(
        at=text.str.to_datetime("%Y%m%d%H%M%S", time_unit="us", strict=False, cache=False)
        + pl.duration(microseconds=fraction),
        offset=pl.when(pl.col("utc").is_not_null()).then(0).otherwise(offset),
        wrong=(minute >= 60) | ~offset.is_between(*OFFSETS),
    )
    if not zoned:
        return parsed["at"].set(parsed["offset"].is_not_null(), None)
    at = parsed["at"].set(parsed["wrong"].fill_null(False), None)
    return (at - parsed.select(pl.duration(minutes="offset")).to_series()).dt.replace_time_zone("UTC")


#: The forms of texts. A form without a zone gives times without one.
TEXTS: tuple[Form, ...] = (
    _foursquare,
    partial(_fixed_utc, pattern="%Y-%m-%dT%H:%M:%SZ"),
    partial(_fixed, pattern="%Y-%m-%d %H:%M:%S"),
    partial(_fixed, pattern="%Y-%m-%dT%H:%M:%S"),
    _numbers,
    partial(_iso, zoned=True),
    partial(_iso, zoned=False),
    _foursquare_zoned,
)
