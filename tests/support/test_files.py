import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import passerby as pb
from passerby.errors import ConfigError
from passerby.support.checkpoints import Checkpoints
from passerby.support.files import alone_in, make_folder, whole_or_nothing, write_json


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


def fill(path: Path, write: Callable[[Path], object]) -> None:
    """Write to a disk that is full."""
    with whole_or_nothing(path) as draft:
        draft.symlink_to("/dev/full")
        write(draft)


def test_a_full_disk_is_called_one(tmp_path: Path) -> None:
    """Also where polars writes, which has an error of its own for it."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no device that is always full")
    table, lines = pl.DataFrame({"x": range(100_000)}), Checkpoints(tmp_path / "x.jsonl", "mark")
    for write in (table.write_parquet, lambda path: path.write_text("x" * 100_000)):
        with pytest.raises(pb.PasserbyError) as caught:
            fill(tmp_path / "x", write)
        assert re.search(
            r"x could not be written: the disk is full \([\d,]+ MB are left where '.+' lies\)", str(caught.value)
        )
        assert str(caught.value).endswith("make room, or choose another folder; nothing of it is left")
    assert not list(tmp_path.iterdir())
    (tmp_path / "x.jsonl").symlink_to("/dev/full")
    with pytest.raises(pb.PasserbyError, match=r"the disk is full .* earlier results are kept"):
        lines.add(1, ["x" * 100_000])


def test_what_tells_of_single_people_is_the_owners_alone(tmp_path: Path) -> None:
    tables, lines = Checkpoints(tmp_path / "parts", "mark"), Checkpoints(tmp_path / "x.jsonl", "mark")
    for pieces, piece in ((tables, pl.DataFrame({"x": [1]})), (lines, [1])):
        pieces.begin()
        pieces.add(0, piece)
    assert tables.path.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in (*tables.path.iterdir(), lines.path)} == {0o600}


def test_folders(tmp_path: Path) -> None:
    assert make_folder(tmp_path / "a" / "b", "--out").is_dir()
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(pb.InputError, match=r"^--out: cannot make the folder .*/file' is a file\); name another"):
            make_folder(folder, "--out")


def test_polars_may_not_say_that_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As at the end of a table: what is left on the disk says it."""
    error = pl.exceptions.ComputeError("parquet: File out of specification: Invalid thrift: transport error")
    for free, said in ((10**9, "written: parquet: File"), (4096, r"the disk is full \(0 MB are left")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        with pytest.raises(pb.PasserbyError, match=said), whole_or_nothing(tmp_path / "x"):
            raise error


def test_two_machines_that_share_a_disk_write_apart(tmp_path: Path) -> None:
    """Their processes may have the same numbers, and a task may be done twice."""
    with whole_or_nothing(tmp_path / "x") as first, whole_or_nothing(tmp_path / "x") as second:
        assert first != second
        first.write_text("a")
        second.write_text("a")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_folder_is_let_go_also_where_nobody_gets_to_the_end(tmp_path: Path) -> None:
    """An interruption may come before the clean-up."""
    held = alone_in(tmp_path)
    held.__enter__()
    with pytest.raises(ConfigError, match="another process is at work"), alone_in(tmp_path):
        pass
    del held
    with alone_in(tmp_path):
        pass
