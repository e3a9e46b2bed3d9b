"""An audit of people on disk gives the same bytes as one of people in memory, whoever works on it or dies."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.audits import backtest, engine, everyone, inputs, results, stored
from passerby.audits.audit import audit_everyone, audit_job
from passerby.audits.backtest import run_backtest
from passerby.audits.everyone import Everyone
from passerby.audits.inputs import Inputs, Stored, gather
from passerby.audits.results import Results, Rows, write_rows
from passerby.audits.settings import AuditSettings
from passerby.audits.stored import on_disk, rows_about, store_of
from passerby.audits.summary import summarise
from passerby.audits.validation import check_settings
from passerby.others.counted import Counted
from passerby.runs.audit import run_audit
from passerby.support.blocks import Team
from passerby.support.files import alone_in
from passerby.visits import store, trace_store, write_city

SETTINGS = {
    "window": "12h",
    "holdout": 3,
    "min_active": 3,
    "places": 9,
    "sensor_count": 2,
    "seed": 5,
    "explore": 0,
    "adversaries": 0,
    "backtest": 0,
}


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("city") / "visits.parquet"
    write_city(path, 60, 20, 6, seen=0.25)
    return path


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(everyone, "PARTITION", 7)
    monkeypatch.setattr(results, "ROWS", 13)
    for module, sizes in (
        (store, {"ROWS": 500, "DRAWN": 20}),
        (store, {"RUN": 700, "DRAWN": 20, "GROUP": 50}),
        (trace_store, {"CELLS": 12 * 11, "GROUP": 5}),
    ):
        for name, size in sizes.items():
            monkeypatch.setattr(module, name, size)


def settings_of(city: Path, out: Path, **more: Any) -> AuditSettings:
    values = {**SETTINGS, "visits": city, "out": out, **more}
    for name, beside in (("places", "place_names"), ("sensor_count", "published"), ("sensor_count", "zones")):
        if beside in more:
            values.pop(name, None)
    return check_settings(values)


def both(city: Path, out: Path, team: Team | None = None, **more: Any) -> tuple[Inputs, Inputs]:
    chosen = settings_of(city, out, **more)
    return gather(chosen), gather(chosen, stored=Stored(store_of(out), team or Team()))


def disk_table(settings: AuditSettings, inputs: Inputs) -> pl.DataFrame:
    assert inputs.stored is not None
    found = audit_everyone(inputs.everyone(settings.measurement, settings.out), settings.out, inputs.values)
    assert found.file == store_of(settings.out) / "people.parquet"
    return found.table


@pytest.mark.parametrize(
    "more",
    [
        {},
        pytest.param({"mechanism": "rounding"}, marks=pytest.mark.thorough),
        pytest.param({"habits": "paper", "smoothing": "auto"}, marks=pytest.mark.thorough),
        pytest.param({"rhythm": "hour", "window": "6h"}, marks=pytest.mark.thorough),
        {"place_names": ["home-area 02", "home-area 01"], "min_active": 1, "sensor_count": 1},
    ],
)
def test_the_same_rows_and_summary(city: Path, tmp_path: Path, more: dict[str, Any]) -> None:
    here, there = both(city, tmp_path, **more)
    chosen = settings_of(city, tmp_path, **more)
    table, found = audit_job(here.job(chosen.measurement)), disk_table(chosen, there)
    assert found.equals(table)
    assert there.stored is not None
    assert len(there.stored.partitions) > 5
    assert there.coverage == here.coverage
    assert there.told() == here.told()
    how: dict[str, Any] = {"misses": 1, "window": "12h", "coverage": here.coverage, "thresholds": chosen.thresholds}
    rows = Rows.of(store_of(tmp_path) / "people.parquet")
    assert len(rows.blocks) == -(-len(table) // 13)
    summed = summarise(Results(rows.blocks, chosen.thresholds), there.people, there.release, **how)
    assert summed == summarise(table, here.people, here.release, **how)
    some = np.array([0, 1, 12, 13, len(table) - 1])
    assert rows.at(some).equals(table[some])


@pytest.mark.parametrize("most", [80, 20_000])
def test_a_backtest_counts_everybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Those who are seen too seldom are in the counts of flows and visitors, and those who are not drawn."""
    for module in (backtest, backtest, inputs, stored):
        monkeypatch.setattr(module, "MOST_PEOPLE", most)
    city = tmp_path / "visits.parquet"
    write_city(city, 120, 20, 6, seen=0.04)
    more: dict[str, Any] = {"count": ["visitors"], "mechanism": "rounding", "base": 7, "min_active": 5, "backtest": 30}
    here, there = both(city, tmp_path, **more)
    chosen = settings_of(city, tmp_path, **more)
    assert here.traces.seldom.people > 1
    found = [run_backtest(each.backtest(chosen), 3, workers=1) for each in (here, there)]
    assert found[0].by_misses.equals(found[1].by_misses)


@pytest.mark.parametrize(
    "kind", [*(pytest.param(each, marks=pytest.mark.thorough) for each in ("present", "moved")), "visitors"]
)
def test_zones_flows_and_visitors(tmp_path: Path, kind: str) -> None:
    """Rounding asks how many others there are, also of those who are seen too seldom to be audited."""
    city = tmp_path / "visits.parquet"
    write_city(city, 60, 20, 6, seen=0.06)
    zones = tmp_path / "zones.csv"
    zones.write_text("place,zone\nhome-area 01,north\nhome-area 02,north\nhome-area 07,south\nhome-area 03,south\n")
    more: dict[str, Any] = {"zones": zones, "count": [kind], "mechanism": "rounding", "min_active": 5}
    here, there = both(city, tmp_path, **more)
    chosen = settings_of(city, tmp_path, **more)
    assert here.people.left_out.seldom > 0
    assert there.told() == here.told()
    table = audit_job(here.job(chosen.measurement))
    assert (table["status"] == "ok").any()
    job, common = here.job(chosen.measurement), there.everyone(chosen.measurement, tmp_path).job
    assert isinstance(job.others, Counted)
    assert isinstance(common.others, Counted)
    assert np.array_equal(common.others.total, job.others.total)
    assert disk_table(chosen, there).equals(table)


def test_what_rests_on_a_sample_is_drawn_as_in_memory(
    city: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = both(city, tmp_path, sample=12)
    assert there.stored is None
    assert (there.count, there.eligible) == (12, here.eligible)
    assert there.people.ids.equals(here.people.ids)
    assert np.array_equal(there.people.fitted, here.people.fitted)
    monkeypatch.setattr("passerby.audits.inputs.SHOWN", 20)
    monkeypatch.setattr("passerby.audits.inputs.MOST_PEOPLE", 15)
    _, some = both(city, tmp_path)
    assert (len(some.people), some.count, len(some.traces)) == (20, here.eligible, 15)
    assert any("rest on 20 of the" in alert for alert in some.told())


def test_published_counts(city: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts.csv"
    counts.write_text("place,step,count\nhome-area 01,1,3\nhome-area 02,2,1\n")
    here, there = both(city, tmp_path, published=counts)
    chosen = settings_of(city, tmp_path, published=counts)
    table = audit_job(here.job(chosen.measurement))
    assert here.values is not None
    expected = audit_everyone(Everyone.here(here.job(chosen.measurement)), values=here.values).table
    assert expected.drop("realised_status", "realised_lower", "realised_upper").equals(table)
    assert disk_table(chosen, there).equals(expected)
    how: dict[str, Any] = {"misses": 1, "window": "12h"}
    rows = Rows.of(store_of(tmp_path) / "people.parquet")
    summed = summarise(Results(rows.blocks, AuditSettings.thresholds), there.people, there.release, **how)
    assert summed.realised == summarise(expected, here.people, here.release, **how).realised
    assert summed.realised is not None


class StoppedError(Exception):
    pass


def test_an_interrupted_audit_goes_on(city: Path, tmp_path: Path) -> None:
    chosen = settings_of(city, tmp_path)
    here, there = both(city, tmp_path)
    work = there.everyone(chosen.measurement, tmp_path)

    def stop(done: int, everyone: int) -> None:
        if done >= 20:
            raise StoppedError

    with pytest.raises(StoppedError):
        audit_everyone(work, tmp_path, progress=stop)
    parts = sorted((tmp_path / "parts").glob("*.parquet"))
    assert 2 < len(parts) < len(work.blocks)
    for part, content in zip(parts, (b"PAR1 but no more", parts[1].read_bytes()[:-20]), strict=False):
        part.write_bytes(content)  # a disk may do so
    kept, begun = parts[2].stat().st_mtime_ns, list[int]()
    _, again = both(city, tmp_path)
    fresh = again.everyone(chosen.measurement, tmp_path)
    rows = audit_everyone(fresh, tmp_path, progress=lambda done, _: begun.append(done))
    assert begun[0] > 0
    assert parts[2].stat().st_mtime_ns == kept
    assert rows.table.equals(audit_job(here.job(chosen.measurement)))
    other = again.everyone(replace(chosen.measurement, seed=6), tmp_path)
    with pytest.raises(pb.ConfigError, match="unfinished audit of other people or with other settings"):
        audit_everyone(other, tmp_path)


@pytest.mark.parametrize("harm", ["vanishes", "is replaced", "is damaged"])
def test_nobody_is_lost_where_a_finished_partition_goes(city: Path, tmp_path: Path, harm: str) -> None:
    chosen = settings_of(city, tmp_path)
    here, there = both(city, tmp_path)
    work = there.everyone(chosen.measurement, tmp_path)

    def meddle(done: int, everyone: int) -> None:
        if done == everyone:
            first, second = sorted((tmp_path / "parts").glob("*.parquet"))[:2]
            first.unlink()
            if harm == "is replaced":
                first.write_bytes(second.read_bytes())
            elif harm == "is damaged":
                first.write_bytes(b"PAR1")

    with pytest.raises(pb.PasserbyError, match=r"parts: 1 of \d+ finished partitions were removed or changed"):
        audit_everyone(work, tmp_path, progress=meddle)
    begun = list[int]()
    rows = audit_everyone(work, tmp_path, progress=lambda done, _: begun.append(done))
    assert begun[0] > 20
    assert rows.table.equals(audit_job(here.job(chosen.measurement)))


def test_a_whole_folder(city: Path, tmp_path: Path) -> None:
    """And nothing of what was in between is left."""
    for where in ("memory", "disk"):
        report = run_audit(settings_of(city, tmp_path / where, store=where), workers=1)
        assert report.table.height == report.summary.people
    for name in ("people.parquet", "questions.parquet", "summary.json", "report.html", "internal.html"):
        assert (tmp_path / "disk" / name).read_bytes() == (tmp_path / "memory" / name).read_bytes(), name
    assert not (tmp_path / "disk" / "parts").exists()


def test_a_large_table_is_the_same_bytes_in_whatever_parts_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Polars cuts a table of more than 262,144 rows where its parts end, unless it is told where."""
    monkeypatch.setattr(results, "ROWS", 100_000)
    table = pl.DataFrame({"lower": np.linspace(0, 1, 270_000), "status": ["ok", "wide", "refused"] * 90_000})
    write_rows(table, tmp_path / "whole")
    for size in (1000, 7460):
        parts = [table[at : at + size] for at in range(0, table.height, size)]
        write_rows(pl.concat(parts, rechunk=False), tmp_path / "parts")
        assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes(), size


@pytest.mark.thorough
@pytest.mark.parametrize("workers", [1, 2])
def test_a_finished_audit_is_replaced(city: Path, tmp_path: Path, workers: int) -> None:
    for seed in (5, 6):
        chosen = settings_of(city, tmp_path / "out", store="disk", seed=seed, mechanism="gaussian", runs=20)
        run_audit(chosen, workers=workers, overwrite=True)
    run_audit(replace(chosen, out=tmp_path / "new"), workers=workers)
    for name in ("people.parquet", "questions.parquet", "summary.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "new" / name).read_bytes()


@pytest.mark.parametrize(("stage", "left"), [(engine.FITTING, False), (engine.AUDITING, True)])
def test_an_interruption_leaves_no_visits(city: Path, tmp_path: Path, stage: str, left: bool) -> None:
    """They are read again by whoever goes on; finished partitions are kept."""

    def stop(now: str, done: int, everything: int) -> None:
        if now == stage and done >= 20 * left:
            raise StoppedError

    with pytest.raises(StoppedError):
        run_audit(settings_of(city, tmp_path / "out", store="disk"), workers=1, tell=stop)
    assert not store_of(tmp_path / "out").exists()
    assert (tmp_path / "out").exists() == left
    assert bool([*(tmp_path / "out" / "parts").glob("0*.parquet")]) == left


def test_an_audit_that_another_one_finished_meanwhile_is_left_alone(city: Path, tmp_path: Path) -> None:
    chosen = settings_of(city, tmp_path / "out")

    def overtaken(stage: str, done: int, everything: int) -> None:
        if stage == engine.FITTING:
            run_audit(chosen, workers=1)

    with pytest.raises(pb.ConfigError, match="holds a finished audit"):
        run_audit(chosen, workers=1, tell=overtaken)
    assert (tmp_path / "out" / "summary.json").exists()


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_two_audits_in_one_folder_at_once(city: Path, tmp_path: Path, where: str) -> None:
    pytest.importorskip("fcntl", reason="this system has no such locks")
    out = tmp_path / "out"
    (out / "parts" / "store").mkdir(parents=True)
    with alone_in(out), pytest.raises(pb.ConfigError, match="another process is at work in"):
        run_audit(settings_of(city, out, store=where), workers=1)
    assert (out / "parts" / "store").exists()  # it is the other's
    run_audit(settings_of(city, out, store=where), workers=1)
    assert not (out / "parts").exists()


def test_a_page_of_flows_is_written_while_there_are_workers(city: Path, tmp_path: Path) -> None:
    """The page tells how many people each flow counts, for which those on disk are counted again."""
    for where, workers in (("memory", 1), ("disk", 2)):
        chosen = settings_of(city, tmp_path / where, store=where, count=["moved"], sample=20)
        run_audit(chosen, workers=workers)
    for name in ("report.html", "internal.html"):
        assert (tmp_path / "disk" / name).read_bytes() == (tmp_path / "memory" / name).read_bytes(), name


def test_many_rows_go_to_disk_by_themselves(city: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings_of(city, tmp_path)
    rows = pl.read_parquet(city).height
    assert rows_about(stored.reading_of(chosen)) == rows
    assert not on_disk(chosen)
    monkeypatch.setattr(stored, "LARGE", rows)
    assert on_disk(chosen)
    assert not on_disk(replace(chosen, store="memory"))
    assert not on_disk(replace(chosen, effort="open"))
    text = tmp_path / "v.csv"
    pl.read_parquet(city).write_csv(text)
    assert 0.5 < rows_about(stored.reading_of(replace(chosen, visits=(text,)))) / rows < 2


def test_what_does_not_go_with_disk(city: Path, tmp_path: Path) -> None:
    with pytest.raises(pb.ConfigError, match="effort = 'open' compares everybody's intervals"):
        settings_of(city, tmp_path, store="disk", effort="open")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    pytest.importorskip("distributed", reason="dask.distributed is not installed (extra `cluster`)")
    from passerby.support.dask import dask_cluster

    with dask_cluster("dask", workers=2) as found:
        yield found


class TestDask:
    @pytest.mark.thorough
    def test_the_same_rows(self, city: Path, tmp_path: Path, cluster: Any) -> None:
        chosen = settings_of(city, tmp_path)
        here, there = both(city, tmp_path, Team(None, cluster))
        assert disk_table(chosen, there).equals(audit_job(here.job(chosen.measurement)))

    def test_workers_that_do_not_see_the_folder(
        self, city: Path, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            cluster.client, "run", lambda unseen, **_: {"tcp://a": unseen(), "tcp://b": "/visits/0.csv"}
        )
        with pytest.raises(pb.ConfigError, match=r"^tcp://b cannot see '/visits/0.csv': .* that all workers share"):
            both(city, tmp_path, Team(None, cluster))

    @pytest.mark.thorough
    def test_workers_that_run_in_another_folder(
        self, city: Path, tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Visits and results are named as seen from here."""
        monkeypatch.chdir(city.parent)
        chosen = settings_of(Path(city.name), Path("out"), store="disk")
        run_audit(chosen, engine=cluster.client)
        run_audit(settings_of(city, tmp_path / "here"), workers=1)
        for name in ("people.parquet", "summary.json", "report.html"):
            assert (city.parent / "out" / name).read_bytes() == (tmp_path / "here" / name).read_bytes(), name
