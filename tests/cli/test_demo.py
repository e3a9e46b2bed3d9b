from pathlib import Path

import pytest
from tests.cli.small_audit import Call

from passerby.audits.summary import Summary
from passerby.cli.demo import DAY

SMALL = ("--people", "12", "--places", "30", "--days", "4", "--sample", "3", "--explore", "2", "--workers", "1")


@pytest.mark.thorough
def test_a_small_demo(tmp_path: Path, typed: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, little in {"runs": 10, "budget": 1e6, "backtest": 5, "adversaries": 1}.items():
        monkeypatch.setitem(DAY, name, little)
    done = typed("demo", *SMALL, "--out", "shown")
    assert done.returncode == 0, done.stderr
    folders = {name: tmp_path / "shown" / name for name in ("raw", "noisy")}
    for name, folder in folders.items():
        summary = Summary.model_validate_json((folder / "summary.json").read_text())
        assert (summary.people, summary.people_eligible, summary.steps) == (3, 12, 24)
        assert summary.mechanism == ("Raw()" if name == "raw" else "Gaussian(sigma=2.0)")
        assert (folder / "report.html").stat().st_size > 500_000
    assert max(map(len, done.stdout.splitlines())) <= 80
    refused = typed("demo", *SMALL, "--out", "shown")
    assert refused.returncode == 2
    assert "--out: 'shown' holds visits.parquet and raw and noisy already; choose another, or --ov" in refused.stderr
    again = typed("audit", "--settings", "shown/raw/audit.toml", "--dry-run", "--workers", "1")
    assert again.returncode == 0, again.stderr


def test_a_folder_that_cannot_be_made(tmp_path: Path, typed: Call) -> None:
    (tmp_path / "taken").write_text("")
    done = typed("demo", *SMALL, "--out", "taken")
    assert done.returncode == 2
    assert "--out: cannot make the folder" in done.stderr
