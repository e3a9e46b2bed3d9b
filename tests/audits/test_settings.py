import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import passerby as pb
from passerby.audits.settings import AuditSettings, check_settings
from passerby.audits.settings_file import as_toml, read_settings, write_settings
from passerby.errors import ConfigError
from passerby.mechanisms.registry import BY_SETTING

LETTERS = st.characters(codec="utf-8")


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        check_settings(
            {"visits": "v", "window": "20x", "layout": "excel", "mechanism": "gauss", "runs": 1, "mises": 2},
            "audit.toml",
        )
    said = str(caught.value)
    assert said.startswith("audit.toml:")
    for part in (
        "window: a length of time cannot be '20x'",
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
        ({"visits": "v", "sensor_places": ["a"]}, "sensor_places has no meaning"),
        ({"visits": "v", "sensors": "schedule"}, "needs schedule"),
        ({"visits": "v", "schedule": "s.csv"}, "schedule has no meaning"),
        ({"visits": "v", "origin": "soon"}, "which is no time"),
        ({"visits": "v", "smoothing": "best"}, "smoothing"),
        ({"visits": "v", "sigmas": [1, 0]}, "sigmas.1 = 0"),
    ],
)
def test_what_does_not_fit(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match="settings:") as caught:
        check_settings(values)
    assert message in str(caught.value)


@given(
    title=st.text(LETTERS, max_size=30),
    names=st.lists(st.text(LETTERS, min_size=1, max_size=8), max_size=3),
    sigma=st.floats(1e-6, 1e6),
    sample=st.none() | st.integers(1, 1000),
)
def test_written_settings_are_read_back(
    tmp_path_factory: pytest.TempPathFactory, title: str, names: list[str], sigma: float, sample: int | None
) -> None:
    folder = tmp_path_factory.mktemp("settings")
    values = {"visits": folder / "v.csv", "out": folder, "title": title, "place_names": names, "sigma": sigma}
    settings = check_settings({**values, "sample": sample})
    write_settings(settings, folder / "audit.toml")
    again = check_settings(read_settings(folder / "audit.toml"))
    assert again.model_dump(exclude={"visits", "out"}) == settings.model_dump(exclude={"visits", "out"})
    assert again.visits.resolve() == settings.visits.resolve()


def test_paths_are_relative_to_the_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = check_settings({"visits": "data/v.csv", "out": "results/a"})
    assert 'visits = "../../data/v.csv"' in as_toml(settings, Path("results/a"))
    (tmp_path / "results" / "a").mkdir(parents=True)
    write_settings(settings, "results/a/audit.toml")
    monkeypatch.chdir(tmp_path / "results")
    assert read_settings("a/audit.toml")["visits"].resolve() == tmp_path / "data" / "v.csv"


@pytest.mark.parametrize("text", ["visits = ", "\x00", "[a"])
def test_files_that_are_no_settings(text: str, tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(text)
    with pytest.raises(ConfigError, match="is not a settings file"):
        read_settings(tmp_path / "audit.toml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such settings file"):
        read_settings(tmp_path / "audit.toml")


def test_a_folder_is_no_settings_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read: Is a directory"):
        read_settings(tmp_path)


@pytest.mark.parametrize("name", BY_SETTING)
def test_every_mechanism_can_be_asked_for(name: str) -> None:
    assert isinstance(check_settings({"visits": "v", "mechanism": name}).build_mechanism(), pb.Mechanism)


def test_every_setting_is_an_option_with_its_default_in_the_help() -> None:
    from inspect import signature

    from passerby.cli.audit import audit

    options = set(signature(audit).parameters) - {"settings", "overwrite", "dry_run", "workers"}
    assert options == set(AuditSettings.model_fields)
    said = "\n".join(line.strip() for line in (audit.__doc__ or "").splitlines())
    for name, field in AuditSettings.model_fields.items():
        default = field.default
        if field.is_required() or default in (None, ()):
            continue
        text = " ".join(f"{x:g}" for x in default) if isinstance(default, tuple) else str(default)
        text = {"1000000000.0": "1e9", "1e-05": "1e-5"}.get(text, text)
        part = said.split(f"\n{name}\n", 1)[1].split("[default: ", 1)[1].split("]", 1)[0]
        assert part == text, name
    told = re.findall(r"[\w-]+", said.split("\nmechanism\n", 1)[1].split("[default", 1)[0])
    assert set(BY_SETTING) <= set(told)
