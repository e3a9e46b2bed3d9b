"""No id of a person reaches the report, the summary, the settings, the screen or a log: all are searched for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.small_audit import ALONE, FILES, OPTIONS, Call, Made, counts, person

#: Everything is tried out, on few people.
FEW = (*("--explore", "2", "--sigmas", "1", "--bases", "5"), *("--backtest", "6", "--adversaries", "2"))


def named(text: str) -> list[str]:
    """The people whose ids occur in a text."""
    return [person(i) for i in range(40) if person(i) in text]


def test_nobody_is_named(made: Made) -> None:
    folder, done = made
    assert len(named(" ".join(pl.read_parquet(folder / "result" / "people.parquet")["person"]))) == 40
    texts = {name: (folder / "result" / name).read_text() for name in FILES - {"people.parquet", "questions.parquet"}}
    for name, text in (texts | {"screen": done.stdout, "aside": done.stderr}).items():
        assert named(text) == [], name


def test_nobody_is_named_by_what_was_published_nor_in_logs(
    made: Made, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    folder, _ = made
    caplog.set_level("DEBUG")
    for change in (0, 7):
        pl.DataFrame(counts(folder, change)).write_csv(folder / "counts.csv")
        done = call(*("visits.parquet", *OPTIONS, *FEW), "--published", "counts.csv", "--out", f"named{change}")
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

    monkeypatch.setattr("passerby.runs.audit.report_of", broken)
    done = call("visits.parquet", *OPTIONS, "--sample", "3", *ALONE, "--out", "broken")
    assert done.returncode == 1
    assert "RuntimeError in" in done.stderr
    assert named(done.stderr) == []
