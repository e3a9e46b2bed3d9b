"""Odd files and options on the command line: a right result, an alert, or an error in the words of the command line."""

import re
from pathlib import Path

import polars as pl
import pytest
from tests.cli.small_audit import ALONE, Call
from tests.visits.test_odd_files import FILES

from passerby.audits.settings import SETTINGS
from passerby.audits.wording import Options
from passerby.cli.screen import in_options

#: What Python says, and nobody types.
PYTHON = re.compile(
    rf"(?<![\w'\"/-])({'|'.join(SETTINGS)})=|\b({'|'.join(name for name in SETTINGS if '_' in name)})\b"
)


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight days of hourly visits by twelve people, in two files and in one with stray rows."""
    folder = tmp_path_factory.mktemp("town")
    rows = [
        (f"p{n:02d}", f"2024-05-{day:02d}T{hour:02d}:10:00Z", "abcd"[(n * hour + day) % 4])
        for n in range(12)
        for day in range(1, 9)
        for hour in range(24)
    ]
    lines = [",".join(row) for row in rows]
    (folder / "v.csv").write_text("\n".join(["person,time,place", *lines, ""]))
    table = pl.DataFrame(rows, schema=["person", "time", "place"], orient="row")
    table.with_columns(pl.col("time").str.to_datetime("%FT%TZ")).write_parquet(folder / "v.parquet")
    (folder / "parts").mkdir()
    for name, part in (("one.csv", lines[:1000]), ("two.csv", lines[1000:])):
        (folder / "parts" / name).write_text("\n".join(["person,time,place", *part, ""]))
    (folder / "stray.csv").write_text("\n".join(["person,time,place", *lines, "p01,1975-01-01,a", ""]))
    (folder / "future.csv").write_text("\n".join(["person,time,place", *lines, "p01,2999-01-01T00:00:00Z,a", ""]))
    gaps = [line for line, row in zip(lines, rows, strict=True) if (int(row[0][1:]) + int(row[1][11:13])) % 3 == 1]
    (folder / "gaps.csv").write_text("\n".join(["person,time,place", *gaps, ""]))
    dates = ["person,time,place", *(f"{who},{when[:10]},{where}" for who, when, where in rows)]
    (folder / "dates.csv").write_text("\n".join([*dates, ""]))
    (folder / "bare.csv").write_text("\n".join(["made by hand", *lines, ""]))
    (folder / "two_ids.csv").write_text("\n".join(["uid,time,place,user", *(f"{line},x" for line in lines), ""]))
    seldom = [f"q{n},2024-05-03 08:00,a" for n in range(5)]
    (folder / "some.csv").write_text("\n".join(["person,time,place", *lines, *seldom, ""]))
    (folder / "empty.csv").write_text("step,place\n")
    (folder / "zones.csv").write_text("place,zone\na,west\nb,west\nc,east\nd,east\ny,east\n")
    (folder / "lost.csv").write_text("place,zone\na,west\nx,north\n")
    (folder / "counts.csv").write_text("kind,zone,step,mechanism\npresent,west,,Rounding(5)\nvisitors,east,1-3,\n")
    (folder / "late.csv").write_text("zone,step\nwest,6\n")
    (folder / "late_time.csv").write_text("place,time\na,2024-05-08 20:30\nb,2024-05-01\n")
    (folder / "often.csv").write_text("kind,zone,step,times\nvisitors,west,1-2,3\n")
    (folder / "blur.csv").write_text("zone,step,mechanism\nwest,1,blur\n")
    (folder / "short.csv").write_text("person,time,place\np,2024-05-01 08:00,a\np,2024-05-01 08:40,b\n")
    return folder


@pytest.fixture
def in_town(town: Path, typed: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Runs `passerby` where the files are; nothing is written there."""
    monkeypatch.chdir(town)
    return typed


#: What plays no part here and takes time.
QUICK = ("--budget", "1e5", "--habits", "paper")

#: What is typed after `passerby audit --dry-run --explore 0`, and words of what is shown.
RIGHT: list[tuple[str, ...]] = [
    (
        "v.csv",
        "step length  6 hours, which fit the visits (--window sets another length)",
        "visits  from 2024-05-01 00:10 to 2024-05-08 23:10 (UTC)",
    ),
    ("v.csv --window 1h", "step length  1 hour\n"),
    ("v.csv --holdout 24", "step length  1 hour, which fit"),
    ("v.csv --rhythm hour", "step length  6 hours, which fit"),
    ("v.csv --min-active 1 --holdout 1 --misses 0", "step length  1 day, which fit"),
    # The first step begins at the first visit, 00:10, and none is left out.
    ("v.csv --window 1h --origin first-visit", "steps  187 to fit habits to, 5 published"),
    ("parts", "rows  2,304 of 2,304 rows"),
    ("parts/one.csv parts/two.csv", "rows  2,304 of 2,304 rows"),
    ("v.csv --from 2024-05-02 --until 2024-05-08", "576 of 2,304 rows lie outside of the time that was asked for."),
    ("future.csv --until 2024-06-01", "1 of 2,305 rows lie outside of the time that was asked for."),
    ("stray.csv --from 2024-05-01", "1 of 2,305 rows lie outside of the time that was asked for."),
    ("bare.csv --skip-lines 1 --columns person,time,place", "rows  2,304 of 2,304 rows"),
    ("v.csv --separator comma", "rows  2,304 of 2,304 rows"),
    ("v.csv --name-elsewhere", "people  12 of 12"),
    (
        "v.csv --window 1h --timezone America/New_York",
        "visits  from 2024-04-30 20:10 to 2024-05-08 19:10 (America/New_Y",
    ),
    ("some.csv --min-active 3", "people  12 of 17 can be audited; left out: 5 seen in fewer than 3 steps, 0 in none"),
    ("v.parquet", "rows  2,304 of 2,304 rows"),
    (
        "v.csv --zones zones.csv",
        "counts  10 counts of 2 zones",
        "Alert: Zones: nobody visits 1 place of theirs ('y'). Check the spelling",
    ),
    ("v.csv --zones zones.csv --count moved", "counts  16 counts of 4 flows"),
    ("v.csv --window 2h --zones zones.csv --count visitors --every 4h", "counts  6 counts of visitors of 2 zones"),
    ("v.csv --zones zones.csv --count present visitors", "counts  12 counts of 2 zones and of visitors of 2 zones"),
    ("v.csv --count moved --sensor-count 2", "counts  16 counts of 4 flows"),
    ("v.csv --count visitors --times 2", "counts  1 count of visitors of 1 zone"),
    (
        "v.csv --window 2h --zones zones.csv --counts counts.csv",
        "counts  6 counts of 1 zone and of visitors of 1 zone",
        "mechanism  counts rounded to multiples of 5; or raw counts",
    ),
    ("v.csv --window 6h --until 2024-05-05", "published from 2024-05-03 18:00 to 2024-05-05 00:00 (UTC)"),
    ("dates.csv --window 6h --min-active 5", "Alert: All times are at midnight, as dates without a time of day are"),
    ("two_ids.csv", "Alert: person is taken from the column 'uid'; 'user' could be meant too"),
    (
        "some.csv",
        "Alert: 5 of 17 people are not audited: 5 are seen at the chosen places in too few steps, 0 in none. The",
        "Alert: Some times (100 or fewer of about 2,300) name no zone, unlike the others, and were read in UTC",
    ),
]

#: The same with an exact share beside the alert: of twelve people, shares that are shared are 0, 42, 83 or 100 %.
RIGHT.append(
    (
        "gaps.csv --window 1h --holdout 6",
        "elsewhere  67 % of the fitted person-steps, 67 % of the published ones",
        "Alert: In 67 % of the published person-steps the person is elsewhere",
    )
)

#: What is typed likewise, and words of the error.
WRONG: list[tuple[str, str]] = [
    ("stray.csv", "as in --from 2024-05-01 and --until 2024-05-09"),
    ("future.csv", "1 of 2,305 rows lie in years before 1900 or from 2100 on: line 2,306 has 2999-01-01; correct or r"),
    ("future.csv", "as in --from 1900-01-01 and --until 2100-01-01"),
    ("v.csv --from 2024-06-01", "has a person, a time and a place in the time that was asked for"),
    (
        "v.csv --from 2024-06-01",
        "its visits reach from 2024-05-01 to 2024-05-08 (UTC): ask for some of these",
    ),
    ("v.csv --from 2024-05-03 --until 2024-05-02", "--from 2024-05-03 is not before --until 2024-05-02"),
    ("v.csv --from soon", "--from: it is 'soon', which is no time"),
    ("v.csv --since 2024-05-01", "--since"),
    ("bare.csv", "name them, as in --person '<column>'"),
    ("bare.csv --skip-lines 1", "name them, as in --columns person,time,place, or give --layout foursquare"),
    ("v.csv --place loc", "no column for 'loc' (given as place)"),
    ("v.csv --grid-metres 500", "no column for latitude, longitude"),
    ("v.csv --latitude y", "--latitude has no effect without --grid-metres"),
    ("v.parquet --separator comma", "v.parquet: --separator has no effect on a Parquet file"),
    ("v.parquet --skip-lines 2", "v.parquet: --skip-lines has no effect on a Parquet file"),
    ("v.parquet --columns a,b,c", "v.parquet: --columns has no effect on a Parquet file"),
    ("v.parquet --time-format day-first", "--time-format day-first has no effect on a column that holds times already"),
    (
        "v.csv --habits auto --smoothing 2",
        "--smoothing has no effect with --habits auto; leave it out, or set --habits",
    ),
    ("v.csv --no-name-elsewhere", "--no-name-elsewhere"),
    ("v.csv --sigma 2", "--sigma has no effect with --mechanism raw; leave it out, or set --mechanism gaussian"),
    ("v.csv --mechanism gaussian --scale 2", "--scale has no effect with --mechanism gaussian"),
    ("v.csv --mechanism suppression --base 3", "--base has no effect with --mechanism suppression"),
    ("v.csv --sensor-places a", "--sensor-places has no effect with --sensors most-visited"),
    ("v.csv --published c.csv --window 1h --sensor-places a", "--sensor-places has no effect with --published c.csv"),
    ("v.csv --published c.csv", "--published needs --window, the interval of the counts"),
    ("v.csv --sensors fixed --sensor-places a --sensor-count 2", "--sensor-count has no effect with --sensors fixed"),
    (
        "v.csv --schedule s.csv --window 1h",
        "--schedule has no effect with --sensors most-visited; leave it out, or set",
    ),
    ("v.csv --sensors schedule --schedule empty.csv --window 1h", "empty.csv: the schedule holds no sensor"),
    (
        "v.csv --sensors schedule --schedule late_time.csv --window 1h",
        "line 3: the time '2024-05-01' is outside the",
    ),
    (
        "v.csv --sensors schedule --schedule late_time.csv --window 1h",
        "from 2024-05-08 19:00 to 2024-05-09 00:00 (UTC)",
    ),
    (
        "v.csv --sensors fixed --sensor-places gate",
        "--sensor-places: 'gate' is not one of the 4 chosen places (such as",
    ),
    (
        "v.csv --sensors fixed --sensor-places aa",
        "'aa' is not one of the 4 chosen places (did you mean 'a'?); ch",
    ),
    ("v.csv --window 1d", "seen in 3; lower --min-active, or choose a shorter window or more places"),
    (
        "dates.csv --window 6h",
        "in 6; lower --min-active, hold out fewer steps, or choose shorter steps or more places. A",
    ),
    ("dates.csv --window 6h", "Take steps of a day or longer, or the column that holds the time of day too."),
    ("v.csv --window 20d", "--holdout: 5 of 1 steps; expected a whole number that leaves at least 2 to fit habits to"),
    ("v.csv --window 1s", "--window 1s makes 687,601 steps, more than there are visits (2,304): in nearly all"),
    ("v.csv --window 1h --end 2999-01-01", "--window 1h makes 8,543,784 steps, more than there are visits (2,304)"),
    ("v.csv --min-active 900", "--holdout 5 and --min-active 900 need; give shorter steps, as in --window 1m,"),
    ("v.csv --min-active 500", "the most active is seen in 190; lower --min-active, or choose a shorter window"),
    ("short.csv", "too short a time for 11 steps of 15m, which --holdout 5 and --min-active 10 need"),
    ("v.csv --end 2024-04-01 --window 1h", "--end is 2024-04-01, not later than the first step begins"),
    ("v.csv --origin 2025-01-01 --window 1h", "--origin is 2025-01-01 00:00:00, later than the last visit"),
    ("v.csv --window 7h --rhythm hour", "--rhythm: steps of 7:00:00 do not fill 1 day, 0:00:00 evenly"),
    ("v.csv --window 5x", "(w, d, h, m, s), as in '20d' or '30m', or 'auto'"),
    ("v.csv --window 5x", "--window is '5x', which is no length of time; write a number and a unit"),
    ("v.csv --window 0s", "--window is '0s', which is too short; the shortest is '1s'"),
    ("v.csv --separator ab", "--separator is 'ab'; give one character"),
    ("v.csv --time-format dd", "--time-format is 'dd'; give 'day-first'"),
    ("v.csv --timezone Mars", "--timezone is 'Mars', which is not known"),
    ("v.csv --columns a,b", "--columns names 2 columns, but the first line has 3 fields"),
    ("v.csv --person {file} --place-names z", "1 of the 1 chosen places are in no visit: 'z'"),
    ("v.csv none.csv", "none.csv does not exist"),
    ("v.csv --sample 0", "--sample 0: it should be greater"),
    # Zones, flows and visitors.
    ("v.csv --zones none.csv", "none.csv does not exist"),
    ("v.csv --zones empty.csv", "empty.csv: zones need the columns place and zone"),
    ("v.csv --zones lost.csv", "lost.csv: zone 'north' is empty: nobody visits any of its places ('x')"),
    ("v.csv --zones zones.csv --sensor-count 2", "--sensor-count has no effect with --zones zones.csv"),
    ("v.csv --zones zones.csv --sensors random", "--sensors has no effect with --zones zones.csv"),
    ("v.csv --zones zones.csv --count went", "--count is 'went': it should be 'present', 'moved' or 'visitors'"),
    ("v.csv --zones zones.csv --every 24h", "--every has no effect without --count; leave it out, or set --count visi"),
    ("v.csv --zones zones.csv --count moved --times 2", "--times has no effect with --count moved; leave it out, or"),
    ("v.csv --zones zones.csv --count visitors --every soon", "--every is 'soon', which is no length of time"),
    ("v.csv --window 2h --zones zones.csv --count visitors --every 3h", "--every is '3h', which is no multiple of the"),
    (
        "v.csv --window 2h --zones zones.csv --count visitors --every 4h --times 3",
        "--times is 3, but windows of visitors hold 2 steps at most",
    ),
    ("v.csv --count moved", "--count moved needs --zones, a file with the columns place and zone, or two sensors or m"),
    ("v.csv --count visitors --sensors random", "--count visitors needs --zones, a file with the columns place and z"),
    ("v.csv --zones zones.csv --count moved --holdout 1 --misses 0", "--count moved needs --holdout 2 or more"),
    ("v.csv --counts counts.csv", "--counts needs --window, the interval of the counts"),
    ("v.csv --window 2h --counts counts.csv", "counts.csv, line 2: 'west' is not one of the 4 chosen places"),
    ("v.csv --window 2h --counts counts.csv --sensor-count 2", "--sensor-count has no effect with --counts counts.cs"),
    ("v.csv --window 2h --zones zones.csv --counts late.csv", "late.csv, line 2: step 6 is outside the 5 steps that a"),
    ("v.csv --window 2h --zones zones.csv --counts often.csv", "often.csv, line 2: nobody can be there 3 times in a w"),
    ("v.csv --window 2h --zones zones.csv --counts empty.csv", "empty.csv: it holds no count"),
    ("v.csv --window 2h --counts bare.csv", "bare.csv: counts need a column place or zone, or for flows the columns"),
    ("v.csv --window 2h --zones zones.csv --counts blur.csv", "blur.csv, line 2: its mechanism: 'blur' is not one of"),
    ("v.csv --window 2h --published counts.csv", "counts.csv: published counts need the columns step (or time), pla"),
    (
        "v.csv --window 2h --published c.csv --counts counts.csv",
        "--counts has no effect with --published c.csv",
    ),
    ("v.csv --sensor-count 9", "--sensor-count: expected 1 to 4 sensors a step (the chosen places), got 9"),
    ("v.csv --runs true", "--runs true: it should be a valid integer"),
]


@pytest.mark.parametrize(("words", "shown"), [(words, shown) for words, *shown in RIGHT], ids=[row[0] for row in RIGHT])
def test_what_can_be_done(in_town: Call, words: str, shown: list[str]) -> None:
    done = in_town("audit", *words.split(), "--dry-run", *ALONE, *QUICK)
    assert done.returncode == 0, done.stderr
    for part in shown:
        assert part in done.stdout


@pytest.mark.parametrize(("words", "shown"), WRONG, ids=[words for words, _ in WRONG])
def test_what_cannot_be_done(in_town: Call, words: str, shown: str) -> None:
    done = in_town("audit", *words.split(), "--dry-run", *ALONE)
    assert done.returncode == 2
    assert shown in done.stderr
    assert not PYTHON.search(done.stderr), done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[] if number % 4 == 0 else pytest.mark.thorough)
        for number, case in enumerate(case for case in FILES if case[3])
    ],
    ids=lambda case: case[0],
)
def test_messages_about_files_are_in_the_words_of_the_command_line(
    case: tuple[str, str, dict[str, object], str], typed: Call, tmp_path: Path
) -> None:
    _, text, options, _ = case
    (tmp_path / "visits.csv").write_bytes(text.encode())
    typing = [word for name, value in options.items() for word in (Options().name(name), str(value))]
    done = typed("audit", "visits.csv", *typing, "--dry-run")
    assert done.returncode == 2
    assert not PYTHON.search(done.stderr), done.stderr


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("name them, as in place='loc'", "name them, as in --place loc"),
        ("as in since='2024-05-01' and until='2024-05-21'", "as in --from 2024-05-01 and --until 2024-05-21"),
        ("use columns='a b,c'", "use --columns 'a b,c'"),
        ("raise max_unparsable to leave these out", "raise --max-unparsable to leave these out"),
        ("v.csv: until is 'May', which is no time", "v.csv: --until is 'May', which is no time"),
        ("holdout: 5 of 3 steps", "--holdout: 5 of 3 steps"),
        # Names of files, of columns and of places are left alone, and so are English words.
        ("data/time_format.csv does not exist", "data/time_format.csv does not exist"),
        ("found are the columns 'min_active', 'time'", "found are the columns 'min_active', 'time'"),
        ("the place is missing since May", "the place is missing since May"),
        ("--min-active 5 has no effect", "--min-active 5 has no effect"),
    ],
)
def test_settings_are_called_as_they_are_typed(message: str, said: str) -> None:
    assert in_options(message, SETTINGS) == said


#: Lines of a settings file, and how the error calls them: as they stand in the file, and never as options.
IN_FILES = [
    ("sensor-count = 2", "sensor-count: there is no such setting; did you mean sensor_count?"),
    ("sensor_places = 'a'", "sensor_places = 'a': it should be a list"),
    ("time_format = 'dd'", "time_format is 'dd'; give 'day-first'"),
]


@pytest.mark.parametrize(("line", "shown"), IN_FILES, ids=[line for line, _ in IN_FILES])
def test_lines_of_a_settings_file_are_called_as_they_stand_there(
    in_town: Call, tmp_path: Path, line: str, shown: str
) -> None:
    file = tmp_path / "audit.toml"
    file.write_text(f"{line}\n")
    for command in ("audit", "plan"):
        done = in_town(command, "v.csv", "--settings", str(file), "--misses", "2")
        assert done.returncode == 2
        assert shown in done.stderr
        assert "--" not in done.stderr.split(shown)[0]


def test_settings_of_a_plan_are_none_of_an_audit(in_town: Call, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text("visits = 'v.csv'\nlimits = [{share = 0.1, above = 0.5}]\n")
    done = in_town("audit", "--settings", str(file))
    assert done.returncode == 2
    assert "plan.toml holds settings of a plan (limits): give it to passerby plan" in done.stderr
