"""A count of one's own is as good as those that are here: it is measured, asked about, audited and planned with."""

import itertools
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fence import rows

import passerby as pb
from passerby.audits.asking import sentence_of, words_of
from passerby.audits.job import by_steps, doubt, kept_part
from passerby.audits.subjects import Subject, in_words, subject_of
from passerby.model.count import Count, Inside
from passerby.plans.lever import Scene, cells_of, spots, without
from passerby.plans.levers import visitors
from passerby.report.together_page import in_words as together_words

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Again(Count):
    """How many people are in the same one of some areas at two steps."""

    areas: tuple[tuple[int, ...], ...]
    before: int
    after: int
    zone_fields: ClassVar[tuple[str, ...]] = ("areas",)

    @property
    def zones(self) -> tuple[tuple[int, ...], ...]:
        return self.areas

    @property
    def first(self) -> int:
        return self.before

    @property
    def read(self) -> int:
        return self.after

    @property
    def sentence(self) -> str:
        return f"they are in the same area at steps {self.before} and {self.after}"

    def met(self, inside: Inside) -> Any:
        found = [inside(area, self.before) & inside(area, self.after) for area in self.areas]
        return np.any(found, axis=0)

    def progress(self, place_of: Ints, steps: int) -> Ints:
        """Level 1 + k for those who begin in area k, and the last for those who are there again."""
        last = len(self.areas) + 1
        levels = np.tile(np.arange(last + 1), (steps, len(place_of), 1))
        for k, area in enumerate(self.areas):
            inside = np.isin(place_of, area)
            levels[self.before, inside, 0] = 1 + k
            levels[self.after, :, 1 + k] = np.where(inside, last, 0)
        return levels


@dataclass(frozen=True)
class Here(Count):
    """How many people are in a zone at a step, without a word on it."""

    zone: tuple[int, ...]
    step: int

    @property
    def zones(self) -> tuple[tuple[int, ...], ...]:
        return (self.zone,)

    @property
    def first(self) -> int:
        return self.step

    @property
    def read(self) -> int:
        return self.step

    @property
    def sentence(self) -> str:
        return "they are here"

    def met(self, inside: Inside) -> Any:
        return inside(self.zone, self.step)

    def progress(self, place_of: Ints, steps: int) -> Ints:
        return pb.Present(self.zone, self.step).progress(place_of, steps)


EACH = ((0,), (1,), (2,))
AGAIN = Again(areas=((0,), (1, 2)), before=0, after=2)


def prior_of(seed: int) -> pb.MarkovPrior:
    rng = np.random.default_rng(seed)
    return pb.MarkovPrior(rows(rng, (3,)), rows(rng, (3, 3)))


def law(prior: pb.MarkovPrior) -> tuple[Ints, NDArray[np.float64]]:
    """All traces over three steps, and how likely each is."""
    traces = np.array([*itertools.product(range(3), repeat=3)])
    steps = prior.transition[traces[:, :-1], traces[:, 1:]]
    return traces, prior.initial[traces[:, 0]] * steps.prod(axis=1)


def series(traces: Ints, counts: list[Count]) -> Ints:
    return np.unique(np.stack([count.bits(traces) for count in counts], axis=1), axis=0, return_inverse=True)[1].ravel()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("more", [[], [pb.Present([0, 1], 1)], [pb.Moved([0], [1, 2], 1), pb.Visitors([2], [0, 1], 2)]])
def test_it_is_measured(seed: int, more: list[Count]) -> None:
    """The best guess of each raw series, over all traces."""
    prior, counts = prior_of(seed), [Again(EACH, 0, 2), *more]
    traces, chance = law(prior)
    seen = series(traces, counts)
    best = sum(max(chance[seen == y]) for y in np.unique(seen))
    loss = pb.measure(prior, pb.Release(counts=counts, steps=3))
    assert loss.lower <= best + 1e-12
    assert best <= loss.upper + 1e-12
    assert loss.upper <= 1.01 * loss.lower


@pytest.mark.parametrize("seed", range(5))
def test_it_is_an_event(seed: int) -> None:
    prior = prior_of(seed)
    traces, chance = law(prior)
    holds, seen = AGAIN.bits(traces), traces[:, 2]
    yes, no = (np.bincount(seen[at], chance[at], 3) / chance[at].sum() for at in (holds, ~holds))
    found: Any = pb.measure(prior, pb.Release([[], [], [0, 1, 2]]), pb.Event(AGAIN))
    assert found.event.lower == pytest.approx(chance[holds].sum())
    assert found.advantage.lower == pytest.approx(np.abs(yes - no).sum() / 2)


def test_what_a_chain_need_not_remember_is_doubted_rightly() -> None:
    prior = prior_of(1)
    traces, chance = law(prior)
    share = chance[AGAIN.bits(traces)].sum()
    assert doubt(prior, AGAIN, 3) == pytest.approx(min(share, 1 - share))


def test_counts_of_single_steps_tell_more() -> None:
    release = pb.Release(counts=[AGAIN], steps=3)
    assert set(by_steps(release).listed) == {
        pb.Present(zone, t, mechanism=pb.Raw()) for zone in ((0,), (1, 2)) for t in range(3)
    }
    assert kept_part(prior_of(0), release) == (release, 0.0)


def test_its_words_are_its_own() -> None:
    release = pb.Release(counts=[AGAIN, pb.Present([0, 1], 0)], steps=3)
    assert subject_of(AGAIN) == Subject("Again", AGAIN.areas) != subject_of(pb.Present([0], 0))
    assert in_words(release) == "2 counts of 1 zone and of 1 Again"
    assert "1 of people in counts Again" in together_words(release)
    words = "they are in the same area at steps 0 and 2"
    names = ["park", "gate", "hall"]
    assert [words_of(pb.Event(AGAIN, never), names) for never in (False, True)] == [words, f"not {words}"]
    assert sentence_of(pb.Event(AGAIN), names) == f"whether {words}"


def test_it_is_audited() -> None:
    city = pb.simulate_city(people=30, places=20, days=3)
    people = pb.fit_people(city, window="2h", places=4, min_active=1, holdout=3)
    every = tuple((place,) for place in range(4))
    release = pb.Release(counts=[Again(every, 0, 2), pb.Present([0, 1], 1)], steps=3, mechanism=pb.Rounding(5))
    table = pb.audit(people, release, questions=[pb.Trace(0), pb.Event(Again(every, 0, 2))], workers=1)
    assert len(table) == 2 * len(people)
    assert (table["status"] == "ok").all()


def test_it_is_a_cell_of_a_plan() -> None:
    release = pb.Release(counts=[AGAIN, pb.Present([0, 1], 0), pb.Present([0, 1], 1)], steps=3)
    present = [pb.Present([0, 1], t) for t in (0, 1)]
    assert [*cells_of(release)] == [*present, AGAIN]
    assert spots(AGAIN) is None
    assert [*cells_of(without(release, frozenset(present)))] == [AGAIN]
    longer = visitors._built(release, 2, Scene(("a", "b", "c")))
    assert [*cells_of(longer)] == [pb.Visitors([0, 1], [0, 1]), AGAIN]


def test_places_of_a_count_are_renamed() -> None:
    new = {(0,): (4,), (1, 2): (5,)}
    assert AGAIN.relabelled(new) == Again(((4,), (5,)), 0, 2)
    assert pb.Moved([0], [1, 2], 3).relabelled(new) == pb.Moved([4], [5], 3)
    assert pb.Visitors([1, 2], [1, 2]).relabelled(new) == pb.Visitors([5], [1, 2])
    with pytest.raises(
        pb.UnsupportedRelease, match=r"its fields places are not its zones \(\(0,\),\); name the fields"
    ):
        Here((0,), 1).relabelled(new)


@pytest.mark.parametrize(
    "count",
    [pb.Present([0, 1], 1), pb.Moved([0, 1], [2], 0), pb.Visitors([2], [0, 2]), pb.Visitors([0, 2], [1, 2], 2), AGAIN],
)
def test_what_a_count_says_of_itself_holds(count: Count) -> None:
    """Whom it counts follows from its levels, its split, its spots, and what it says to be."""
    traces, _ = law(prior_of(0))
    bits = count.bits(traces)
    levels = count.progress(np.arange(3), 3)
    level = np.zeros(len(traces), dtype=np.int64)
    for t in range(3):
        level = levels[t, traces[:, t], level]
    assert count.levels == levels.shape[2]
    assert (bits == (level == count.levels - 1)).all()
    known = np.stack([np.isin(traces[:, t], zone) for zone, t in count.split], axis=1)
    assert len(np.unique(np.column_stack([known, bits]), axis=0)) == len(np.unique(known, axis=0))
    assert {t for _, t in count.split} == {*count.window} <= {*range(count.first, count.read + 1)}
    if count.spots is not None:
        spotted = [
            any((x, t) in count.spots for t, x in enumerate(trace))
            or any((x, y, t) in count.spots for t, (x, y) in enumerate(itertools.pairwise(trace)))
            for trace in traces.tolist()
        ]
        assert bits.tolist() == spotted
    if count.snapshot:
        assert (bits == np.isin(traces[:, count.read], count.zones[0])).all()
    if count.flow:
        there = [np.isin(traces[:, count.first + k], zone) for k, zone in enumerate(count.zones)]
        assert (bits == there[0] & there[1]).all()
