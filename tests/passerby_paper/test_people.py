"""People under readings of what the paper leaves open."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.passerby_paper.small import TINY

import passerby as pb
from passerby_paper.people import Preparation, Unsmoothed, gaps, means_of, prepare, read_file


def test_without_smoothing_rows_are_counts(city: pb.Visits) -> None:
    people = prepare("foursquare", city, TINY, Preparation("plain", smoothing=0.0, toward="uniform"))
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


def test_places_never_left_can_keep_people(city: pb.Visits) -> None:
    people = left_at_last(prepare("foursquare", city, TINY, Preparation("stay", smoothing=0.0, unseen="stay")))
    prior, states = people.prior(0, [])
    assert states[int(np.argmax(prior.initial))] == people.fitted[0, -1]
    assert prior.initial.max() == pytest.approx(1.0)


def test_places_never_left_can_follow_the_person(city: pb.Visits) -> None:
    people = left_at_last(prepare("foursquare", city, TINY, Preparation("own", smoothing=0.0, unseen="own")))
    prior, states = people.prior(0, [])
    row = prior.transition[list(states).index(people.fitted[0, -1])]
    expected = [np.mean(people.fitted[0] == place) for place in states]
    np.testing.assert_allclose(row, expected)
    assert prior.starts_stationary
    assert set(states[prior.initial > 0]) <= set(people.fitted[0])


def test_smoothing_toward_equal_frequencies(city: pb.Visits) -> None:
    people = prepare("foursquare", city, TINY, Preparation("uniform", toward="uniform"))
    prior, _ = people.prior(0, reduced=False)
    counts = np.zeros((len(people.places), len(people.places)))
    np.add.at(counts, (people.fitted[0, :-1], people.fitted[0, 1:]), 1.0)
    expected = (counts + 1 / len(people.places)) / (counts.sum(axis=1, keepdims=True) + 1)
    np.testing.assert_allclose(prior.transition, expected)


def test_files_that_cannot_be_used_are_named_by_their_option(city: pb.Visits, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(pb.InputError, match=r"^--gowalla, .* layout of loc-gowalla_totalCheckins\.txt: .*empty\.txt"):
        read_file("gowalla", tmp_path / "empty.txt")
    with pytest.raises(
        pb.InputError, match=r"^--foursquare: too little is left by the .* \(no person is seen in at le"
    ):
        prepare("foursquare", city, dataclasses.replace(TINY, min_active=10_000))


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


@pytest.mark.parametrize("unseen", ["spread", "own", "stay"])
def test_gaps_are_those_of_the_matrix_over_all_places(city: pb.Visits, unseen: Any) -> None:
    people = prepare("foursquare", city, TINY, Preparation("x", smoothing=0.0, toward="uniform", unseen=unseen))
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
