from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.guesses import masked_cases
from tests.oracle import World
from tests.strategies import Case, cases

import passerby as pb
from passerby.kernels.renewal import best_guess, sightings, stretch_ceiling, stretch_guess, stretch_policy
from passerby.kernels.renewal.stretch_search import Watch
from passerby.questions.trace.stretches import bracket_stretches

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
        self.size = self.steps * self.sensors + 1

    @property
    def reached(self) -> list[int]:
        """The restart points that somebody can come to."""
        law = self.prior.marginals(self.steps)
        return [u for u in self.points if u == 0 or law[(u - 1) // self.sensors, self.grid.reshape(-1)[u - 1]] > 0]

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

    @property
    def watch(self) -> Watch:
        return Watch(self.prior.initial, self.prior.matrices, self.grid, self.hidden, self.named)

    def laws(self, u: int, v: int, guesses: Ints) -> Floats:
        """The chance of v next and exactly k wrong steps, for each guess (n, L) and k."""
        traces, chance = self.law(u, v)
        wrong = (traces[None] != guesses[:, None]).sum(axis=2)
        return np.stack([(chance * (wrong == k)).sum(axis=1) for k in range(self.misses + 1)], axis=1)

    def guesses(self, u: int, v: int) -> Ints:
        """All guesses for a stretch that may be made."""
        steps = self.law(u, v)[0].shape[1]
        every = list(product(np.flatnonzero(self.named), repeat=steps))
        return np.array(every, dtype=np.int64).reshape(len(every), steps)

    def most(self, u: int, v: int) -> Floats:
        """The largest chance of at most k wrong steps and then v, over all guesses, each k by itself."""
        return np.asarray(self.laws(u, v, self.guesses(u, v)).cumsum(axis=1)[:, : self.misses + 1].max(axis=0))

    def dominated(self) -> Floats:
        """`V(u, r)` from these: success if each stretch could have the best guess for every number of wrong steps."""
        V = np.ones((len(self.hidden) * self.sensors + 2, self.misses + 1))
        for u in reversed(self.points):
            V[u] = 0.0
            for v in self.ends(u):
                more = np.diff(self.most(u, v), prepend=0.0)
                for r in range(self.misses + 1):
                    V[u, r] += more[: r + 1] @ V[1 + v, r::-1]
        return V

    def pairs(self) -> list[tuple[int, int]]:
        """All stretches that can happen and last at least one step."""
        pairs = [(u, v) for u in self.points for v in self.ends(u)]
        return [(u, v) for u, v in pairs if self.law(u, v)[0].shape[1] and self.law(u, v)[1].sum() > 0]


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
    def test_plain_guesses_and_their_laws(self, between: Between) -> None:
        watch = between.watch
        both = np.zeros((2, between.size, between.steps), dtype=np.int64)
        (ahead,), laws, _ = stretch_policy.plain_laws(
            watch[0][None], watch[1], watch[0][None], *watch[1:], between.misses
        )
        for u in between.reached:
            stretch_guess.map_guesses(watch, u, both[0])
            stretch_guess.marginal_guesses(watch, ahead, u, both[1])
            for v in between.ends(u):
                traces, chance = between.law(u, v)
                begin, steps = between.start(u)[0], traces.shape[1]
                cut = both[:, v, begin : begin + steps]
                assert laws[:, u, v] == pytest.approx(between.laws(u, v, cut), abs=1e-12)
                if not chance.sum() or not steps:
                    continue
                likely = (traces[None] == cut[:1]).all(axis=2) @ chance
                allowed = (between.named[traces] > 0).all(axis=1)
                assert likely[0] == pytest.approx((chance * allowed).max(), rel=1e-9)
                for i in range(steps):
                    there = np.bincount(traces[:, i], weights=chance, minlength=between.prior.places) * between.named
                    assert there[cut[1, i]] == pytest.approx(there.max(), rel=1e-9)

    @settings(max_examples=30)
    @given(stretched(), st.integers(0, 10**6))
    def test_adding_up_stretches_is_the_success_of_their_guesses(self, between: Between, seed: int) -> None:
        """One guess for each stretch, put together for each series: its success over all traces."""
        rng = np.random.default_rng(seed)
        law, chosen = np.zeros((between.size, between.size, between.misses + 1)), {}
        for u in between.points:
            for v in between.ends(u):
                guesses = between.guesses(u, v)
                chosen[u, v] = guesses[rng.integers(len(guesses))]
                law[u, v] = between.laws(u, v, chosen[u, v][None])[0]
        after = np.zeros((between.size, between.misses + 1))
        before = np.zeros_like(after)
        found = stretch_policy.add_up(between.sensors, law, after)
        stretch_policy.add_before(between.sensors, law, before)
        world = World(between.prior, between.steps)
        total, arrived = 0.0, np.zeros_like(before)
        for trace, chance in zip(world.traces, world.chance, strict=True):
            wrong, u = 0, 0
            while u is not None:
                if wrong <= between.misses:
                    arrived[u, wrong] += chance
                begin = between.start(u)[0]
                seen = [v for v in between.ends(u)[:-1] if between.grid.reshape(-1)[v] == trace[v // between.sensors]]
                v = min(seen, default=between.grid.size)
                end = v // between.sensors if v < between.grid.size else between.steps
                wrong += int((trace[begin:end] != chosen[u, v]).sum())
                u = 1 + v if v < between.grid.size else None
            total += chance * (wrong <= between.misses)
        assert found == pytest.approx(total, abs=1e-12)
        assert before == pytest.approx(arrived, abs=1e-12)

    @settings(max_examples=30)
    @given(stretched(), st.integers(0, 10**6))
    def test_climbing_never_falls_and_says_what_the_guess_does(self, between: Between, seed: int) -> None:
        rng = np.random.default_rng(seed)
        number = between.misses + 1
        after, law = np.empty((between.steps, number, between.prior.places)), np.empty(number)
        turned = between.watch.matrices.transpose(0, 2, 1)
        for u, v in between.pairs()[:6]:
            worth = np.sort(rng.random(number))[::-1].copy()
            guesses = between.guesses(u, v)
            begin, chosen = between.start(u)[0], guesses[rng.integers(len(guesses))]
            guess = np.zeros(between.steps, dtype=np.int64)
            guess[begin : begin + len(chosen)] = chosen
            reached, _ = stretch_guess.climb(between.watch, turned, u, v, guess, worth, after, law)
            expected = between.laws(u, v, guess[None, begin : begin + len(chosen)])[0]
            assert law == pytest.approx(expected, abs=1e-12)
            assert reached == pytest.approx(expected @ worth, abs=1e-12)
            assert reached >= between.laws(u, v, chosen[None])[0] @ worth - 1e-12
            assert between.named[guess[begin : begin + len(chosen)]].all()
            # No change of a single step helps.
            near = np.repeat(guess[None, begin : begin + len(chosen)], len(chosen) * between.prior.places, axis=0)
            for i, (t, x) in enumerate(product(range(len(chosen)), range(between.prior.places))):
                near[i, t] = x if between.named[x] else near[i, t]
            assert (between.laws(u, v, near) @ worth).max() <= reached + 1e-9

    @settings(max_examples=25)
    @given(stretched(), st.sampled_from([1, 2, 5, 400]), st.sampled_from([2, 3, 9]))
    def test_ceilings_are_above_all_guesses_and_come_down_to_the_best(
        self, between: Between, nodes: int, depth: int
    ) -> None:
        """However few tables are kept: not below the best guess for each number of wrong steps by itself."""
        number, places = between.misses + 1, between.prior.places
        depth = min(depth, between.steps + 1)
        U, V = np.ones((depth, between.size, number, places)), np.ones((between.size, number))
        bounds, done = np.zeros((between.size, between.size, number)), np.zeros(2)
        before, costs = np.ones((between.size, number)), np.zeros(50)
        found = stretch_ceiling.lay(*between.watch, U, V, bounds, before, nodes, np.inf, False, costs, done)
        best = between.dominated()
        assert found == V[-1, -1]
        for u in between.points:
            assert (V[u - 1] >= best[u] * (1 - 1e-9)).all()
            for v in between.ends(u):
                assert (bounds[u, v] >= between.most(u, v) * (1 - 1e-9)).all()
            if nodes == 400 and depth == between.steps + 1:
                assert V[u - 1] == pytest.approx(best[u], rel=2e-3)

    @settings(max_examples=20)
    @given(stretched())
    def test_guesses_of_several_guides_are_those_of_each(self, between: Between) -> None:
        start, moves, *seen = between.watch
        others = (np.full_like(start, 1 / len(start)), moves[:, ::-1].copy()), (start[::-1].copy(), moves)
        guides = (start, moves), *others
        modes = np.array([start, others[0][0]]), np.concatenate([moves, others[0][1]])
        leads = np.array([guide[0] for guide in guides]), np.concatenate([guide[1] for guide in guides])
        _, together, _ = stretch_policy.plain_laws(*leads, *modes, *seen, between.misses)
        together = together.reshape(2, len(guides), 2, *together.shape[1:])
        for i, (first, then) in enumerate(guides):
            _, alone, _ = stretch_policy.plain_laws(first[None], then, *modes, *seen, between.misses)
            assert (together[:, i] == alone.reshape(2, 2, *alone.shape[1:])).all()

    @settings(max_examples=20)
    @given(stretched())
    def test_local_gaps_add_up_to_the_gap(self, between: Between) -> None:
        number, places, size = between.misses + 1, between.prior.places, between.size
        chain = between.watch
        _, laws, _ = stretch_policy.plain_laws(chain[0][None], chain[1], chain[0][None], *chain[1:], between.misses)
        before, after, law = np.zeros((1, size, number)), np.zeros((1, size, number)), np.zeros((1, size, size, number))
        alone = np.empty(2)
        low = stretch_policy.best_plain(between.sensors, np.ones(1), laws, before, after, law, alone)
        before, after, law = before[0], after[0], law[0]
        assert low == pytest.approx(stretch_policy.add_up(between.sensors, law, after), rel=1e-9)
        for plain, success in zip(laws, alone, strict=True):
            assert success == pytest.approx(stretch_policy.add_up(between.sensors, plain, after), rel=1e-12)
            assert low >= success * (1 - 1e-12)
        stretch_policy.add_before(between.sensors, law, before)
        U, V = np.ones((2, size, number, places)), np.ones((size, number))
        bounds, costs = np.zeros((size, size, number)), np.zeros(50)
        high = stretch_ceiling.lay(*between.watch, U, V, bounds, before, 1, 0.0, False, costs, np.zeros(2))
        gaps = [
            best_guess.local_gap(bounds[u, v], V, law[u, v], before[u], v)
            for u in between.points
            for v in between.ends(u)
        ]
        if high < 1:
            assert sum(gaps) == pytest.approx(high - low, abs=1e-9)

    @settings(max_examples=20)
    @given(stretched())
    def test_where_people_are_between_sightings(self, between: Between) -> None:
        """Unseen since a sighting with enough misses left, by enumeration of what comes before each step."""
        number, places = between.misses + 1, between.prior.places
        before = np.random.default_rng(1).random((between.size, number))
        before[0] = np.eye(number)[0]
        mass = np.full((between.steps + 1, number, places), np.nan)
        stretch_ceiling.spread(between.watch, before, mass)
        for t in range(between.steps):
            expected = np.zeros((number, places))
            for u in between.points:
                begin, row = between.start(u)
                for r in range(number):
                    share = before[u, : number - r].sum()
                    if u and begin == t + 1:
                        expected[r, between.grid.reshape(-1)[u - 1]] += share
                    elif begin <= t:
                        here = row * between.hidden[begin]
                        for i in range(begin, t):
                            here = here @ between.matrix(i) * between.hidden[i + 1]
                        expected[r] += share * here
            assert mass[t + 1] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(stretched())
def test_enough_effort_leaves_the_best_guess_for_each_number_of_wrong_steps(between: Between) -> None:
    """The upper end comes down to what the best guesses for each number of wrong steps in a stretch add up to."""
    found = best_guess.stretchwise(
        between.prior.initial, between.prior.matrices, between.grid, between.named, between.misses, 0.0, 1e12
    )
    expected = between.dominated()[0, -1]
    assert found.lower <= expected * (1 + 1e-9)
    assert expected * (1 - 1e-9) <= found.upper <= max(found.lower, expected * 1.005)


@pytest.mark.parametrize("extra", [None, 1e9])
def test_who_draws_series_instead_asks_for_one_more_round(extra: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []

    def lay(*case: Any) -> float:
        rounds.append(case[-5])
        return float(stretch_ceiling.lay(*case))

    monkeypatch.setattr(best_guess, "lay", lay)
    prior = pb.line_prior(12, 0.3)
    release = pb.Release([[3], [8], [5], [2], [9], [6]])
    found = bracket_stretches(prior, release, 2, 0.0, 1e9, more=lambda found: extra)
    assert found is not None
    assert found.lower < found.upper
    assert tuple(rounds[:2]) == best_guess.NODES[:2]
    assert (len(rounds) == 2) == (extra is None)


@given(cases(), st.sampled_from([0.0, 1e9]))
def test_never_below_the_likeliest_trace_nor_the_likeliest_places(case: Case, budget: float) -> None:
    release = raw(case)
    found = bracket_stretches(case.prior, release, case.misses, 0.01, budget)
    if found is None:
        return
    world = World(case.prior, case.steps)
    channel = world.sightings(release)
    assert found.lower >= world.map_range(channel, case.misses)[0] * (1 - 1e-9)
    joint = channel * world.chance
    total = 0.0
    for row in joint[joint.sum(axis=1) > 0]:
        law = world.posterior_marginals(row / world.chance.clip(1e-300))
        near = [np.flatnonzero(step >= step.max() * (1 - 1e-9)) for step in law]
        if max(map(len, near)) > 1:
            return  # ties may be broken either way
        total += row.sum() * world.success(
            np.array([step[0] for step in near]), case.misses, row / world.chance.clip(1e-300)
        )
    assert found.lower >= total * (1 - 1e-9)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 5), st.sampled_from([1e-3, 1e-9, 0.0]), st.data())
def test_hostile_chains(seed: int, places: int, steps: int, rare: float, data: st.DataObject) -> None:
    """Moves that are all but certain, or impossible; at times one place may not be named."""
    rng = np.random.default_rng(seed)
    moves = np.eye(places)[rng.integers(0, places, (steps - 1, places))]
    moves = (1 - rare) * moves + rare * rng.dirichlet(np.full(places, 0.3), (steps - 1, places))
    watched = int(rng.integers(places))
    named = np.ones(places, dtype=bool)
    named[(watched + 1) % places] = data.draw(st.booleans(), label="all named")
    prior = pb.MarkovPrior(rng.dirichlet(np.ones(places)), moves, guessable=named)
    release = pb.Release([[watched]] * steps)
    misses = data.draw(st.integers(0, steps - 1), label="misses")
    found = bracket_stretches(prior, release, misses, 0.0, data.draw(st.sampled_from([0.0, 1e9]), label="budget"))
    assert found is not None
    world = World(prior, steps)
    allowed = named[world.traces].all(axis=1)
    best = ((world.sightings(release) * world.chance) @ (world.distance <= misses))[:, allowed].max(axis=1).sum()
    assert found.lower * (1 - 1e-9) <= best <= found.upper * (1 + 1e-9)


def test_a_place_is_unseen_where_no_sensor_is() -> None:
    grid = np.array([[0, 2], [1, -1]])
    unseen: Any = sightings.unseen
    np.testing.assert_array_equal(unseen.py_func(grid, 3), [[0, 1, 0], [1, 0, 1]])


def test_a_place_that_hope_sees_no_gain_in_may_be_the_best_to_name() -> None:
    """From each place the next one is certain: with a miss left, hope is for success wherever the first step leads."""
    moves = np.eye(4)[[3, 2, 2, 1]]
    prior = pb.MarkovPrior([0.05, 0.3, 0.25, 0.4], moves)
    found = bracket_stretches(prior, pb.Release([[0], [0]]), 1, 0.0, 1e9)
    assert found is not None
    assert (found.lower, found.upper) == pytest.approx((1.0, 1.0), rel=1e-9)


@pytest.mark.thorough
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_many_places_and_rare_right_steps(seed: int, misses: int) -> None:
    """Where the sum over the first right step is below what telling the place gives: still above all guesses."""
    rng = np.random.default_rng(seed)
    prior = pb.MarkovPrior(rng.dirichlet(np.full(6, 9.0)), rng.dirichlet(np.full(6, 9.0), (3, 6)))
    release = pb.Release([[], [0], [], [1]])
    world = World(prior, 4)
    truth = world.optimum(world.sightings(release), misses)
    found = bracket_stretches(prior, release, misses, 0.0, 1e9)
    assert found is not None
    assert found.lower * (1 - 1e-9) <= truth <= found.upper * (1 + 1e-9)
    assert found.upper <= truth * 1.05


def test_a_little_effort_goes_far_where_right_steps_are_rare() -> None:
    """Telling the place of each step would leave three times as much as the best guess."""
    release = pb.Release([7, 93, 41, 15, 60, 22, 88, 5, 50, 71])
    found = bracket_stretches(pb.line_prior(100, 0.1), release, 7, 0.01, 5e8)
    assert found is not None
    assert 0.005 < found.lower <= found.upper < 0.0063
