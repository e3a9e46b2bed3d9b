import json
from pathlib import Path
from typing import Any

import pytest

import passerby as pb
from passerby.support.files import make_folder, write_json


def test_writes_what_can_be_read_back(tmp_path: Path) -> None:
    value = {"a": [1, 0.1, None, "é"], "b": {}}
    write_json(tmp_path / "x.json", value)
    assert json.loads((tmp_path / "x.json").read_text(encoding="utf-8")) == value


@pytest.mark.parametrize("value", [{"a": float("nan")}, {"a": object()}])
def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")
    with pytest.raises((ValueError, TypeError)):
        write_json(path, value)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_half_way_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(pb.PasserbyError, match=r"x\.json could not be written: the disk is full"):
        write_json(tmp_path / "x.json", 1)
    assert not list(tmp_path.iterdir())


def test_folders(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "a" / "b", "--out").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(pb.InputError, match=r"^--out: cannot make the folder"):
        make_folder(tmp_path / "file", "--out")
