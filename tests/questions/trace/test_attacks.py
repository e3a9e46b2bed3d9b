import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import comb
from tests.evidence import dense, viterbi
from tests.guesses import masked_cases
from tests.oracle import World
from tests.reference import prior_of, small_cases
from tests.strategies import FINITE, Case, Jumbled, cases, chain, chains

import passerby as pb
from passerby.outcomes.series import Series, enumerate_series, sample_series, score
from passerby.questions.trace.guess import decode_series, map_attack
from passerby.questions.trace.methods import baseline as constant
from passerby.questions.trace.methods.baseline import _visits_ceiling, constant_attack, prior_attack, prior_trace
from passerby.questions.trace.methods.monte_carlo import sampled_attacks
from passerby.support.statistics import lower_limit


def listed(prior: pb.MarkovPrior, release: pb.Release) -> Series:
    series = enumerate_series(prior, release)
    assert series is not None
    return series


def generator() -> np.random.Generator:
    return np.random.default_rng(11)


@pytest.mark.parametrize("case", small_cases())
def test_reference_values(case: Any) -> None:
    prior, release, misses = prior_of(case), pb.Release(case["sensors"]), case["misses"]
    found = {
        "map": map_attack(prior, release, misses, listed(prior, release)).value,
        "prior": prior_attack(prior, release.steps, misses).value,
        "constant": constant_attack(prior, release.steps, misses).value,
    }
    assert found == pytest.approx({name: case[name] for name in found}, abs=1e-9)


@given(chains())
def test_constant_is_the_best_of_all_constants(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    world = World(prior, steps)
    for misses in range(steps):
        assert constant_attack(prior, steps, misses).value == pytest.approx(world.constant_success(misses), abs=1e-9)


@example((chain(25, 3, 3, "varying", sparse=True), 3))  # without a margin, rounding puts it below
@given(chains())
def test_the_ceiling_of_a_constant_is_the_smallest_of_its_moments(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    world = World(prior, steps)
    for needed in range(1, steps + 1):
        found = _visits_ceiling(prior, steps, needed)
        for place in range(prior.places):
            visits = (world.traces == place).sum(axis=1)
            orders = range(1, (needed if prior.homogeneous else 1) + 1)
            moments = [float(world.chance @ comb(visits, k)) / math.comb(needed, k) for k in orders]
            assert found[place] == pytest.approx(min(moments), rel=1e-8)
            assert found[place] >= world.chance[visits >= needed].sum()


@pytest.mark.parametrize("misses", [0, 3, 7, 11])
def test_constants_that_are_never_scored_are_not_the_best(misses: int) -> None:
    """Twelve steps are too many to enumerate: every place is scored instead."""
    for prior in (pb.line_prior(15), chain(3, 15, 12, "started", sparse=True), chain(4, 15, 12, "stationary")):
        guesses = np.repeat(np.arange(15)[:, None], 12, axis=1)
        every = score(prior, pb.Release.silent(12), np.zeros((15, 12, 1)), guesses, misses)
        assert constant_attack(prior, 12, misses).value == pytest.approx(every.max(), rel=1e-9)


@given(chains())
def test_guesses_that_are_told_succeed_as_often_as_is_said(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    world = World(prior, steps)
    for misses in range(steps):
        for attack in (prior_attack(prior, steps, misses), constant_attack(prior, steps, misses)):
            assert attack.value == pytest.approx(world.success(np.array(attack.guess), misses), abs=1e-12)


def test_constant_does_not_name_elsewhere() -> None:
    law = [0.6, 0.3, 0.1]
    assert constant_attack(pb.MarkovPrior(law, np.eye(3)), 4, 0).value == pytest.approx(0.6)
    assert constant_attack(pb.MarkovPrior(law, np.eye(3), elsewhere=0), 4, 0).value == pytest.approx(0.3)
    assert constant_attack(pb.MarkovPrior([0.6, 0.4], np.eye(2), elsewhere=0), 4, 0).value == pytest.approx(0.4)
    assert constant_attack(pb.MarkovPrior([1.0], [[1.0]], elsewhere=0), 4, 0).value == pytest.approx(1)


@pytest.mark.parametrize("score_all", [0.0, 1e6])
@pytest.mark.parametrize("misses", [0, 1, 2])
def test_constants_by_ceilings_are_those_that_may_be_named(
    misses: int, score_all: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two luckiest places are not to be named: one stands for many places, the other for all that are elsewhere."""
    monkeypatch.setattr(constant, "SCORE_ALL", score_all)
    moves = 0.6 * np.eye(4) + 0.4 * np.array([0.4, 0.3, 0.2, 0.1])
    prior = pb.MarkovPrior([0.4, 0.3, 0.2, 0.1], moves, guessable=[False, True, True, True], elsewhere=1)
    world = World(prior, 3)
    found = constant_attack(prior, 3, misses)
    assert found.guess == (2, 2, 2)
    assert found.value == pytest.approx(world.success(np.array([2, 2, 2]), misses), abs=1e-12)


@given(chains())
def test_the_prior_trace_is_a_likeliest_one(chain: tuple[pb.MarkovPrior, int]) -> None:
    prior, steps = chain
    world = World(prior, steps)
    trace = prior_trace(prior, steps)
    assert world.success(trace, 0) == pytest.approx(world.chance.max(), rel=1e-9)
    for misses in range(steps):
        assert prior_attack(prior, steps, misses).value == pytest.approx(world.success(trace, misses), abs=1e-9)


@given(cases(mechanisms=FINITE))
def test_map_is_scored_as_enumeration_scores_its_guesses(case: Case) -> None:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    world = World(case.prior, case.steps)
    guesses, _ = decode_series(case.prior, case.release, series.evidence)
    total = 0.0
    for guess, evidence, mass in zip(guesses, series.evidence, series.mass, strict=True):
        likelihood = np.ones(len(world.traces))
        for t in range(case.steps):
            likelihood *= np.exp(evidence[t])[world.column(case.release, t)]
        total += mass * world.success(guess, case.misses, likelihood)
    attack = map_attack(case.prior, case.release, case.misses, series)
    assert attack.value == pytest.approx(total, abs=1e-9)
    assert attack.error == 0


@given(masked_cases(mechanisms=FINITE))
def test_the_decoded_guess_is_the_likeliest_that_may_be_named(case: Case) -> None:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    world = World(case.prior, case.steps)
    allowed = case.prior.guessable[world.traces].all(axis=1)
    guesses, values = decode_series(case.prior, case.release, series.evidence)
    assert case.prior.guessable[guesses].all()
    for guess, value, evidence in zip(guesses, values, series.evidence, strict=True):
        joint = world.chance.copy()
        for t in range(case.steps):
            joint *= np.exp(evidence[t])[world.column(case.release, t)]
        assert math.exp(value) == pytest.approx(joint[allowed].max(), abs=1e-12)
        assert joint[(world.traces == guess).all(axis=1)][0] == pytest.approx(math.exp(value), abs=1e-12)


@pytest.mark.parametrize("kind", ["stationary", "started", "varying"])
@pytest.mark.parametrize(("places", "steps", "runs"), [(9, 12, 30), (30, 1, 4), (12, 2, 1)])
def test_leaving_out_dominated_places_changes_nothing(kind: str, places: int, steps: int, runs: int) -> None:
    prior, rng = chain(5, places, steps, kind), np.random.default_rng(2)
    release = pb.Release(rng.integers(0, places, steps), pb.Gaussian(0.5))
    evidence = release.evidence(release.publish(prior.sample(runs, steps, rng), rng))
    traces, values = decode_series(prior, release, evidence)
    for trace, value, seen in zip(traces, values, evidence, strict=True):
        plain, best = viterbi(prior, dense(release, places, seen))
        assert value == pytest.approx(best, rel=1e-12)
        np.testing.assert_array_equal(trace, plain)


@pytest.mark.parametrize("seed", range(6))
def test_who_is_dominated_may_differ_from_step_to_step(seed: int) -> None:
    """At first nearly all go where the first place leads, and later nearly all where the last one does."""
    rng, places, steps = np.random.default_rng(seed), 5, 6
    moves = rng.dirichlet(np.ones(places), (steps - 1, places))
    moves[0] = 0.9 * moves[0, 0] + 0.1 * np.eye(places)[0]
    moves[0, 0] = rng.dirichlet(np.ones(places))
    moves[1:] = 0.05 * moves[1:] + 0.95 * np.eye(places)[rng.permutation(places)]
    prior = pb.MarkovPrior(rng.dirichlet(np.ones(places)), moves)
    release = pb.Release(rng.integers(0, places, steps), pb.Gaussian(0.6))
    evidence = release.evidence(release.publish(prior.sample(12, steps, rng), rng))
    _, values = decode_series(prior, release, evidence)
    best = [viterbi(prior, dense(release, places, seen))[1] for seen in evidence]
    assert values == pytest.approx(best, rel=1e-12)


@given(cases(mechanisms=FINITE))
def test_map_is_optimal_when_nothing_may_be_missed(case: Case) -> None:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    world = World(case.prior, case.steps)
    optimum = world.optimum(world.likelihoods(case.release), 0)
    assert map_attack(case.prior, case.release, 0, series).value == pytest.approx(optimum, abs=1e-9)


@given(cases(mechanisms=FINITE))
def test_attacks_grow_with_misses_and_stay_probabilities(case: Case) -> None:
    series = enumerate_series(case.prior, case.release)
    assert series is not None
    values = np.array(
        [
            [
                map_attack(case.prior, case.release, misses, series).value,
                prior_attack(case.prior, case.steps, misses).value,
                constant_attack(case.prior, case.steps, misses).value,
            ]
            for misses in range(case.steps)
        ]
    )
    assert (np.diff(values, axis=0) >= -1e-12).all()
    assert (values >= 0).all()
    assert (values <= 1).all()


@pytest.mark.parametrize("mechanism", [pb.Raw(), Jumbled(0.4)], ids=repr)
@pytest.mark.parametrize("misses", [0, 1, 2])
def test_a_sample_agrees_with_the_list(mechanism: pb.Mechanism, misses: int) -> None:
    prior, release = chain(9, 4, 5, "started"), pb.Release([0, [1, 2], 3, [], 0], mechanism, [0, [1, 0], 1, [], 0])
    exact = map_attack(prior, release, misses, listed(prior, release))
    drawn = map_attack(prior, release, misses, sample_series(prior, release, generator(), 2000))
    assert 0 < drawn.error < 0.02
    assert abs(drawn.value - exact.value) <= 4 * drawn.error


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(0.7)], ids=repr)
@pytest.mark.parametrize("misses", [0, 2])
def test_plain_monte_carlo_agrees_with_exact_scores(mechanism: pb.Mechanism, misses: int) -> None:
    prior, release = chain(9, 4, 5, "started"), pb.Release([0, [1, 2], 3, [], 0], mechanism)
    plain = sampled_attacks(prior, release, misses, generator(), runs=4000)
    series = enumerate_series(prior, release) or sample_series(prior, release, np.random.default_rng(12), 4000)
    exact = {
        "map": map_attack(prior, release, misses, series),
        "prior": prior_attack(prior, 5, misses),
        "constant": constant_attack(prior, 5, misses),
    }
    assert plain.keys() == exact.keys()
    for name, attack in plain.items():
        # The rate of the luckiest constant is a maximum over places, and so a little too high.
        slack = 4 * np.hypot(attack.error, exact[name].error) + (0.01 if name == "constant" else 0)
        assert abs(attack.value - exact[name].value) <= slack, name
    # Scoring each series exactly is never noisier than counting successes.
    assert exact["map"].error <= plain["map"].error * 1.05


def test_a_rate_carries_the_standard_error_of_a_share() -> None:
    prior, release = pb.MarkovPrior([0.7, 0.3], np.eye(2)), pb.Release([0, 0])
    plain = sampled_attacks(prior, release, 0, generator(), runs=50)
    rate = plain["prior"].value
    assert 0.5 < rate < 0.9
    assert plain["prior"].error == pytest.approx(math.sqrt(rate * (1 - rate) / 50))
    assert (plain["map"].value, plain["map"].error) == (1.0, 1 / 50)
    assert plain["constant"].value == rate
    # A third of the doubt for each attack, and half of that for each of the two constants.
    hits = np.random.default_rng(0).permutation(np.arange(50) < round(50 * rate)).astype(float)
    assert plain["map"].floor == pytest.approx(lower_limit(np.ones(50), 1 - 0.01 / 3))
    limit = plain["prior"].floor
    assert limit is not None
    assert limit == pytest.approx(lower_limit(hits, 1 - 0.01 / 3), abs=0.05)
    assert limit - 0.05 < plain["constant"].floor < limit


def test_plain_monte_carlo_is_below_what_it_counts_as_often_as_it_says() -> None:
    prior, release = chain(9, 4, 3, "started"), pb.Release([0, 1, 3])
    exact = map_attack(prior, release, 0, listed(prior, release)).value
    found = [sampled_attacks(prior, release, 0, np.random.default_rng(i), 60, confidence=0.4) for i in range(100)]
    assert sum(plain["map"].floor > exact for plain in found) <= 20 + 3 * math.sqrt(16)


def test_constants_are_counted_for_the_luckiest_place_but_elsewhere() -> None:
    prior = pb.MarkovPrior([0.6, 0.3, 0.1], np.eye(3), elsewhere=0)
    rates = sampled_attacks(prior, pb.Release([0, 0]), 0, generator(), runs=400)
    assert rates["constant"].value == pytest.approx(0.3, abs=0.07)


@settings(max_examples=25)
@given(cases(mechanisms=FINITE))
def test_noise_never_helps_the_best_guess(case: Case) -> None:
    """MAP is the best attack when nothing may be missed, so publishing less can only lower it."""
    values = []
    for share in (0.0, 0.2, 0.7, 1.0):
        release = pb.Release(case.release.sensors, Jumbled(share), case.release.others)
        series = enumerate_series(case.prior, release, max_series=100_000)
        assert series is not None
        values.append(map_attack(case.prior, release, 0, series).value)
    assert (np.diff(values) <= 1e-9).all()
    assert values[-1] == pytest.approx(prior_attack(case.prior, case.steps, 0).value, abs=1e-9)


@pytest.mark.parametrize("kind", ["stationary", "started", "varying"])
def test_gaussian_noise_never_helps_beyond_the_error(kind: str) -> None:
    prior = chain(21, 6, 8, kind)
    sensors: list[int | list[int]] = [0, 1, [2, 3], 4, 5, [], 0, 1]
    attacks = []
    for sigma in (0.1, 0.5, 1.0, 3.0):
        release = pb.Release(sensors, pb.Gaussian(sigma))
        attacks.append(map_attack(prior, release, 0, sample_series(prior, release, generator(), 1500)))
    raw = pb.Release(sensors)
    values = [map_attack(prior, raw, 0, listed(prior, raw)), *attacks]
    for less, more in pairwise(values):
        assert more.value <= less.value + 4 * np.hypot(less.error, more.error)
    # Hardly any noise is as good as none, and a great deal as good as silence.
    assert abs(values[0].value - values[1].value) <= 4 * values[1].error + 1e-3
    release = pb.Release(sensors, pb.Gaussian(1e6))
    drowned = map_attack(prior, release, 0, sample_series(prior, release, generator(), 200))
    assert drowned.value == pytest.approx(prior_attack(prior, 8, 0).value, rel=1e-3)


@given(chains(), st.data())
def test_the_luckiest_constant_is_found_with_and_without_ceilings(
    chain: tuple[pb.MarkovPrior, int], data: st.DataObject
) -> None:
    """Where places are many, they are tried in the order of a ceiling on their success, and the rest is left out."""
    prior, steps = chain
    named = np.array(data.draw(st.lists(st.booleans(), min_size=prior.places, max_size=prior.places)))
    named[data.draw(st.integers(0, prior.places - 1))] = True
    elsewhere = data.draw(st.none() | st.integers(0, prior.places - 1))
    prior = pb.MarkovPrior(prior.initial, prior.transition, guessable=named, elsewhere=elsewhere)
    for misses in range(steps):
        all_scored = constant_attack(prior, steps, misses)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(constant, "SCORE_ALL", 0)
            by_ceilings = constant_attack(prior, steps, misses)
        assert by_ceilings.value == pytest.approx(all_scored.value, rel=1e-12)
        assert by_ceilings.guess is not None
        assert len(by_ceilings.guess) == steps
        assert named[by_ceilings.guess[0]]
        success = score(prior, pb.Release.silent(steps), np.zeros((1, steps, 1)), np.array([by_ceilings.guess]), misses)
        assert success[0] == pytest.approx(all_scored.value, rel=1e-9)
