"""Audits of zones, flows and visitors: the same as with a state for each place, and from files to a folder."""

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.audits import backtest
from passerby.audits.everyone import Partitions, joined
from passerby.audits.job import Job, check_job, only, over_states
from passerby.audits.person import audit_person
from passerby.audits.settings import Measurement
from passerby.audits.settings_file import read_settings
from passerby.audits.validation import check_settings
from passerby.model import memory
from passerby.others.by_habits import everyone_else
from passerby.others.counted import Counted
from passerby.runs.audit import run_audit

STEPS = 3
ZONES = ([0, 3, 7, 9], [1, 2, 4], [5, 8])
RELEASES: dict[str, Sequence[pb.Present | pb.Moved | pb.Visitors]] = {
    "present": [pb.Present(zone, t) for t in range(STEPS) for zone in ZONES],
    "nested": [pb.Present(zone, t) for t in range(STEPS) for zone in (*ZONES, [0, 1, 2, 3, 4, 7, 9], [1], [0, 5])],
    "moved": [pb.Moved(a, b, t) for t in range(STEPS - 1) for a in ZONES[:2] for b in ZONES],
    "visitors": [pb.Visitors(zone, range(STEPS), 2) for zone in ZONES],
    "mixed": [
        pb.Moved(ZONES[0], ZONES[1], 0),
        pb.Visitors(ZONES[2], [1, 2]),
        pb.Present([1, 5], 0),
        pb.Present([3], 2),
    ],
}
MECHANISMS = (pb.Raw(), pb.Rounding(4), pb.Suppression(3))


@pytest.fixture(scope="module")
def people() -> pb.People:
    city = pb.simulate_city(people=60, places=16, days=5, seed=2)
    return pb.fit_people(city, window="4h", places=12, min_active=4, holdout=STEPS)


def job_of(people: pb.People, kind: str, mechanism: pb.Mechanism | None = None) -> Job:
    release = pb.Release(counts=RELEASES[kind], steps=STEPS, mechanism=mechanism)
    return Job(people, release, Measurement(1, tolerance=0.0), everyone_else(people, release))


@pytest.mark.parametrize("kind", RELEASES)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_nothing_is_lost_by_merging_places_of_a_zone(people: pb.People, kind: str, mechanism: pb.Mechanism) -> None:
    job = job_of(people, kind, mechanism)
    for person in (0, 21, 40):
        row = audit_person(job, person)
        prior, _ = people.prior(person, reduced=False)
        whole = pb.measure(prior, job.release_for(person), 1, tolerance=0)
        assert whole.effort.reached
        assert row["status"] == "ok"
        assert [row["lower"], row["upper"]] == pytest.approx([whole.lower, whole.upper], rel=1e-9)
        assert over_states(job, person)[0].states < prior.states


def test_places_of_a_zone_that_nobody_tells_apart_are_one_state(people: pb.People) -> None:
    """Beside those that a person visited, each zone has the place that is most worth naming, and all others."""
    job = job_of(people, "present")
    prior, release, places, state_of = over_states(job, 5)
    label = job.zones
    assert label is not None
    for zone in ZONES:
        assert len({int(label[place]) for place in zone}) == 1
    merged = [state for state, place in enumerate(places) if place < 0]
    assert merged
    assert not prior.guessable[merged].any()
    seen = set(people.fitted[5].tolist())
    for place, state in enumerate(state_of):
        assert (places[state] == place) or (places[state] == -1 - label[place] and place not in seen)
    assert release.steps == STEPS


def test_the_truth_is_tried_and_workers_agree(people: pb.People) -> None:
    job = job_of(people, "mixed", pb.Rounding(4))
    table = pb.audit(people, job.release, 1, workers=1)
    assert table["hit_map"].null_count() == 0
    assert table["hit_map"].any()
    some = Partitions(job_of(people, "mixed", pb.Rounding(4)), 20)
    again, numbers = joined(some.common, some[1])
    rows = [audit_person(again, number)["upper"] for number in numbers]
    job = replace(job, measurement=Measurement(1, tolerance=0.0))
    assert rows == [audit_person(job, person)["upper"] for person in range(20, 40)]
    assert some.common.people.whereabouts is None


def test_a_backtest_and_other_adversaries_look_at_the_same_counts(people: pb.People) -> None:
    release = pb.Release(counts=RELEASES["mixed"], steps=STEPS, mechanism=pb.Rounding(4))
    found = pb.adversaries(people, release, sample=4, budget=1e7, known_steps=[1])
    assert found["upper"].to_list() == sorted(found["upper"].to_list())
    assert (found["lower"] <= found["upper"] + 1e-12).all()
    city = pb.simulate_city(people=60, places=16, days=5, seed=2)
    steps = {"window": "4h", "places": 12, "min_active": 4, "holdout": STEPS}
    told = pb.backtest(city, release=release, people=12, origins=2, **steps)  # type: ignore[arg-type]
    assert told.by_misses.filter(attack="map")["promised"].is_sorted()


def test_others_of_a_backtest_are_everybody_also_where_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Habits of many people are tried on some, but all of them are in the counts."""
    seen: list[list[int]] = []

    def tried(job: Job, person: int, misses: list[int], _: object) -> tuple[np.ndarray, np.ndarray]:
        assert isinstance(job.others, Counted)
        seen.append(job.others.total.tolist())
        return np.zeros((4, len(misses))), np.zeros((4, len(misses)))

    monkeypatch.setattr(backtest, "tried_on", tried)
    city = pb.simulate_city(people=60, places=16, days=5, seed=2)
    traces = pb.window_visits(city, window="4h", places=12, min_active=1)
    release = pb.Release(counts=RELEASES["mixed"], steps=STEPS, mechanism=pb.Rounding(4))
    for most in (1000, 30):
        monkeypatch.setattr(backtest, "MOST_PEOPLE", most)
        pb.backtest(traces, release=release, people=12, origins=2, holdout=STEPS)
    half = len(seen) // 2
    assert half == 24
    assert seen[:half] == seen[half:]


def test_too_much_to_remember_is_refused_at_once(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_ENTRIES", 3000)
    windows = [pb.Visitors([place], range(STEPS)) for place in range(12)]
    flows = [pb.Moved([a], [b], t) for a in range(12) for b in range(12) for t in range(STEPS - 1)]
    with pytest.raises(pb.UnsupportedRelease, match="1 window of visitors and 144 flows are open at step 2"):
        pb.audit(only(people, np.arange(5)), pb.Release(counts=[*windows, *flows], steps=STEPS), workers=1)


def test_places_that_are_not_there_are_refused(people: pb.People) -> None:
    with pytest.raises(pb.InputError, match=r"Present\(.*there are 13 places, numbered 0 to 12"):
        check_job(Job(people, pb.Release(counts=[pb.Present([0, 13], 0)], steps=STEPS), Measurement(1)))


def write_town(folder: Path) -> None:
    """Visits, zones at two levels, and counts."""
    city = pb.simulate_city(people=40, places=12, days=5, seed=4)
    names = city.places.to_list()
    table = city.table.select("time", person=city.people.gather(city.table["person"]).cast(pl.String), place=pl.lit(""))
    table = table.with_columns(place=city.places.gather(city.table["place"]))
    table.write_csv(folder / "visits.csv")
    rows = [(name, f"ward {k % 3}", "ward") for k, name in enumerate(names)]
    rows += [(name, "all but one", "city") for name in names[1:]]
    pl.DataFrame(rows, schema=["place", "zone", "level"], orient="row").write_csv(folder / "zones.csv")
    (folder / "counts.csv").write_text(
        "kind,zone,origin,destination,step,mechanism\nvisitors,ward 1,,,1-3,\n"
        f"moved,,ward 0,ward 2,2,Suppression(5)\npresent,{names[0]};{names[5]},,,,\n"
    )


LITTLE = {"window": "6h", "holdout": 3, "min_active": 4, "places": 5, "budget": 1e5, "workers": 1}
NOTHING = {"explore": 0, "backtest": 0, "adversaries": 0, "sample": 6}


@pytest.mark.thorough
def test_a_folder_of_zones_is_reproduced_by_its_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_town(tmp_path)
    monkeypatch.chdir(tmp_path)
    files = {"zones": "zones.csv", "counts": "counts.csv", "count": ["present", "moved"], "mechanism": "rounding"}
    files |= {"habits": "paper"}
    report = pb.audit_folder("visits.csv", "out", **LITTLE, **NOTHING, **files)  # type: ignore[arg-type]
    # Three wards and one more zone at 3 steps, flows at 2 within each level, and the counts of the file.
    assert report.summary.sensors == 3 * 4 + 2 * (9 + 1) + 1 + 1 + 3
    assert report.summary.mechanism == "Rounding(base=5); Suppression(below=5)"
    # All places of zones are kept, beside the five most visited.
    assert report.summary.places == 13
    assert set(report.figures) >= {"published", "flows", "visitors"}
    written = tomllib.loads((tmp_path / "out" / "audit.toml").read_text())
    assert (written["zones"], written["count"]) == ("../zones.csv", ["present", "moved"])
    again = run_audit(check_settings(read_settings("out/audit.toml")), overwrite=True, workers=1)
    assert again.table.equals(report.table)
    assert again.page == report.page


def test_published_zones_and_flows(tmp_path: Path) -> None:
    """The realised loss of what is published about everybody, and what cannot be."""
    write_town(tmp_path)
    names = pb.read_visits(tmp_path / "visits.csv").places.to_list()
    people = pb.fit_people(
        pb.read_visits(tmp_path / "visits.csv"), window="6h", holdout=3, min_active=4, places=sorted(names)
    )
    wards = [[people.places.index(name) for k, name in enumerate(names) if k % 3 == ward] for ward in range(3)]
    inside = np.isin(people.actual, wards[0]), np.isin(people.actual, wards[2])
    rows = [f"present,ward 0,,,{t + 1},{inside[0][:, t].sum()}" for t in range(3)]
    rows += [f"moved,,ward 0,ward 2,1,{(inside[0][:, 0] & inside[1][:, 1]).sum()}"]
    rows += [f"visitors,ward 2,,,1-3,{inside[1].any(axis=1).sum()}"]
    head = "kind,zone,origin,destination,step,count"
    for name, change in (("right", 0), ("wrong", 4)):
        first, *rest = rows
        words = first.split(",")
        (tmp_path / f"{name}.csv").write_text(
            "\n".join([head, ",".join([*words[:-1], str(int(words[-1]) + change)]), *rest, ""])
        )
    how = {**LITTLE, **NOTHING, "places": 12, "zones": tmp_path / "zones.csv", "habits": "paper"}
    right, wrong = (
        pb.audit_folder(tmp_path / "visits.csv", tmp_path / name, published=tmp_path / f"{name}.csv", **how)  # type: ignore[arg-type]
        for name in ("right", "wrong")
    )
    assert (right.table["realised_status"] == "ok").all()
    assert (right.table["realised_lower"] <= right.table["realised_upper"] + 1e-12).all()
    assert (wrong.table["realised_status"] == "impossible").all()
