"""Experiments at small sizes: rows, tables, figures, and runs that are resumed."""

import builtins
import dataclasses
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.visits import simulate_city, write_city
from passerby_paper import examples, formulas, pieces, style
from passerby_paper.audits import gaps
from passerby_paper.fingerprints import SHOWING, fingerprint, sources
from passerby_paper.people import Data, Reading, Unsmoothed, prepare, read_data
from passerby_paper.pieces import Piece, done
from passerby_paper.real import means_of
from passerby_paper.run import EXPERIMENTS, GROUPS, choose, reproduce
from passerby_paper.settings import Settings
from passerby_paper.simulated import averaged, point, sensors_of, table_of
from passerby_paper.tables import read_table, write_table

pytest.importorskip("matplotlib")

TINY = dataclasses.replace(
    Settings.fast(),
    places=8,
    steps=4,
    misses=2,
    traces=50,
    budget=1e6,
    close_budget=1e6,
    runs=30,
    close_runs=30,
    places_grid=(4, 8),
    steps_grid=(2, 4),
    sigma_grid=(0.25, 1.0),
    window="2h",
    real_places=8,
    min_active=1,
    real_budget=1e6,
    most_people=12,
    resamples=50,
)


@pytest.fixture(scope="module")
def city() -> Data:
    visits = simulate_city(people=30, places=20, days=4, seed=1)
    return Data("foursquare", visits, visits.table.height)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("city") / "checkins.txt.gz"
    write_city(path, people=30, places=20, days=4, seed=1, layout="foursquare")
    return path


@pytest.fixture(scope="module")
def run(file: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    out = tmp_path_factory.mktemp("run")
    return out, reproduce([], out, {"foursquare": file}, TINY, workers=1)


def test_a_point_holds_what_measure_says() -> None:
    row = point(TINY, 8, 4, 2, None, 0)[0]
    prior, release = pb.line_prior(8, 0.1), pb.Release(sensors_of(TINY, 0, 8, 4))
    loss = pb.measure(prior, release, 2, budget=4e6)
    for name in ("map", "prior", "constant"):
        assert row[name] == pytest.approx(loss.attacks[name].value, rel=1e-9)
    for name in ("tight", "loose"):
        assert row[name] == pytest.approx(loss.bounds[name], rel=1e-9)
    assert row["lower"] <= row["upper"]
    assert abs(row["map_mc"] - row["map"]) <= 5 * max(row["map_mc_error"], 0.02)


def test_sensors_keep_their_relative_positions() -> None:
    few, many = sensors_of(TINY, 1, 10, 5), sensors_of(TINY, 1, 1000, 5)
    assert [place // 100 for place in many] == few
    assert sensors_of(TINY, 1, 10, 3) == few[:3]
    assert sensors_of(TINY, 0, 1000, 5) != many


def test_noisy_upper_ends_are_not_above_raw_ones() -> None:
    rows = [point(TINY, 8, 4, 2, sigma, 0)[0] for sigma in (None, 0.25)]
    rows[1]["upper"] = 1.0
    table = table_of(rows, TINY)
    assert table["upper"][1] == table["upper"][0]
    assert table["upper_by"][1] == "raw"


def test_averages_over_draws() -> None:
    rows = [point(TINY, 8, 4, 2, None, draw)[0] for draw in (0, 1)]
    means = averaged(table_of(rows, TINY))
    assert means.height == 1
    assert means["lower"][0] == pytest.approx((rows[0]["lower"] + rows[1]["lower"]) / 2)
    errors = [row["map_mc_error"] for row in rows]
    assert means["map_mc_error"][0] == pytest.approx(np.hypot(*errors) / 2)


def test_averages_over_people() -> None:
    blank = {"dataset": "gowalla", "right": 1, "misses": 1, "sigma": None, "failed": False}
    numbers = dict.fromkeys(("lower", "upper", "baseline_lower", "baseline_upper", "tight", "loose"), 0.5)
    numbers |= dict.fromkeys(("map", "prior", "constant", "spectral_gap", "sighted"), 0.25)
    rows = [
        {**blank, **numbers, "hit_map": hit, "hit_prior": True, "hit_constant": False, "hit_ascent": True,
         "hit_hindsight": bool(places), "right_places": places}
        for hit, places in ((True, [3, 4]), (None, [4]), (False, []), (True, []))
    ]  # fmt: skip
    means = means_of(rows).row(0, named=True)
    assert means["people"] == 4
    assert means["hit_map"] == 0.5  # what cannot happen under the habits is not found
    assert means["hit_everyone"] == 0.5
    assert means["hit_hindsight"] == 0.5


def test_without_smoothing_rows_are_counts(city: Data) -> None:
    people = prepare(city, TINY, Reading("plain", smoothing=0.0, toward="uniform"))
    assert isinstance(people, Unsmoothed)
    for person in range(4):
        prior, states = people.prior(person, [0])
        steps = people.fitted[person]
        for state, place in enumerate(states):
            after = steps[1:][steps[:-1] == place]
            if place >= 0 and len(after):
                expected = [np.mean(after == other) if other >= 0 else 0.0 for other in states]
                np.testing.assert_allclose(prior.transition[state], expected)
        assert prior.starts_stationary


def left_at_last(people: Any) -> Any:
    """The same people, the first of whom ends at a place that they were never at before."""
    fitted = people.fitted.copy()
    fitted[0, -1] = next(p for p in range(len(people.places)) if p not in fitted[0, :-1])
    return dataclasses.replace(people, fitted=fitted)


def test_places_never_left_can_keep_people(city: Data) -> None:
    people = left_at_last(prepare(city, TINY, Reading("stay", smoothing=0.0, unseen="stay")))
    prior, states = people.prior(0, [])
    assert states[int(np.argmax(prior.initial))] == people.fitted[0, -1]
    assert prior.initial.max() == pytest.approx(1.0)


def test_places_never_left_can_follow_the_person(city: Data) -> None:
    people = left_at_last(prepare(city, TINY, Reading("own", smoothing=0.0, unseen="own")))
    prior, states = people.prior(0, [])
    row = prior.transition[list(states).index(people.fitted[0, -1])]
    expected = [np.mean(people.fitted[0] == place) for place in states]
    np.testing.assert_allclose(row, expected)
    assert prior.starts_stationary
    assert set(states[prior.initial > 0]) <= set(people.fitted[0])


@pytest.mark.parametrize("unseen", ["spread", "own", "stay"])
def test_gaps_are_those_of_the_matrix_over_all_places(city: Data, unseen: Any) -> None:
    people = prepare(city, TINY, Reading("x", smoothing=0.0, toward="uniform", unseen=unseen))
    count = len(people.places)
    for person in range(6):
        steps = people.fitted[person]
        moves = np.zeros((count, count))
        np.add.at(moves, (steps[:-1], steps[1:]), 1.0)
        rows: Any = {"spread": 1.0, "own": np.bincount(steps, minlength=count), "stay": np.eye(count)}[unseen]
        empty = moves.sum(axis=1) == 0
        moves[empty] = np.broadcast_to(rows, (count, count))[empty]
        moves /= moves.sum(axis=1, keepdims=True)
        found = gaps(people, person)
        assert found["gap_whole"] == pytest.approx(pb.MarkovPrior(np.eye(count)[0], moves).spectral_gap, abs=1e-6)
        visited = np.unique(steps)
        if not empty[visited].any() and len(visited) > 1:
            inside = np.linalg.eigvals(moves[np.ix_(visited, visited)])
            assert found["gap_reached"] == pytest.approx(1 - np.sort(np.abs(inside))[-2], abs=1e-6)
            assert found["gap_signed"] == pytest.approx(1 - np.sort(inside.real)[-2], abs=1e-6)
            unvisited = 1 - len(visited) / count
            if unseen == "spread":
                assert found["gap_whole"] == pytest.approx(min(found["gap_reached"], 1 - unvisited), abs=1e-6)


def test_smoothing_toward_equal_frequencies(city: Data) -> None:
    people = prepare(city, TINY, Reading("uniform", toward="uniform"))
    prior, _ = people.prior(0, reduced=False)
    counts = np.zeros((len(people.places), len(people.places)))
    np.add.at(counts, (people.fitted[0, :-1], people.fitted[0, 1:]), 1.0)
    expected = (counts + 1 / len(people.places)) / (counts.sum(axis=1, keepdims=True) + 1)
    np.testing.assert_allclose(prior.transition, expected)


def test_examples_by_hand() -> None:
    rows = {(row["person"], row["sigma"]): row for row in examples.worked(0)}
    here, there = rows["in New York", None], rows["in Paris", None]
    assert here["lower"] == pytest.approx(0.24 + 0.24)  # seen at the sensor, or the best of the other places
    assert there["lower"] == pytest.approx(0.01 + 0.24)
    stays, moves = rows["stays", None], rows["moves", None]
    assert stays["lower"] == pytest.approx(2 * 0.2 * 0.96)
    assert moves["lower"] == pytest.approx(2 * 0.2 * 0.2)
    assert stays["seen_then_not"] == pytest.approx(0.96)
    assert moves["seen_then_not"] == pytest.approx(0.2)


def test_exact_information_is_what_a_list_of_all_series_gives() -> None:
    rows = {(row["quantity"], row["steps"]): row["value"] for row in formulas.checked(TINY)}
    assert rows["information, exact", 4] == pytest.approx(rows["information, by listing all series", 4], abs=1e-12)
    assert rows["information, order 1", 4] >= rows["information, exact", 4]


def _rows(start: int) -> list[dict[str, Any]]:
    return [{"value": start + i} for i in range(2)]


def test_pieces_are_the_same_with_several_workers() -> None:
    work = [("a", Piece(_rows, {"start": start})) for start in range(4)]
    alone, together = dict(done(work, 1)), dict(done(work, 2))
    assert alone == together == {i: _rows(i) for i in range(4)}


def test_a_killed_worker_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[dict[str, bool]] = []

    class Broken:
        def __init__(self, *_: object, **__: object) -> None: ...

        def submit(self, _: object) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool("a process in the process pool was terminated abruptly"))
            return future

        def shutdown(self, **how: bool) -> None:
            ended.append(how)

    monkeypatch.setattr(pieces, "ProcessPoolExecutor", Broken)
    with pytest.raises(pb.PasserbyError, match=r"ended before its time .* finished experiments are kept: run the same"):
        list(done([("a", Piece(_rows, {"start": start})) for start in range(2)], 2))
    assert ended == [{"wait": True, "cancel_futures": True}]


def test_files_that_cannot_be_used_are_named_by_their_option(city: Data, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(pb.InputError, match=r"^--gowalla, .* layout of loc-gowalla_totalCheckins\.txt: .*empty\.txt"):
        read_data("gowalla", tmp_path / "empty.txt")
    with pytest.raises(
        pb.InputError, match=r"^--foursquare: too little is left by the .* \(no person is seen in at le"
    ):
        prepare(city, dataclasses.replace(TINY, min_active=10_000))


def test_tables_are_known_by_what_they_were_made_from(tmp_path: Path) -> None:
    table = pl.DataFrame({"a": [1, 2]})
    write_table(tmp_path, "x", table, "one")
    found = read_table(tmp_path, "x", "one")
    assert found is not None
    assert found.equals(table)
    assert read_table(tmp_path, "x", "two") is None
    assert read_table(tmp_path, "y", "one") is None
    (tmp_path / "x.parquet").write_bytes(b"broken")
    assert read_table(tmp_path, "x", "one") is None
    assert pl.read_csv(tmp_path / "x.csv").equals(table)


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
    text = (out / "claims.md").read_text()
    assert "**Holds**" in text
    assert "nan" not in text
    assert "its sentences are templates" in text


def test_nobody_is_named(run: tuple[Path, Any], city: Data) -> None:
    out, _ = run
    columns = {c for name in EXPERIMENTS for c in pl.read_parquet(out / "numbers" / f"{name}.parquet").columns}
    assert not columns & {"ids", "id", "user"}
    for name in ("sensor-visits", "spectral-gap"):
        table = pl.read_parquet(out / "numbers" / f"{name}.parquet")
        assert table.equals(table.sort(table.columns))


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


def test_tables_of_other_code_are_not_taken(tmp_path: Path) -> None:
    package = tmp_path / "package"
    for name in ("kernels/chain.py", "paper/claims_steps.py", "cli/main.py"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("before")
    digests = [sources(package)]
    for name in ("paper/claims_steps.py", "cli/main.py", "kernels/chain.py"):
        (package / name).write_text("after")
        sources.cache_clear()
        digests.append(sources(package))
    assert digests[0] == digests[1] == digests[2] != digests[3]
    sources.cache_clear()


def test_tables_of_other_files_are_not_taken(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(file.read_bytes()[:-1] + b"x")
    for name, same in (("places", True), ("people", False)):
        marks = {fingerprint(EXPERIMENTS[name], TINY, {"gowalla": path}) for path in (file, other)}
        assert (len(marks) == 1) == same


def test_no_experiment_looks_at_what_only_shows() -> None:
    folder = Path(style.__file__).parent
    shows = tuple(part.removeprefix("paper/") for part in SHOWING if part.startswith("paper/"))
    for path in folder.glob("*.py"):
        if path.name.startswith(shows) or path.name == "run.py":
            continue
        for line in path.read_text().splitlines():
            if line.startswith("from ."):
                assert not line.removeprefix("from .").strip().startswith(shows), f"{path.name}: {line}"


def test_choosing() -> None:
    assert choose([], {}) == GROUPS["simulated"]
    assert choose(["sigma", "places"], {}) == ["places", "sigma"]
    with pytest.raises(pb.ConfigError, match="no experiment 'plaices'; choose from examples"):
        choose(["plaices"], {})
    with pytest.raises(pb.ConfigError, match="--foursquare FILE"):
        choose(["real"], {})
    with pytest.raises(pb.InputError, match=r"--gowalla: 'nowhere\.txt' does not exist"):
        choose([], {"gowalla": Path("nowhere.txt")})


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real_import = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(pb.PasserbyError, match=r"pip install 'passerby\[paper\]'"):
        style.need_matplotlib()
