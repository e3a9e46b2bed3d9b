"""Zones and rows of counts: what a table says, and what is wrong with it."""

from pathlib import Path

import pytest

import passerby as pb
from passerby.mechanisms.registry import read_mechanism
from passerby.people.count_rows import COUNTS, PUBLISHED, RowReader, windows, zone_counts
from passerby.people.sensors import Zones, places_of, read_zones
from passerby.visits.delimited import Header, read_table
from passerby.visits.steps import parse_length


@pytest.fixture(scope="module")
def people() -> pb.People:
    """Two days of three hours each are published."""
    city = pb.simulate_city(people=40, places=20, days=6, seed=1)
    return pb.fit_people(city, window="3h", places=10, min_active=1, holdout=12)


@pytest.fixture
def rows(people: pb.People) -> RowReader:
    zones = {"west": (0, 1, 2), "east": (3, 4)}
    return RowReader(people, read_mechanism, zones, windows=windows(people, parse_length("24h")))


def test_zones_of_several_levels(people: pb.People, tmp_path: Path) -> None:
    a, b, c = people.places[:3]
    lines = [f"{a},1,ward", f"{b},2,ward", f"{c},2,ward", f"{a},1,city", f"{b},1,city", f"{a},1,ward", "nowhere,2,ward"]
    (tmp_path / "zones.csv").write_text("\n".join(["place,zone,level", *lines, ""]))
    levels = read_zones(tmp_path / "zones.csv")
    assert places_of(levels) == [a, b, c, "nowhere"]
    zones = Zones.among(people, levels, "zones.csv")
    assert zones.levels == {"ward": {"1": (0,), "2": (1, 2)}, "city": {"1": (0, 1)}}
    assert zones.named() == {"ward: 1": (0,), "2": (1, 2), "city: 1": (0, 1)}
    assert zones.remarks == (
        "Zones: nobody visits 1 place of theirs ('nowhere'). Check the spelling; zones are counted without them.",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("place\na\n", r"zones need the columns place and zone \(and level"),
        ("place,zone\n", "it holds no zone"),
        ("place,zone\n{0},\n", "line 2: it names no zone"),
        ("place,zone\n,west\n", "line 2: it names no place"),
        ("place,zone,level\n{0},west,\n", "line 2: zone 'west' has no level"),
        (
            "place,zone\n{0},west\nx,east\ny,east\n",
            r"zone 'east' is empty: nobody visits any of its places \('x', 'y'\)",
        ),
    ],
)
def test_bad_zones(people: pb.People, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "zones.csv").write_text(text.format(*people.places))
    with pytest.raises(pb.InputError, match=message):
        Zones.among(people, read_zones(tmp_path / "zones.csv"), "zones.csv")


def test_windows_are_by_the_clock(people: pb.People) -> None:
    assert windows(people, None) == [list(range(12))]
    assert [len(window) for window in windows(people, parse_length("24h"))] == [4, 8]
    assert [len(window) for window in windows(people, parse_length("6h"))] == [2] * 6
    assert [len(window) for window in windows(people, parse_length("3h"))] == [1] * 12
    for length in ("4h", "1h"):
        with pytest.raises(pb.InputError, match=f"every is '{length}', which is no multiple of the step length, 3h"):
            windows(people, parse_length(length))
    assert [len(window) for window in windows(people, parse_length("36h"))] == [12]
    with pytest.raises(
        pb.InputError, match="every is '1d15h', but 1d12h are published: all windows would be cut short"
    ):
        windows(people, parse_length("39h"))


def test_counts_of_all_zones() -> None:
    zones = [(0,), (1, 2)]
    assert zone_counts("present", zones, 2, [], 1)[:2] == [pb.Present([0], 0), pb.Present([1, 2], 0)]
    assert zone_counts("moved", zones, 2, [], 1) == [pb.Moved(a, b, 0) for a in zones for b in zones]
    # A window that is too short to be there so often is passed over.
    found = zone_counts("visitors", zones, 3, [[0], [1, 2]], 2)
    assert found == [pb.Visitors(zone, [1, 2], 2) for zone in zones]
    with pytest.raises(pb.InputError, match="times is 3, but windows of visitors hold 2 steps at most"):
        zone_counts("visitors", zones, 3, [[0], [1, 2]], 3)


def test_rows_of_each_kind(rows: RowReader, people: pb.People) -> None:
    first = people.places[0]
    time = str(people.starts[people.fitted.shape[1] + 1])
    found = {
        pb.Present([0, 1, 2], 4): {"zone": "west", "step": "5"},
        pb.Present([0], 1): {"place": first, "time": time},
        pb.Present([0, 3, 4], 0): {"zone": f"east; {first}", "step": "1"},
        pb.Moved([0, 1, 2], [3, 4], 1): {"origin": "west", "destination": "east", "step": "2"},
        pb.Visitors([3, 4], [0, 1, 2], 2): {"kind": "visitors", "zone": "east", "step": "1-3", "times": "2"},
        # A single step or time stands for the window that it lies in.
        pb.Visitors([3, 4], range(4, 12)): {"kind": "Visitors", "zone": "east", "step": "6"},
        pb.Present([0], 2, mechanism=pb.Rounding(5)): {"place": first, "step": "3", "mechanism": "Rounding(5)"},
    }
    for count, row in found.items():
        assert rows.counts(row, "here") == [count]
    span = f"{time}/{people.starts[people.fitted.shape[1] + 3]}"
    assert [count.first for count in rows.counts({"zone": "west", "time": span}, "here")] == [1, 2]
    assert len(rows.counts({"zone": "west"}, "here")) == 12
    assert len(rows.counts({"origin": "west", "destination": "west"}, "here")) == 11
    assert len(rows.counts({"kind": "visitors", "zone": "west"}, "here")) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"zone": "north"}, "'north' is neither a zone .2 are known. nor one of the 10 chosen places"),
        ({"zone": "west; north"}, "'west; north' is neither"),
        ({"zone": "elsewhere"}, "'elsewhere' is neither"),
        ({"zone": ""}, "it names no place or zone"),
        ({"zone": "west", "kind": "went"}, "kind is 'went'; expected present, moved or visitors"),
        ({"origin": "west"}, "a flow needs an origin and a destination; it has no destination"),
        ({"kind": "moved", "zone": "west"}, "it has no origin"),
        ({"zone": "west", "step": "13"}, "outside the 12 steps"),
        ({"zone": "west", "step": "0"}, "step is '0'"),
        ({"zone": "west", "step": "3-2"}, "3-2 is outside the 12 steps that are published, or ends early"),
        ({"zone": "west", "step": "3-13"}, "3-13 is outside"),
        ({"zone": "west", "step": "1-2", "time": "2024-01-05"}, "by number, or by time, not both"),
        ({"zone": "west", "time": "2030-01-01/2030-01-02"}, "is outside the 12 steps"),
        (
            {"origin": "west", "destination": "east", "step": "12"},
            "a flow goes from a step to the next one, and step 12",
        ),
        (
            {"kind": "visitors", "zone": "west", "step": "1-2", "times": "3"},
            "nobody can be there 3 times in a window of 2",
        ),
        ({"kind": "visitors", "zone": "west", "times": "none"}, "the number of times is 'none'"),
        ({"zone": "west", "mechanism": "Blur(2)"}, "its mechanism: 'Blur' is not a mechanism"),
        ({"zone": "west", "step": "-1"}, "step is '-1'; expected a number from 1 to 12, or a range as in 1-2"),
        (
            {"zone": "west", "origin": "west", "destination": "east"},
            "the column zone holds 'west', which says nothing of a row of kind moved; leave it empty",
        ),
        ({"kind": "present", "zone": "west", "origin": "east"}, "the column origin holds 'east', which says nothing"),
        ({"kind": "present", "zone": "west", "times": "2"}, "the column times holds '2', which says nothing"),
        ({"zone": "west", "place": "east"}, "the column place holds 'east' beside zone, which says nothing"),
    ],
)
def test_bad_rows(rows: RowReader, row: dict[str, str], message: str) -> None:
    with pytest.raises(pb.InputError, match=f"counts.csv, line 7: .*{message}"):
        rows.counts(row, "counts.csv, line 7")


@pytest.mark.parametrize("header", [COUNTS, PUBLISHED])
def test_tables_that_do_not_say_what_is_counted(tmp_path: Path, header: Header) -> None:
    (tmp_path / "counts.csv").write_text("step,count\n1,2\n")
    with pytest.raises(pb.InputError, match=r"counts need .*zone.*, or for flows .*origin and destination"):
        read_table(tmp_path / "counts.csv", header)


def test_a_range_of_times_is_of_whole_steps(rows: RowReader) -> None:
    """Steps last three hours; from a minute before three to a minute after it would be six."""
    for said, edges in (
        ("2024-01-05 14:59/2024-01-05 15:01", "2024-01-05T12:00:00 and 2024-01-05T15:00:00"),
        ("2024-01-05 12:00/2024-01-05 12:01", "2024-01-05T12:00:00 and 2024-01-05T15:00:00"),
        ("2024-01-05 12:00:01/2024-01-05 18:00", "2024-01-05T12:00:00 and 2024-01-05T15:00:00"),
    ):
        with pytest.raises(pb.InputError, match=rf"counts.csv, line 2: no step begins or ends at .*{edges} .UTC."):
            rows.counts({"kind": "visitors", "zone": "west", "time": said}, "counts.csv, line 2")
    for how, steps in (
        ({"time": "2024-01-05 12:00/2024-01-05 15:00"}, (0,)),
        ({"time": "2024-01-05T15:00+03:00/2024-01-06"}, (0, 1, 2, 3)),
        ({"step": "2-2"}, (1,)),
        ({"step": "2"}, (0, 1, 2, 3)),
        ({"time": "2024-01-05 14:59"}, (0, 1, 2, 3)),
    ):
        (found,) = rows.counts({"kind": "visitors", "zone": "west", **how}, "counts.csv, line 2")
        assert isinstance(found, pb.Visitors)
        assert tuple(found.steps) == steps
    before = "2024-01-05 11:59/2024-01-05 15:00"
    backwards = "2024-01-05 15:00/2024-01-05 12:00"
    for said in (before, backwards, "2024-01-05 12:00/2024-01-05 12:00", "2023-01-01/2023-01-02"):
        with pytest.raises(pb.InputError, match="is outside the 12 steps that are published, or ends early"):
            rows.counts({"zone": "west", "time": said}, "counts.csv, line 2")
