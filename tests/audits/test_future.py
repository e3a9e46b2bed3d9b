"""Nothing of a step to be found reaches the choice of places, people, habits, weights or sensors, at any origin."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import passerby as pb
from passerby.audits.backtest import BacktestJob, Earlier, earlier_origins
from passerby.audits.inputs import Inputs, Stored, fitting, gather
from passerby.audits.settings import AuditSettings
from passerby.audits.validation import check_settings
from passerby.people.fit import fit_traces
from passerby.people.habits import People
from passerby.support.blocks import Team
from passerby.visits import store, trace_store

HOLDOUT, PLACES = 3, 12
START = np.datetime64("2024-01-01T00:00:00", "us")
STEP = np.timedelta64(6 * 3600, "s")


def visits() -> pl.DataFrame:
    """Visits of a small city, a row each."""
    city = pb.simulate_city(people=70, places=30, days=6, seen=0.4, seed=3)
    names = {"person": (10 * city.people).gather(city.table["person"])}
    times = city.table["time"].dt.replace_time_zone(None)
    return pl.DataFrame({**names, "time": times, "place": city.places.gather(city.table["place"])})


def noisy(table: pl.DataFrame, cut: int, seed: int) -> pl.DataFrame:
    """The same visits up to so many steps; those that follow are of anybody, anywhere, also of newcomers.

    The last visit stays where it is in time, which decides how many steps there are.
    """
    rng, edge = np.random.default_rng(seed), START + cut * STEP
    until = edge.astype(object)
    before, after = table.filter(pl.col("time") < until), table.filter(pl.col("time") >= until)
    times = after["time"].to_numpy()
    people = np.array([*table["person"].unique().sort().to_list(), *range(5, 700, 30)])
    places = np.array([*table["place"].unique().sort().to_list(), *(f"a new place {k}" for k in range(5))])
    n = 2 * len(times)
    span = (times.max() - edge).astype("timedelta64[us]").astype(int)
    moments = edge + np.append(rng.integers(0, span, n), span).astype("timedelta64[us]")
    # Some places draw nearly everybody, so that any ranking that looks at these steps is another one.
    popular = rng.permutation(len(places))[(len(places) * rng.random(n + 1) ** 3).astype(int)]
    rows = {"person": people[rng.integers(0, len(people), n + 1)], "time": moments, "place": places[popular]}
    made = pl.DataFrame(rows).cast(table.schema)
    return pl.concat([before, made])


def settings_of(file: Path, folder: Path, **more: Any) -> AuditSettings:
    given = {"window": "6h", "holdout": HOLDOUT, "min_active": 4, "places": PLACES, "origin": "2024-01-01", **more}
    sensors = {} if "zones" in more else {"sensor_count": 2}
    return check_settings({"visits": file, "out": folder, "backtest": 20, **sensors, **given})


def gathered(table: pl.DataFrame, folder: Path, disk: bool, **more: Any) -> tuple[Inputs, AuditSettings]:
    folder.mkdir(parents=True)
    table.write_parquet(folder / "visits.parquet")
    settings = settings_of(folder / "visits.parquet", folder / "out", **more)
    return gather(settings, stored=Stored(folder / "store", Team(1)) if disk else None), settings


def known(people: People) -> list[Any]:
    """All that is known before the steps to be found, but for these; what the others did then is known on purpose."""
    people = replace(people, common=None)
    priors = [people.prior(person, [0, 2])[0] for person in range(0, len(people), 7)]
    chains = [array for prior in priors for array in (prior.initial, prior.transition)]
    values: list[Any] = [people.places, people.ids.to_list(), people.smoothing]
    arrays: list[np.ndarray[Any, Any]] = [people.fitted, people.background]
    if people.habits is not None:
        values += [people.habits.chosen, people.habits.scores.rows()]
        arrays.append(people.habits.weights)
    population = people.population
    if population is not None:
        arrays += [population.familiarity, population.roles]
        arrays += [getattr(each, name) for each in (population.moves, *population.parts) for name in ("keys", "number")]
    return [*values, *(array.tobytes() for array in (*arrays, *chains))]


def at_origin(work: BacktestJob, cut: int) -> list[Any]:
    """The same of the people of an earlier origin, and the sensors that are chosen there."""
    then = work.earlier[cut]
    assert isinstance(then, Earlier)
    people = fit_traces(then.whole, replace(work.fitting, least=2))
    assert work.anew is not None
    return [*known(people), work.anew(people).sensors]


@pytest.mark.parametrize(("disk", "habits"), [(False, "auto"), (True, "auto"), (False, "paper"), (True, "paper")])
def test_noise_instead_of_what_is_to_be_found_changes_nothing_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk: bool, habits: str
) -> None:
    for module, name, size in ((store, "ROWS", 900), (store, "DRAWN", 20), (trace_store, "CELLS", 500)):
        monkeypatch.setattr(module, name, size)
    table = visits()
    real, settings = gathered(table, tmp_path / "real", disk, habits=habits)
    steps = real.traces.array.shape[1]
    latest, *before = earlier_origins(steps, HOLDOUT, settings.origins)
    assert len(before) >= 2
    other, _ = gathered(noisy(table, latest, 1), tmp_path / "latest", disk, habits=habits)
    assert other.traces.array.shape[1] == steps
    assert known(other.people) == known(real.people)
    assert other.release.sensors == real.release.sensors
    assert not np.array_equal(other.people.actual, real.people.actual)
    for cut in before:
        noise, _ = gathered(noisy(table, cut, cut), tmp_path / str(cut), disk, habits=habits)
        work, unchanged = noise.backtest(settings), real.backtest(settings)
        assert at_origin(work, cut) == at_origin(unchanged, cut)
        # The noise is no small one: places and people of the published window are others.
        assert noise.people.places != real.people.places


def test_memory_and_disk_agree_at_each_origin(tmp_path: Path) -> None:
    table = visits()
    (here, settings), (there, _) = (gathered(table, tmp_path / str(disk), disk) for disk in (False, True))
    assert here.earlier.keys() == there.earlier.keys() != set()
    for cut in here.earlier:
        mine, theirs = here.backtest(settings), there.backtest(settings)
        assert at_origin(mine, cut) == at_origin(theirs, cut)


@pytest.mark.parametrize("habits", ["auto", "paper", "paper, auto", pb.Habits()], ids=str)
def test_in_python_too_whatever_the_habits(habits: Any) -> None:
    table, (word, *auto) = visits(), habits.split(", ") if isinstance(habits, str) else (habits,)
    options: dict[str, Any] = {"window": "6h", "places": PLACES, "min_active": 4, "holdout": HOLDOUT, "habits": word}
    options |= {"smoothing": "auto"} if auto else {}
    real = pb.fit_people(pb.read_visits(table), **options)
    cut = real.fitted.shape[1]
    people = pb.fit_people(pb.read_visits(noisy(table, cut, 5)), **options)
    assert known(people) == known(real)
    assert pb.most_visited_sensors(people, 3) == pb.most_visited_sensors(real, 3)
    with_all = pb.window_visits(pb.read_visits(noisy(table, cut, 5)), window="6h", places=PLACES, min_active=1)
    assert with_all.places != people.places


def test_zones_keep_their_places_and_the_most_visited_come_first(tmp_path: Path) -> None:
    zones = tmp_path / "zones.csv"
    zones.write_text("place,zone\nstation 01,north\nhome-area 05,north\nmuseum 01,south\n")
    table = visits()
    real, settings = gathered(table, tmp_path / "real", False, zones=zones, places=6)
    other, _ = gathered(noisy(table, real.people.fitted.shape[1], 2), tmp_path / "noise", False, zones=zones, places=6)
    assert known(other.people) == known(real.people)
    work = real.backtest(settings)
    assert work.anew is None
    for then in work.earlier.values():
        assert isinstance(then, Earlier)
        assert set(real.people.places) <= set(then.traces.places)
    assert fitting(settings).holdout == HOLDOUT
