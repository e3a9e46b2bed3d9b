"""Events against enumeration of all traces and series, their laws, and what is odd about them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erf
from tests import events
from tests.joint import seen
from tests.oracle import World
from tests.strategies import rows

import passerby as pb
from passerby.errors import Contradiction
from passerby.outcomes.series import MAX_SERIES
from passerby.questions.event_answer import EventAnswer
from passerby.questions.laws import Law
from passerby.questions.parts import Listed

FALSE = (0.0, 0.01, 0.2, 1.0)
CHANCES = (0.0, 0.4, 0.9, 1.0)
MECHANISMS: tuple[pb.Mechanism, ...] = (
    pb.Raw(),
    pb.Geometric(1.0),
    pb.Rounding(2),
    pb.Rounding(5),
    pb.Suppression(3),
    pb.RandomRounding(3),
    pb.Sampling(0.6),
    pb.Then(pb.Rounding(2), pb.AtLeast(2)),
)


def prior_of(rng: np.random.Generator, places: int, steps: int) -> pb.MarkovPrior:
    """Habits of one of several kinds."""
    kind = int(rng.integers(0, 4))
    start, moves = rows(rng, (places,), kind == 0), rows(rng, (places, places), kind == 0)
    if kind == 1:
        other = pb.MarkovPrior(rows(rng, (places,), False), rows(rng, (places, places), False))
        return pb.MarkovPrior.mixture([0.3, 0.7], [pb.MarkovPrior(start, moves), other])
    if kind == 2 and steps > 1:
        return pb.MarkovPrior(start, rows(rng, (steps - 1, places, places), False))
    return pb.MarkovPrior(start, moves)


def count_of(rng: np.random.Generator, places: int, steps: int, others: int | None = None) -> Any:
    """A zone at a step, a flow, or visitors who come once or more."""
    zone = rng.choice(places, int(rng.integers(1, places)), replace=False).tolist()
    kind = int(rng.integers(0, 3))
    if kind == 0 and steps > 1:
        to = rng.choice(places, int(rng.integers(1, places)), replace=False).tolist()
        return pb.Moved(zone, to, int(rng.integers(0, steps - 1)), others=others)
    if kind == 1:
        return pb.Present(zone, int(rng.integers(0, steps)), others=others)
    window = sorted(rng.choice(steps, int(rng.integers(1, steps + 1)), replace=False).tolist())
    return pb.Visitors(zone, window, int(rng.integers(1, len(window) + 1)), others=others)


def case(seed: int) -> tuple[pb.MarkovPrior, pb.Release, pb.Event]:
    """A random chain, a release of any kind with few series, and an event."""
    rng = np.random.default_rng(seed)
    places, steps = int(rng.integers(2, 4)), int(rng.integers(1, 5))
    mechanism = MECHANISMS[seed % len(MECHANISMS)]
    sensors = [rng.choice(places, int(rng.integers(0, 2)), replace=False).tolist() for _ in range(steps)]
    release = pb.Release(sensors, mechanism, [[int(rng.integers(0, 4)) for _ in step] for step in sensors])
    if seed % 3 == 0:
        counts = dict.fromkeys(count_of(rng, places, steps, int(rng.integers(0, 4))) for _ in range(2))
        release = pb.Release(counts=list(counts), steps=steps, mechanism=mechanism)
    if seed % 5 == 0:
        release = release + pb.Release([[0], *[[]] * (steps - 1)], pb.Geometric(1.5))
    event = pb.Event(count_of(rng, places, steps), never=bool(rng.integers(0, 2)))
    return prior_of(rng, places, steps), release, event


def check(found: EventAnswer, want: events.Truth, error: float = 1e-9) -> None:
    """The truth lies within every interval, which is a point unless something is left open."""
    assert events.contains(found.event, want.event)
    if found.status != "open":
        assert min(want.event, want.absence) <= 1e-12
        return
    assert events.contains(found.advantage, want.advantage, error)
    for false in FALSE:
        assert events.contains(found.power(false), want.power(false), error)
    for chance in CHANCES:
        assert events.contains(found.certain(chance), want.certain(chance), error)
        assert events.contains(found.absent(chance), want.absent(chance), error)
    assert found.advantage.upper - found.advantage.lower < 0.02


@pytest.mark.parametrize("seed", range(60))
def test_events_are_told_as_well_as_enumeration_finds(seed: int) -> None:
    prior, release, event = case(seed)
    with np.errstate(invalid="ignore", divide="ignore"):
        check(pb.measure(prior, release, event, tolerance=0.0), events.truth(prior, release, event))


@pytest.mark.thorough
@given(st.integers(60, 10**9))
def test_events_of_any_kind_are_told_as_well_as_enumeration_finds(seed: int) -> None:
    test_events_are_told_as_well_as_enumeration_finds(seed)


@pytest.mark.parametrize("seed", range(0, 60, 4))
def test_guesses_of_yes_or_no_are_as_good_as_qif_finds(seed: int) -> None:
    """The gain of "yes" is 1 for traces of which the event holds; with both sides as likely, it gives the advantage."""
    qif = pytest.importorskip("qif")
    prior, release, event = case(seed)
    world = World(prior, release.steps)
    holds = events.held(event.count, world.traces) != event.never
    gain = np.ascontiguousarray([holds, ~holds], dtype=np.float64)
    channel = events.channel(release, seen(release, world.traces)).T
    if not 0 < world.chance[holds].sum() < 1 - 1e-12:
        return
    even = np.where(holds, world.chance / world.chance[holds].sum(), world.chance / world.chance[~holds].sum()) / 2
    whole = np.ascontiguousarray(np.column_stack([channel, np.maximum(1 - channel.sum(axis=1), 0.0)]))
    success = qif.measure.g_vuln.posterior(gain, np.ascontiguousarray(even / even.sum()), whole)
    found = pb.measure(prior, release, event, tolerance=0.0)
    assert events.contains(found.advantage, 2 * success - 1, 1e-8)


def test_noise_from_a_continuum_lies_around_quadrature() -> None:
    prior = pb.MarkovPrior([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]])
    event = pb.Event(pb.Visitors([1], range(2)))
    sigma = 0.9
    world = World(prior, 2)
    bits = seen(pb.Release([1, 1]), world.traces)
    edges = np.linspace(-5, 6, 67)
    laws = [np.diff((1 + erf((edges - b) / (sigma * np.sqrt(2)))) / 2) for b in (0, 1)]
    series = np.array([np.outer(laws[a], laws[b]).ravel() for a, b in bits.tolist()]).T
    want = events.split(world, series, event)
    for mechanism in (pb.Gaussian(sigma),):
        found = pb.measure(prior, pb.Release([1, 1], mechanism), event, tolerance=1e-3)
        assert events.contains(found.advantage, want.advantage, 5e-3)
        assert events.contains(found.power(0.01), want.power(0.01), 2e-2)
        assert events.contains(found.certain(0.9), want.certain(0.9), 2e-2)


def test_counts_that_are_chosen_as_one_goes_tell_what_fixed_ones_do() -> None:
    prior = pb.MarkovPrior([0.5, 0.3, 0.2], [[0.6, 0.3, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]])
    event = pb.Event(pb.Visitors([1], range(3)))
    chosen = pb.Release.adaptive(lambda history: [len(history) % 2], 3)
    check(pb.measure(prior, chosen, event, tolerance=0.0), events.truth(prior, pb.Release([0, 1, 0]), event))


@pytest.mark.parametrize("seed", range(6))
def test_what_was_published_gives_a_chance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    prior, event = prior_of(rng, 3, 3), pb.Event(pb.Visitors([0], range(3)))
    release = pb.Release([0, [], 1])
    trace = prior.sample(1, 3, rng)
    values: list[Any] = [int(trace[0, 0] == 0), [], int(trace[0, 2] == 1)]
    found = pb.measure(prior, release, event, published=values)
    world = World(prior, 3)
    fits = ((world.traces[:, 0] == 0) == values[0]) & ((world.traces[:, 2] == 1) == values[2])
    held = events.held(event.count, world.traces)
    assert found.chance is not None
    assert found.chance.lower == pytest.approx(world.chance[fits & held].sum() / world.chance[fits].sum())
    with pytest.raises(pb.InputError, match="average over all that may be published"):
        found.power(0.01)


@given(st.integers(0, 10_000), st.floats(0.5, 4.0))
def test_counts_of_all_places_tell_nothing(seed: int, sigma: float) -> None:
    rng = np.random.default_rng(seed)
    prior, event = prior_of(rng, 3, 3), pb.Event(count_of(rng, 3, 3))
    counts = [pb.Present([0, 1, 2], step=t) for t in range(3)]
    found = pb.measure(prior, pb.Release(counts=counts, steps=3, mechanism=pb.Gaussian(sigma)), event)
    assert found.advantage.upper == pytest.approx(0.0, abs=1e-9)


@given(st.integers(0, 10_000))
def test_a_raw_count_of_the_only_place_at_every_step_tells_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    moves = rows(rng, (3, 3), False)
    found = pb.measure(
        pb.MarkovPrior(rows(rng, (3,), False), moves), pb.Release([1, [], 1]), pb.Event(pb.Visitors([1], [0, 2]))
    )
    assert (found.advantage.lower, found.advantage.upper) == pytest.approx((1.0, 1.0))
    assert found.power(0.0).lower == pytest.approx(1.0)


@given(st.integers(0, 10_000), st.floats(0.3, 3.0), st.sampled_from([pb.Geometric, pb.Laplace]))
def test_differential_privacy_is_never_exceeded(seed: int, scale: float, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    release = pb.Release([0, 1, 0], kind(scale))
    found = pb.measure(prior_of(rng, 3, 3), release, pb.Event(count_of(rng, 3, 3)))
    epsilon = 3 / scale
    assert found.advantage.lower <= np.tanh(epsilon / 2) + 1e-9
    for false in FALSE:
        assert found.power(false).lower <= min(1.0, np.exp(epsilon) * false) + 1e-9


@given(st.integers(0, 10_000), st.floats(0.5, 2.0), st.floats(1.1, 3.0))
def test_more_noise_never_tells_more(seed: int, scale: float, factor: float) -> None:
    rng = np.random.default_rng(seed)
    prior, event = prior_of(rng, 3, 2), pb.Event(count_of(rng, 3, 2))
    for kind in (pb.Gaussian, pb.Laplace):
        less, more = (pb.measure(prior, pb.Release([0, 1], kind(s)), event) for s in (scale, scale * factor))
        assert more.advantage.lower <= less.advantage.upper + 1e-9
        assert more.power(0.01).lower <= less.power(0.01).upper + 1e-9


def person() -> pb.MarkovPrior:
    return pb.MarkovPrior([0.5, 0.5, 0.0], [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(("place", "status"), [([2], "impossible"), ([0, 1], "certain")])
def test_what_is_known_anyway_is_not_told(place: list[int], status: str) -> None:
    found = pb.measure(person(), pb.Release([0, 1]), pb.Event(pb.Visitors(place, range(2))))
    sure = float(status == "certain")
    assert found.status == status
    assert (found.event.lower, found.sampled) == (sure, False)
    assert found.advantage == pb.Interval(0.0, 0.0)
    assert found.power(0.01) == pb.Interval(0.01, 0.01)
    assert found.certain(0.9) == pb.Interval(sure, sure)
    assert found.absent(0.9) == pb.Interval(1 - sure, 1 - sure)
    other = pb.measure(person(), pb.Release([0, 1]), pb.Event(pb.Visitors(place, range(2)), never=True))
    assert other.status == {"impossible": "certain", "certain": "impossible"}[status]


@pytest.mark.parametrize("mechanism", [pb.Raw(), pb.Gaussian(1.0)])
def test_nothing_published_tells_nothing(mechanism: pb.Mechanism) -> None:
    found = pb.measure(person(), pb.Release([[], []], mechanism), pb.Event(pb.Present([0], 1)))
    assert found.advantage == pb.Interval(0.0, 0.0)
    assert found.power(0.01).upper == pytest.approx(0.01)
    later = pb.measure(person(), pb.Release([[], [0]], mechanism), pb.Event(pb.Present([0], 0)))
    assert later.advantage.upper == pytest.approx(0.0, abs=1e-9)


def test_the_ends_of_the_scale_are_defined() -> None:
    found = pb.measure(person(), pb.Release([0, []]), pb.Event(pb.Visitors([0], range(2))))
    assert found.power(1.0) == pb.Interval(1.0, 1.0)
    assert found.certain(0.0).lower == pytest.approx(1.0)
    assert found.power(0.0).lower == pytest.approx(found.certain(1.0).lower)
    assert found.certain(1.0).lower == pytest.approx(2 / 3)
    assert found.absent(1.0).upper == 0.0


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (pb.Present([3], 0), "place 3, but the prior has 3 places"),
        (pb.Present([0], 2), "it is about step 2, and the release has 2 steps"),
        (pb.Moved([0], [7], 0), "place 7"),
        (pb.Visitors([0], range(5)), "step 4"),
    ],
)
def test_unknown_places_and_steps_are_refused(count: Any, says: str) -> None:
    with pytest.raises(pb.InputError, match=says):
        pb.measure(person(), pb.Release([0, 1]), pb.Event(count))


@pytest.mark.thorough
def test_limits_of_drawn_series_hold_as_often_as_promised() -> None:
    prior = pb.MarkovPrior([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]])
    release, event = pb.Release([1, 1, 1], pb.Geometric(1.0)), pb.Event(pb.Visitors([1], range(3), 2))
    want = events.truth(prior, release, event)
    truths = want.advantage, want.power(0.05), want.certain(0.6), want.absent(0.6)
    outside = np.zeros(4)
    for seed in range(300):
        found = pb.measure(prior, release, event, series="sample", runs=100, confidence=0.9, seed=seed)
        ends = found.advantage, found.power(0.05), found.certain(0.6), found.absent(0.6)
        outside += [not events.contains(end, truth) for end, truth in zip(ends, truths, strict=True)]
    assert (outside / 300 <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 300)).all()
    assert len(want.yes) <= MAX_SERIES


def test_ends_that_differ_by_rounding_alone_are_no_contradiction() -> None:
    """Sums of chances near one are right to sixteen digits, however small their difference is."""

    def told(less: float, more: float) -> EventAnswer:
        parts = [Listed("list", 1.0, Law(np.array([x, 1 - x]), np.array([0.0, 1.0]))) for x in (less, more)]
        return EventAnswer(pb.Interval(0.5, 0.5), "open", 0.99, 0.01, 0.0, tuple(parts))

    found = told(4.714139845152232e-08, 4.714139856254462e-08).advantage
    assert found.lower == pytest.approx(4.714e-08, rel=1e-3)
    with pytest.raises(Contradiction):
        _ = told(4.7e-08, 4.8e-08).advantage
