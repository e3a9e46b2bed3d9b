"""Finished parts of a task on disk are taken up again, and fingerprints tell inputs apart."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits.audit import clear_parts
from passerby.errors import InputError, PasserbyError
from passerby.support import checkpoints as module
from passerby.support.checkpoints import Checkpoints, fingerprint

TABLE = pl.DataFrame({"a": [0.1, None], "b": ["x", "é"]})
FORMS: tuple[tuple[str, Any], ...] = (("x.jsonl", [1 / 3, None, "é"]), ("parts", TABLE))


def same(found: dict[int, Any], expected: dict[int, Any]) -> bool:
    """Whether the pieces are the same; tables do not compare by themselves."""
    return found.keys() == expected.keys() and all(
        piece.equals(expected[n]) if isinstance(piece, pl.DataFrame) else piece == expected[n]
        for n, piece in found.items()
    )


@pytest.mark.parametrize(("name", "piece"), FORMS)
class TestBothForms:
    def test_pieces_are_found_again(self, tmp_path: Path, name: str, piece: Any) -> None:
        kept = Checkpoints(tmp_path / name, "mark")
        assert not kept.own()
        assert not kept.foreign()
        assert kept.begin() == {}
        assert kept.own()
        kept.add(7, piece)
        kept.add(2, piece)
        assert same(kept.begin(), {7: piece, 2: piece})

    def test_pieces_of_something_else_are_not_taken(self, tmp_path: Path, name: str, piece: Any) -> None:
        first, other = Checkpoints(tmp_path / name, "mark"), Checkpoints(tmp_path / name, "other")
        first.begin()
        first.add(0, piece)
        assert other.foreign()
        assert not other.own()
        assert other.begin() == {}
        assert first.foreign()
        assert first.begin() == {}

    def test_a_disk_that_refuses_is_said(self, tmp_path: Path, name: str, piece: Any) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises((InputError, PasserbyError), match=r"(could not be written|cannot make the folder)"):
            Checkpoints(tmp_path / "file" / name, "mark").begin()
        with pytest.raises(PasserbyError, match=r"could not be written"):
            Checkpoints(tmp_path / "none" / name, "mark").add(0, piece)


@pytest.mark.parametrize("damage", ["[2.0, nu", "\x00", "[1", "[1, [2]]", '["a", 1]\n', "3\n"])
def test_a_line_that_was_not_finished_is_left_out(tmp_path: Path, damage: str) -> None:
    kept = Checkpoints(tmp_path / "x.jsonl", "mark")
    kept.begin()
    kept.add(0, [1.0])
    with kept.path.open("a") as file:
        file.write(damage)
    assert kept.begin() == {0: [1.0]}
    assert len(kept.path.read_text().splitlines()) == 2
    kept.add(1, [2.0])
    assert kept.begin() == {0: [1.0], 1: [2.0]}


def test_bytes_that_are_no_text_are_left_out(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path / "x.jsonl", "mark")
    kept.begin()
    kept.add(0, [1.0])
    kept.path.write_bytes(kept.path.read_bytes() + b'[1, "\xff')
    assert kept.begin() == {0: [1.0]}


@pytest.mark.parametrize(("name", "piece"), FORMS)
def test_a_piece_that_was_damaged_is_left_out(tmp_path: Path, name: str, piece: Any) -> None:
    """Whatever bit of it was changed: most of them leave a table or a line that can be read."""
    kept = Checkpoints(tmp_path / name, "mark")
    kept.begin()
    kept.add(0, piece)
    kept.add(1, piece)
    lines = name.endswith(".jsonl")
    file = kept.path if lines else kept.tables()[1]
    whole = file.read_bytes()
    for at in range(whole.index(b"\n", 5) + 1 if lines else 0, len(whole) - lines, 7):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert same(kept.begin(), {0: piece}), at
        assert lines or not file.exists()
    file.write_bytes(whole[: len(whole) // 2])
    assert same(kept.begin(), {0: piece} if not lines else {})


def test_a_table_of_another_work_is_left_out(tmp_path: Path) -> None:
    kept, other = Checkpoints(tmp_path / "parts", "mark"), Checkpoints(tmp_path / "other", "another")
    for pieces in (kept, other):
        pieces.begin()
        pieces.add(0, TABLE)
    (own,), (strange,) = kept.tables(), other.tables()
    own.write_bytes(strange.read_bytes())  # tables with the same numbers are the same
    assert same(kept.begin(), {0: TABLE})
    for name in (strange.name, own.name.replace("0", "1", 1), "people.parquet"):
        (kept.path / name).write_bytes(strange.read_bytes())
        assert same(kept.begin(), {0: TABLE})
        assert kept.tables() == [own]


def test_a_folder_in_the_place_of_a_table_is_left_alone(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path / "parts", "mark")
    kept.begin()
    kept.add(0, TABLE)
    (own,) = kept.tables()
    own.unlink()
    (own / "inside").mkdir(parents=True)
    assert kept.begin() == {}
    assert kept.whole() == {}
    with pytest.raises(PasserbyError, match=r"000000000-\w+\.parquet could not be written: Is a directory"):
        kept.add(0, TABLE)
    kept.add(1, TABLE)
    assert same(kept.begin(), {1: TABLE})
    Checkpoints(kept.path, "other").begin()
    clear_parts(tmp_path)
    assert (own / "inside").exists()
    assert [*kept.path.iterdir()] == [own]


@pytest.mark.parametrize("text", ["{", "[]", '{"other": 1}', "3"])
def test_a_mark_that_cannot_be_read_is_somebody_elses(tmp_path: Path, text: str) -> None:
    kept = Checkpoints(tmp_path / "parts", "mark")
    kept.begin()
    (kept.path / "mark.json").write_text(text)
    assert kept.foreign()


def test_tables_without_a_mark_are_not_taken(tmp_path: Path) -> None:
    kept = Checkpoints(tmp_path / "parts", "mark")
    kept.path.mkdir()
    TABLE.write_parquet(kept.path / "000000000.parquet")
    assert kept.begin() == {}


@dataclass(frozen=True)
class Record:
    a: Any
    b: int = 0


class Plain:
    """Looks like its address."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Slotted:
    __slots__ = ()


DIFFERENT: tuple[Any, ...] = (
    None,
    0,
    0.0,
    False,
    "0",
    "",
    (),
    [],
    {},
    (0,),
    [0],
    ("ab", "c"),
    ("a", "bc"),
    {"a": 1},
    {"a": 2},
    np.arange(6),
    np.arange(6).reshape(2, 3),
    np.arange(6.0),
    np.array(["2024-01-01"], dtype="datetime64[us]"),
    np.array(["a", None], dtype=object),
    np.zeros((0, 3)),
    pl.Series("x", [1, 2]),
    pl.Series("x", [1, 3]),
    pl.DataFrame({"x": [1, 2], "y": [1, 2]}),
    pl.DataFrame({"x": [1, 2], "y": [1, 3]}),
    Record(1),
    Record(1, 1),
    Record(np.arange(3)),
    Plain(1),
    Plain(2),
    Slotted(),
    Path("a"),
    range(3),
    np.float64(2),
    pb.Gaussian(1.0),
    pb.Gaussian(2.0),
    pb.Release([0, 1]),
    pb.Release([0, 1], pb.Rounding(5), [3, 4]),
    pb.Release([0, 1], pb.Rounding(5), [3, 5]),
)


def test_all_are_told_apart() -> None:
    marks = [fingerprint(part) for part in DIFFERENT]
    assert len(set(marks)) == len(marks)
    assert len({fingerprint(part, part) for part in DIFFERENT} | set(marks)) == 2 * len(marks)


def test_the_same_is_the_same_again() -> None:
    for part in (Record(np.arange(3)), Plain([1, Plain(2)]), pb.Release([0], pb.Then(pb.Raw(), pb.Rounding(5)))):
        assert fingerprint(part) == fingerprint(part)
    assert fingerprint(Plain([1])) == fingerprint(Plain([1]))
    turned = np.arange(6).reshape(2, 3).T
    assert fingerprint(turned) == fingerprint(np.ascontiguousarray(turned))


def test_people_count_by_their_traces() -> None:
    people = pb.fit_people(random_traces(5, 8, 9, 6), holdout=3)
    again = pb.fit_people(random_traces(5, 8, 9, 6), holdout=3)
    assert fingerprint(people) == fingerprint(again)
    moved = people.actual.copy()
    moved[0, 0] += 1
    for other in (replace(people, actual=moved), replace(people, smoothing=2.0), replace(people, ids=people.ids + "x")):
        assert fingerprint(people) != fingerprint(other)


def test_another_version_gives_another(monkeypatch: pytest.MonkeyPatch) -> None:
    before = fingerprint(1)
    monkeypatch.setattr(module, "__version__", "0.0.0")
    assert fingerprint(1) != before
