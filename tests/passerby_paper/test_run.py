"""Experiments at small sizes: tables, figures, and runs that are resumed."""

import dataclasses
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.passerby_paper.small import TINY

import passerby as pb
from passerby_paper.experiments import EXPERIMENTS
from passerby_paper.run import GROUPS, choose, reproduce

#: The whole reproduction, at its smallest: ten seconds.
pytestmark = pytest.mark.thorough

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def run(file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    out = tmp_path_factory.mktemp("run")
    return out, reproduce([], out, {"foursquare": file}, TINY, workers=1)


def test_everything_runs(run: tuple[Path, Any]) -> None:
    out, report = run
    assert report.ran == list(EXPERIMENTS)
    assert not report.kept
    for name, experiment in EXPERIMENTS.items():
        table = pl.read_parquet(out / "numbers" / f"{name}.parquet")
        assert table.height > 0
        assert (out / "numbers" / f"{name}.csv").stat().st_size > 0
        if experiment.draw:
            for kind, start in (("pdf", b"%PDF"), ("svg", b"<?xml")):
                written = (out / "figures" / f"{name}.{kind}").read_bytes()
                assert written.startswith(start)
                assert len(written) > 5000
    page, evidence = ((out / name).read_text() for name in ("claims.md", "claims/evidence.md"))
    assert "**Holds**" in evidence
    assert not [path for path in out.rglob("*.md") if "nan" in path.read_text()]
    assert "by [stated rules](#when-a-claim-holds)" in page


def test_nobody_is_named(run: tuple[Path, Any]) -> None:
    out, _ = run
    columns = {c for name in EXPERIMENTS for c in pl.read_parquet(out / "numbers" / f"{name}.parquet").columns}
    assert not columns & {"ids", "id", "user"}
    for name in ("sensor-visits", "spectral-gap"):
        table = pl.read_parquet(out / "numbers" / f"{name}.parquet")
        assert table.equals(table.sort(table.columns))


@pytest.mark.thorough
def test_finished_experiments_are_not_run_again(run: tuple[Path, Any], file: Path) -> None:
    out, _ = run
    page, figure = (out / "claims.md").read_bytes(), (out / "figures" / "places.svg").read_bytes()
    (out / "numbers" / "places.json").unlink()
    again = reproduce([], out, {"foursquare": file}, TINY, workers=1)
    assert again.ran == ["places"]
    assert again.kept == [name for name in EXPERIMENTS if name != "places"]
    assert (out / "claims.md").read_bytes() == page
    assert (out / "figures" / "places.svg").read_bytes() == figure


def test_another_seed_is_another_run(tmp_path: Path) -> None:
    tables = []
    for seed in (0, 1):
        settings = dataclasses.replace(TINY, seed=seed)
        report = reproduce(["places"], tmp_path, {}, settings, workers=1)
        assert report.ran == ["places"]
        tables.append(pl.read_parquet(tmp_path / "numbers" / "places.parquet"))
    assert not tables[0].equals(tables[1])


def test_as_many_processes_as_this_one_may_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon may start none, and works by itself."""
    monkeypatch.setattr("passerby.support.workers.all_cores", lambda: 1)
    monkeypatch.setattr("passerby.support.workers.pool_of", None)
    assert reproduce(["places"], tmp_path, {}, TINY).ran == ["places"]


def test_simulated_tables_do_not_depend_on_files(file: Path, tmp_path: Path) -> None:
    assert reproduce(["places"], tmp_path, {}, TINY, workers=1).ran == ["places"]
    assert reproduce(["places"], tmp_path, {"foursquare": file}, TINY, workers=1).kept == ["places"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_pieces_can_be_sent_to_other_processes(name: str) -> None:
    town = pb.simulate_city(people=30, places=20, days=4, seed=1)
    pieces = EXPERIMENTS[name].pieces(TINY, {"foursquare": town})
    assert pieces
    for piece in pieces:
        assert pickle.loads(pickle.dumps(piece)).func is piece.func  # type: ignore[attr-defined]


def test_choosing() -> None:
    assert choose([], {}) == GROUPS["simulated"]
    assert choose(["sigma", "places"], {}) == ["places", "sigma"]
    with pytest.raises(pb.ConfigError, match="no experiment 'plaices'; choose from examples"):
        choose(["plaices"], {})
    with pytest.raises(pb.ConfigError, match="--foursquare FILE"):
        choose(["real"], {})
    with pytest.raises(pb.InputError, match=r"--gowalla: 'nowhere\.txt' does not exist"):
        choose([], {"gowalla": Path("nowhere.txt")})
