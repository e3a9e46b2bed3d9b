"""Times as they come in files, turned into UTC.

Understood are ISO 8601 (with or without zone, extended or basic), seconds or milliseconds since 1970, and the form
of the Foursquare check-ins. Whatever cannot be read becomes null: the caller counts and reports.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import polars as pl

from passerby.errors import InputError

from .table import TIME

_EARLIEST, _LATEST = (round(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000 for year in (1, 9000))
"""Microseconds since 1970 between which a time must lie: Python has no years below 1, and none above 9999."""

Form = Callable[[pl.Series], pl.Series]

_ISO = (
    r"^\s*(?<date>\d{4}-\d{2}-\d{2}(?:[T ]|\b)|\d{8}T)"
    r"(?:(?<hour>\d{2}):?(?<minute>\d{2})(?::?(?<second>\d{2})(?:[.,](?<fraction>\d{1,9}))?)?)?"
    r"\s*(?:(?<utc>[Zz]|UTC|GMT)|(?<sign>[+-])(?<off_hour>\d{2}):?(?<off_minute>\d{2})?)?\s*$"
)
_DATE = re.compile(
    r"(19|20)\d\d[-/.]\d\d?[-/.]\d\d?(?!\d)|\d\d?[-/.]\d\d?[-/.](\d\d|\d{4})(?!\d)|[A-Za-z]{3} [A-Za-z]{3} \d"
)


def check_timezone(timezone: str) -> None:
    """Refuse a time zone that is not known."""
    try:
        pl.Series([0]).cast(pl.Datetime("us")).dt.replace_time_zone(timezone)
    except (pl.exceptions.PolarsError, TypeError):
        raise InputError(f"time zone {timezone!r} is not known; use a name like 'UTC' or 'Europe/Paris'") from None


def parse_times(values: pl.Series, timezone: str = "UTC") -> pl.Series:
    """Times (n,) of any type as UTC datetimes (n,); null where a value cannot be read.

    Times without a zone are read in `timezone`: of two possible readings (clocks set back) the earlier is taken, and
    a time that never was (clocks set forward) cannot be read. Numbers are seconds since 1970, or milliseconds
    (microseconds, nanoseconds) where they are too large to be seconds of this millennium. Times before the year 1 and
    from the year 9000 on cannot be read.

    >>> parse_times(pl.Series(["2012-04-03T20:00:08+02:00", "1333476008"])).dt.to_string().unique().to_list()
    ['2012-04-03 18:00:08.000000+00:00']
    """
    times = _parsed(values, timezone)
    reach = times.to_physical()
    outside = (reach < _EARLIEST) | (reach >= _LATEST)
    return times.set(outside, None) if outside.any() else times


def _parsed(values: pl.Series, timezone: str) -> pl.Series:
    dtype = values.dtype
    if dtype == pl.Date:
        return _zoned(values.cast(pl.Datetime("us")), timezone)
    if isinstance(dtype, pl.Datetime):
        values = values.cast(pl.Datetime("us", dtype.time_zone))
        return _zoned(values, timezone) if dtype.time_zone is None else values.dt.convert_time_zone("UTC")
    if dtype.is_numeric():
        return _epoch(values, timezone)
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
        partial(_epoch, timezone=timezone),
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


def _epoch(values: pl.Series, timezone: str) -> pl.Series:
    """Numbers; the unit is told by the size, except that nothing but values like 20120403 are dates, as in ISO 8601."""
    number = values.cast(pl.Float64, strict=False)
    if number.count() and number.is_between(19000101, 21001231).all():
        dates = number.cast(pl.Int64).cast(pl.String).str.to_date("%Y%m%d", strict=False)
        if dates.null_count() == number.null_count():
            return _zoned(dates.cast(pl.Datetime("us")), timezone)
    size = number.abs()
    unit = pl.when(size < 1e11).then(1e6).when(size < 1e14).then(1e3).when(size < 1e17).then(1.0).otherwise(1e-3)
    micros = pl.select(at=(pl.lit(number) * unit).round())
    in_range = (pl.lit(size).is_finite() & (pl.col("at").abs() < 2.5e17)).fill_null(False)  # up to the year 9892
    return micros.select(pl.when(in_range).then("at").cast(pl.Int64, strict=False).cast(TIME)).to_series()


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
