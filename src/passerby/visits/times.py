"""Times as they come in files, turned into UTC.

Understood are ISO 8601 (with or without zone, extended or basic), dates and times as digits without anything between
them, seconds or milliseconds since 1970, the form of the Foursquare check-ins, and any form that is given. Whatever
cannot be read becomes null: the caller counts and reports.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import polars as pl

from passerby.errors import InputError

from .table import TIME

FIRST_YEAR, LAST_YEAR = 1900, 2100
_EARLIEST, _LATEST = (
    round(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000 for year in (FIRST_YEAR, LAST_YEAR)
)
"""Microseconds since 1970 between which a time must lie: nobody was counted in other years."""
_FIRST_SECOND, _LAST_SECOND = 1e8, _LATEST / 1e6
"""Seconds since 1970 between which a bare number must lie (from 1973 on): smaller ones are something else."""
COMPACT = (8, 10, 12, 14)
"""How many digits dates and times have that are written as digits alone: to the day, hour, minute or second."""
DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
"""Words for dates such as 03/04/2012, which can be read in two ways: somebody must say which."""

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
_DATE = re.compile(
    r"(19|20)\d\d[-/.]\d\d?[-/.]\d\d?(?!\d)|\d\d?[-/.]\d\d?[-/.](\d\d|\d{4})(?!\d)|[A-Za-z]{3} [A-Za-z]{3} \d"
)


def check_timezone(timezone: str) -> None:
    """Refuse a time zone that is not known."""
    try:
        pl.Series([0]).cast(pl.Datetime("us")).dt.replace_time_zone(timezone)
    except (pl.exceptions.PolarsError, TypeError, AttributeError, ValueError):
        raise InputError(
            f"timezone is {timezone!r}, which is not known; use a name like 'UTC' or 'Europe/Paris'"
        ) from None


def check_time_format(form: str | None) -> None:
    """Refuse a form of times that is neither one of the words nor a pattern with a year, a month and a day."""
    if form is None or form in (DAY_FIRST, MONTH_FIRST):
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
    """Times (n,) of any type as UTC datetimes (n,); null where a value cannot be read.

    Times without a zone are read in `timezone`: of two possible readings (clocks set back) the earlier is taken, and
    a time that never was (clocks set forward) cannot be read. Numbers of 8, 10, 12 or 14 digits are dates where most
    of the column can be read so; other numbers are seconds since 1970, or milliseconds (microseconds, nanoseconds)
    where they are too large to be seconds of this time. Dates such as 03/04/2012 are read only where `form` says how:
    "day-first", "month-first", or a pattern such as "%d.%m.%Y %H:%M". Years before 1900 and from 2100 on cannot be
    read.

    >>> parse_times(pl.Series(["2012-04-03T20:00:08+02:00", "1333476008"])).dt.to_string().unique().to_list()
    ['2012-04-03 18:00:08.000000+00:00']
    >>> parse_times(pl.Series(["20240101080000"])).dt.to_string().to_list()
    ['2024-01-01 08:00:00.000000+00:00']
    """
    times = _parsed(values, timezone, form)
    reach = times.to_physical()
    outside = (reach < _EARLIEST) | (reach >= _LATEST)
    return times.set(outside, None) if outside.any() else times


def _parsed(values: pl.Series, timezone: str, form: str | None) -> pl.Series:
    dtype = values.dtype
    if form is not None and dtype in (pl.Date, pl.Datetime):
        raise InputError(f"time_format='{form}' has no effect on a column that holds times already; leave it out")
    if dtype == pl.Date:
        return _zoned(values.cast(pl.Datetime("us")), timezone)
    if isinstance(dtype, pl.Datetime):
        values = values.cast(pl.Datetime("us", dtype.time_zone))
        return _zoned(values, timezone) if dtype.time_zone is None else values.dt.convert_time_zone("UTC")
    if form is not None:
        return _as_said(values.cast(pl.String), timezone, form)
    if dtype.is_numeric():
        return _numbers(values, timezone)
    return _parse_strings(values.cast(pl.String), timezone)


def shown(value: object) -> str:
    """A value that is no time, fit for a message.

    Where it does not even look like a date it may be anything, such as a person's id from a column taken by mistake,
    so that only its shape is shown.

    >>> shown("2012-13-03 18:00"), shown("Ann-17"), shown(None)
    ("'2012-13-03 18:00'", "a value like 'Aaa-99'", 'nothing')
    """
    if value is None:
        return "nothing"
    text = str(value).strip()[:40]
    if _DATE.match(text):
        return repr(text)
    return f"a value like {''.join(map(_masked, text))!r}"


def _masked(character: str) -> str:
    if character.isdigit():
        return "9"
    return ("A" if character.isupper() else "a") if character.isalpha() else character


def _parse_strings(values: pl.Series, timezone: str) -> pl.Series:
    """Each form is tried on what the forms before it left; the one that fits the first rows goes first."""
    forms: list[Form] = [
        _foursquare,
        partial(_fixed, pattern="%Y-%m-%dT%H:%M:%SZ", timezone="UTC"),
        partial(_fixed, pattern="%Y-%m-%d %H:%M:%S", timezone=timezone),
        partial(_fixed, pattern="%Y-%m-%dT%H:%M:%S", timezone=timezone),
        partial(_numbers, timezone=timezone),
        partial(_iso, timezone=timezone),
        _foursquare_zoned,
    ]
    sample = values.drop_nulls().head(100)
    forms.sort(key=lambda form: form(sample).null_count())
    times = forms[0](values)
    for form in forms[1:]:
        left = (times.is_null() & values.is_not_null()).arg_true()
        if not len(left):
            break
        times = times.scatter(left, form(values.gather(left)))
    return times


def _zoned(naive: pl.Series, timezone: str) -> pl.Series:
    zoned = naive.dt.replace_time_zone(timezone, ambiguous="earliest", non_existent="null")
    return zoned.dt.convert_time_zone("UTC")


def _fixed(values: pl.Series, pattern: str, timezone: str) -> pl.Series:
    return _zoned(values.str.to_datetime(pattern, time_unit="us", strict=False, cache=False), timezone)


def _foursquare(values: pl.Series) -> pl.Series:
    """`Tue Apr 03 18:00:08 +0000 2012`. Without the weekday polars parses by fixed positions, 4-5 times as fast."""
    return _fixed(values.str.slice(4), "%b %d %H:%M:%S +0000 %Y", "UTC")


def _foursquare_zoned(values: pl.Series) -> pl.Series:
    times = values.str.slice(4).str.to_datetime("%b %d %H:%M:%S %z %Y", time_unit="us", strict=False, cache=False)
    return times.cast(TIME)


def _as_said(values: pl.Series, timezone: str, form: str) -> pl.Series:
    """Times in the form that was given."""
    if form not in (DAY_FIRST, MONTH_FIRST):
        text = values.str.strip_chars()
        if "%H" in form and "%M" not in form:  # polars reads no hours without minutes
            text, form = text + " 00", form + " %M"
        if "%z" in form:
            return text.str.to_datetime(form, time_unit="us", strict=False, cache=False).cast(TIME)
        return _fixed(text, form, timezone)
    part = values.str.extract_groups(_SLASHED).struct.unnest()
    day, month = ("one", "two") if form == DAY_FIRST else ("two", "one")
    digits = [pl.col(name).str.zfill(2) for name in (month, day)]
    clock = [pl.col(name).fill_null("00").str.zfill(2) for name in ("hour", "minute", "second")]
    text = part.select(pl.concat_str([pl.col("year"), *digits, *clock])).to_series()
    return _fixed(text, "%Y%m%d%H%M%S", timezone)


def _numbers(values: pl.Series, timezone: str) -> pl.Series:
    """Dates as digits where most of the column can be read so, otherwise time since 1970 in a unit told by the size.

    A single stray number must not decide how all the others are read.
    """
    number = values.cast(pl.Float64, strict=False)
    dates = _compact(number, timezone)
    return dates if 2 * dates.count() > number.count() else _epoch(number)


def _compact(number: pl.Series, timezone: str) -> pl.Series:
    """Dates and times as 8, 10, 12 or 14 digits; null for what is none."""
    whole = number.round().cast(pl.Int64, strict=False)
    text = whole.set(whole != number, None).cast(pl.String)
    fits = text.str.len_bytes().is_in(list(COMPACT)) & text.str.head(4).cast(pl.Int64, strict=False).is_between(
        FIRST_YEAR, LAST_YEAR - 1
    )
    text = text.set(~fits, None)
    # Polars reads no hours without minutes, so that all are filled up.
    return _fixed(text.str.pad_end(14, "0"), "%Y%m%d%H%M%S", timezone)


def _epoch(number: pl.Series) -> pl.Series:
    """Seconds, milliseconds, microseconds or nanoseconds since 1970; null for what is none of them in our time."""
    out = pl.lit(None, dtype=pl.Float64)
    value = pl.col("number")
    for unit in (1e6, 1e3, 1.0, 1e-3):
        scale = 1e6 / unit
        out = pl.when(value.is_between(_FIRST_SECOND * scale, _LAST_SECOND * scale)).then(value * unit).otherwise(out)
    micros = pl.DataFrame({"number": number}).select(at=out.round()).to_series()
    return micros.cast(pl.Int64, strict=False).cast(TIME)


def _iso(values: pl.Series, timezone: str) -> pl.Series:
    """ISO 8601 in general: slower, for what the fixed patterns leave."""
    part = values.str.extract_groups(_ISO).struct.unnest()
    clock = [pl.col(name).fill_null("00") for name in ("hour", "minute", "second")]
    offset = (pl.col("off_hour").cast(pl.Int64) * 60 + pl.col("off_minute").fill_null("00").cast(pl.Int64)) * (
        pl.when(pl.col("sign") == "-").then(-1).otherwise(1)
    )
    fraction = pl.col("fraction").fill_null("0").str.pad_end(9, "0").str.slice(0, 6).cast(pl.Int64)
    text = pl.concat_str([pl.col("date").str.replace_all("[-T ]", ""), *clock])
    parsed = part.select(
        at=text.str.to_datetime("%Y%m%d%H%M%S", time_unit="us", strict=False, cache=False)
        + pl.duration(microseconds=fraction),
        offset=pl.when(pl.col("utc").is_not_null()).then(0).otherwise(offset),
    )
    absolute = (parsed["at"] - parsed.select(pl.duration(minutes="offset")).to_series()).dt.replace_time_zone("UTC")
    return absolute.zip_with(parsed["offset"].is_not_null(), _zoned(parsed["at"], timezone))
