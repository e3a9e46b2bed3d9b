import contextlib
import itertools
import json
import os
import pkgutil
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from tests.cli.small_audit import NASTY, OPTIONS, person, write_visits
from tests.cli.test_main import Done, run

import passerby as pb
from passerby.cli import main
from passerby.settings_file import read_settings
from passerby.summary import Summary

Made = tuple[Path, Done]
Call = Callable[..., Done]
TRIED = ("--sensor-count", "3", "--explore", "6", "--sigmas", "1", "--bases", "5")
FILES = {"audit.toml", "people.parquet", "report.html", "summary.json"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A folder with visits and a finished audit of them."""
    folder = tmp_path_factory.mktemp("audit")
    write_visits(folder / "visits.parquet")
    done = run("audit", "visits.parquet", *OPTIONS, *TRIED, "--out", "result", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


@pytest.fixture
def call(made: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Runs `passerby audit` in the folder, in this process: a process of its own takes seconds to begin."""
    monkeypatch.chdir(made[0])
    monkeypatch.setenv("COLUMNS", "80")

    def call(*arguments: str) -> Done:
        code = main(["audit", *arguments])
        shown = capsys.readouterr()
        return Done(arguments, code, shown.out, shown.err)

    return call


def test_the_folder_is_complete(made: Made) -> None:
    folder, done = made
    assert {path.name for path in (folder / "result").iterdir()} == FILES
    assert "Report: result/report.html" in done.stdout
    table = pl.read_parquet(folder / "result" / "people.parquet")
    assert table.height == 40
    assert set(table["person"]) == {person(i) for i in range(40)}
    assert bool((table["lower"] <= table["upper"]).all())


def test_the_table_is_the_librarys(made: Made) -> None:
    folder, _ = made
    visits = pb.read_visits(folder / "visits.parquet")
    people = pb.fit_people(visits, window="3h", places=12, min_active=2, holdout=4)
    from passerby.visits.sensors import most_visited_sensors

    expected = pb.audit(people, pb.Release(most_visited_sensors(people, 3)), misses=1, workers=1)
    assert_frame_equal(pl.read_parquet(folder / "result" / "people.parquet"), expected)


def test_the_summary_follows_its_schema(made: Made) -> None:
    folder, _ = made
    record = json.loads((folder / "result" / "summary.json").read_text())
    summary = Summary.model_validate(record)
    assert summary.schema_version == 1
    assert (summary.people, summary.steps, summary.misses, summary.places, summary.sensors) == (40, 4, 1, 13, 12)
    assert (summary.mechanism, summary.seed) == ("Raw()", 0)
    table = pl.read_parquet(folder / "result" / "people.parquet")
    for name, lower, upper in (
        ("loss", "lower", "upper"),
        ("baseline", "baseline_lower", "baseline_upper"),
        ("advantage", "advantage_lower", "advantage_upper"),
    ):
        for end, column in (("lower", lower), ("upper", upper)):
            found = record[name][end]
            assert found["mean"] == pytest.approx(table[column].mean())
            assert found["median"] == pytest.approx(table[column].median())
            assert found["maximum"] == pytest.approx(table[column].max())
            assert found["percentile_95"] == pytest.approx(table[column].quantile(0.95, "linear"))


def named(text: str) -> list[str]:
    """The people whose ids occur in a text."""
    return [person(i) for i in range(40) if person(i) in text]


def test_nobody_is_named(made: Made) -> None:
    folder, done = made
    assert len(named(" ".join(pl.read_parquet(folder / "result" / "people.parquet")["person"]))) == 40
    texts = {name: (folder / "result" / name).read_text() for name in FILES - {"people.parquet"}}
    for name, text in (texts | {"screen": done.stdout, "aside": done.stderr}).items():
        assert named(text) == [], name


def test_nobody_is_named_by_what_was_published_nor_in_logs(
    made: Made, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    folder, _ = made
    caplog.set_level("DEBUG")
    for change in (0, 7):
        pl.DataFrame(counts(folder, change)).write_csv(folder / "counts.csv")
        arguments = (
            "visits.parquet",
            *OPTIONS,
            "--published",
            "counts.csv",
            "--explore",
            "2",
            "--out",
            f"named{change}",
        )
        done = call(*arguments)
        assert done.returncode == 0, done.stderr
        kept = [path.read_text() for path in (folder / f"named{change}").iterdir() if path.suffix != ".parquet"]
        assert named("".join([*kept, done.stdout, done.stderr, caplog.text])) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace("2024-01-01", "yesterday"),
        lambda text: text.replace("2024", "20x4"),
        lambda text: text[:100] + text[100:].replace("\n", ",more,fields\n"),
        lambda text: text.replace("zq", '"zq', 3),
        lambda text: text.replace("person", "who knows", 1),
        lambda text: text.replace("zq003wx", "zq003wx\x00\udc80"),
        lambda text: text.splitlines()[0] + "\n",
    ],
)
def test_nobody_is_named_when_visits_cannot_be_used(made: Made, call: Call, damage: Callable[[str], str]) -> None:
    table = pl.read_parquet(made[0] / "visits.parquet").select("person", "time", "place")
    text = damage(table.write_csv(datetime_format="%Y-%m-%dT%H:%M:%S"))
    Path("damaged.csv").write_bytes(text.encode(errors="surrogateescape"))
    done = call("damaged.csv", *OPTIONS, "--out", "damaged")
    assert done.returncode == 2
    assert named(done.stdout + done.stderr) == []


def test_nobody_is_named_by_an_error_that_should_not_happen(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError(f"cannot cast {person(3)}")

    monkeypatch.setattr("passerby.cli.pipeline.render", broken)
    done = call("visits.parquet", *OPTIONS, "--sample", "3", "--explore", "0", "--out", "broken")
    assert done.returncode == 1
    assert "RuntimeError in" in done.stderr
    assert named(done.stderr) == []


def test_names_of_places_stay_text(made: Made) -> None:
    page = (made[0] / "result" / "report.html").read_text()
    assert NASTY[0] not in page
    assert "&lt;script&gt;alert" in page


def test_it_can_be_run_again(made: Made, call: Call) -> None:
    folder, _ = made
    before = pl.read_parquet(folder / "result" / "people.parquet")
    again = ("--settings", "result/audit.toml", "--workers", "1")
    refused = call(*again)
    assert refused.returncode == 2
    assert "holds a finished audit; choose another --out, or replace it with --overwrite" in refused.stderr
    done = call(*again, "--explore", "0", "--out", "again")
    assert done.returncode == 0, done.stderr
    assert_frame_equal(pl.read_parquet(folder / "again" / "people.parquet"), before)
    assert read_settings(folder / "again" / "audit.toml")["explore"] == 0
    done = call("visits.parquet", *OPTIONS, "--sample", "7", "--explore", "0", "--out", "again", "--overwrite")
    assert done.returncode == 0, done.stderr
    assert "7 people (drawn from 40)" in " ".join(done.stdout.split())
    assert {path.name for path in (folder / "again").iterdir()} == FILES


def test_a_dry_run_writes_nothing(made: Made, call: Call) -> None:
    folder, _ = made
    done = call("visits.parquet", *OPTIONS, "--sensor-count", "2", "--dry-run", "--out", "dry")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    for part in ("people 40", "28 to fit habits to, 4 published", "places 13", "8 counts from 2 places", "time about"):
        assert part in words
    assert not (folder / "dry").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no visits are given"),
        (("nowhere.csv",), "nowhere.csv"),
        (("visits.parquet", "--window", "fortnight", "--runs", "0"), "runs = 0"),
        (("visits.parquet", "--mechanism", "magic"), "mechanism: 'magic' is not one of raw,"),
        (("visits.parquet", "--settings", "none.toml"), "there is no such settings file"),
        (("visits.parquet", *OPTIONS, "--sensors", "fixed", "--sensor-places", "the moon"), "'the moon' is not one of"),
        (("visits.parquet", *OPTIONS, "--published", "none.csv"), "none.csv does not exist"),
        (("visits.parquet", "--min-active", "1000", "--window", "3h"), "no person is seen in at least 1000"),
    ],
)
def test_what_cannot_be_done_is_said(made: Made, call: Call, arguments: tuple[str, ...], message: str) -> None:
    done = call(*arguments, "--out", "bad")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (made[0] / "bad").exists()


def counts(folder: Path, change: int = 0) -> list[dict[str, Any]]:
    """The true counts of two places at the held-out steps, the first one changed."""
    visits = pb.read_visits(folder / "visits.parquet")
    people = pb.fit_people(visits, window="3h", places=12, min_active=2, holdout=4)
    rows: list[dict[str, Any]] = [
        {"step": t + 1, "place": people.places[x], "count": int(people.counts[t, x])} for t in range(4) for x in (0, 5)
    ]
    rows[0]["count"] += change
    return rows


def test_what_was_published(made: Made, call: Call) -> None:
    folder, _ = made
    pl.DataFrame(counts(folder)).write_csv(folder / "counts.csv")
    done = call("visits.parquet", *OPTIONS, "--published", "counts.csv", "--explore", "0", "--out", "post")
    assert done.returncode == 0, done.stderr
    table = pl.read_parquet(folder / "post" / "people.parquet")
    assert set(table["realised_status"]) == {"ok"}
    assert bool((table["realised_lower"] <= table["realised_upper"] + 1e-12).all())
    # By hand for one person: the others are everybody else, so the series tells where the person was.
    visits = pb.read_visits(folder / "visits.parquet")
    people = pb.fit_people(visits, window="3h", places=12, min_active=2, holdout=4)
    prior, states = people.prior(0, [0, 5])
    index = {int(place): state for state, place in enumerate(states)}
    series = [[float(people.actual[0, t] == x) for x in (0, 5)] for t in range(4)]
    loss = pb.measure(prior, pb.Release([[index[0], index[5]]] * 4), 1, published=series, budget=5e9)
    assert table["realised_lower"][0] == pytest.approx(loss.lower)
    assert "What did the published counts reveal?" in (folder / "post" / "report.html").read_text()


def test_an_impossible_series_is_a_status(made: Made, call: Call) -> None:
    folder, _ = made
    pl.DataFrame(counts(folder, change=7)).write_csv(folder / "wrong.csv")
    done = call("visits.parquet", *OPTIONS, "--published", "wrong.csv", "--explore", "0", "--out", "odd")
    assert done.returncode == 0, done.stderr
    table = pl.read_parquet(folder / "odd" / "people.parquet")
    assert set(table["realised_status"]) == {"impossible"}
    assert "impossible for 40" in " ".join(done.stdout.split())


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "people.parquet"}


def same(folder: Path, other: Path) -> None:
    """The two folders hold the same files."""
    assert files(folder) == files(other)
    assert_frame_equal(*(pl.read_parquet(path / "people.parquet") for path in (folder, other)))


def go_on(said: str, folder: Path) -> None:
    """Do what an interrupted audit said is to be done."""
    assert "what is finished is kept. To go on:" in said
    command = said.strip().splitlines()[-1].split()
    assert command[:3] == ["passerby", "audit", "--settings"]
    with contextlib.chdir(folder):
        assert main(command[1:]) == 0


def test_interrupted_by_a_signal_it_goes_on(made: Made) -> None:
    folder, _ = made
    code = (
        "import sys, time\nfrom passerby import auditing, cli\nplain = auditing.audit_person\n"
        "def slow(*a):\n    time.sleep(0.3)\n    return plain(*a)\n"
        "auditing.audit_person = slow\nsys.exit(cli.main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "audit", "visits.parquet", *OPTIONS, *TRIED, "--out", "stopped"],
        cwd=folder,
        env={**os.environ, "PASSERBY_DEBUG": "0"},
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 120
    while not list((folder / "stopped" / "parts").glob("*.parquet")):
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert re.search(r"interrupted while auditing people \(\d+ of 40\); ", said)
    assert not (folder / "stopped" / "summary.json").exists()
    go_on(said, folder)
    same(folder / "stopped", folder / "result")


@pytest.mark.parametrize(
    ("where", "after", "said"),
    [
        ("passerby.auditing.audit_person", 20, "while auditing people (16 of 40)"),
        ("passerby.explore._one", 5, "while trying out sensors, steps and noise (5 of 21)"),
        ("passerby.cli.pipeline.render", 0, "while writing the report"),
        ("passerby.cli.pipeline.write_json", 0, "while writing the report"),
    ],
)
def test_interrupted_anywhere_it_ends_the_same(
    made: Made,
    where: str,
    after: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = made[0]
    monkeypatch.chdir(folder)
    out = f"stopped-{where.rpartition('.')[2]}"
    with monkeypatch.context() as patch:
        patch.setattr(where, stopping(where, after))
        assert main(["audit", "visits.parquet", *OPTIONS, *TRIED, "--out", out]) == 130
    told = capsys.readouterr().err
    assert f"interrupted {said}" in told
    # The trials that were done are not done again.
    left = {"passerby.auditing.audit_person": 21, "passerby.explore._one": 21 - after}.get(where, 0)
    with monkeypatch.context() as patch:
        patch.setattr("passerby.explore._one", stopping("passerby.explore._one", left))
        go_on(told, folder)
    same(folder / out, folder / "result")


def stopping(where: str, after: int) -> Callable[..., Any]:
    """The function of this name, but the user stops it after so many calls."""
    plain, calls = pkgutil.resolve_name(where), itertools.count()

    def stopped(*arguments: Any, **options: Any) -> Any:
        if next(calls) >= after:
            raise KeyboardInterrupt
        return plain(*arguments, **options)

    return stopped


@pytest.mark.parametrize("where", ["read_visits", "fit_people"])
def test_interrupted_early_it_leaves_nothing(
    made: Made, where: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(made[0])
    name = f"passerby.cli.plan.{where}"
    monkeypatch.setattr(name, stopping(name, 0))
    assert main(["audit", "visits.parquet", *OPTIONS, "--out", "early"]) == 130
    assert "nobody was measured yet, and nothing was written" in capsys.readouterr().err
    assert not (made[0] / "early").exists()


def test_a_schedule_and_a_rule_that_depends_on_the_count(made: Made, call: Call) -> None:
    folder, _ = made
    first, second = pl.DataFrame(counts(folder))["place"].unique(maintain_order=True)
    pl.DataFrame({"step": [1, 1, 3], "place": [first, second, first]}).write_csv(folder / "sensors.csv")
    options = ("--sensors", "schedule", "--schedule", "sensors.csv", "--mechanism", "rounding", "--base", "5")
    done = call("visits.parquet", *OPTIONS, *options, "--sample", "5", "--explore", "0", "--out", "rule")
    assert done.returncode == 0, done.stderr
    summary = Summary.model_validate_json((folder / "rule" / "summary.json").read_text())
    assert (summary.sensors, summary.mechanism, summary.people) == (3, "Rounding(base=5)", 5)
    assert summary.statuses.get("refused", 0) == 0
