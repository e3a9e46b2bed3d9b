"""A disk that is full, a file cut short, Ctrl-C, a killed worker: at every point where an audit can be hit.

Whatever happens, what was there before is as it was or has been replaced as a whole, nothing half-written is seen, and
the audit that is started again ends as if nothing had happened.
"""

import errno
import json
import multiprocessing
import os
import resource
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import FrameType
from typing import IO, Any

import polars as pl
import pytest

import passerby as pb
from passerby.audits.results import Rows
from passerby.audits.validation import check_settings
from passerby.cli import main
from passerby.report.evidence import Evidence
from passerby.runs import audit as folders
from passerby.runs.notebook import Report
from passerby.visits import write_city
from tests.cli.small_audit import write_visits
from tests.people.test_habits import random_traces

FILES = {"audit.toml", "internal.html", "people.parquet", "questions.parquet", "report.html", "summary.json"}
PAGE = "<html>" + "word " * 6000 + "</html>"
Contents = dict[str, bytes]


def full() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


class Striker:
    """Counts operations on the disk, and raises at one of them: before it, or when half of a file is written."""

    def __init__(self, at: int, error: BaseException) -> None:
        self.at, self.error, self.struck = at, error, False
        self.number = count(1)

    def tick(self) -> None:
        if next(self.number) == self.at:
            self.struck = True
            raise self.error

    def before(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """An operation that may fail."""

        def operation(*args: Any, **options: Any) -> Any:
            self.tick()
            return real(*args, **options)

        return operation

    def half(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """A file that may be written by half."""

        def operation(target: Any, *args: Any, **options: Any) -> Any:
            path = target if isinstance(target, Path) else args[0]
            if not isinstance(path, Path):
                return real(target, *args, **options)  # to memory
            self.tick()
            out = real(target, *args, **options)
            whole = path.read_bytes()
            os.truncate(path, len(whole) // 2)
            self.tick()
            with path.open("wb") as file:
                file.write(whole)
            return out

        return operation

    def lines(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """A file to which half a line may be added."""

        def opened(path: Path, mode: str = "r", **options: Any) -> Any:
            file = real(path, mode, **options)
            return Appended(file, self) if mode == "a" else file

        return opened

    @contextmanager
    def at_work(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            files = ((Path, "write_text"), (Path, "write_bytes"))
            tables = ((pl.DataFrame, "write_parquet"), (pl.LazyFrame, "sink_parquet"))
            for kind, name in (*files, *tables):
                patch.setattr(kind, name, self.half(getattr(kind, name)))
            for name in ("replace", "mkdir", *(["unlink"] if isinstance(self.error, KeyboardInterrupt) else [])):
                patch.setattr(Path, name, self.before(getattr(Path, name)))
            patch.setattr(os, "fsync", self.before(os.fsync))
            patch.setattr(Path, "open", self.lines(Path.open))
            yield


class Appended:
    """A file whose writes may be cut short."""

    def __init__(self, file: IO[str], striker: Striker) -> None:
        self.file, self.striker = file, striker

    def __enter__(self) -> "Appended":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, text: str) -> None:
        self.striker.tick()
        self.file.write(text[: len(text) // 2])
        self.striker.tick()
        self.file.write(text[len(text) // 2 :])


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("faults") / "visits.parquet"
    write_visits(path, people=10)
    return path


def quick_report(evidence: Evidence, call: str | None = None, progress: object = None) -> Report:
    return Report(Rows.here(evidence.table), evidence.summary, PAGE, PAGE)


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """Charts take long to draw, and disks to settle; neither plays a part here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folders, "report_of", quick_report)
        patch.setattr(os, "fsync", lambda _: None)
        yield


def audit(visits: Path, out: Path, misses: int = 1, overwrite: bool = False, explore: int = 0) -> str:
    """Audit as a process of its own would, and return what the command line would say of an error."""
    how = {"window": "3h", "places": 12, "min_active": 2, "holdout": 4, "tolerance": 0.5, "budget": 0}
    how |= {"habits": "paper"}  # chosen ones take longer to find than all the rest
    tried: dict[str, object] = {
        "explore": explore,
        "backtest": 10 * bool(explore),
        "adversaries": explore,
        "presence": explore,
    }
    tried |= {"sigmas": (1.0,), "bases": (5,)} if explore else {}
    settings = check_settings({"visits": visits, "out": out, "misses": misses, **how, **tried})
    try:
        folders.run_audit(settings, workers=1, overwrite=overwrite)
    except (pb.PasserbyError, KeyboardInterrupt) as error:
        return str(error) or "interrupted"
    return ""


@pytest.fixture(scope="module")
def expected(visits: Path) -> Contents:
    """What an audit that nothing happens to leaves behind."""
    assert audit(visits, visits.parent / "expected") == ""
    return seen(visits.parent / "expected")


def seen(folder: Path) -> Contents:
    """Every file of a folder that is not hidden, but for what the settings say of where things are."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    found = {name: path.read_bytes() for name, path in files.items() if not Path(name).name.startswith(".")}
    settings = tomllib.loads(found["audit.toml"].decode()) if "audit.toml" in found else {}
    return found | ({"audit.toml": json.dumps(settings | {"visits": "", "out": ""}).encode()} if settings else {})


def assert_whole(folder: Path) -> None:
    """Whatever can be seen in a folder is complete."""
    for path in (path for path in folder.rglob("[!.]*") if path.is_file()):
        assert path.name in FILES or path.parent.name == "parts", path
        if path.suffix == ".parquet":
            assert pl.read_parquet(path).height > 0
        elif path.suffix == ".json":
            json.loads(path.read_text())
        elif path.suffix == ".toml":
            tomllib.loads(path.read_text())
        else:
            assert path.read_text() == PAGE


def assert_goes_on(visits: Path, out: Path, expected: Contents) -> None:
    """The same audit again ends with what it would have ended with, and leaves nothing else behind."""
    assert audit(visits, out, overwrite=True) == ""
    assert seen(out) == expected
    assert {path.name for path in out.iterdir()} == FILES


def strikes(error: BaseException, run: Callable[[int], str]) -> Iterator[tuple[int, str]]:
    """Run something again and again, hit at its first operation, its second, ..., until it gets through unharmed."""
    for at in count(1):
        striker = Striker(at, error)
        with striker.at_work():
            said = run(at)
        assert striker.struck == bool(said)
        if not said:
            return
        yield at, said


def test_a_full_disk_at_every_point(visits: Path, expected: Contents, tmp_path: Path) -> None:
    out, at = tmp_path / "out", 0
    for at, said in strikes(full(), lambda _: audit(visits, out)):
        assert "the disk is full" in said, at
        if out.exists():
            assert_whole(out)
            assert "summary.json" not in seen(out)
    assert at >= 20
    assert seen(out) == expected


@pytest.mark.thorough
def test_a_full_disk_while_noise_is_tried_out(visits: Path, tmp_path: Path) -> None:
    out, at, lengths = tmp_path / "out", 0, set()
    for at, said in strikes(full(), lambda _: audit(visits, out, explore=2)):
        assert "the disk is full" in said, at
        lengths.add(sum(len(kept.read_text().splitlines()) for kept in (out / "parts").glob("*.jsonl")))
    assert len(lengths) > 2
    assert audit(visits, tmp_path / "plain", explore=2) == ""
    assert seen(out) == seen(tmp_path / "plain")


def test_a_full_disk_leaves_an_earlier_audit_as_it_was(visits: Path, expected: Contents, tmp_path: Path) -> None:
    """Another audit in its place: until the new files are all there, the old ones are."""
    out, at = tmp_path / "out", 0
    assert audit(visits, out, misses=0) == ""
    before = seen(out)
    for at, _ in strikes(full(), lambda _: audit(visits, out, overwrite=True)):
        assert_whole(out)
        now = {name: content for name, content in seen(out).items() if not name.startswith("parts/")}
        if "summary.json" in now:
            assert now == before, at
    assert at >= 20
    assert seen(out) == expected


@pytest.mark.thorough
def test_an_interruption_at_every_point(visits: Path, expected: Contents, tmp_path: Path) -> None:
    at = 0
    for at, said in strikes(KeyboardInterrupt(), lambda at: audit(visits, tmp_path / str(at), overwrite=True)):
        assert said.startswith("interrupted")
        out = tmp_path / str(at)
        if out.exists():
            assert_whole(out)
        if at % 3 == 0:
            assert_goes_on(visits, out, expected)
    assert at >= 30


@contextmanager
def interrupted_at(line: int) -> Iterator[list[int]]:
    """Ctrl-C at some line that is run in the modules through which an audit goes; yields how many were run."""
    modules = {
        f"{Path(pb.__file__).parent}/{name}.py"
        for name in ("audits/audit", "support/files", "support/checkpoints", "runs/audit", "audits/settings_file")
    }
    ran = [0]

    def within(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            ran[0] += 1
            if ran[0] == line:
                raise KeyboardInterrupt
        return within

    before = sys.gettrace()
    sys.settrace(lambda frame, event, _: within if frame.f_code.co_filename in modules else None)
    try:
        yield ran
    finally:
        sys.settrace(before)


# A file that was just opened is closed when it is forgotten, and Python says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.thorough
def test_an_interruption_at_many_lines(visits: Path, expected: Contents, tmp_path: Path) -> None:
    with interrupted_at(-1) as ran:
        assert audit(visits, tmp_path / "all") == ""
    assert ran[0] > 300
    for number, line in enumerate(range(1, ran[0], ran[0] // 24)):
        out = tmp_path / f"out{number}"
        with interrupted_at(line):
            assert audit(visits, out).startswith("interrupted")
        if out.exists():
            assert_whole(out)
        assert_goes_on(visits, out, expected)


def test_drafts_of_a_killed_process_go(visits: Path, expected: Contents, tmp_path: Path) -> None:
    for stale in (tmp_path / "out/parts/.000000000.parquet.17.part", tmp_path / "out/.report.html.17.part"):
        stale.parent.mkdir(parents=True, exist_ok=True)
        stale.write_text("half a fi")
    assert_goes_on(visits, tmp_path / "out", expected)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The system refuses to let any file grow beyond a size: a real write that fails half-way."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [0, 1000, 10_000, 25_000])
def test_files_that_the_system_cuts_short(visits: Path, expected: Contents, tmp_path: Path, size: int) -> None:
    assert max(map(len, expected.values())) > size
    with largest_file(size):
        said = audit(visits, tmp_path / "out")
    assert "could not be written" in said
    assert_whole(tmp_path / "out")
    assert_goes_on(visits, tmp_path / "out", expected)


@pytest.mark.parametrize("name", ["city.csv", "city.csv.gz", "city.parquet"])
def test_a_city_that_does_not_fit(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / name
    arguments = ["simulate", str(target), "--people", "200", "--places", "20", "--days", "4"]
    assert main(arguments) == 0
    before = target.read_bytes()
    for size in (0, len(before) // 2):
        with largest_file(size):
            assert main([*arguments, "--seed", "1", "--overwrite"]) == 2
        assert f"{name} could not be written" in capsys.readouterr().err
        assert target.read_bytes() == before
        assert {path.name for path in tmp_path.iterdir()} == {name, "city-zones.csv"}


def test_a_folder_of_a_city_that_does_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for size in (0, 4000):
        with largest_file(size):
            assert main(["simulate", str(tmp_path / "city"), "--people", "200", "--places", "20", "--days", "4"]) == 2
        assert "city could not be written" in capsys.readouterr().err
        assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["city", "city.parquet", "city.csv"])
def test_what_a_killed_process_left_of_a_city_goes(tmp_path: Path, name: str) -> None:
    token = "0123456789ab"
    (tmp_path / f".{name}.{token}.part.x").mkdir()
    (tmp_path / f".{name}.{token}.part.x" / "000000.parquet").write_text("half")
    (tmp_path / f".{name}.{token}.part").write_text("half")
    (tmp_path / f".{name}.gz.{token}.part").write_text("of another one")
    write_city(tmp_path / name, 20, 20, 2)
    assert {path.name for path in tmp_path.iterdir()} == {name, f".{name}.gz.{token}.part"}


@pytest.mark.thorough
def test_a_worker_that_is_killed_half_way(tmp_path: Path) -> None:
    people = pb.fit_people(random_traces(5, 60, 12, 15), holdout=3)
    release = pb.Release([0, 1, 2])

    def kill(done: int, everyone: int) -> None:
        if 0 < done < everyone:
            for worker in multiprocessing.active_children():
                worker.kill()

    with pytest.raises(pb.PasserbyError, match="a worker process ended before its time"):
        pb.audit(people, release, 1, workers=2, folder=tmp_path, progress=kill)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "parts").glob("0*.parquet")}
    assert kept
    resumed = pb.audit(people, release, 1, workers=1, folder=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert resumed.equals(pb.audit(people, release, 1, workers=1))
