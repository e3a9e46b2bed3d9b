"""People under readings of what the paper leaves open."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.passerby_paper.small import TINY

import passerby as pb
from passerby_paper.people import Reading, Unsmoothed, prepare, read_file


def test_without_smoothing_rows_are_counts(city: pb.Visits) -> None:
    people = prepare("foursquare", city, TINY, Reading("plain", smoothing=0.0, toward="uniform"))
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
    people = left_at_last(prepare("foursquare", city, TINY, Reading("stay", smoothing=0.0, unseen="stay")))
    prior, states = people.prior(0, [])
    assert states[int(np.argmax(prior.initial))] == people.fitted[0, -1]
    assert prior.initial.max() == pytest.approx(1.0)


def test_places_never_left_can_follow_the_person(city: pb.Visits) -> None:
    people = left_at_last(prepare("foursquare", city, TINY, Reading("own", smoothing=0.0, unseen="own")))
    prior, states = people.prior(0, [])
    row = prior.transition[list(states).index(people.fitted[0, -1])]
    expected = [np.mean(people.fitted[0] == place) for place in states]
    np.testing.assert_allclose(row, expected)
    assert prior.starts_stationary
    assert set(states[prior.initial > 0]) <= set(people.fitted[0])


def test_smoothing_toward_equal_frequencies(city: pb.Visits) -> None:
    people = prepare("foursquare", city, TINY, Reading("uniform", toward="uniform"))
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
