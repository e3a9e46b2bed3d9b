from typing import Any

import numpy as np
import pytest

import passerby as pb
from passerby.others.bridges import Passage


class TestBits:
    traces = np.array([[0, 1, 2], [1, 1, 0], [2, 0, 1]])

    @pytest.mark.parametrize(
        ("count", "told"),
        [
            (pb.Present([0, 1], step=2), [False, True, True]),
            (pb.Present(2, step=0), [False, False, True]),
            (pb.Moved([0, 2], [1], step=0), [True, False, False]),
            (pb.Moved([1], [0], step=1), [False, True, False]),
            (pb.Visitors([1], steps=range(3)), [True, True, True]),
            (pb.Visitors([1], steps=[0, 1], times=2), [False, True, False]),
            (pb.Visitors([0, 1], steps=[0, 2], times=2), [False, True, False]),
        ],
    )
    def test_who_is_counted(self, count: Any, told: list[bool]) -> None:
        assert count.bits(self.traces).tolist() == told

    def test_what_is_published(self) -> None:
        release = pb.Release(
            counts=[pb.Present([0, 1], 0, others=3), pb.Moved([0], [1], 0), pb.Visitors([2], [0, 2])], steps=3
        )
        told = release.publish(self.traces, np.random.default_rng(0))
        assert told[:, 0, 0].tolist() == [4, 4, 3]
        assert told[:, 1, 0].tolist() == [1, 0, 0]
        assert told[:, 2, 0].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pb.Present([], 0), "the list is empty"),
        (lambda: pb.Present("ab", 0), "expected numbers of places"),  # type: ignore[arg-type]
        (lambda: pb.Present([-1], 0), "whole number of at least 0"),
        (lambda: pb.Present([0], -1), "step is -1"),
        (lambda: pb.Present([0], 0, mechanism="raw"), "must be a Mechanism"),  # type: ignore[arg-type]
        (lambda: pb.Present([0], 0, others=-3), "others is -3"),
        (lambda: pb.Visitors([0], []), "the list is empty"),
        (lambda: pb.Visitors([0], [0, 1], times=3), "nobody can be there so often in 2 steps"),
        (lambda: pb.Moved([0], [], 0), "destination: the list is empty"),
        (lambda: pb.Release(counts=[pb.Present([0], 2)], steps=2), "it needs step 2, but there are 2 steps"),
        (lambda: pb.Release(counts=[pb.Moved([0], [1], 1)], steps=2), "it needs step 2"),
        (lambda: pb.Release(counts=[pb.Present([0], 0)]), "how many steps there are must be said"),
        (lambda: pb.Release(counts=["all"], steps=1), "expected Present"),  # type: ignore[list-item]
        (lambda: pb.Release(counts=5, steps=1), "expected a list such as"),  # type: ignore[arg-type]
        (lambda: pb.Release([0], counts=[pb.Present([0], 0)], steps=1), "not sensors or others beside"),
        (lambda: pb.Release(), "expected a list with an entry per step"),
        (lambda: pb.Release([0]) + pb.Release([0, 1]), "releases of 1 and 2 steps"),
    ],
)
def test_bad_counts(make: Any, words: str) -> None:
    with pytest.raises(pb.InputError, match=words):
        make()


def test_places_and_others_that_a_measurement_needs() -> None:
    prior = pb.MarkovPrior([0.5, 0.5], np.eye(2))
    with pytest.raises(pb.InputError, match="place 7, but the prior has 2 places"):
        pb.measure(prior, pb.Release(counts=[pb.Present([0, 7], 0)], steps=1))
    with pytest.raises(pb.InputError, match=r"others=\.\.\. in Present"):
        pb.measure(prior, pb.Release(counts=[pb.Present([0, 1], 0)], steps=1, mechanism=pb.Rounding(5)))


def test_too_much_to_remember_is_refused_with_its_number() -> None:
    prior = pb.MarkovPrior(np.full(8, 1 / 8), np.full((8, 8), 1 / 8))
    many = [pb.Visitors([place], range(8), times=3) for place in range(8)]
    with pytest.raises(
        pb.UnsupportedRelease, match=r"8 windows of visitors .* must be told apart beside each of 8 states"
    ):
        pb.measure(prior, pb.Release(counts=many, steps=8))


def test_single_places_are_sensors() -> None:
    counts = [pb.Present([1], 0, others=4), pb.Present([0], 1, others=2), pb.Present([2], 1, others=9)]
    assert pb.Release(counts=counts, steps=2, mechanism=pb.Rounding(5)) == pb.Release(
        [1, [0, 2]], pb.Rounding(5), others=[4, [2, 9]]
    )
    assert (pb.Release([[0], []]) + pb.Release([[], [1]])).sensors == ((0,), (1,))


def test_a_number_published_twice_is_two_counts() -> None:
    noisy = pb.Release([0], pb.Gaussian(1.0))
    both = noisy + noisy
    assert repr(both) == "Release(steps=1, counts=2, mechanism=Gaussian(sigma=1.0))"
    prior = pb.MarkovPrior([0.5, 0.5], np.eye(2))
    once, twice = (pb.measure(prior, release) for release in (noisy, both))
    assert once.upper < twice.lower


def test_what_bounds_say_is_about_the_mechanism_of_each_count() -> None:
    """The release's own mechanism is a default: it must not hide that one count is raw."""
    prior = pb.MarkovPrior([0.5, 0.5], np.eye(2))
    counts = [pb.Present([0], 0, mechanism=pb.Raw()), pb.Present([0, 1], 0)]
    release = pb.Release(counts=counts, steps=1, mechanism=pb.Gaussian(5.0))
    loss = pb.measure(prior, release)
    assert (loss.lower, loss.upper) == (1, 1)
    assert "raw counts are not differentially private" in loss.refused["dp"]
    assert repr(release) == "Release(steps=1, counts=2, mechanisms=2)"
    assert release == pb.Release(counts=[counts[0], pb.Present([0, 1], 0, mechanism=pb.Gaussian(5.0))], steps=1)


class TestDrawsThatAreUsedAgain:
    noise = pb.Gaussian(1.0, persistent=True)
    prior = pb.MarkovPrior([0.5, 0.5], np.eye(2))

    @pytest.mark.parametrize(
        ("counts", "words"),
        [
            ([pb.Present([0, 1], 0), pb.Present([0, 1], 1)], "are of the same cell"),
            ([pb.Present([0, 1], 0), pb.Visitors([0, 1], [1])], "are of the same cell"),
            ([pb.Visitors([0], [0, 1]), pb.Visitors([0], [1, 2])], "are of the same cell"),
            ([pb.Moved([0], [1], 0), pb.Moved([0], [1], 1)], "are of the same cell"),
            ([pb.Present([0, 1], 0), pb.Present([0, 1], 0, others=3)], "are of the same cell"),
            (
                [pb.Present([0, 1], 0), pb.Present([0, 1], 0, mechanism=pb.Gaussian(2.0, persistent=True))],
                "are of the same cell",
            ),
            ([pb.Present([n, 1], 0, mechanism=pb.Sampling(0.5, persistent=True), others=0) for n in (0, 2)], "in all"),
        ],
    )
    def test_a_cell_that_is_published_again_is_refused(self, counts: Any, words: str) -> None:
        with pytest.raises(pb.UnsupportedRelease, match=words):
            pb.Release(counts=counts, steps=3, mechanism=self.noise)

    def test_the_same_number_in_two_tables_tells_no_more_than_in_one(self) -> None:
        """Noise that is drawn once for each cell, against fresh noise for each table."""
        loss = {}
        for noise in (self.noise, pb.Gaussian(1.0)):
            table = pb.Release(counts=[pb.Present([0], 0), pb.Present([0, 1], 0)], steps=1, mechanism=noise)
            loss[noise] = [pb.measure(self.prior, release).lower for release in (table, table + table)]
        once, again = loss[self.noise]
        assert once == again == loss[pb.Gaussian(1.0)][0]
        assert loss[pb.Gaussian(1.0)][1] > 1.05 * once

    def test_different_cells_are_drawn_afresh(self) -> None:
        counts = [pb.Present([0], 0), pb.Present([0, 1], 1), pb.Visitors([0], range(2)), pb.Moved([0], [1], 0)]
        kept, fresh = (
            pb.measure(pb.line_prior(3), pb.Release(counts=counts, steps=2, mechanism=noise), 1)
            for noise in (self.noise, pb.Gaussian(1.0))
        )
        assert (kept.lower, kept.upper) == (fresh.lower, fresh.upper)


def test_a_window_of_one_step_remembers_nothing() -> None:
    chain, _ = pb.Release(counts=[pb.Visitors([0], [1])], steps=3).over(pb.line_prior(4))
    assert chain.states == 4


def test_a_release_over_its_states_stays_as_it_is() -> None:
    """Whatever the number of steps is: a chain of as many states is no other chain."""
    release = pb.Release(counts=[pb.Visitors([0], [0, 1])], steps=3)
    chain, over = release.over(pb.line_prior(3))
    assert over.over(chain) == (chain, over)


def test_signals_are_those_of_all_steps_at_once() -> None:
    release = pb.Release(counts=[pb.Present([0, 1], 0), pb.Visitors([2], [0, 1])], steps=2).over(pb.line_prior(3))[1]
    stacked, signals = release.stacked_signals(), release.signals()
    assert stacked is not None
    assert signals is not None
    for table, size, alone in zip(*stacked, signals, strict=True):
        np.testing.assert_array_equal(table[:size], alone)
        np.testing.assert_allclose(alone.sum(axis=0), 1.0)
    noisy = pb.Release(counts=[pb.Present([0], 0, mechanism=pb.Gaussian(1.0))], steps=1)
    assert noisy.over(pb.line_prior(3))[1].signals() is None


def test_a_trace_that_habits_rule_out_has_no_states() -> None:
    passage = Passage.of(pb.MarkovPrior([0.5, 0.5], np.eye(2)), ((pb.Present([0], 0),), (pb.Present([0], 1),)))
    found = passage.states_of(np.array([1, 1]))
    assert found is not None
    assert found.tolist() == [1, 1]
    assert passage.states_of(np.array([0, 1])) is None
