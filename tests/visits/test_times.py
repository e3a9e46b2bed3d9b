from datetime import UTC, date, datetime, timedelta, timezone

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby import InputError
from passerby.visits.steps import Steps, parse_instant, parse_length
from passerby.visits.times import check_timezone, parse_times, shown

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
    assert parse_times(pl.Series([0, 20120403]))[1].year == 1970


@given(
    st.lists(
        st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1)).map(lambda t: t.replace(microsecond=0)), max_size=5
    )
)
def test_reading_inverts_writing(times: list[datetime]) -> None:
    expected = [time.replace(tzinfo=UTC) for time in times]
    for pattern in ("%a %b %d %H:%M:%S +0000 %Y", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d %H:%M:%S"):
        texts = pl.Series([time.strftime(pattern) for time in times], dtype=pl.String)
        assert parse_times(texts).to_list() == expected


def test_unknown_time_zone() -> None:
    check_timezone("Asia/Tokyo")
    with pytest.raises(InputError, match="'Middle/Earth' is not known"):
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
    with pytest.raises(InputError, match=r"a (length of time|step) cannot"):
        parse_length(text)


def test_instants() -> None:
    assert parse_instant("2012-04-03T18:00:08Z", "origin") == NOON
    assert parse_instant(datetime(2012, 4, 3, 18, 0, 8), "origin") == NOON
    with pytest.raises(InputError, match="origin is 'soon'"):
        parse_instant("soon", "origin")
    with pytest.raises(InputError, match="end is 3"):
        parse_instant(3, "end")  # type: ignore[arg-type]


def test_steps_end_with_the_last_visit_or_at_the_end() -> None:
    times = pl.Series([NOON, NOON + timedelta(days=20)])
    assert Steps.covering(times, "20d", None, None).count == 2
    assert Steps.covering(times, "20d", None, NOON + timedelta(days=20)).count == 1
    assert Steps.covering(times, "20d", NOON - timedelta(days=20), None).count == 3
    with pytest.raises(InputError, match="there are no visits to cut into steps"):
        Steps.covering(times.clear(), "20d", None, None)
    with pytest.raises(InputError, match="not later than origin"):
        Steps.covering(times, "20d", None, NOON)
    with pytest.raises(InputError, match="later than the last visit"):
        Steps.covering(times, "20d", NOON + timedelta(days=21), None)
