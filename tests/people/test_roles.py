"""Everybody's moves by role, against the same counted one by one."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import passerby as pb
from passerby.people import cycles
from passerby.people.family import Cycle
from passerby.people.population import LITTLE
from passerby.people.roles import CELLS, WEIGHT, moves_by_role

from .test_habits import random_traces, traces

WINDOW = timedelta(hours=12)


def usual(steps: list[int], levels: list[list[int]], parts: list[int]) -> int:
    """Where somebody usually is in a part of the cycle."""
    f = {place: steps.count(place) / len(steps) for place in sorted(set(steps))}

    def within(level: list[int], part: int, base: dict[int, float]) -> dict[int, float]:
        inside = [place for place, each in zip(steps, level, strict=False) if each == part]
        return {place: (inside.count(place) + WEIGHT * base[place]) / (len(inside) + WEIGHT) for place in f}

    broad = [within(level, part, f) for level, part in zip(levels[:-1], parts[:-1], strict=True)] or [f]
    base = {place: sum(each[place] for each in broad) / len(broad) for place in f}
    found = within(levels[-1], parts[-1], base) if levels else f
    return max(found, key=lambda place: found[place])


def comings(steps: list[int], place: int) -> int:
    return sum(here == place and (not t or steps[t - 1] != place) for t, here in enumerate(steps))


def counted(people: list[list[int]], levels: list[list[int]]) -> dict[tuple[int | None, str, str], int]:
    """Moves by part, role and kind; those of all parts under None."""
    found: dict[tuple[int | None, str, str], int] = {}
    for steps in people:
        for t in range(1, len(steps)):
            x, y = steps[t - 1], steps[t]
            there = usual(steps, levels, [level[t] for level in levels])
            role = "usual" if x == there else "known" if comings(steps, x) > 1 else "new"
            kind = "usual" if y == there else "stay" if y == x else "known" if comings(steps, y) > 1 else "new"
            for part in (levels[-1][t] if levels else 0, None):
                found[part, role, kind] = found.get((part, role, kind), 0) + 1
    return found


KINDS = ("usual", "stay", "known", "new")


def law(
    people: list[list[int]],
    person: int,
    x: int,
    levels: list[list[int]],
    t: int,
    b: np.ndarray,
    moves: dict[tuple[int | None, str, str], int],
) -> np.ndarray:
    """The law of where a person goes from x, to be there at step t."""
    steps = people[person]
    there = usual(steps, levels, [level[t] for level in levels])
    role = "usual" if x == there else "known" if x in steps else "new"
    whole = {kind: moves.get((None, role, kind), 0) + 0.25 for kind in KINDS}
    share = {kind: n / sum(whole.values()) for kind, n in whole.items()}
    if levels:
        here = {kind: moves.get((levels[-1][t], role, kind), 0) for kind in KINDS}
        share = {kind: (here[kind] + LITTLE * share[kind]) / (sum(here.values()) + LITTLE) for kind in KINDS}
    out = np.zeros(len(b))
    out[there] += share["usual"]
    others = [place for place in steps if place not in (x, there)]
    for place in others:
        out[place] += share["known"] / len(others)
    fresh = [place for place in range(len(b)) if place not in steps]
    if x in steps and x != there:
        out[x] += share["stay"]
    for place in fresh:
        out[place] += (share["new"] + (x not in steps) * share["stay"]) * b[place] / b[fresh].sum()
    return np.asarray(out / out.sum())


@given(st.integers(0, 10**6), st.integers(2, 8), st.sampled_from(["none", "hour", "workday"]))
@settings(max_examples=40)
def test_moves_by_role_are_those_counted_one_by_one(seed: int, places: int, rhythm: Cycle) -> None:
    array = random_traces(seed, 5, 22, places, known=True).array
    # Nothing but the moves of everybody decides.
    habits = pb.Habits(1e9, 1.0, 1.0, None, "none", rhythm=rhythm, modes="none", flow="roles")
    people = pb.fit_people(traces(array, places, WINDOW), holdout=2, habits=habits)
    levels = [level.tolist() for level in cycles.levels(rhythm, people.starts, WINDOW, 22)]
    steps = people.fitted.tolist()
    told = counted(steps, levels)
    prior, _ = people.prior(1, reduced=False)
    np.testing.assert_allclose(
        prior.initial, law(steps, 1, steps[1][-1], levels, 20, people.familiarity, told), rtol=1e-6
    )
    for x in range(places):
        expected = law(steps, 1, x, levels, 21, people.familiarity, told)
        np.testing.assert_allclose(prior.matrices[0][x], expected, rtol=1e-6)
        # Without a rhythm, shares are those of all moves.
        steady = people.plain.prior(1, reduced=False)[0].transition[x]
        np.testing.assert_allclose(steady, law(steps, 1, x, [], 21, people.familiarity, told), rtol=1e-6)


CAFES = 12


def homebodies(people: int, seed: int) -> np.ndarray:
    """Each has a home of their own, and goes now and then to one of the cafés that all share, for one step."""
    rng = np.random.default_rng(seed)
    home = CAFES + np.arange(people)[:, None]
    out = rng.random((people, 40)) < 0.2
    out[:, 1:] &= ~out[:, :-1]
    return np.where(out, rng.integers(0, CAFES, out.shape), home)


def test_who_is_where_others_go_home_from_goes_to_a_home_of_their_own() -> None:
    array = homebodies(60, 0)
    # The first was never away from home, and is seen at a café last.
    array[0] = CAFES
    array[0, 36] = 0
    known = traces(array, CAFES + 61)
    by_place, by_role = (
        pb.fit_people(known, holdout=3, habits=pb.Habits(3.0, 1.0, 0.9, modes="none", flow=flow))
        for flow in ("places", "roles")
    )
    home = [float(people.prior(0, reduced=False)[0].initial[CAFES]) for people in (by_place, by_role)]
    assert home[0] < 0.3
    assert home[1] > 0.8
    habits = pb.fit_people(known, holdout=3).habits
    assert habits is not None
    assert habits.chosen.flow == "roles"
    assert habits.gains["roles of places"] > 0.02
    assert "everybody's moves by role" in habits.words


def test_moves_of_many_people_are_counted_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    array = random_traces(5, 30, 20, 6).array
    kept = np.random.default_rng(0).random(array.shape) < 0.9
    levels = [np.arange(24) % 2, np.arange(24) % 2 + 2 * (np.arange(24) > 12)]
    assert len(array) * 4 * 6 < CELLS
    whole = moves_by_role(array, kept, 6, levels)
    monkeypatch.setattr("passerby.people.roles.CELLS", 7 * 4 * 6)
    assert np.array_equal(moves_by_role(array, kept, 6, levels), whole)
    assert whole.shape == (4, 3, 4)
    assert whole.sum() == (kept[:, 1:] & kept[:, :-1]).sum()
