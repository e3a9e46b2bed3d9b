"""One person's row, against the measurement of the same person."""

import numpy as np
import polars as pl
import pytest
from tests.people.test_habits import random_traces, traces

import passerby as pb
from passerby.audits import person as module
from passerby.audits.person import SCHEMA
from passerby.people.sensors import random_sensors


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(random_traces(5, 30, 12, 15), holdout=3)


@pytest.fixture(scope="module")
def release(people: pb.People) -> pb.Release:
    return pb.Release(random_sensors(people, 2, seed=3))


@pytest.fixture(scope="module")
def table(people: pb.People, release: pb.Release) -> pl.DataFrame:
    return pb.audit(people, release, 1, workers=1)


def test_a_row_is_the_measurement_of_the_person(people: pb.People, release: pb.Release, table: pl.DataFrame) -> None:
    assert table.columns == ["person", *SCHEMA]
    assert table["person"].to_list() == people.ids.to_list()
    for person in (0, 17):
        prior, _ = people.prior(person, reduced=False)
        loss = pb.measure(prior, release, 1, tolerance=0)
        row = table.row(person, named=True)
        assert row["status"] == "ok"
        assert row["lower"] - 1e-9 <= loss.upper
        assert row["upper"] + 1e-9 >= loss.lower
        assert row["upper"] <= 1.01 * row["lower"] + 1e-12
        assert row["attack_prior"] == pytest.approx(loss.attacks["prior"].value, abs=1e-9)
        assert row["bound_raw"] is None
        if prior.modes > 1:  # a mixture over what is left open of the day
            assert row["bound_tight"] is row["spectral_gap"] is None
        else:
            assert row["bound_tight"] == pytest.approx(loss.bounds["tight"], abs=1e-9)
            assert row["spectral_gap"] == pytest.approx(prior.spectral_gap, abs=1e-7)
        assert row["places"] == len(set(people.fitted[person].tolist()))
        assert row["sighted"] == pytest.approx(sighted_by_sampling(prior, release), abs=0.02)


def sighted_by_sampling(prior: pb.MarkovPrior, release: pb.Release) -> float:
    drawn = prior.sample(20_000, release.steps, np.random.default_rng(0))
    return float((drawn[:, :, None] == release.grid).any(axis=(1, 2)).mean())


def test_hits_are_guesses_about_the_real_trace() -> None:
    # Everybody is where they always are, so every attack but the constant one (for those elsewhere) is right.
    array = np.repeat([[0], [1], [3]], 10, axis=1)
    people = pb.fit_people(traces(array, 4), holdout=3, smoothing=0.01, habits="paper", name_elsewhere=True)
    table = pb.audit(people, pb.Release([0, 0, 0]), 0, workers=1)
    assert table.select("hit_map", "hit_prior", "hit_marginal", "hit_ascent").to_numpy().all()
    assert table["hit_constant"].to_list() == [True, True, False]


def test_whoever_is_elsewhere_is_not_found_by_saying_so() -> None:
    array = np.repeat([[0], [1], [3]], 10, axis=1)
    people = pb.fit_people(traces(array, 4), holdout=3, smoothing=0.01, habits="paper")
    table = pb.audit(people, pb.Release([0, 0, 0]), 0, workers=1)
    assert table["hit_map"].to_list() == [True, True, False]
    assert table["upper"].to_list()[2] < 1e-2 < 0.9 < table["lower"].to_list()[0]


def test_a_trace_that_cannot_happen_is_a_status() -> None:
    array = np.array([[0, 0, 0, 1], [0, 0, 0, 0]])
    people = pb.fit_people(traces(array, 3), holdout=1, habits="paper")
    table = pb.audit(people, pb.Release([1]), 0, workers=1)
    assert table["status"].to_list() == ["impossible", "ok"]
    assert table["hit_map"].to_list() == [None, True]
    assert table["lower"].to_list() == [1.0, 1.0]


def test_a_refusal_is_a_status(people: pb.People, release: pb.Release, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> pb.Loss:
        raise pb.UnsupportedRelease("not this one")

    monkeypatch.setattr(module, "measured", refuse)
    table = pb.audit(people, release, 1, workers=1)
    assert table["status"].unique().to_list() == ["not this one"]
    assert table["lower"].is_null().all()


def test_a_budget_that_is_too_small_is_a_status(people: pb.People, release: pb.Release) -> None:
    wide = pb.audit(people, release, 1, workers=1, tolerance=0, budget=0)
    exact = pb.audit(people, release, 1, workers=1, tolerance=0)
    assert (wide["upper"] >= exact["lower"] - 1e-9).all()
    assert set(wide["status"]) <= {"ok", "wide"}
    assert set(exact["status"]) == {"ok"}


def test_the_status_tells_who_is_within_the_tolerance(people: pb.People) -> None:
    """Whether series are listed, stood in for or sampled."""
    for mechanism, budget in ((pb.Raw(), 5e9), (pb.Gaussian(1.0), 5e9), (pb.Gaussian(1.0), 1e3)):
        table = pb.audit(people, pb.Release([0, 1, 2], mechanism), 1, workers=1, runs=20, budget=budget)
        reached = table["upper"] <= table["lower"] * 1.01 + 1e-15
        assert (table["status"] == "ok").to_list() == reached.to_list()
        assert reached.all() == (budget > 1e3)
