"""Every setting is an option, with its default and its sentence in the help."""

import os
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest
from tests.cli.small_audit import Call

from passerby.audits.settings import GROUPS, SETTINGS, AuditSettings, default_of
from passerby.audits.wording import Options
from passerby.cli.audit import audit
from passerby.plans.names import FOLDER, NEXT_FOLDER, TITLE


def test_every_setting_is_an_option() -> None:
    own = {"settings", "overwrite", "dry_run", "workers"}
    assert set(signature(audit).parameters) == set(SETTINGS) | own


def test_the_help_tells_of_every_setting() -> None:
    command = [sys.executable, "-m", "passerby", "audit", "--help"]
    # Wide enough for each option to be a line.
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "400"})
    shown = done.stdout
    for name, each in SETTINGS.items():
        option = Options().name(name)
        line = next(line for line in shown.splitlines() if line.startswith(f"│ {option} "))
        assert each.metadata["text"] in line
        assert (f"[default: {default_of(name)}]" in line) == bool(default_of(name)), name
    places = [shown.index(f"╭─ {name} ─") for name in ("Audit", *GROUPS)]
    assert places == sorted(places)


@pytest.mark.parametrize(("command", "folder"), [("plan", FOLDER), ("next", NEXT_FOLDER)])
def test_the_help_of_a_plan_has_its_own_defaults(command: str, folder: str) -> None:
    words = [sys.executable, "-m", "passerby", command, "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "400"})
    lines = {line.split()[1]: line for line in done.stdout.splitlines() if line.startswith("│ --")}
    assert f"[default: {folder}]" in lines["--out"]
    assert f"[default: {TITLE}]" in lines["--title"]
    kinds = {"--at-most": "FLOAT", "--added": "FLOAT", "--drawn": "INT", "--minutes": "FLOAT"}
    assert {name: lines[name].split()[2] for name in kinds} == kinds


def test_options_are_what_is_set(typed: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[AuditSettings] = []
    monkeypatch.setattr("passerby.cli.run.run_and_show", lambda settings, *_, **__: asked.append(settings))
    words = (
        "--runs",
        "7",
        "--sigmas",
        "1",
        "2.5",
        "--habits",
        "paper",
        "--smoothing",
        "auto",
        "--title",
        "3",
        "--seed",
        "4",
    )
    assert typed("audit", "visits.csv", *words, "--sensors", "fixed", "--sensor-places", "a b", "c").returncode == 0
    (found,) = asked
    assert (found.runs, found.sigmas, found.smoothing, found.title, found.seed) == (7, (1.0, 2.5), "auto", "3", 4)
    assert (found.sensor_places, found.visits, found.misses) == (("a b", "c"), (Path("visits.csv"),), 1)


def test_all_that_is_wrong_is_said_at_once(typed: Call) -> None:
    done = typed("audit", "v.csv", "--runs", "many", "--seed", "-1", "--sigmas", "1", "x", "--layout", "excel")
    assert (done.returncode, done.stdout) == (2, "")
    first, *lines = done.stderr.splitlines()
    assert first == "passerby: options:", done.stderr[-3000:]
    for part in ("--layout excel: it", "--runs many: it", "--seed -1: it", "number 2 of --sigmas is 'x': it"):
        assert sum(part in line for line in lines) == 1
    assert len(lines) == 4
