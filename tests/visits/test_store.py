"""Visits that are sorted on disk are those that are read into memory, block by block, and so are their traces."""

import errno
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.audits.settings import AuditSettings, DataSettings
from passerby.support.blocks import Team
from passerby.visits import Visits, read_visits, store, trace_store, write_city
from passerby.visits.all_visits import AllVisits
from passerby.visits.readers import Reading
from passerby.visits.store import StoredVisits, load_table, store_visits
from passerby.visits.trace_store import StoredTraces, load_traces, store_traces, taken
from passerby.visits.windows import tracing_of, window_visits

START = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, sizes in (
        (store, {"ROWS": 12, "DRAWN": 2}),
        (store, {"RUN": 9, "DRAWN": 2, "GROUP": 4, "TASK": 300}),
        (trace_store, {"CELLS": 20, "GROUP": 3}),
    ):
        for name, size in sizes.items():
            monkeypatch.setattr(module, name, size)


def stored(path: Any, folder: Path, **options: Any) -> StoredVisits:
    plain = AuditSettings(visits=(Path(),), **options).only(DataSettings, "visits")
    return store_visits(Reading.of(path, plain), folder, Team())


def rows(blocks: list[Visits]) -> list[tuple[Any, ...]]:
    out: list[tuple[Any, ...]] = []
    for block in blocks:
        people, places = block.people.gather(block.table["person"]), block.places.gather(block.table["place"])
        out += zip(people, block.table["time"], places, strict=True)
    return sorted(out, key=str)


def written(folder: Path, table: list[tuple[str, int, str]], files: int = 1) -> Path:
    path = folder / "visits"
    path.mkdir()
    for number in range(files):
        lines = [f"{who},{START + timedelta(hours=when)},{where}" for who, when, where in table[number::files]]
        (path / f"{number}.csv").write_text("\n".join(["person,time,place", *lines]) + "\n")
    return path


def compared(path: Path, folder: Path, **options: Any) -> StoredVisits:
    ours, theirs = stored(path, folder / "store", **options), read_visits(path, **options)
    blocks = [*ours.everybody.blocks]
    assert ours.skipped == theirs.skipped
    assert ours.remarks == theirs.remarks
    assert pl.concat([block.people for block in blocks]).equals(theirs.people)
    assert rows(blocks) == rows([theirs])
    return ours


def error_of(work: Callable[[], object]) -> str | None:
    try:
        work()
    except pb.InputError as error:
        return str(error)
    return None


NAMES = st.sampled_from([*map(str, range(12)), "007", "-3", "ann", "Bob", "é"])
TABLE = st.lists(
    st.tuples(NAMES, st.integers(0, 400), st.sampled_from(["park", "café", "", "x"])), min_size=1, max_size=60
)


@given(TABLE, st.integers(1, 3), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
def test_the_same_as_in_memory(
    tmp_path_factory: pytest.TempPathFactory, table: list[tuple[str, int, str]], files: int, numbers: bool
) -> None:
    folder = tmp_path_factory.mktemp("store")
    table = [(f"{len(who)}{when % 7}" if numbers else who, when, where) for who, when, where in table]
    path = written(folder, table, files)
    refused = error_of(lambda: read_visits(path, max_unparsable=1.0))
    if refused:
        assert error_of(lambda: stored(path, folder / "store", max_unparsable=1.0)) == refused
    else:
        compared(path, folder, max_unparsable=1.0)


def test_numbers_become_names_where_only_some_are(tmp_path: Path) -> None:
    path = written(tmp_path, [(str(n), n, "x") for n in range(30)])
    (path / "9.csv").write_text(f"person,time,place\nten,{START},x\n")
    ours = compared(path, tmp_path)
    assert len(ours.everybody.blocks) > 1
    assert not (tmp_path / "store" / "runs").exists()


def test_zones_that_only_some_files_name_are_told_as_in_memory(tmp_path: Path) -> None:
    path = written(tmp_path, [(str(n), n, "x") for n in range(30)])
    (path / "9.csv").write_text("person,time,place\n7,2024-01-01 08:00,x\n")
    (said,) = compared(path, tmp_path).remarks
    assert said.startswith("Some times (100 or fewer of 100 or fewer) name no zone")


def test_one_person_with_nearly_all_rows(tmp_path: Path) -> None:
    heavy = [("5", hour, f"p{hour % 3}") for hour in range(300)]
    ours = compared(written(tmp_path, [*heavy, *((str(n), n, "x") for n in range(10))], 3), tmp_path)
    assert max(len(block) for block in ours.everybody.blocks) >= 300


@pytest.mark.parametrize("files", [1, 3])
def test_stray_times_are_refused_as_in_memory(tmp_path: Path, files: int) -> None:
    table = [(str(n % 9), n % 50, "x" if n % 2 else "y") for n in range(90)]
    path = written(tmp_path, [*table, ("3", 24 * 400, "z")], files)
    with pytest.raises(pb.InputError) as expected:
        read_visits(path)
    with pytest.raises(pb.InputError) as found:
        stored(path, tmp_path / "store")
    assert str(found.value) == str(expected.value)
    compared(path, tmp_path, since="2024-01-01", until="2026-01-01")


def test_times_that_are_far_but_not_too_far(tmp_path: Path) -> None:
    """Hours do not tell, so that times are looked at one by one."""
    table = [(str(n % 9), n % 50, "x") for n in range(200)]
    compared(written(tmp_path, [*table, ("3", 96, "z"), ("4", -46, "z")]), tmp_path)


@pytest.fixture
def city(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module, name, size in ((store, "ROWS", 300), (store, "DRAWN", 20), (store, "RUN", 900)):
        monkeypatch.setattr(module, name, size)
    write_city(tmp_path / "city.csv", 40, 20, 6, seen=0.3)
    return tmp_path / "city.csv"


def traces_of(everybody: AllVisits, folder: Path, least: int, **how: Any) -> StoredTraces:
    origin, end = how.pop("origin", None), how.pop("end", None)
    rule = how.get("rule", "most-visited")
    tracing = tracing_of(everybody, how["window"], how["places"], least, rule, origin, end)
    return store_traces(everybody, tracing, folder, least)


@pytest.mark.parametrize(
    "how",
    [
        {"window": "12h", "places": 9},
        {"window": "7h", "places": 30, "rule": "last"},
        {"window": "1d", "places": ["station 01", "home-area 03"], "end": "2024-01-05T07:00Z"},
    ],
)
def test_traces_are_those_of_memory(city: Path, tmp_path: Path, how: dict[str, Any]) -> None:
    ours = traces_of(stored(city, tmp_path / "store").everybody, tmp_path / "traces", 2, **how)
    theirs = window_visits(read_visits(city), min_active=2, **how)
    found = taken(ours.blocks, ours.sizes(ours.blocks), np.arange(len(ours)))
    assert len(ours.blocks) > 2
    for name in ("array", "active", "frequency", "counts", "starts"):
        assert np.array_equal(getattr(found, name), getattr(theirs, name)), name
    assert found.people.equals(theirs.people)
    assert (found.places, found.left_out, found.window) == (theirs.places, theirs.left_out, theirs.window)
    some = taken(ours.cut(2), ours.sizes(ours.cut(2)), np.array([0, 5, 6]))
    assert np.array_equal(some.array, theirs.array[[0, 5, 6]])


def test_nobody_is_seen_often_enough(city: Path, tmp_path: Path) -> None:
    with pytest.raises(pb.InputError, match="no person is seen in at least 99 of 12 steps"):
        traces_of(stored(city, tmp_path / "store").everybody, tmp_path / "traces", 99, window="12h", places=9)


def damaged(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    yield content[: len(content) // 2]
    yield b""


def test_damage_is_told(city: Path, tmp_path: Path) -> None:
    everybody = stored(city, tmp_path / "store").everybody
    ours = traces_of(everybody, tmp_path / "traces", 2, window="12h", places=9)
    block, piece = everybody.blocks.items[1], ours.blocks.items[0]
    for content in damaged(block):
        block.write_bytes(content)
        with pytest.raises(pb.PasserbyError, match="damaged or gone"):
            replace(everybody).times()  # which remembers nothing
    for content in damaged(piece.path):
        piece.path.write_bytes(content)
        with pytest.raises(pb.PasserbyError, match="damaged or gone"):
            load_traces(ours.common, piece)
    piece.path.unlink()
    with pytest.raises(pb.PasserbyError, match="damaged or gone"):
        load_traces(ours.common, piece)


def test_damage_is_told_while_rows_are_sorted(city: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = store.write_runs

    def harmed(*how: Any) -> Any:
        found = written(*how)
        found[1][0].path.write_bytes(b"PAR1")
        return found

    monkeypatch.setattr(store, "write_runs", harmed)
    with pytest.raises(pb.PasserbyError, match=r"store/runs is damaged or gone .*; start again, which makes it anew"):
        stored(city, tmp_path / "store")


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a worker is when it happens: files that are there are whole, and the same again makes them anew."""
    city = written(tmp_path, [(str(n % 20), n, "x") for n in range(60)])
    everybody = stored(city, tmp_path / "first").everybody
    writes = len([*(tmp_path / "first" / "visits").iterdir()])
    write = pl.DataFrame.write_parquet
    for left in (0, 3, writes):
        count = iter(range(left))

        def full(frame: pl.DataFrame, path: Path, count: Iterator[int] = count, **how: Any) -> None:
            if next(count, None) is None:
                path.write_bytes(b"PAR1")
                raise OSError(errno.ENOSPC, "No space left on device")
            write(frame, path, **how)

        with monkeypatch.context() as patch:
            patch.setattr(pl.DataFrame, "write_parquet", full)
            with pytest.raises(pb.PasserbyError, match=r"the disk is full .*make room, or choose another folder"):
                stored(city, tmp_path / "full")
        assert [load_table(file).height > 0 for file in (tmp_path / "full").rglob("*.parquet")].count(False) == 0
        assert not [*(tmp_path / "full").rglob("*.part")]
    again = stored(city, tmp_path / "full").everybody
    assert rows([*again.blocks]) == rows([*everybody.blocks])
