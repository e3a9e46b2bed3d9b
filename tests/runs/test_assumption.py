"""What is said where nobody said what would be published: on top of the page, the screen and the summary."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.small_audit import write_visits
from tests.cli.test_main import run_here

import passerby as pb
from passerby.audits.settings import SAYING, AuditSettings
from passerby.audits.settings_file import as_toml, read_settings
from passerby.audits.validation import check_settings

#: Enough to make an audit, and nothing about the release.
QUICK = ("--min-active", "2", "--workers", "1")
ALONE = ("--explore", "0", "--backtest", "0", "--adversaries", "0")
PLACES, STEPS = ("--sensor-count", "2"), ("--window", "3h", "--holdout", "4")


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("assumed")
    write_visits(made / "visits.parquet")
    return made


def heard(town: Path, command: str, *options: str) -> tuple[str, str]:
    """What stands on the screen, each on one line: results, and what is told aside."""
    alone = ALONE if command == "audit" else ()
    done = run_here(command, "visits.parquet", *QUICK, *alone, *options, cwd=town)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split()), done.stderr


def first_of(page: Path) -> str:
    """The first of the answers on top of a page."""
    found = re.search(r'<ul class="short"[^>]*>\s*<li>(.*?)</li>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1].replace("\u00a0", " ").replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">")


def test_an_audit_without_a_word_says_first_what_it_assumed(town: Path) -> None:
    said, aside = heard(town, "audit", "--out", "bare")
    summary = json.loads((town / "bare" / "summary.json").read_text())
    alert = summary["assumed"]
    assert alert.startswith("Nobody said what would be published, so this was assumed: 5 counts from 1 place, ")
    # Which place, how many steps of which length, when, and how it is published.
    counted = json.loads((town / "bare" / "summary.json").read_text())
    assert (counted["sensors"], counted["steps"], counted["mechanism"]) == (5, 5, "Raw()")
    visits = pb.read_visits(town / "visits.parquet")
    most = visits.table["place"].value_counts(sort=True)["place"][0]
    assert repr(visits.places[most]) in alert
    assert re.search(r"at the last 5 steps of \d+ \w+ each \(2024-", alert)
    assert "published as raw counts" in alert
    # How to say it, as options.
    for option in ("--sensors fixed", "--sensor-places", "--sensor-count", "--window", "--holdout", "--mechanism"):
        assert option in alert
    assert said.startswith(f"Alert: {alert}")
    assert aside.count("Nobody said") == 0
    assert summary["alerts"][0] == alert
    for page in ("report.html", "internal.html"):
        assert first_of(town / "bare" / page).startswith("Alert: Nobody said what would be published")


def test_the_same_settings_assume_the_same_again(town: Path) -> None:
    heard(town, "audit", "--out", "again")
    before = (town / "again" / "summary.json").read_text()
    done = run_here("audit", "--settings", "again/audit.toml", "--overwrite", "--workers", "1", cwd=town)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Alert: Nobody said")
    assert (town / "again" / "summary.json").read_text() == before


@pytest.mark.parametrize(
    ("options", "unsaid"),
    [
        (PLACES, "which steps would be published"),
        (STEPS, "which places would be counted"),
        ((*PLACES, *STEPS), None),
    ],
)
def test_only_what_nobody_said_is_assumed(town: Path, options: tuple[str, ...], unsaid: str | None) -> None:
    said, _ = heard(town, "audit", *options, "--dry-run")
    if unsaid is None:
        assert "Nobody said" not in said
    else:
        assert said.startswith(f"Alert: Nobody said {unsaid}, so this was assumed:")
        assert ("--sensor-places" in said, "--holdout" in said) == (options == STEPS, options == PLACES)


def test_a_plan_and_a_decision_say_it_first(town: Path) -> None:
    limit = ("--at-most", "0.2", "--added", "0.05")
    said, _ = heard(town, "plan", *STEPS, *limit, "--levers", "rounding", "--budget", "1e6", "--out", "plan")
    record = json.loads((town / "plan" / "plan.json").read_text())
    assert record["alerts"][0] == record["assumed"]
    assert said.startswith(f"Alert: {record['assumed']}")
    assert first_of(town / "plan" / "plan.html").startswith("Alert: Nobody said which places would be counted")
    said, _ = heard(town, "next", *STEPS, *limit, "--budget", "1e6", "--out", "next")
    assert said.startswith("Alert: Nobody said which places would be counted")
    assert json.loads((town / "next" / "decision.json").read_text())["assumed"].startswith("Nobody said which places")


def test_python_is_told_in_its_words(town: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(town)
    few: dict[str, Any] = {"min_active": 2, "explore": 0, "backtest": 0, "adversaries": 0, "workers": 1}
    report = pb.audit_folder("visits.parquet", "python", **few)
    assert report.summary.assumed is not None
    for name in ("sensors='fixed'", "sensor_places", "sensor_count", "window", "holdout", "mechanism"):
        assert name in report.summary.assumed
    assert "--" not in report.summary.assumed


@pytest.mark.parametrize("name", sorted({name for names in SAYING.values() for name in names}))
def test_each_setting_of_a_release_says_something_of_it(name: str) -> None:
    assert check_settings({"visits": "v.csv"}).assumed == ("places", "steps")
    values = {"sensors": "random", "sensor_count": 2, "sensor_places": ["a"], "window": "1h", "holdout": 3}
    values |= {"origin": "2024-01-01", "end": "2024-02-01"}
    value = values.get(name, "file.csv")
    beside: dict[str, Any] = {"sensor_places": {"sensors": "fixed"}}.get(name, {})
    if name in ("counts", "schedule", "published"):  # their rows speak of steps
        beside = {"window": "1h", **({"sensors": "schedule"} if name == "schedule" else {})}
    found = check_settings({"visits": "v.csv", name: value, **beside})
    assert found.assumed == tuple(what for what, names in SAYING.items() if name not in names)


def test_settings_that_are_assumed_are_written_as_such(tmp_path: Path) -> None:
    settings = check_settings({"visits": "v.csv", "sensor_count": 2, "out": tmp_path})
    assert settings.assumed == ("steps",)
    (tmp_path / "audit.toml").write_text(as_toml(settings, tmp_path))
    text = (tmp_path / "audit.toml").read_text()
    assert '\n# assumed: window = "auto"\n' in text
    assert "\nsensor_count = 2\n" in text
    read = check_settings(read_settings(tmp_path / "audit.toml"))
    assert (read.assumed, read.holdout, read.window) == (("steps",), AuditSettings.holdout, "auto")


def test_what_a_plan_recommends_is_said(town: Path) -> None:
    done = run_here("audit", "--settings", "plan/complete/audit.toml", "--dry-run", cwd=town)
    assert done.returncode == 0, done.stderr
    assert "Nobody said" not in done.stdout
