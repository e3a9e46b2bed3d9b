"""Adversaries who know less or more: scored by the person's own habits, against enumeration."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.people.test_habits import random_traces, traces

import passerby as pb
from passerby.audits import adversaries as module
from passerby.audits.adversaries import _at, _gains, _one, _table, _Work
from passerby.audits.attacks import Knowing, Stranger, Target
from passerby.audits.job import Job
from passerby.audits.settings import Measurement
from passerby.outcomes.series import one_series
from passerby.questions.trace.guess import bracket_series

RELEASE = pb.Release([[0, 1]] * 3)


@pytest.fixture(scope="module")
def people() -> pb.People:
    return pb.fit_people(random_traces(3, 30, 12, 6), holdout=3, habits="paper")


def work(people: pb.People, counts: tuple[int, ...] = (1, 2)) -> _Work:
    return _Work(Job(people, RELEASE, Measurement()), Stranger.of(people, [0, 1]), counts)


def test_whoever_knows_habits_is_the_one_of_an_audit(people: pb.People) -> None:
    found = pb.adversaries(people, RELEASE, sample=30)
    table = pb.audit(people, RELEASE, workers=1)
    row = found.row(1, named=True)
    for column, name in (
        ("baseline", "baseline_lower"),
        ("lower", "lower"),
        ("upper", "upper"),
        ("right", "hit_ascent"),
    ):
        assert row[column] == pytest.approx(table[name].mean(), rel=1e-6)
    assert row["least"] < row["lower"] <= row["upper"] < row["most"]


def test_a_stranger_is_never_above_whoever_knows_the_habits(people: pb.People) -> None:
    shared = work(people)
    for person in range(15):
        rows = _one(shared, person)
        assert rows is not None
        assert rows[0][1] <= rows[1][2] + 1e-9
        assert rows[0][0] <= rows[1][0] + 0.01  # the baseline's lower end is within the tolerance


def test_no_luck_takes_a_stranger_above_whoever_knows_the_habits(people: pb.People) -> None:
    """Where every place is counted both find the same traces, of which only some are drawn for the stranger."""
    every = pb.Release([list(range(len(people.places)))] * 3)
    shared = _Work(Job(people, every, Measurement()), Stranger.of(people, range(len(people.places))), (1,))
    for person in range(15):
        rows = _one(shared, person)
        assert rows is not None
        assert rows[0][1] == rows[0][2] == rows[0][4] == rows[0][5] <= rows[1][2]


def test_the_stranger_is_scored_by_the_habits_of_the_person(people: pb.People) -> None:
    """Against all series of raw counts: guess by everybody's chain, score on the person's own over all places."""
    shared, person, misses = work(people), 4, 1
    stranger, (full, _) = shared.stranger, people.prior(4, [0, 1], reduced=False)
    rows = _one(shared, person)
    assert rows is not None
    release = stranger.release(RELEASE)
    total = 0.0
    for trace in product(range(len(people.places)), repeat=3):
        chance = full.initial[trace[0]] * full.transition[trace[0], trace[1]] * full.transition[trace[1], trace[2]]
        numbers = {int(place): k for k, place in enumerate(stranger.places)}
        seen = np.array([[numbers[place] for place in trace]])
        series = one_series(release.evidence(release.publish(seen, np.random.default_rng(0))))
        guess = bracket_series(stranger.prior, release, series, misses, 0.0, 0.0).guesses[0, 2]
        total += chance * ((stranger.places[guess] != np.array(trace)).sum() <= misses)
    assert rows[0][1] == pytest.approx(total, rel=1e-9)


def test_what_is_gained_by_knowing_steps_has_the_right_mean(people: pb.People) -> None:
    """Against the exact average over where the person may have been."""
    settings = {**vars(Measurement(tolerance=1e-6)), "seed": 0}
    job, order, rng = Job(people, RELEASE, Measurement()), np.array([1, 2, 0]), np.random.default_rng(0)
    own = Target.of(job, 7, range(len(people.places)))
    known = Knowing.of(own, {}, settings, rng)
    both = np.array([_gains(job, 7, own, known, order, (1, 2), settings, rng) for _ in range(300)])
    drawn, plain = both[:, :, 0], both[:, :, 1]
    exact = np.zeros((2, 3))
    for trace in product(range(len(people.places)), repeat=3):
        prior = own.prior
        chance = prior.initial[trace[0]] * prior.transition[trace[0], trace[1]] * prior.transition[trace[1], trace[2]]
        for count in (1, 2):
            if chance > 0:
                given = prior.given(_at(np.array(trace), order[:count]), 3)
                loss = pb.measure(given, own.release, 1)
                exact[count - 1] += chance * np.array([loss.baseline.lower, loss.lower, loss.upper])
    error = drawn.std(axis=0) / np.sqrt(300)
    assert (np.abs(known.loss + drawn.mean(axis=0) - exact) <= 4 * error + 1e-3).all()
    assert (np.abs(plain.mean(axis=0) - exact) <= 4 * plain.std(axis=0) / np.sqrt(300) + 1e-3).all()
    assert (drawn[:, 0] >= -1e-6).all()
    assert (exact[1] >= exact[0] - 1e-9).all()
    assert (exact[0] >= known.loss - 1e-6).all()


def test_numbers_are_the_same_for_any_number_of_workers_and_interruptions(
    people: pb.People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pb.adversaries(people, RELEASE, sample=6)
    with ThreadPoolExecutor(2) as pool:
        assert pb.adversaries(people, RELEASE, sample=6, executor=pool).equals(whole)
    asked, real = list[int](), module._one

    def one(data: _Work, person: int) -> list[list[float]] | None:
        asked.append(person)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return real(data, person)

    monkeypatch.setattr(module, "_one", one)
    file = tmp_path / "adversaries.jsonl"
    with pytest.raises(KeyboardInterrupt):
        pb.adversaries(people, RELEASE, sample=6, file=file)
    assert pb.adversaries(people, RELEASE, sample=6, file=file).equals(whole)
    assert asked == [0, 1, 2, 3, 3, 4, 5]


def test_whoever_knows_all_steps_finds_everybody_who_can_be_named(people: pb.People) -> None:
    named = pb.fit_people(random_traces(3, 30, 12, 6), holdout=3, habits="paper", name_elsewhere=True)
    found = pb.adversaries(named, RELEASE, sample=30, known_steps=(3, 9, 2, 2))
    assert found["adversary"].to_list()[2:] == ["and where they were at 2 steps", "and where they were at 3 steps"]
    last = found.row(-1, named=True)
    assert last["right"] == 1
    assert last["least"] < last["lower"] == last["upper"] == last["most"] == 1


def test_intervals_hold_the_mean_of_everybody() -> None:
    """Also of few people, one in ten of whom is never found."""
    rng, held = np.random.default_rng(0), 0
    for _ in range(200):
        found = (rng.random(12) < 0.9).astype(float)
        noise = rng.normal(0, 0.02, 12)  # what is gained is known up to chance
        rows = [[[0.0, value + off, value + off, 0.0, value, value]] for value, off in zip(found, noise, strict=True)]
        row = _table(["somebody"], rows).row(0, named=True)
        assert row["least"] <= row["lower"] <= row["upper"] <= row["most"]
        held += row["least"] <= 0.9 <= row["most"]
    assert held >= 190


def test_a_rhythm_and_counts_of_others_matter_to_all_of_them() -> None:
    city = pb.simulate_city(40, 20, 6)
    people = pb.fit_people(city, window="6h", places=9, min_active=2, holdout=4, habits="paper", rhythm="hour")
    release = pb.Release([[0, 1]] * 4, pb.Rounding(5))
    assert Stranger.of(people, [0, 1]).prior.matrices.shape[0] == 3
    found = pb.adversaries(people, release, sample=8)
    assert found.height == 4
    assert found["upper"][1:].is_sorted()
    assert (found["lower"] <= found["upper"] + 1e-9).all()


def test_nobody_who_can_be_measured_gives_an_empty_table(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise pb.UnsupportedRelease("no")

    monkeypatch.setattr("passerby.audits.attacks.trace_loss", refused)
    assert pb.adversaries(people, RELEASE, sample=3).height == 0


def test_what_is_odd_is_refused(people: pb.People) -> None:
    for wrong in (0, True, 1.5):
        with pytest.raises(pb.InputError, match="known_steps: expected whole numbers of at least 1"):
            pb.adversaries(people, RELEASE, known_steps=(wrong,))  # type: ignore[arg-type]
    for odd in (2, "12"):
        with pytest.raises(pb.InputError, match=rf"known_steps: expected a list of whole numbers.*got {odd!r}"):
            pb.adversaries(people, RELEASE, known_steps=odd)  # type: ignore[arg-type]
    for few in (-1, 1.5, True):
        with pytest.raises(pb.InputError, match=f"sample is {few!r}; expected a whole number of at least 0"):
            pb.adversaries(people, RELEASE, sample=few)  # type: ignore[arg-type]
    with pytest.raises(pb.InputError, match="release: it has 2 steps"):
        pb.adversaries(people, pb.Release([[0], [1]]))


def test_a_stranger_of_people_who_were_never_anywhere() -> None:
    stranger = Stranger.of(pb.fit_people(traces(np.full((4, 6), 3), 4), holdout=2, habits="paper"), [0])
    np.testing.assert_allclose(stranger.prior.initial, 1 / len(stranger.places))


def test_people_without_steps_to_find_are_refused() -> None:
    """All that asks where people really were, or how many, says what is missing."""
    steady = pb.fit_people(random_traces(3, 30, 12, 6), holdout=0, habits="paper")
    with pytest.raises(pb.InputError, match="people: no steps are held out in which adversaries could find them"):
        pb.adversaries(steady, RELEASE)
    with pytest.raises(pb.InputError, match="known for no steps, and the release has 3; fit them with holdout=3"):
        pb.audit_report(steady, RELEASE, workers=1, adversaries=0)
    assert pb.audit(steady, RELEASE, workers=1)["status"].unique().to_list() == ["ok"]


def test_habits_of_certain_hours_are_not_asked_for_others() -> None:
    city = pb.simulate_city(40, 20, 6)
    people = pb.fit_people(city, window="6h", places=9, min_active=2, holdout=0, habits="paper", rhythm="hour")
    with pytest.raises(pb.InputError, match=r"it has 3 steps, but no steps are held out.*fit people with holdout=3"):
        pb.audit(people, RELEASE, workers=1)
    assert pb.audit(people, pb.Release([[0, 1]]), 0, workers=1)["status"].unique().to_list() == ["ok"]
