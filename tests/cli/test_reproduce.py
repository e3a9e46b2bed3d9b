"""`passerby reproduce` as a user meets it."""

import sys
from pathlib import Path

import pytest
from tests.cli.small_audit import Call
from tests.cli.test_main import run

pytest.importorskip("matplotlib")

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SAMPLES = {"gowalla": "gowalla_subset.txt.gz", "foursquare": "foursquare_subset_checkins.txt.gz"}


@pytest.mark.thorough
def test_one_experiment_by_name(tmp_path: Path) -> None:
    command = ("reproduce", "examples", "places", "--quick", "--out", "result", "--workers", "1")
    done = run(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    out = tmp_path / "result"
    assert str(Path("result") / "claims.md") in done.stdout
    assert {path.name for path in (out / "figures").iterdir()} == {
        "examples.pdf", "examples.svg", "places.pdf", "places.svg"
    }  # fmt: skip
    assert {path.stem for path in (out / "numbers").iterdir()} == {"examples", "places"}
    again = run(*command, cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "Taken from an earlier run: examples, places" in again.stdout


def test_what_is_left_out_without_files_is_said(typed: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from passerby_paper import run as module
    from passerby_paper.experiments import EXPERIMENTS

    few = {name: EXPERIMENTS[name] for name in ("examples", "people", "readings")}
    monkeypatch.setattr(module, "EXPERIMENTS", few)
    monkeypatch.setattr(module, "_draw", lambda *_: None)
    done = typed("reproduce", "--quick", "--out", "result", "--workers", "1")
    assert done.returncode == 0, done.stderr
    assert "Left out, for want of --foursquare and --gowalla: people, readings\n" in done.stdout


def test_without_matplotlib_it_is_said_what_to_install(
    typed: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = typed("reproduce", "examples", "--quick", "--workers", "1")
    assert done.returncode == 2
    assert "pip install 'passerby[paper]'" in done.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ["nonsense"],
            "there is no experiment 'nonsense'; choose from examples, formulas, places",
            marks=pytest.mark.thorough,
        ),
        (["--foursquare", "nowhere.txt"], "--foursquare: 'nowhere.txt' does not exist"),
        pytest.param(["--gowalla", "."], "--gowalla: '.' is a folder, not a file", marks=pytest.mark.thorough),
        pytest.param(
            ["real-right"],
            "real-right: real check-ins are needed; give --foursquare FILE, --gowalla FILE or both",
            marks=pytest.mark.thorough,
        ),
        (["examples", "--out", "/dev/null/x"], "--out: cannot make the folder"),
    ],
)
def test_what_cannot_be_run(arguments: list[str], message: str, typed: Call) -> None:
    done = typed("reproduce", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_the_samples(tmp_path: Path) -> None:
    missing = [name for name in SAMPLES.values() if not (DATA / name).exists()]
    if missing:
        pytest.skip("no samples of real check-ins beside the repository")
    files = [part for name, file in SAMPLES.items() for part in (f"--{name}", str(DATA / file))]
    done = run("reproduce", "people", "spectral-gap", "--quick", *files, "--out", str(tmp_path), "--workers", "1")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "claims.md").read_text()
    assert "Foursquare: 27 windows (paper: 27); Gowalla: 32 windows (paper: 32)" in text
    assert "Foursquare: 423 people (paper: 9,760); Gowalla: 129 people (paper: 318)" in text
    assert "this file is a sample" in text
