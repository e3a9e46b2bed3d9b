"""Settings of many kinds, each with what must come of them: words of the message, or what they are taken for."""

from pathlib import Path
from typing import Any

import pytest

from passerby.audits.settings_file import as_toml, read_settings
from passerby.audits.validation import check_settings, check_sources
from passerby.audits.wording import Options, Source
from passerby.errors import ConfigError

#: A line or more of a settings file beside the visits, and words of the message.
REFUSED: list[tuple[str, str]] = [
    ("runs = true", "runs = True: it should be a number"),
    ("sigma = true\nmechanism = 'gaussian'", "sigma = True: it should be a number"),
    ("seed = false", "seed = False: it should be a number"),
    ("bases = [5, true]", "number 2 of bases is True: it should be a number"),
    ("holdout = 2.5", "holdout = 2.5: it should be a valid integer"),
    ("holdout = 0", "holdout = 0: it should be greater than or equal to 1"),
    ("name_elsewhere = 'yes'", "name_elsewhere = 'yes': it should be a valid boolean"),
    ("name_elsewhere = 1", "name_elsewhere = 1: it should be a valid boolean"),
    ("skip_lines = -1", "skip_lines = -1: it should be greater"),
    ("skip_lines = 5000", "skip_lines = 5000: it should be less"),
    ("separator = 'ab'", "  separator is 'ab'; give one character"),
    ("time_format = 'dd/mm'", "  time_format is 'dd/mm'"),
    ("timezone = 'Mars'", "  timezone is 'Mars', which is not known"),
    ("since = 'May'", "since: it is 'May', which is no time"),
    ("until = 'late'", "until: it is 'late', which is no time"),
    ("end = '31.12.'", "end: it is '31.12.', which is no time"),
    ("origin = 'first'", "origin: it is 'first', which is no time"),
    ("window = 'automatic'", "window is 'automatic', which is no length of time"),
    ("window = 20", "window = 20: it should be a valid string"),
    ("visits = []", "visits: name at least one file or folder"),
    ("visits = 5", "visits = 5: it should be a list"),
    ("visits = ['a.csv', 5]", "number 2 of visits is 5"),
    ("from = '2024-05-01'", "from: there is no such setting"),
    ("colums = 'a,b'", "colums: there is no such setting; did you mean columns?"),
    ("columns = ['a', 'b']", "columns = ['a', 'b']: it should be a valid string"),
    ("grid_metres = 0", "grid_metres = 0: it should be greater"),
    ("h3_resolution = 16", "h3_resolution = 16: it should be less"),
    # Settings that change nothing.
    ("sigma = 1.0", "sigma has no effect with mechanism = 'raw'; leave it out, or set mechanism = 'gaussian' or disc"),
    ("mechanism = 'gaussian'\nscale = 2", "scale has no effect with mechanism = 'gaussian'; leave it out, or set"),
    ("mechanism = 'suppression'\nbase = 5", "base has no effect with mechanism = 'suppression'"),
    ("mechanism = 'rounding'\nbelow = 5", "below has no effect with mechanism = 'rounding'"),
    ("mechanism = 'laplace'\nrate = 0.1", "rate has no effect with mechanism = 'laplace'"),
    ("mechanism = 'Gaussian(2)'\nsigma = 2", "sigma has no effect with mechanism = 'Gaussian(2)'"),
    (
        "window = '1h'\npublished = 'c.csv'\nsensor_places = ['a']",
        "sensor_places has no effect with published = 'c.csv'",
    ),
    ("window = '1h'\npublished = 'c.csv'\nsensors = 'random'", "sensors has no effect with published = 'c.csv'"),
    ("window = '1h'\npublished = 'c.csv'\nsensor_count = 2", "sensor_count has no effect with published = 'c.csv'"),
    ("window = '1h'\npublished = 'c.csv'\nschedule = 's.csv'", "schedule has no effect with published = 'c.csv'"),
    ("sensors = 'fixed'\nsensor_places = ['a']\nsensor_count = 2", "sensor_count has no effect with sensors = 'fixed'"),
    (
        "sensors = 'schedule'\nschedule = 's'\nwindow = '1h'\nsensor_count = 2",
        "sensor_count has no effect with sensors",
    ),
    ("sensors = 'random'\nsensor_places = ['a']", "sensor_places has no effect with sensors = 'random'"),
    ("schedule = 's.csv'\nwindow = '1h'", "schedule has no effect with sensors = 'most-visited'; leave it out, or set"),
    ("place_names = ['a']\nplaces = 5", "places has no effect with place_names = ['a']"),
    ("latitude = 'y'", "latitude has no effect without grid_metres"),
    ("grid_metres = 500\nplace = 'loc'", "place has no effect with grid_metres = 500"),
    ("habits = 'auto'\nsmoothing = 2.0", "smoothing has no effect with habits = 'auto'; leave it out, or set habits"),
    ("explore = 0\nsigmas = [1.0]", "sigmas has no effect with explore = 0; leave it out"),
    ("explore = 0\nbases = [5]", "bases has no effect with explore = 0; leave it out"),
    ("backtest = 0\norigins = 3", "origins has no effect with backtest = 0; leave it out"),
    ("adversaries = 0\nknown_steps = [1]", "known_steps has no effect with adversaries = 0; leave it out"),
    ("holdout = 4\nknown_steps = [1, 5]", "known_steps = 5 must not be above holdout = 4, the steps to find"),
    ("visits = '.'\nout = '.'", "is the folder of the visits, which results would be read as; choose another"),
    ("thresholds = [0.5, 0.9, 0.5]", "thresholds holds 0.5 more than once; give each once"),
    # Settings that others need.
    ("sensors = 'fixed'", "sensors = 'fixed' needs sensor_places"),
    ("sensors = 'schedule'\nwindow = '1h'", "sensors = 'schedule' needs schedule"),
    ("published = 'c.csv'", "published needs window, the interval of the counts"),
    ("counts = 'n.csv'", "counts needs window, the interval of the counts"),
    ("count = 'moved'", "count = 'moved' needs zones, a file with the columns place and zone, or two sensors or more"),
    ("count = ['went']", "number 1 of count is 'went': it should be 'present', 'moved' or 'visitors'"),
    ("every = '24h'", "every has no effect without count; leave it out, or set count = 'visitors'"),
    ("times = 0", "times = 0: it should be greater than or equal to 1"),
    ("zones = 'z.csv'\nsensor_count = 2", "sensor_count has no effect with zones = "),
    ("sensors = 'schedule'\nschedule = 's.csv'", "schedule needs window, the interval of the counts"),
]


@pytest.mark.parametrize(("lines", "words"), REFUSED, ids=[lines.replace("\n", ", ") for lines, _ in REFUSED])
def test_what_is_refused(tmp_path: Path, lines: str, words: str) -> None:
    visits = "" if lines.startswith("visits") else "visits = 'v.csv'\n"
    (tmp_path / "audit.toml").write_text(visits + lines)
    with pytest.raises(ConfigError) as caught:
        check_settings(read_settings(tmp_path / "audit.toml"), "audit.toml")
    # Paths are relative to the file, and so to the folder of the test.
    said = str(caught.value).replace(
        str(Path(read_settings(tmp_path / "audit.toml").get("published", "c.csv"))), "c.csv"
    )
    assert words in said
    assert len(said.splitlines()) == 2, said


TAKEN: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"visits": "a.csv"}, {"visits": (Path("a.csv"),), "window": "auto", "origin": None, "name_elsewhere": False}),
    ({"visits": ["a.csv", "b"]}, {"visits": (Path("a.csv"), Path("b"))}),
    ({"visits": Path("a.csv")}, {"visits": (Path("a.csv"),)}),
    ({"origin": "first-visit"}, {"origin": "first-visit"}),
    ({"name_elsewhere": True}, {"name_elsewhere": True}),
    ({"since": "2024-05-01", "until": "2024-06-01 12:00"}, {"since": "2024-05-01", "until": "2024-06-01 12:00"}),
    ({"separator": "tab"}, {"separator": "tab"}),
    ({"time_format": "day-first"}, {"time_format": "day-first"}),
    ({"mechanism": "rounding", "base": 20}, {"base": 20}),
    ({"window": "1h", "published": "c.csv"}, {"published": Path("c.csv")}),
    ({"person": "{file}"}, {"person": "{file}"}),
    ({"zones": "z.csv", "count": "moved"}, {"zones": Path("z.csv"), "count": ("moved",), "kinds": ("moved",)}),
    ({"zones": "z.csv", "count": ["visitors"], "every": "24h", "times": 2}, {"every": "24h", "times": 2}),
    ({"window": "1h", "counts": "n.csv"}, {"counts": Path("n.csv"), "kinds": ()}),
]


@pytest.mark.parametrize(("values", "found"), TAKEN, ids=[str([*values.items()]) for values, _ in TAKEN])
def test_what_is_taken_is_written_and_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], found: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = check_settings({"visits": "v.csv", **values})
    assert {name: getattr(settings, name) for name in found} == found
    (tmp_path / "audit.toml").write_text(as_toml(settings))
    assert check_settings(read_settings("audit.toml")) == settings


def test_an_option_may_overrule_a_file() -> None:
    file = Source({"visits": "v", "mechanism": "gaussian", "sigma": 2.0, "sensors": "fixed", "sensor_places": ["a"]})
    typed = Source({"mechanism": "raw", "sensors": "random"}, "options", Options())
    found = check_sources(file, typed)
    assert (found.mechanism, found.sensors) == ("raw", "random")
    assert "sigma = " not in as_toml(found)
    assert "sensor_places" not in as_toml(found)
    with pytest.raises(ConfigError, match="--scale has no effect with mechanism = 'gaussian'; leave it out"):
        check_sources(file, Source({"scale": "2"}, "options", Options()))
