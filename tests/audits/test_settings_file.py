"""Settings that are written to a file are read back as they were."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from passerby.audits.settings_file import as_shown, as_toml, read_settings, write_settings
from passerby.audits.validation import check_settings
from passerby.errors import ConfigError

LETTERS = st.characters(codec="utf-8")


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
    values = {"visits": folder / "v.csv", "out": folder, "title": title, "place_names": names}
    settings = check_settings({**values, "sample": sample, "mechanism": "gaussian", "sigma": sigma})
    write_settings(settings, folder / "audit.toml")
    again = check_settings(read_settings(folder / "audit.toml"))
    assert replace(again, visits=settings.visits, out=settings.out) == settings
    assert [path.resolve() for path in again.visits] == [path.resolve() for path in settings.visits]


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


def test_pages_do_not_tell_who_shared_the_work() -> None:
    """It changes nothing, and the address of a scheduler is nobody's business."""
    chosen = check_settings({"visits": "v.csv", "engine": "dask", "scheduler": "tcp://10.1.2.3:8786"})
    for internal in (False, True):
        shown = as_shown(chosen, internal=internal)
        assert shown == as_shown(check_settings({"visits": "v.csv"}), internal=internal)
        assert "10.1.2.3" not in shown
    assert 'scheduler = "tcp://10.1.2.3:8786"' in as_toml(chosen)


@pytest.mark.parametrize("line", ["out = ''", "visits = ['a.csv', '']", "zones = ''"])
def test_an_empty_path_is_not_the_folder_of_the_file(line: str, tmp_path: Path) -> None:
    (tmp_path / "audit.toml").write_text(f"{line}\n")
    with pytest.raises(ConfigError, match="it should be a path, and no empty text"):
        check_settings({"visits": "v.csv", **read_settings(tmp_path / "audit.toml")})
