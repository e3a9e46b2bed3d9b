"""Tables of counts as cities publish them, each with the reading that is expected, or a clear error."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from passerby.errors import InputError
from passerby.tables.read import CountTable, read_counts

NAN = float("nan")


@dataclass(frozen=True)
class City:
    """A table, and what it says: its first row, where it begins, and words among the remarks."""

    name: str
    text: str
    first: dict[str, float]
    begins: str = "2024-01-15 08:00"
    steps: int = 2
    said: str = ""
    encoding: str = "utf-8"
    zone: str = "UTC"
    hidden: int = 0


WIDE = "2024-01-15 08:00,3,120\n2024-01-15 09:00,12,90\n"
BOTH = {"Clinic": 3.0, "Park": 120.0}
CITIES = [
    City("wide", "time,Clinic,Park\n" + WIDE, BOTH),
    City("wide by tabs", "time\tClinic\tPark\n" + WIDE.replace(",", "\t"), BOTH),
    City("with a mark of its bytes", "time,Clinic,Park\n" + WIDE, BOTH, encoding="utf-8-sig"),
    City("as Excel writes Unicode", "time\tClinic\tPark\n" + WIDE.replace(",", "\t"), BOTH, encoding="utf-16"),
    City("with carriage returns", ("time,Clinic,Park\n" + WIDE).replace("\n", "\r\n"), BOTH),
    City("with a title above", "Hourly counts of the city\n\ntime,Clinic,Park\n" + WIDE, BOTH),
    City("with comments", "# made by the city\ntime,Clinic,Park\n" + WIDE, BOTH),
    City("with the header on each page", "time,Clinic,Park\n" + WIDE.replace("\n", "\ntime,Clinic,Park\n", 1), BOTH),
    City(
        "with a total",
        "time,Clinic,Park,Total\n2024-01-15 08:00,3,120,123\n2024-01-15 09:00,12,90,102\n",
        BOTH,
        said="Totals left out: the column Total",
    ),
    City("with a row of totals", "time,Clinic,Park\n" + WIDE + "Total,15,210\n", BOTH, said="Totals left out: 1 row"),
    City("with a source below", "time,Clinic,Park\n" + WIDE + "Source: the city,,\n", BOTH, said="Lines of words"),
    City(
        "with weather",
        "time,Clinic,Park,weather\n2024-01-15 08:00,3,120,rain\n2024-01-15 09:00,12,90,sun\n",
        BOTH,
        said="Columns passed over: weather",
    ),
    City(
        "German",
        "Zeitpunkt;Klinik;Bahnhof\n15.01.2024 08:00;3;1.204\n15.01.2024 09:00;12;980\n",
        {"Klinik": 3.0, "Bahnhof": 1204.0},
        said="sign of thousands",
    ),
    City(
        "German means",
        "Datum;Uhrzeit;Klinik;Bahnhof\n15.01.2024;08:00;3,5;1.204,0\n15.01.2024;09:00;12;980,2\n",
        {"Klinik": 3.5, "Bahnhof": 1204.0},
        said="expected sizes",
    ),
    City(
        "German with umlauts of Windows",
        "Datum;Uhrzeit;Brücke\n15.01.2024;08 Uhr;3\n15.01.2024;09 Uhr;4\n",
        {"Brücke": 3.0},
        encoding="cp1252",
        said="Windows text",
    ),
    City(
        "Swiss thousands", "Datum;Uhrzeit;Bahnhof\n15.01.2024;08:00;1'204\n15.01.2024;09:00;980\n", {"Bahnhof": 1204.0}
    ),
    City(
        "German long",
        "Ort;Datum;Stunde;Anzahl\nKlinik;15.01.2024;8;3\nKlinik;15.01.2024;9;12\n",
        {"Klinik": 3.0},
    ),
    City(
        "German sums",
        "Datum;Uhrzeit;Klinik;Gesamt\n15.01.2024;08:00;3;3\n15.01.2024;09:00;4;4\nSumme;;7;7\n",
        {"Klinik": 3.0},
        said="the column Gesamt",
    ),
    City("German spans", "Zeitraum;Klinik\n15.01.2024 08:00 - 09:00;3\n15.01.2024 09:00 - 10:00;4\n", {"Klinik": 3.0}),
    City(
        "French",
        "Date et heure;Hôpital;Gare\n15/01/2024 08:00;3;1 204\n15/01/2024 09:00;2;980\n",
        {"Hôpital": 3.0, "Gare": 1204.0},
    ),
    City(
        "French narrow blanks", "Date;Heure;Gare\n15/01/2024;08h00;1\u202f204\n15/01/2024;09h00;980\n", {"Gare": 1204.0}
    ),
    City(
        "French long",
        "Nom du compteur;Date et heure de comptage;Comptage horaire\nPont;15/01/2024 08:00;3\n"
        "Pont;15/01/2024 09:00;4\n",
        {"Pont": 3.0},
    ),
    City(
        "French hours in words",
        "Jour;Heure;Gare\nlundi 15 janvier 2024;8h;3\nlundi 15 janvier 2024;9h;4\n",
        {"Gare": 3.0},
    ),
    City(
        "French ambiguous days",
        "Date;Heure;Lieu;Nombre\n03/04/2024;8h;Gare;3\n03/04/2024;9h;Gare;4\n",
        {"Gare": 3.0},
        begins="2024-04-03 08:00",
    ),
    City(
        "long",
        "time,place,count\n2024-01-15T08:00,Clinic,3\n2024-01-15T08:00,Park,120\n2024-01-15T09:00,Clinic,12\n",
        BOTH,
        said="Empty cells: 1 of 4",
    ),
    City(
        "long with both directions",
        "time,site,direction,count\n2024-01-15 08:00,A,in,3\n2024-01-15 08:00,A,out,4\n"
        "2024-01-15 09:00,A,in,3\n2024-01-15 09:00,A,out,4\n",
        {"A (in)": 3.0, "A (out)": 4.0},
    ),
    City(
        "long with a place called total",
        "time,zone,people\n2024-01-15 08:00,North,3\n2024-01-15 08:00,All,9\n"
        "2024-01-15 09:00,North,3\n2024-01-15 09:00,All,9\n",
        {"North": 3.0},
        said="Totals left out: 2 rows",
    ),
    City(
        "American",
        'Date_Time,Sensor_Name,Hourly_Counts\n"January 15, 2024 08:00:00 PM",Mall,"1,204"\n'
        '"January 15, 2024 09:00:00 PM",Mall,980\n',
        {"Mall": 1204.0},
        begins="2024-01-15 20:00",
    ),
    City("American dates", "time,A\n1/15/2024 8:00 AM,3\n1/15/2024 9:00 AM,4\n", {"A": 3.0}),
    City("ISO with its zone", "time,A\n2024-01-15T08:00:00Z,3\n2024-01-15T09:00:00Z,4\n", {"A": 3.0}),
    City(
        "ISO with offsets",
        "time,A\n2024-03-31T01:00+01:00,3\n2024-03-31T03:00+02:00,4\n2024-03-31T04:00+02:00,4\n",
        {"A": 3.0},
        begins="2024-03-31 01:00",
        steps=3,
        zone="Europe/Paris",
        said="Europe/Paris",
    ),
    City(
        "an hour that comes twice",
        "time,A\n2024-10-27 01:00,2\n2024-10-27 02:00,3\n2024-10-27 02:00,4\n2024-10-27 03:00,5\n",
        {"A": 2.0},
        begins="2024-10-27 01:00",
        steps=4,
        zone="Europe/Paris",
        said="comes twice",
    ),
    City(
        "an hour that never was",
        "time,A\n2024-03-31 01:00,2\n2024-03-31 03:00,3\n2024-03-31 04:00,3\n",
        {"A": 2.0},
        begins="2024-03-31 01:00",
        steps=3,
    ),
    City(
        "small counts hidden",
        "time,Clinic,Park\n2024-01-15 08:00,< 10,120\n2024-01-15 09:00,12,90\n",
        {"Clinic": NAN, "Park": 120.0},
        hidden=1,
        said="Hidden counts: 1 of 4",
    ),
    City(
        "stars",
        "time,Clinic,Park\n2024-01-15 08:00,*,120\n2024-01-15 09:00,12,n/a\n",
        {"Clinic": NAN, "Park": 120.0},
        hidden=1,
        said="Empty cells: 1",
    ),
    City(
        "ranges",
        "time,Clinic,Park\n2024-01-15 08:00,1-4,120\n2024-01-15 09:00,12,90\n",
        {"Clinic": NAN, "Park": 120.0},
        hidden=1,
    ),
    City(
        "French and German words",
        "Datum;Uhrzeit;A;B\n15.01.2024;08:00;unter 5;k.A.\n15.01.2024;09:00;moins de 5;8\n",
        {"A": NAN, "B": NAN},
        hidden=2,
    ),
    City(
        "a row a day",
        "Zähler;Datum;08:00;09:00\nKlinik;15.01.2024;3;4\nPark;15.01.2024;120;90\n",
        {"Klinik": 3.0, "Park": 120.0},
    ),
    City("a row a place", "place,2024-01-15 08:00,2024-01-15 09:00\nClinic,3,12\nPark,120,90\n", BOTH),
    City("hours by number", "hour,Clinic\n8,3\n9,4\n", {"Clinic": 3.0}, said="no date"),
    City(
        "a schedule",
        "time,place,expected\nMon 08:00,Clinic,3\nMon 09:00,Clinic,4.5\n",
        {"Clinic": 3.0},
        said="expected sizes",
    ),
    City("days", "date,Clinic\n2024-01-15,3\n2024-01-16,4\n", {"Clinic": 3.0}, begins="2024-01-15 00:00"),
    City(
        "hours by their ends",
        "date,hour,Clinic\n" + "".join(f"2024-01-15,{k},{k}\n" for k in range(1, 25)),
        {"Clinic": 1.0},
        begins="2024-01-15 00:00",
        steps=24,
        said="hour that ends",
    ),
    City("one time", "time,Clinic\n2024-01-15 08:00,3\n", {"Clinic": 3.0}, steps=1, said="does not tell"),
]

ERRORS = {
    "days or months first": ("time,A\n03/04/2024 08:00,3\n03/04/2024 09:00,4\n", "day-first"),
    "both ways": ("time,A\n13/04/2024 08:00,3\n04/13/2024 09:00,4\n", "the day in some rows"),
    "no times": ("name,A\nx,3\ny,4\n", "no column holds times"),
    "no counts": ("time,weather\n2024-01-15 08:00,rain\n2024-01-15 09:00,sun\n", "no column holds counts"),
    "a word": (
        "time,A\n2024-01-15 08:00,3\n2024-01-15 09:00,4\n2024-01-15 10:00,five\n",
        "line 4, A: 'five' is no number",
    ),
    "below zero": ("time,A\n2024-01-15 08:00,3\n2024-01-15 09:00,-4\n", "line 3, A: the count is -4"),
    "twice": ("time,place,count\n2024-01-15 08:00,A,3\n2024-01-15 08:00,A,4\n", "twice for the same place"),
    "all hidden": ("time,A\n2024-01-15 08:00,*\n2024-01-15 09:00,< 5\n", "every count is hidden"),
    "all empty": ("time,A,B\n2024-01-15 08:00,,\n2024-01-15 09:00,n/a,\n", "every cell is empty"),
    "no time": ("time,A\n2024-01-15 08:00,3\nlater,4\n2024-01-15 10:00,4\n", "line 3: 'later' is no time"),
    "names twice": ("time,A,A\n2024-01-15 08:00,3,3\n2024-01-15 09:00,4,4\n", "two columns are called 'A'"),
    "two decimal signs": ("time;A;B\n2024-01-15 08:00;3,5;4.5\n", "in two ways"),
    "too many fields": ("time,A\n2024-01-15 08:00,3,4\n", "2 columns are named"),
    "header alone": ("time,A\n", "no rows"),
    "lengths": ("time,A\n2024-01-15 08:00,3\n2024-01-15 09:00,3\n2024-01-15 10:00,3\n2024-01-15 10:30,3\n", "overlap"),
    "no place": ("time,place,count\n2024-01-15 08:00,,3\n2024-01-15 09:00,A,3\n", "names no place"),
}


def read(folder: Path, text: str, encoding: str = "utf-8", **more: Any) -> CountTable:
    path = folder / "counts.csv"
    path.write_bytes(text.encode(encoding))
    return read_counts(path, **more)


def test_there_are_forty() -> None:
    assert len(CITIES) >= 40


@pytest.mark.parametrize("city", CITIES, ids=lambda city: city.name)
def test_a_table_is_read_as_it_comes(city: City, tmp_path: Path) -> None:
    table = read(tmp_path, city.text, city.encoding)
    assert table.places == tuple(city.first)
    np.testing.assert_array_equal(table.counts[0], list(city.first.values()))
    assert table.clock[0] == datetime.fromisoformat(city.begins)
    assert (table.steps, table.calendar.timezone) == (city.steps, city.zone)
    assert int(table.hidden.sum()) == city.hidden
    assert city.said in " ".join(table.remarks)
    if not city.said:
        assert not any("left out" in each for each in table.remarks if "Hidden" not in each)


@pytest.mark.parametrize(("text", "said"), ERRORS.values(), ids=ERRORS)
def test_a_table_that_cannot_be_read_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, text)


def test_days_of_23_and_25_hours(tmp_path: Path) -> None:
    for day, hours in (("2024-03-31", 23), ("2024-10-27", 25)):
        table = read(tmp_path, f"date,A\n{day},7\n", timezone="Europe/Zurich")
        assert (table.calendar.ends - table.calendar.begins).tolist() == [hours * 60]


def test_an_hour_that_clocks_never_show_is_refused(tmp_path: Path) -> None:
    text = "time,A\n2024-03-31 01:00,2\n2024-03-31 02:00,3\n"
    with pytest.raises(InputError, match="never show 2024-03-31 02:00"):
        read(tmp_path, text, timezone="Europe/Paris")


def test_what_hidden_counts_are_at_most(tmp_path: Path) -> None:
    table = read(tmp_path, "time,A,B,C,D\n2024-01-15 08:00,< 10,*,1-4,≤ 3\n2024-01-15 09:00,8,8,8,8\n")
    np.testing.assert_array_equal(table.most[0], [9, NAN, 4, 3])


def test_frames_and_parquet_are_read_alike(tmp_path: Path) -> None:
    times = [datetime(2024, 1, 15, 8), datetime(2024, 1, 15, 9)]
    frame = pl.DataFrame({"time": times, "Clinic": [3, None], "Park": [120.0, 90.0]})
    frame.write_parquet(tmp_path / "counts.parquet")
    for source in (frame, tmp_path / "counts.parquet"):
        table = read_counts(source)
        assert table.places == ("Clinic", "Park")
        np.testing.assert_array_equal(table.counts, [[3, 120], [NAN, 90]])


def test_numbers_of_one_kind_of_sign_are_not_of_the_other(tmp_path: Path) -> None:
    text = "time;A\n2024-01-15 08:00;1.204\n2024-01-15 09:00;1500\n"
    assert read(tmp_path, text).counts[0, 0] == 1.204  # 1500 has no sign of thousands


def test_a_total_beside_hours_is_a_total() -> None:
    table = pl.DataFrame({"Ort": ["Klinik", "Markt"], "08:00": ["3", "40"], "09:00": ["*", "30"], "Summe": [12, 70]})
    found = read_counts(table)
    assert found.totals
    assert any("Totals left out: the column Summe" in each for each in found.remarks)
    assert not any("passed over" in each for each in found.remarks)


def test_a_place_called_station_beside_a_total_is_a_place() -> None:
    table = pl.DataFrame(
        {"time": ["2024-01-15 08:00", "2024-01-15 09:00"], "clinic": [3, 4], "station": [90, 80], "Total": [93, 84]}
    )
    found = read_counts(table)
    assert found.places == ("clinic", "station")
    assert found.totals
