from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby import InputError
from passerby.visits.steps import Steps, aligned, parse_instant, parse_length
from passerby.visits.times import check_time_format, check_timezone, parse_times, shown

NOON = datetime(2012, 4, 3, 18, 0, 8, tzinfo=UTC)


def one(value: object, zone: str = "UTC") -> datetime | None:
    result: datetime | None = parse_times(pl.Series([value]), zone)[0]
    return result


@pytest.mark.parametrize(
    "text",
    [
        "Tue Apr 03 18:00:08 +0000 2012",
        "Tue Apr 03 20:00:08 +0200 2012",
        "2012-04-03T18:00:08Z",
        "2012-04-03 18:00:08",
        "2012-04-03T18:00:08",
        "2012-04-03T18:00:08.000Z",
        "2012-04-03 18:00:08 UTC",
        "2012-04-03T14:30:08-03:30",
        "2012-04-03T20:00:08+02",
        "20120403T180008Z",
        " 2012-04-03 18:00:08 ",
        "1333476008",
        "1333476008.0",
        "1333476008000",
        "1333476008000000",
    ],
)
def test_every_form_gives_the_same_instant(text: str) -> None:
    assert one(text) == NOON


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nope",
        "2012-13-03",
        "2012-02-30T00:00:00Z",
        "2012-04-03T25:00:00",
        "nan",
        "inf",
        "1e300",
        "03/04/2012",
        None,
    ],
)
def test_what_is_no_time_becomes_null(text: str | None) -> None:
    assert parse_times(pl.Series([text], dtype=pl.String))[0] is None


def test_forms_may_be_mixed() -> None:
    mixed = ["2012-04-03T18:00:08Z", "Tue Apr 03 18:00:08 +0000 2012", "1333476008", "x", None, "2012-04-03 18:00:08"]
    assert parse_times(pl.Series(mixed)).to_list() == [NOON, NOON, NOON, None, None, NOON]


def test_times_without_zone_are_read_in_the_given_one() -> None:
    assert one("2012-04-03 20:00:08", "Europe/Paris") == NOON
    assert one("2012-04-03T18:00:08Z", "Europe/Paris") == NOON
    assert one("1333476008", "Europe/Paris") == NOON
    assert parse_times(pl.Series(["1333476008"]), "Europe/Paris", "%s")[0] == NOON
    assert one(datetime(2012, 4, 3, 20, 0, 8), "Europe/Paris") == NOON
    assert one(date(2012, 4, 3), "Europe/Paris") == datetime(2012, 4, 2, 22, tzinfo=UTC)


def test_clock_changes_take_the_earlier_reading_or_none() -> None:
    assert one("2012-10-28 02:30:00", "Europe/Paris") == datetime(2012, 10, 28, 0, 30, tzinfo=UTC)
    assert one("2012-03-25 02:30:00", "Europe/Paris") is None


def test_typed_columns() -> None:
    assert one(1333476008) == NOON
    assert one(1333476008000) == NOON
    assert one(1333476008.0) == NOON
    assert one(float("nan")) is None
    assert one(datetime(2012, 4, 3, 20, 0, 8, tzinfo=timezone(timedelta(hours=2)))) == NOON
    nanoseconds = pl.Series([NOON.replace(tzinfo=None)], dtype=pl.Datetime("ns"))
    assert parse_times(nanoseconds)[0] == NOON


def test_numbers_that_are_all_dates_are_dates() -> None:
    days = [datetime(2012, 4, 3, tzinfo=UTC), datetime(2012, 4, 4, tzinfo=UTC), None]
    assert parse_times(pl.Series(["20120403", "20120404", None])).to_list() == days
    assert parse_times(pl.Series([20120403, 20120404, None])).to_list() == days
    assert one("20120403.0") == days[0]
    assert parse_times(pl.Series([0, 20120403, 20120404])).to_list() == [None, *days[:2]]
    assert parse_times(pl.Series([29990101, 20120403, 20120404]))[0] == datetime(2999, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("dtype", [pl.String, pl.Int64, pl.Float64])
def test_digits_alone_are_dates_to_the_day_hour_minute_or_second(dtype: type[pl.DataType]) -> None:
    moment = datetime(2024, 1, 1, 8, 0, 0, tzinfo=UTC)
    for digits, expected in ((20240101, moment.replace(hour=0)), (2024010108, moment), (202401010800, moment)):
        assert parse_times(pl.Series([str(digits)]).cast(dtype)).to_list() == [expected]
    assert parse_times(pl.Series(["20240101080000"]).cast(dtype)).to_list() == [moment]
    assert parse_times(pl.Series(["20240101080000"]), "Europe/Paris").to_list() == [moment.replace(hour=7)]


def test_a_stray_number_does_not_decide_how_dates_are_read() -> None:
    found = parse_times(pl.Series([2024010108, 2024010109, 2024010110, 99, 1704096000]))
    assert found[:3].to_list() == [datetime(2024, 1, 1, hour, tzinfo=UTC) for hour in (8, 9, 10)]
    assert found[3:].to_list() == [None, None]


@pytest.mark.parametrize("number", [0, 7, 2012403, 99_999_999, 4_200_000_000, 10**10, -1333476008])
def test_numbers_that_are_no_time_of_ours_are_not_read(number: int) -> None:
    assert one(number) is None


@pytest.mark.parametrize(
    "text", ["1850-01-01", "2100-01-01 08:00", "2999-12-31T00:00:00Z", "Sat Jan 01 00:00:00 +0000 2999"]
)
def test_years_in_which_nobody_was_counted_are_read(text: str) -> None:
    assert one(text) is not None


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "0999-12-31", "9900-01-01", "9999-12-31"])
def test_years_that_stand_for_no_time_are_not_read(text: str) -> None:
    assert one(text) is None


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("03/04/2012", "day-first", datetime(2012, 4, 3, tzinfo=UTC)),
        ("03/04/2012", "month-first", datetime(2012, 3, 4, tzinfo=UTC)),
        ("3.4.2012 18:00", "day-first", datetime(2012, 4, 3, 18, tzinfo=UTC)),
        ("04-03-2012, 18:00:08", "month-first", NOON),
        ("31/12/2012", "month-first", None),
        ("2012|04|03 18", "%Y|%m|%d %H", datetime(2012, 4, 3, 18, tzinfo=UTC)),
        ("03.04.2012 18:00:08", "%d.%m.%Y %H:%M:%S", NOON),
        ("03.04.2012 20:00:08 +0200", "%d.%m.%Y %H:%M:%S %z", NOON),
    ],
)
def test_a_form_that_is_given_is_the_only_one(text: str, form: str, expected: datetime | None) -> None:
    check_time_format(form)
    assert parse_times(pl.Series([text, "2012-04-03"]), form=form).to_list() == [expected, None]


@pytest.mark.parametrize("form", ["dd/mm/yyyy", "", "%H:%M", 5])
def test_forms_that_are_none_are_refused(form: Any) -> None:
    with pytest.raises(InputError, match="time_format"):
        check_time_format(form)


@given(
    st.lists(
        st.datetimes(datetime(1974, 1, 1), datetime(2099, 12, 31)).map(lambda t: t.replace(microsecond=0)), max_size=5
    )
)
def test_reading_inverts_writing(times: list[datetime]) -> None:
    expected = [time.replace(tzinfo=UTC) for time in times]
    for pattern in ("%a %b %d %H:%M:%S +0000 %Y", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S"):
        texts = pl.Series([time.strftime(pattern) for time in times], dtype=pl.String)
        assert parse_times(texts).to_list() == expected


def test_unknown_time_zone() -> None:
    check_timezone("Asia/Tokyo")
    with pytest.raises(InputError, match="'Middle/Earth', which is not known"):
        check_timezone("Middle/Earth")


def test_values_that_may_be_ids_are_not_shown() -> None:
    assert "secret" not in shown("secret-17")
    assert "4711" not in shown("+49 170 4711")
    assert "2012-13-01" in shown("2012-13-01T00:00")
    assert "31/12/2012" in shown("31/12/2012 25:00")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20d", timedelta(days=20)),
        ("1h", timedelta(hours=1)),
        ("30m", timedelta(minutes=30)),
        ("1w", timedelta(weeks=1)),
        ("1d12h", timedelta(days=1.5)),
        ("90s", timedelta(seconds=90)),
    ],
)
def test_lengths(text: str, expected: timedelta) -> None:
    assert parse_length(text) == parse_length(expected) == expected


@pytest.mark.parametrize("text", ["", "20", "d", "20 days", "-1d", "1.5h", "0d", "3mo"])
def test_lengths_that_are_none(text: str) -> None:
    with pytest.raises(InputError, match=f"^every is {text!r}, which is (no length|too short)"):
        parse_length(text, "every")


def test_instants() -> None:
    assert parse_instant("2012-04-03T18:00:08Z", "origin") == NOON
    assert parse_instant(datetime(2012, 4, 3, 18, 0, 8), "origin") == NOON
    with pytest.raises(InputError, match="origin is 'soon'"):
        parse_instant("soon", "origin")
    with pytest.raises(InputError, match="end is 3"):
        parse_instant(3, "end")  # type: ignore[arg-type]


def test_steps_end_with_the_last_visit_or_at_the_end() -> None:
    noon = NOON.replace(tzinfo=None)
    times = pl.Series([noon, noon + timedelta(days=20)])
    assert Steps.covering(times, "20d", "first-visit", None).count == 2
    assert Steps.covering(times, "20d", None, NOON + timedelta(days=20)).count == 2
    assert Steps.covering(times, "20d", "first-visit", NOON + timedelta(days=20)).count == 1
    assert Steps.covering(times, "20d", NOON - timedelta(days=20), None).count == 3
    with pytest.raises(InputError, match="there are no visits to cut into steps"):
        Steps.covering(times.clear(), "20d", None, None)
    with pytest.raises(InputError, match="not later than the first step"):
        Steps.covering(times, "20d", "first-visit", NOON)
    with pytest.raises(InputError, match="later than the last visit"):
        Steps.covering(times, "20d", NOON + timedelta(days=21), None)


def test_instants_without_a_zone_are_read_in_the_given_one() -> None:
    assert parse_instant("2012-04-03 20:00:08", "x", "Europe/Paris") == NOON
    assert parse_instant(datetime(2012, 4, 3, 20, 0, 8), "x", "Europe/Paris") == NOON
    assert parse_instant("2012-04-03T18:00:08Z", "x", "Europe/Paris") == NOON


@pytest.mark.parametrize(
    ("length", "start"),
    [
        ("1h", "2012-04-03 18:00"),
        ("6h", "2012-04-03 18:00"),
        ("7h", "2012-04-03"),
        ("1d", "2012-04-03"),
        ("20d", "2012-04-03"),
        ("2w", "2012-04-02"),
    ],
)
def test_the_clock_strikes_at_round_times(length: str, start: str) -> None:
    assert aligned(NOON.replace(tzinfo=None), parse_length(length)) == datetime.fromisoformat(start)


@pytest.mark.parametrize("zone", [None, "Mars", 3, ""])
def test_what_is_no_time_zone_is_refused(zone: Any) -> None:
    with pytest.raises(InputError, match="which is not known; use a name like"):
        check_timezone(zone)
