"""Everything that is wrong with settings is said at once, in the words of the interface that was used."""

import pytest

from passerby.audits.validation import check_settings, check_sources
from passerby.audits.wording import Arguments, Keys, Options, Source, Wording
from passerby.errors import ConfigError


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        check_settings(
            {"visits": "v", "window": "20x", "layout": "excel", "mechanism": "gauss", "runs": 1, "mises": 2},
            "audit.toml",
        )
    said = str(caught.value)
    assert said.startswith("audit.toml:")
    for part in (
        "window is '20x', which is no length of time",
        "layout = 'excel'",
        "mechanism: 'gauss' is not one of raw, gaussian, discrete-gaussian,",
        "did you mean gaussian?",
        "runs = 1",
    ):
        assert part in said
    assert "mises: there is no such setting; did you mean misses?" in said
    assert "pydantic" not in said


def test_what_does_not_fit_together_is_said_beside_the_rest() -> None:
    with pytest.raises(ConfigError) as caught:
        check_settings({"runs": 1, "misses": 7, "sensors": "fixed"})
    said = str(caught.value).splitlines()[1:]
    assert [line.split()[0] for line in said] == ["visits:", "runs", "sensors", "misses"]
    # Nothing is said of how a setting fits that cannot be read.
    with pytest.raises(ConfigError) as caught:
        check_settings({"visits": "v", "sensors": "fixd", "sensor_places": ["a"], "misses": "many"})
    assert len(str(caught.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "visits: this setting is needed"),
        ({"visits": "v", "misses": 5}, "misses = 5 must be below holdout = 5"),
        ({"visits": "v", "sensors": "fixed"}, "needs sensor_places"),
        ({"visits": "v", "sensor_places": ["a"]}, "sensor_places has no effect"),
        ({"visits": "v", "sensors": "schedule"}, "needs schedule"),
        ({"visits": "v", "schedule": "s.csv"}, "schedule has no effect"),
        ({"visits": "v", "origin": "soon"}, "which is no time"),
        ({"visits": "v", "smoothing": "best"}, "smoothing"),
        ({"visits": "v", "sigmas": [1, 0]}, "number 2 of sigmas is 0: it should be greater"),
        ({"visits": "v", "rate": float("inf")}, "rate = inf: it should be a finite number"),
    ],
)
def test_what_does_not_fit(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match="settings:") as caught:
        check_settings(values)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("wording", "said"),
    [
        (Keys(), ["runs = 1: ", "mises: there is no such setting; did you mean misses?", "sensors = 'fixed' needs "]),
        (Arguments(), ["runs=1: ", "mises: there is no such setting; did you mean misses?", "sensors='fixed' needs "]),
        (Options(), ["--runs 1: ", "--mises: there is no such setting; did you mean --misses?", "--sensors fixed "]),
    ],
)
def test_each_interface_has_its_words(wording: Wording, said: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        check_settings({"visits": "v", "runs": 1, "mises": 2, "sensors": "fixed"}, "there", wording)
    first, *lines = str(caught.value).splitlines()
    assert first == "there:"
    assert len(lines) == len(said)
    for line, part in zip(lines, said, strict=True):
        assert line.strip().startswith(part)


def test_each_setting_is_named_as_where_it_comes_from() -> None:
    file = Source({"visits": "v", "runs": 1, "holdout": 3, "seed": -1}, "a.toml")
    typed = Source({"misses": "4", "runs": "0", "window": "20x"}, "options", Options())
    with pytest.raises(ConfigError) as caught:
        check_sources(file, typed)
    first, *lines = str(caught.value).splitlines()
    assert first == "a.toml and options:"
    for part in ("--window is '20x'", "--runs 0: it", "seed = -1: it", "--misses 4 must be below holdout = 3"):
        assert sum(part in line for line in lines) == 1
    assert len(lines) == 4


def test_later_sources_prevail() -> None:
    file = Source({"visits": "v", "runs": 7, "sigmas": [1.0]}, "a.toml")
    found = check_sources(file, Source({"runs": "9"}, "options", Options()))
    assert (found.runs, found.sigmas, found.misses) == (9, (1.0,), 1)


@pytest.mark.parametrize(("text", "value"), [("0.25", 0.25), ("2", 2.0), ("auto", "auto")])
def test_smoothing_is_a_number_or_a_word(text: str, value: float | str) -> None:
    assert check_settings({"visits": "v", "habits": "paper", "smoothing": text}).smoothing == value
