from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import masked_cases, poorly
from tests.oracle import World
from tests.strategies import Case
from tests.uncompiled import uncompiled

import passerby as pb
from passerby.kernels import best_guess, renewal, renewal_guess
from passerby.measurement.best_guess import bracket_stretches

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def raw(case: Case) -> pb.Release:
    return pb.Release(case.release.sensors)


@given(masked_cases(), st.sampled_from([0.0, 1e4, 1e9]), st.sampled_from([0.0, 0.05]))
def test_best_guess_over_all_series_is_bracketed(case: Case, budget: float, tolerance: float) -> None:
    release = raw(case)
    found = bracket_stretches(case.prior, release, case.misses, tolerance, budget)
    if found is None:
        assert not release.grid.size or not case.prior.guessable[release.grid[release.grid >= 0]].all()
        return
    world = World(case.prior, case.steps)
    allowed = case.prior.guessable[world.traces].all(axis=1)
    channel = world.sightings(release)
    best = ((channel * world.chance) @ (world.distance <= case.misses))[:, allowed].max(axis=1).sum()
    assert found.lower <= best * (1 + 1e-12) + 1e-15
    assert best <= found.upper * (1 + 1e-12) + 1e-15


@given(masked_cases())
def test_without_misses_the_bracket_is_closed(case: Case) -> None:
    release = raw(case)
    found = bracket_stretches(case.prior, release, 0, 0.0, 1e9)
    if found is not None:
        assert found.upper == pytest.approx(found.lower, rel=1e-12)


def test_a_day_of_hours_is_closed_within_the_tolerance() -> None:
    rng = np.random.default_rng(3)
    moves = 0.8 * np.eye(6) + 0.2 * rng.dirichlet(np.ones(6), 6)
    prior = pb.MarkovPrior(np.full(6, 1 / 6), moves)
    release = pb.Release([[0, 1, 2]] * 24)
    found = bracket_stretches(prior, release, 1, 0.05, 1e9)
    assert found is not None
    assert found.lower <= found.upper <= found.lower * 1.05
    drawn = pb.measure(prior, release, 1, series="sample", runs=400, seed=1)
    assert found.lower <= drawn.upper
    error = drawn.attacks["ascent"].error
    assert found.upper >= drawn.attacks["ascent"].value - 4 * error


class Between:
    """Every stretch of a case by enumeration: from a restart point u to what is next, v = t S + j or the end."""

    def __init__(self, case: Case) -> None:
        self.prior, self.grid, self.misses = case.prior, raw(case).grid, case.misses
        self.steps, self.sensors = self.grid.shape
        self.named = case.prior.guessable.astype(float)
        self.hidden = np.ones((self.steps, case.prior.places))
        for t, row in enumerate(self.grid):
            self.hidden[t, row[row >= 0]] = 0.0
        self.points = [0, *(1 + np.flatnonzero(self.grid.reshape(-1) >= 0))]
        size = self.steps * self.sensors + 1
        self.chance = np.zeros((size, size))
        self.upper, self.lower = np.ones((size, size, self.misses + 1)), np.zeros((size, size, self.misses + 1))

    def matrix(self, t: int) -> Floats:
        return np.asarray(self.prior.matrices[0 if self.prior.homogeneous else t])

    def start(self, u: int) -> tuple[int, Floats]:
        """The first step after a restart point, and the law of the place there."""
        if u == 0:
            return 0, self.prior.initial
        t, j = divmod(u - 1, self.sensors)
        return t + 1, self.matrix(t)[self.grid[t, j]] if t + 1 < self.steps else np.empty(0)

    def ends(self, u: int) -> list[int]:
        begin = self.start(u)[0] * self.sensors
        cells = self.grid.reshape(-1)
        return [*(v for v in range(begin, len(cells)) if cells[v] >= 0), len(cells)]

    def law(self, u: int, v: int) -> tuple[Ints, Floats]:
        """The traces of a stretch without its ends (n, L), and the chance of each and then of v (n,)."""
        begin, row = self.start(u)
        end = v // self.sensors if v < self.grid.size else self.steps
        every = list(product(range(self.prior.places), repeat=end - begin))
        traces = np.array(every, dtype=np.int64).reshape(len(every), end - begin)
        chance = np.ones(len(traces))
        for i in range(end - begin):
            step = row[traces[:, 0]] if i == 0 else self.matrix(begin + i - 1)[traces[:, i - 1], traces[:, i]]
            chance *= step * self.hidden[begin + i, traces[:, i]]
        if v < self.grid.size:
            place = self.grid.reshape(-1)[v]
            chance *= row[place] if end == begin else self.matrix(end - 1)[traces[:, -1], place]
        return traces, chance

    def at_most(self, u: int, v: int, guess: Ints) -> Floats:
        """The chance of at most k wrong steps of a guess for a stretch, for each k."""
        traces, chance = self.law(u, v)
        wrong = (traces != guess).sum(axis=1)
        return np.array([chance[wrong <= k].sum() / chance.sum() for k in range(self.misses + 1)])

    def best(self, u: int, v: int) -> Floats:
        """The same for the best guess for each k."""
        traces, _ = self.law(u, v)
        allowed = traces[(self.named[traces] > 0).all(axis=1)]
        return np.asarray(np.max([self.at_most(u, v, guess) for guess in allowed], axis=0))

    def told(self, u: int, v: int, k: int, t: int | None = None, row: Floats | None = None) -> float:
        """The chance of at most k wrong steps and then v, for somebody who is told each place once it is named."""
        if t is None:
            t, row = self.start(u)
        if t == (v // self.sensors if v < self.grid.size else self.steps):
            return float(k >= 0) * (1.0 if row is None or v == self.grid.size else row[self.grid.reshape(-1)[v]])
        assert row is not None
        if k < 0:
            return 0.0
        there = [x for x in range(self.prior.places) if self.hidden[t, x] > 0 and row[x] > 0]
        ahead = {x: self.matrix(t)[x] if t + 1 < self.steps else None for x in there}
        right = {x: row[x] * self.told(u, v, k, t + 1, ahead[x]) for x in there}
        wrong = {x: row[x] * self.told(u, v, k - 1, t + 1, ahead[x]) for x in there}
        gain = max([right[x] - wrong[x] for x in there if self.named[x] > 0], default=0.0)
        return float(sum(wrong.values()) + gain)

    def likeliest(self, u: int, v: int) -> Ints:
        """At each step the place that is likeliest since u, unseen, whatever comes later."""
        begin, row = self.start(u)
        end = v // self.sensors if v < self.grid.size else self.steps
        guess = np.empty(end - begin, dtype=np.int64)
        for i in range(end - begin):
            row = row * self.hidden[begin + i]
            guess[i] = np.argmax(np.where(self.named > 0, row, -1.0))
            row = row @ self.matrix(begin + i) if begin + i + 1 < self.steps else row
        return guess

    def fill(self) -> None:
        data = (self.prior.initial, self.prior.matrices, self.grid, self.hidden, self.named, self.chance)
        renewal_guess.tell_the_past(*data, self.upper)
        renewal_guess.guess_from_the_start(*data, self.lower)

    def pairs(self) -> list[tuple[int, int]]:
        """All stretches that can happen and last at least one step."""
        pairs = [(u, v) for u in self.points for v in self.ends(u)]
        return [(u, v) for u, v in pairs if self.law(u, v)[0].shape[1] and self.law(u, v)[1].sum() > 0]

    def open_pairs(self) -> list[tuple[int, int]]:
        """Those of them that telling the past and guessing from the start leave open: only they are refined."""
        return [pair for pair in self.pairs() if (self.upper[pair] - self.lower[pair]).max() > 1e-9]


@st.composite
def stretched(draw: st.DrawFn) -> Between:
    """Cases with sensors, all of them at places that may be named."""
    case = draw(masked_cases())
    grid = raw(case).grid
    if not grid.size or not case.prior.guessable[grid[grid >= 0]].all():
        case = Case(pb.MarkovPrior(case.prior.initial, case.prior.transition), case.release, case.misses)
    if not grid.size:
        case = Case(case.prior, pb.Release([0] * case.steps), case.misses)
    return Between(case)


@pytest.mark.usefixtures("plain_class")
class TestStretches:
    @settings(max_examples=30)
    @given(stretched())
    def test_unseen_places(self, between: Between) -> None:
        np.testing.assert_array_equal(renewal.unseen(between.grid, between.prior.places), between.hidden)
        for u in between.points:
            assert renewal_guess.after_point(u, between.sensors) == between.start(u)[0]

    @settings(max_examples=30)
    @given(stretched())
    def test_telling_the_past_and_guessing_from_the_start(self, between: Between) -> None:
        between.fill()
        for u in between.points:
            for v in between.ends(u):
                assert between.chance[u, v] == pytest.approx(between.law(u, v)[1].sum(), abs=1e-12)
        for u, v in between.pairs():
            told = [between.told(u, v, k) / between.chance[u, v] for k in range(between.misses + 1)]
            assert between.upper[u, v] == pytest.approx(np.minimum(told, 1.0), abs=1e-9)
            assert (between.upper[u, v] >= between.best(u, v) - 1e-9).all()
            guessed = between.at_most(u, v, between.likeliest(u, v))
            assert between.lower[u, v] == pytest.approx(guessed, abs=1e-9)

    @settings(max_examples=30)
    @given(stretched())
    def test_adding_up_stretches_is_the_success_of_their_guesses(self, between: Between) -> None:
        """One guess for each stretch, put together for each series: its success over all traces."""
        between.fill()
        for u in between.points:
            for v in between.ends(u):
                if not between.law(u, v)[0].shape[1]:
                    between.lower[u, v] = 1.0
        after = np.zeros((len(between.chance), between.misses + 1))
        found = renewal_guess.add_up(between.sensors, between.chance, between.lower, after)
        world = World(between.prior, between.steps)
        total = 0.0
        for trace, chance in zip(world.traces, world.chance, strict=True):
            wrong, u = 0, 0
            while u is not None:
                begin = between.start(u)[0]
                seen = [v for v in between.ends(u)[:-1] if between.grid.reshape(-1)[v] == trace[v // between.sensors]]
                v = min(seen, default=between.grid.size)
                end = v // between.sensors if v < between.grid.size else between.steps
                wrong += int((trace[begin:end] != between.likeliest(u, v)).sum())
                u = 1 + v if v < between.grid.size else None
            total += chance * (wrong <= between.misses)
        assert found == pytest.approx(total, abs=1e-9)

    def test_one_restart_point_leaves_nothing_to_the_next(self) -> None:
        """The third step after the second point once counted what was left in a table by the first."""
        moves = [[0.48, 0.31, 0.21], [0.54, 0.03, 0.43], [0.68, 0.07, 0.25]]
        case = Case(pb.MarkovPrior([0.55, 0.19, 0.26], moves), pb.Release([[1], [1], [1], []]), 2)
        between = Between(case)
        between.fill()
        assert between.lower[1, 4] == pytest.approx(between.at_most(1, 4, between.likeliest(1, 4)), abs=1e-12)

    @settings(max_examples=30)
    @given(stretched())
    def test_the_chain_between_two_sightings(self, between: Between) -> None:
        data = (between.prior.initial, between.prior.matrices, between.grid, between.hidden, between.named)
        for u, v in between.pairs():
            start, moves, named = renewal_guess.chain_between(*data, u, v)
            traces, chance = between.law(u, v)
            begin, steps = between.start(u)[0], traces.shape[1]
            kept = np.flatnonzero(between.hidden[begin : begin + steps].max(axis=0))
            np.testing.assert_array_equal(named, between.named[kept])
            state = np.full(between.prior.places, -1)
            state[kept] = np.arange(len(kept))
            for trace, expected in zip(traces, chance / chance.sum(), strict=True):
                if (state[trace] < 0).any():
                    assert expected == 0
                    continue
                found = start[state[trace[0]]]
                for i in range(1, steps):
                    found *= moves[i - 1, state[trace[i - 1]], state[trace[i]]]
                assert found == pytest.approx(expected, abs=1e-12)

    @settings(max_examples=25)
    @given(stretched(), st.integers(0, 3))
    def test_refining_keeps_the_best_guess_between_both_ends(self, between: Between, level: int) -> None:
        between.fill()
        data = (between.prior.initial, between.prior.matrices, between.grid, between.hidden, between.named)
        for u, v in between.open_pairs()[:12]:
            weight = np.ones(between.misses + 1)
            best, lower, upper = between.best(u, v), between.lower[u, v], between.upper[u, v]
            before = lower.sum(), upper.copy()
            for effort in range(level + 1):
                chain = renewal_guess.chain_between(*data, u, v)
                nodes, work = renewal_guess.refine(chain, effort, 0.0, weight, lower, upper)
                assert nodes >= 0
                assert work > 0
            assert (lower <= best + 1e-9).all()
            assert (upper >= best - 1e-9).all()
            assert lower.sum() >= before[0] - 1e-12
            assert (upper <= before[1] + 1e-12).all()
            traces, _ = between.law(u, v)
            allowed = traces[(between.named[traces] > 0).all(axis=1)]
            assert min(np.abs(between.at_most(u, v, guess) - lower).max() for guess in allowed) < 1e-9

    @pytest.mark.parametrize("found", [0.0, 0.6, 0.95])
    def test_the_upper_end_is_what_the_search_says_and_not_below_a_guess(
        self, found: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever is found: the upper end falls to it, but not below what a guess achieves, nor above what it was."""
        rng = np.random.default_rng(8)
        a, Q, named = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4), (3, 4)), np.ones(4)
        monkeypatch.setattr(renewal_guess, "bracket", lambda *data: (data[7], found, 0, 1.0))
        lower, upper = np.zeros(3), np.array([1.0, 0.7, 0.9])
        renewal_guess.refine((a, Q, named), 1, 0.0, np.ones(3), lower, upper)
        best = [self.best_of(a, Q, 4 - k) for k in range(3)]
        assert upper[1] == pytest.approx(max(min(0.7, found), best[1]), abs=1e-12)
        assert upper[2] == pytest.approx(max(min(0.9, found), best[2]), abs=1e-12)

    @staticmethod
    def best_of(a: Floats, Q: Floats, needed: int) -> float:
        """The best guess of a short chain, by trying all."""
        traces = np.array(list(product(range(len(a)), repeat=len(Q) + 1)))
        chance = a[traces[:, 0]]
        for t, P in enumerate(Q):
            chance = chance * P[traces[:, t], traces[:, t + 1]]
        return float(max(chance[(traces == guess).sum(axis=1) >= needed].sum() for guess in traces))

    @settings(max_examples=20)
    @given(stretched())
    def test_enough_effort_closes_every_stretch(self, between: Between) -> None:
        between.fill()
        data = (between.prior.initial, between.prior.matrices, between.grid, between.hidden, between.named)
        weight = np.ones(between.misses + 1)
        for u, v in between.open_pairs()[:6]:
            lower, upper = between.lower[u, v], between.upper[u, v]
            for effort in range(best_guess.LEVELS):
                chain = renewal_guess.chain_between(*data, u, v)
                renewal_guess.refine(chain, effort, 0.0, weight, lower, upper)
            best, steps = between.best(u, v), between.law(u, v)[0].shape[1]
            inside = slice(1, min(between.misses + 1, steps))
            assert upper[inside] == pytest.approx(best[inside], abs=1e-9)

    @settings(max_examples=30)
    @given(stretched(), st.sampled_from([1, 2, 400]), st.data())
    def test_poor_guesses_and_few_nodes(self, between: Between, nodes: int, data: st.DataObject) -> None:
        """On small chains an ascent nearly always finds the best guess, and hides what the bounds do. Here it fails."""
        between.fill()
        stretches = (between.prior.initial, between.prior.matrices, between.grid, between.hidden, between.named)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(renewal_guess, "ascend", poorly)
            for module in (renewal_guess, best_guess):
                patch.setattr(module, "ROOT_NODES", np.full(best_guess.LEVELS, nodes))
            for u, v in between.open_pairs()[:4]:
                best, steps = between.best(u, v), between.law(u, v)[0].shape[1]
                k = data.draw(st.integers(0, between.misses), label="misses that count")
                lower, upper = between.lower[u, v], between.upper[u, v]
                chain = renewal_guess.chain_between(*stretches, u, v)
                for effort in (0, 1, 3):
                    renewal_guess.refine(chain, effort, 0.0, np.eye(between.misses + 1)[k], lower, upper)
                assert (lower <= best + 1e-9).all()
                assert (upper >= best - 1e-9).all()
                inside = upper[1 : min(between.misses + 1, steps)]
                assert (np.diff(inside) >= -1e-12).all()
                if nodes == 400 and 0 < k < steps:
                    assert (lower[k], upper[k]) == pytest.approx((best[k], best[k]), abs=1e-9)

    @settings(max_examples=20)
    @given(stretched(), st.data())
    def test_a_guess_is_taken_where_it_serves_the_whole(self, between: Between, data: st.DataObject) -> None:
        stretches = (between.prior.initial, between.prior.matrices, between.grid, between.hidden, between.named)
        number = between.misses + 1
        weights = st.lists(st.floats(0, 1), min_size=number, max_size=number)
        for u, v in between.pairs()[:4]:
            a, Q, _ = renewal_guess.chain_between(*stretches, u, v)
            traces, _ = between.law(u, v)
            kept = np.flatnonzero(between.hidden[between.start(u)[0] :][: traces.shape[1]].max(axis=0))
            guess = np.array(
                data.draw(st.lists(st.integers(0, len(kept) - 1), min_size=len(Q) + 1, max_size=len(Q) + 1))
            )
            achieved = between.at_most(u, v, kept[guess])
            weight, before = np.array(data.draw(weights)), np.sort(data.draw(weights))
            lower, top, F = before.copy(), before[::-1].copy(), np.full(number, np.nan)
            renewal_guess.try_guess(a, Q, guess, weight, lower, top, F)
            assert pytest.approx(achieved, abs=1e-12) == F
            assert top == pytest.approx(np.maximum(before[::-1], achieved), abs=1e-12)
            gain = float(weight @ (achieved - before))
            if abs(gain) > 1e-9:
                assert lower == pytest.approx(achieved if gain > 0 else before, abs=1e-12)


@settings(max_examples=30)
@given(stretched())
def test_enough_effort_leaves_what_one_guess_cannot_do_for_all_numbers_of_misses(between: Between) -> None:
    """The upper end comes down to the best guess of each stretch for each number of wrong steps by itself."""
    found = renewal_guess.stretchwise(
        between.prior.initial, between.prior.matrices, between.grid, between.named, between.misses, 0.0, 1e10
    )

    def most(u: int, k: int) -> float:
        total = 0.0
        for v in between.ends(u):
            traces, chance = between.law(u, v)
            if chance.sum() > 0:
                best = between.best(u, v) if traces.shape[1] else np.ones(between.misses + 1)
                for j, part in enumerate(np.diff(best[: k + 1], prepend=0.0)):
                    total += chance.sum() * part * (most(1 + v, k - j) if v < between.grid.size else 1.0)
        return total

    lower, upper = found[:2]
    expected = most(0, between.misses)
    assert lower <= expected + 1e-12
    assert expected - 1e-12 <= upper <= expected + 2e-3 * (upper - lower) + 1e-9


def test_chances_of_what_comes_next_add_up_to_one() -> None:
    rng = np.random.default_rng(5)
    prior = pb.MarkovPrior(np.full(4, 0.25), rng.dirichlet(np.ones(4), 4))
    release = pb.Release([[0, 1], [2], [], [1, 3]])
    steps, sensors = release.grid.shape
    chance = np.zeros((1 + steps * sensors, steps * sensors + 1))
    upper = np.ones((*chance.shape, 2))
    hidden = renewal.unseen(release.grid, 4)
    with uncompiled():
        renewal_guess.tell_the_past(prior.initial, prior.matrices, release.grid, hidden, np.ones(4), chance, upper)
    there = np.append(True, release.grid.reshape(-1) >= 0)
    assert chance.sum(axis=1) == pytest.approx(there.astype(float))
