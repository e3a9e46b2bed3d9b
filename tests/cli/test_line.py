import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.small_audit import Call
from tests.cli.test_main import Done, run

import passerby as pb
from passerby.cli.line import SENSORS

#: Operations to spend on each search, far fewer than the command takes.
BUDGET = 1e7


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Any]:
    """What a small run prints and writes."""
    folder = tmp_path_factory.mktemp("line")
    options = ("--places", "12", "--misses", "0", "2", "--sigma", "2", "--out", "result")
    done = run("line", *options, code=f"sys.modules['passerby.cli.line'].BUDGET = {BUDGET}", cwd=folder)
    assert done.returncode == 0, done.stderr
    return done, json.loads((folder / "result" / "loss.json").read_text())


def test_fits_a_small_terminal(shown: tuple[Done, Any]) -> None:
    done, _ = shown
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "…" not in done.stdout
    assert re.fullmatch(r"(compiling.*\n)?(Measuring one person: .*\n)?", done.stderr)


def test_says_what_it_found_and_where_it_is(shown: tuple[Done, Any]) -> None:
    done, _ = shown
    words = " ".join(done.stdout.split())
    for part in ("misses", "baseline", "best", "upper", "tight", "loose", "raw", "noisy", "12 places"):
        assert part in words
    privacy = pb.differential_privacy(pb.Release([0] * 10, pb.Gaussian(2.0)))
    expected = f"epsilon = {privacy.exact:.2f} at delta = 1e-5 (exact); {privacy.formula:.2f} by the paper's formula"
    assert expected in words
    assert "only up to 1" in words
    assert str(Path("result") / "loss.json") in words


def test_writes_every_number(shown: tuple[Done, Any]) -> None:
    _, record = shown
    assert record["passerby"] == pb.__version__
    settings = record["settings"]
    assert (settings["places"], settings["sigma"]) == (12, 2)
    assert len(settings["sensors"]) == len(SENSORS)
    assert [(loss["misses"], loss["counts"]) for loss in record["losses"]] == [
        (0, "raw"), (0, "noisy"), (2, "raw"), (2, "noisy")
    ]  # fmt: skip
    prior = pb.line_prior(12, settings["tau"])
    for loss in record["losses"]:
        mechanism = pb.Raw() if loss["counts"] == "raw" else pb.Gaussian(2.0)
        release = pb.Release(settings["sensors"], mechanism)
        expected = pb.measure(prior, release, loss["misses"], seed=settings["seed"], budget=BUDGET)
        assert loss["lower"] == pytest.approx(expected.lower, rel=1e-12)
        assert loss["upper"] == pytest.approx(expected.upper, rel=1e-12)
        assert loss["bounds"] == pytest.approx(expected.bounds, rel=1e-12)
        assert {n: a["value"] for n, a in loss["attacks"].items()} == pytest.approx(
            {n: a.value for n, a in expected.attacks.items()}, rel=1e-12
        )
    assert record["differential_privacy"]["exact"] > 0


def test_overwrites_an_earlier_result_whole(tmp_path: Path, typed: Call) -> None:
    (tmp_path / "loss.json").write_text("x" * 100_000)
    done = typed("line", "--places", "5", "--misses", "9", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "loss.json").read_text())["settings"]["places"] == 5
    assert [path.name for path in tmp_path.iterdir()] == ["loss.json"]


def test_a_folder_that_cannot_be_made(tmp_path: Path, typed: Call) -> None:
    (tmp_path / "taken").write_text("")
    done = typed("line", "--places", "5", "--misses", "9", "--out", str(tmp_path / "taken"))
    assert done.returncode == 2
    assert "--out: cannot make the folder" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_place(tmp_path: Path, typed: Call) -> None:
    done = typed("line", "--places", "1", "--misses", "0", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "100 %" in done.stdout
