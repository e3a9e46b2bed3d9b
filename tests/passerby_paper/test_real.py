"""Everyone's loss on real data: what goes with it, and averages."""

from typing import Any

import numpy as np
import pytest
from tests.passerby_paper.small import TINY

import passerby as pb
from passerby_paper.people import Reading, prepare
from passerby_paper.real import gaps, means_of


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
    people = prepare("foursquare", city, TINY, Reading("x", smoothing=0.0, toward="uniform", unseen=unseen))
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
