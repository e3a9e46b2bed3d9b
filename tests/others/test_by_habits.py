"""Everyone else in zones, flows and windows of visitors, by their habits and by what is told of a real day."""

import numpy as np
import pytest
from tests.joint import counted, remembered
from tests.oracle import World

import passerby as pb
from passerby.model import memory
from passerby.others.by_habits import CountsByHabits as Heard
from passerby.others.by_habits import everyone_else
from passerby.others.counted import states_by_place
from passerby.others.numbers import poisson_binomial
from passerby.others.side_information import SideInformation

COUNTS = [
    *(pb.Present(zone, step=t) for t in (0, 2) for zone in ([0, 1], [2])),
    pb.Moved([0], [1, 2], step=0),
    pb.Visitors([1, 2], steps=[1, 2, 3]),
    pb.Present([0, 1], step=1),
]
RELEASE = pb.Release(counts=COUNTS, steps=4, others=pb.Crowd())


@pytest.fixture(scope="module")
def people() -> pb.People:
    city = pb.simulate_city(people=14, places=8, days=4, seed=2)
    return pb.fit_people(city, window="3h", places=4, min_active=1, holdout=4)


@pytest.fixture(scope="module")
def found(people: pb.People) -> Heard:
    out = everyone_else(people, RELEASE)
    assert isinstance(out, Heard)
    return out


def world_of(people: pb.People, person: int) -> tuple[World, pb.Release, list[int]]:
    """All traces of one person over the states of their chain, the counts over these, and the real trace."""
    zones = RELEASE.alike(len(people.places))
    prior, places = people.usual.prior(person, zones=zones)
    state_of = states_by_place(places, len(people.places), zones)
    own = RELEASE.relabelled(state_of)
    return World(prior, 4), own, state_of[people.actual[person]].tolist()


def test_what_is_told_and_what_is_left_make_up_where_people_were(people: pb.People, found: Heard) -> None:
    bits = np.array([[int(counted(c, trace)) for c in RELEASE.listed] for trace in people.actual.tolist()])
    moves = np.zeros((found.chance.shape[1], len(RELEASE.listed)), dtype=int)
    g = cell = 0
    for t, step in enumerate(RELEASE.sensors):
        for direction in found.directions[t]:
            moves[g, cell : cell + len(step)] = direction
            g += 1
        cell += len(step)
    assert (np.abs(moves).sum(axis=0) <= 1).all()
    for row, known, chance in zip(bits, found.known, found.chance, strict=True):
        touched = np.abs(moves[chance > 0]).sum(axis=0) > 0
        assert (row[~touched] == known[~touched]).all()
        for direction in moves[chance > 0]:
            at = direction != 0
            assert (row[at] == known[at]).all() or (row[at] == (known + direction)[at]).all()
    assert (found.chance > 0).any()
    assert (found.rest >= 0).all()


def test_chances_are_those_of_the_enumeration(people: pb.People, found: Heard) -> None:
    """Given the states before and after, with what is remembered: one of two classes against the other."""
    looked = 0
    for person in range(len(people)):
        world, own, real = world_of(people, person)
        every = [tuple(trace) for trace in world.traces.tolist()]
        g = 0
        for t in range(4):
            step = [c for c in own.listed if c.read == t]
            near = [u for u in (t - 1, t + 1) if 0 <= u < 4]
            fact = [remembered(own, real, u) for u in near]
            same = [n for n, trace in enumerate(every) if [remembered(own, trace, u) for u in near] == fact]
            law: dict[tuple[int, ...], float] = {}
            for n in same:
                key = tuple(int(counted(c, every[n])) for c in step)
                law[key] = law.get(key, 0.0) + float(world.chance[n])
            for direction in found.directions[t]:
                chance = found.chance[person, g]
                g += 1
                if chance > 0:
                    ways = [
                        law[up] / (law[up] + law[low])
                        for up in law
                        for low in law
                        if tuple(a - b for a, b in zip(up, low, strict=True)) == direction and law[up] + law[low] > 0
                    ]
                    assert any(chance == pytest.approx(way, rel=1e-9) for way in ways)
                    looked += 1
    assert looked > 10


def test_one_person_is_left_out_of_the_others(people: pb.People, found: Heard) -> None:
    crowd = found.besides(3, RELEASE)
    presence = []
    for other in range(len(people)):
        world, own, _ = world_of(people, other)
        presence.append([sum(world.chance[counted_by(c, world)]) for c in own.listed])
    laws = [law for step in crowd.laws(RELEASE.sensors) for law in step]
    for cell, (least, law) in enumerate(laws):
        expected = poisson_binomial([row[cell] for i, row in enumerate(presence) if i != 3])
        mean = least + np.arange(len(law)) @ law
        known = found.rest[cell]
        assert mean == pytest.approx(known + expected[0] + np.arange(len(expected[1])) @ expected[1], rel=1e-9)
    told = crowd.side
    assert isinstance(told, SideInformation)
    left = np.delete(found.known, 3, axis=0).sum(axis=0) + found.rest
    assert (told.known[0][RELEASE.grid >= 0] == left).all()


def counted_by(count: object, world: World) -> list[int]:
    return [n for n, trace in enumerate(world.traces.tolist()) if counted(count, trace)]  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", [pytest.param(pb.Raw(), marks=pytest.mark.thorough), pb.Suppression(3)], ids=repr)
def test_an_audit_against_everyone_else(people: pb.People, rule: pb.Mechanism) -> None:
    table = pb.audit(people, RELEASE.through(rule), misses=1, workers=1, runs=40, budget=1e6)
    assert (table["lower"] <= table["upper"]).all()
    assert (table["lower"] >= table["baseline_lower"] * (1 - 1e-9)).all()
    assert (table["upper"] <= table["bound_known"] * (1 + 1e-9)).all()
    assert table["bound_crowd"].is_not_null().all()
    assert set(table["status"].unique()) <= {"ok", "wide"}
    assert table["hit_ascent"].is_not_null().all()


def test_both_tables_of_everyone_else(people: pb.People) -> None:
    day = pb.Release(counts=[pb.Visitors([0, 1], steps=range(4))], steps=4, others=pb.Crowd())
    both = pb.together(people, {"zones": RELEASE, "day": day}, misses=1, workers=1, runs=20, budget=1e8)
    assert both.means()["release"].to_list() == ["zones", "day", "together"]


def test_nothing_published_tells_nothing(people: pb.People) -> None:
    """A plan that leaves all counts out comes to this."""
    table = pb.audit(people, pb.Release([[]] * 4, others=pb.Crowd()), misses=1, workers=1, budget=1e8)
    for end in ("lower", "upper"):
        assert table[end].to_list() == pytest.approx(table[f"baseline_{end}"].to_list())


def test_too_much_to_remember_of_others_is_said(people: pb.People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST_ENTRIES", 400.0)
    with pytest.raises(pb.UnsupportedRelease, match="too much to remember: 1 window of visitors"):
        pb.audit(people, RELEASE, misses=1, workers=1)
