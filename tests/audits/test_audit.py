import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits import audit as module
from passerby.people.sensors import random_sensors


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(random_traces(5, 30, 12, 15), holdout=3)


@pytest.fixture(scope="module")
def release(people: pb.People) -> pb.Release:
    return pb.Release(random_sensors(people, 2, seed=3))


@pytest.fixture(scope="module")
def table(people: pb.People, release: pb.Release) -> pl.DataFrame:
    return pb.audit(people, release, 1, workers=1)


def test_rows_depend_on_the_seed_and_the_person_alone(people: pb.People) -> None:
    release = pb.Release([0, 1, 2], pb.Gaussian(1.0))
    whole = pb.audit(people, release, 1, workers=1, runs=20)
    part = replace(people, fitted=people.fitted[10:], actual=people.actual[10:], ids=people.ids[10:])
    alone = pb.audit(part, release, 1, workers=1, runs=20)
    assert alone.equals(whole[10:])
    other = pb.audit(part, release, 1, workers=1, runs=20, seed=1)
    assert not alone["attack_map"].equals(other["attack_map"])


def test_workers_and_interruptions_change_nothing(
    people: pb.People, release: pb.Release, table: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("passerby.audits.everyone.PARTITION", 7)
    seen: list[tuple[int, int]] = []

    def stop_half_way(done: int, everyone: int) -> None:
        seen.append((done, everyone))
        if done >= 14:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pb.audit(people, release, 1, workers=1, folder=tmp_path, progress=stop_half_way)
    assert seen == [(0, 30), (7, 30), (14, 30)]
    left = sorted(p.name.partition("-")[0] for p in (tmp_path / "parts").iterdir())
    assert left == ["000000000", "000000001", "mark.json"]
    again: list[int] = []
    resumed = pb.audit(people, release, 1, workers=2, folder=tmp_path, progress=lambda done, _: again.append(done))
    assert again[0] == 14
    assert again[-1] == 30
    assert resumed.equals(table)
    module.clear_parts(tmp_path)
    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize("kind", ["threads", pytest.param("processes", marks=pytest.mark.thorough)])
def test_any_executor_gives_the_same(
    people: pb.People, release: pb.Release, table: pl.DataFrame, tmp_path: Path, kind: str
) -> None:
    with ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(2, get_context("spawn")) as pool:
        assert pb.audit(people, release, 1, executor=pool, folder=tmp_path).equals(table)
        noisy = pb.Release([0, 1, 2], pb.Gaussian(1.0))
        told: list[int] = []
        found = pb.audit(people, noisy, 1, executor=pool, runs=20, progress=lambda done, _: told.append(done))
    assert found.equals(pb.audit(people, noisy, 1, workers=1, runs=20))
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0, 30)


SCRIPT = """
import sys
import passerby as pb
from tests.people.test_habits import random_traces
if __name__ == "__main__":
    people = pb.fit_people(random_traces(5, 900, 12, 15), holdout=3)
    pb.audit(people, pb.Release([0, 1, 2]), 1, workers=2, folder=sys.argv[1])
"""


@pytest.mark.thorough
def test_killed_and_started_again(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    folder = tmp_path / "audit"
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(root / "src")])}
    process = subprocess.Popen([sys.executable, script, folder], env=environment, start_new_session=True)
    deadline = time.monotonic() + 120
    while not list((folder / "parts").glob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = sorted((folder / "parts").glob("0*.parquet"))
    assert finished
    stamps = [file.stat().st_mtime_ns for file in finished]
    people = pb.fit_people(random_traces(5, 900, 12, 15), holdout=3)
    release = pb.Release([0, 1, 2])
    resumed = pb.audit(people, release, 1, workers=1, folder=folder)
    assert [file.stat().st_mtime_ns for file in finished] == stamps
    assert resumed.equals(pb.audit(people, release, 1, workers=1))


def test_a_worker_that_dies_loses_nothing(tmp_path: Path, people: pb.People, release: pb.Release) -> None:
    class Deadly(pb.Raw):
        def __reduce__(self) -> tuple[object, ...]:
            return os._exit, (9,)  # what a worker does on receiving it

    bad = pb.Release(release.sensors, Deadly())
    with pytest.raises(pb.PasserbyError, match="a worker process ended before its time"):
        pb.audit(people, bad, 1, workers=2, folder=tmp_path)
    assert pb.audit(people, release, 1, workers=1).height == len(people)


def test_other_settings_in_the_same_folder_are_refused(people: pb.People, release: pb.Release, tmp_path: Path) -> None:
    pb.audit(people, release, 1, workers=1, folder=tmp_path)
    with pytest.raises(pb.ConfigError, match="other people or with other settings"):
        pb.audit(people, release, 2, workers=1, folder=tmp_path)
    (tmp_path / "parts" / "mark.json").write_text("{")
    with pytest.raises(pb.PasserbyError, match="is damaged, so that it cannot be told whose"):
        pb.audit(people, release, 1, workers=1, folder=tmp_path)


def test_a_full_disk_leaves_no_half_partition(
    people: pb.People, release: pb.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        path.write_text("half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(pb.PasserbyError, match=r"000000000-\w+.parquet could not be written: the disk is full"):
            pb.audit(people, release, 1, workers=1, folder=tmp_path)
    assert [p.name for p in (tmp_path / "parts").iterdir()] == ["mark.json"]
    assert pb.audit(people, release, 1, workers=1, folder=tmp_path).height == len(people)


@pytest.mark.parametrize(
    ("sensors", "misses", "message"),
    [
        ([0, 0], 1, "it has 2 steps, but 3 steps are held out"),
        ([0, 99, 0], 1, r"sensors\[1\] = 99: there are 15 places"),
        ([0, 0, 0], 3, "misses: expected a whole number from 0 to 2"),
    ],
)
def test_bad_input(people: pb.People, sensors: list[int], misses: int, message: str) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.audit(people, pb.Release(sensors), misses, workers=1)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"tolerance": float("nan")}, "tolerance: expected a number of at least 0, got nan"),
        ({"budget": -1}, "budget: expected a finite number"),
        ({"runs": 0}, "runs: expected a whole number of at least 2"),
        ({"confidence": 2}, "confidence: expected a level"),
        ({"seed": -1}, "seed is -1; expected a whole number"),
        ({"workers": 0}, "workers is 0; expected a whole number from 1"),
    ],
)
def test_how_to_measure_is_checked_once_and_not_for_each(
    people: pb.People, release: pb.Release, how: dict[str, Any], message: str
) -> None:
    with pytest.raises(pb.InputError, match=message):
        pb.audit(people, release, 1, **{"workers": 1, **how})


def test_a_folder_that_cannot_be(people: pb.People, release: pb.Release, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(pb.InputError, match="cannot make the folder"):
        pb.audit(people, release, 1, workers=1, folder=tmp_path / "file" / "x")
