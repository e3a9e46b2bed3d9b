import pickle
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tests.strategies import FINITE, Case, Halved, Jumbled, cases

import passerby as pb


class TestInput:
    @pytest.mark.parametrize(
        ("sensors", "message"),
        [
            ([], r"^sensors: the list is empty"),
            ([3, -1], r"^sensors\[1\] = -1: "),
            ([3, [4, -2]], r"^sensors\[1\] = -2: "),
            ([3, 1.5], r"^sensors\[1\] = 1\.5: "),
            ([True, 1], r"^sensors\[0\] = True: "),
            ([3, None], r"^sensors\[1\] = None: "),
            (["a"], r"^sensors\[0\] = 'a': "),
            ([0, [2, 2]], r"^sensors\[1\] = \[2, 2\]: a place is listed twice"),
            ("123", r"^sensors: expected a list .* got '123'"),
            (7, r"^sensors: expected a list .* got 7"),
        ],
    )
    def test_sensors_are_refused_with_position_and_value(self, sensors: Any, message: str) -> None:
        with pytest.raises(pb.InputError, match=message):
            pb.Release(sensors)

    @pytest.mark.parametrize("mechanism", ["raw", 1.0, pb.Gaussian])
    def test_mechanism_is_one(self, mechanism: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^mechanism: .*" + re.escape(repr(mechanism))):
            pb.Release([0], mechanism)

    def test_others_are_needed_where_the_count_matters(self) -> None:
        with pytest.raises(pb.InputError, match=r"^others: Halved\(\) .* is needed"):
            pb.measure(pb.line_prior(4), pb.Release([0, 1], Halved()))
        assert pb.measure(pb.line_prior(4), pb.Release([[], []], Halved())).lower > 0

    @pytest.mark.parametrize("others", [[1], [1, 2, 3], [1, [2, 3]], [1, []]])
    def test_others_have_the_form_of_sensors(self, others: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^others: "):
            pb.Release([0, 1], others=others)

    def test_others_are_counts(self) -> None:
        with pytest.raises(pb.InputError, match=r"^others\[1\] = -4: expected a number of people"):
            pb.Release([0, 1], others=[3, -4])

    def test_places_out_of_range(self) -> None:
        with pytest.raises(pb.InputError, match=r"^sensors\[2\] = 5: the prior has 5 places, numbered 0 to 4"):
            pb.Release([0, 4, [1, 5]]).check(pb.line_prior(5))

    def test_a_prior_of_another_length(self) -> None:
        prior = pb.MarkovPrior([1.0], np.ones((3, 1, 1)))
        with pytest.raises(pb.InputError, match=r"^transition: 3 steps need 2 matrices .* has 3"):
            pb.Release([0, 0, 0]).check(prior)

    @pytest.mark.parametrize("misses", [-1, 3, 1.0, True, None, "1"])
    def test_misses_within_the_steps(self, misses: Any) -> None:
        with pytest.raises(pb.InputError, match=r"^misses: .* from 0 to 2 .* got " + re.escape(repr(misses))):
            pb.Release([0, 1, 2]).check_misses(misses)

    @pytest.mark.parametrize("steps", [0, -1])
    def test_silence_lasts_a_step(self, steps: int) -> None:
        with pytest.raises(pb.InputError, match="steps: expected a whole number from 1"):
            pb.Release.silent(steps)


class TestRecord:
    def test_forms_of_sensors(self) -> None:
        release = pb.Release([7, [2, 3], [], np.array([1, 0]), (4,)])
        assert release.sensors == ((7,), (2, 3), (), (1, 0), (4,))
        assert release.steps == 5
        np.testing.assert_array_equal(release.grid, [[7, -1], [2, 3], [-1, -1], [1, 0], [4, -1]])
        assert pb.Release(np.array([1, 2])) == pb.Release([1, 2])
        assert pb.Release(range(3)).sensors == ((0,), (1,), (2,))

    def test_is_hashable_and_compared_by_value(self) -> None:
        assert len({pb.Release([1]), pb.Release([[1]]), pb.Release([1], pb.Gaussian(1.0))}) == 2

    def test_others_are_numbers_of_people_or_a_crowd(self) -> None:
        crowd = pb.Crowd([pb.line_prior(5)])
        assert pb.Release([1, [2, 3]]).others is None
        assert pb.Release([1, [2, 3]], others=[4, [0, 7]]).others == ((4,), (0, 7))
        assert pb.Release([1, [2, 3]], others=crowd).others is crowd
        release = pb.Release([1, [2, 3]], pb.Rounding(3), others=crowd)
        assert pb.Release(release.sensors, release.mechanism, release.others) == release

    def test_a_channel_is_the_known_others_and_an_unknown_number(self) -> None:
        laws = [[0.0, 0.0, 1.0], [0.0, 0.25, 0.5, 0.25]]
        (known,), (unknown,) = pb.Release([1, 1], pb.Rounding(3), others=pb.Crowd(laws=laws)).channels
        assert known == (pb.Rounding(3), 2)
        assert unknown.others == 1
        for bit in (0, 1):
            values, chances = unknown.mechanism.law(1 + bit)
            assert dict(zip(values.tolist(), chances.tolist(), strict=True)) == [{0: 0.25, 3: 0.75}, {3: 1.0}][bit]

    def test_equal_laws_share_what_is_known_of_them(self) -> None:
        crowd = pb.Crowd(laws=[[0.5, 0.5], [0.5, 0.5]])
        (first,), (second,) = pb.Release([1, 2], others=crowd).channels
        assert first == second
        assert hash(first) == hash(second)
        assert first != pb.Release([1], others=pb.Crowd(laws=[[0.4, 0.6]])).channels[0][0]

    def test_other_numbers_leave_the_first_release_alone(self) -> None:
        release = pb.Release([1, [2, 3]], others=[4, [0, 7]])
        before = release.grid
        other = release.relabelled({1: 5, 2: 0, 3: 1})
        assert (other.sensors, other.others) == (((5,), (0, 1)), release.others)
        np.testing.assert_array_equal(other.grid, [[5, -1], [0, 1]])
        assert release.grid is before

    def test_silent(self) -> None:
        silent = pb.Release.silent(3)
        assert silent.sensors == ((), (), ())
        assert silent.grid.shape == (3, 0)

    def test_says_what_it_is(self) -> None:
        assert repr(pb.Release([1, [2, 3]])) == "Release(steps=2, sensors=3, mechanism=Raw())"


class TestPublish:
    def test_raw_counts_are_the_others_and_the_target(self) -> None:
        release = pb.Release([0, [1, 2], []], others=[5, [6, 7], []])
        published = release.publish([[0, 2, 1], [1, 1, 1]], np.random.default_rng(0))
        np.testing.assert_array_equal(published[:, 0], [[6, np.nan], [5, np.nan]])
        np.testing.assert_array_equal(published[:, 1], [[6, 8], [7, 7]])
        assert np.isnan(published[:, 2]).all()

    def test_evidence_of_raw_counts_is_the_sighting(self) -> None:
        release = pb.Release([0, [1, 2], []], others=[5, [6, 7], []])
        evidence = release.evidence(release.publish([[0, 2, 1], [1, 1, 1]], np.random.default_rng(0)))
        no = -np.inf
        np.testing.assert_array_equal(evidence[0], [[no, 0, no], [no, no, 0], [0, no, no]])
        np.testing.assert_array_equal(evidence[1], [[0, no, no], [no, 0, no], [0, no, no]])

    def test_evidence_of_noise_is_the_product_of_densities(self) -> None:
        release = pb.Release([[1, 2]], pb.Gaussian(2.0))
        a, b = 0.7, -1.1
        law = pb.Gaussian(2.0).log_likelihood
        expected = [law(a, 0) + law(b, 0), law(a, 1) + law(b, 0), law(a, 0) + law(b, 1)]
        np.testing.assert_allclose(release.evidence([[[a, b]]])[0, 0], expected)

    def test_no_mechanism_is_asked_where_there_is_no_sensor(self) -> None:
        """Some never leave a cell empty, and would look for how they could have."""
        rule = pb.Geometric(0.5) | pb.RandomRounding(3)
        some, all_ = (pb.Release([[1, 2], second], rule, [[0, 2], second]) for second in ([1], [1, 2]))
        traces = [[1, 2], [2, 1]]
        evidence = some.drawn(traces, [5])
        assert np.isfinite(evidence[:, 0]).all()
        assert np.isneginf(evidence[:, 1, 2]).all()
        np.testing.assert_array_equal(evidence[:, 0], all_.drawn(traces, [5])[:, 0])

    def test_what_is_published_for_the_others_does_not_matter_to_noise(self) -> None:
        alone, crowded = (pb.Release([0, 1], pb.Gaussian(1.0), others=[n, n]) for n in (0, 50))
        traces = [[0, 0]]
        first, second = (r.evidence(r.publish(traces, np.random.default_rng(4))) for r in (alone, crowded))
        np.testing.assert_allclose(first, second)


class TestSignals:
    def test_raw(self) -> None:
        one, two, none = pb.Release([4, [1, 2], []]).signals() or []
        assert sorted(one.tolist()) == [[0, 1], [1, 0]]
        assert sorted(two.tolist()) == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
        assert none.tolist() == [[1]]

    def test_a_continuum_has_none(self) -> None:
        assert pb.Release([4], pb.Gaussian(1.0)).signals() is None

    def test_a_continuum_that_is_never_used_has_one_outcome(self) -> None:
        signals = pb.Release([[], []], pb.Gaussian(1.0)).signals()
        assert signals is not None
        assert [table.tolist() for table in signals] == [[[1]], [[1]]]

    def test_too_many_outcomes_are_not_listed(self) -> None:
        """Six sensors of seven outcomes each have more of them together than are listed."""
        mechanism = pb.Sampling(0.5)
        for sensors, listed in ((4, True), (6, False)):
            release = pb.Release([list(range(sensors)), [0]], mechanism, others=[[5] * sensors, [5]])
            assert (release.signals() is not None) == listed
            assert (release.stacked_signals() is not None) == listed

    def test_outcomes_that_tell_nothing_are_merged(self) -> None:
        even, odd = pb.Release([0, 0], Halved(), others=[4, 5]).signals() or []
        assert even.tolist() == [[1, 1]]
        assert len(odd) == 2

    @settings(max_examples=30)
    @given(cases(mechanisms=(*FINITE, Jumbled(0.9, top=5))))
    def test_are_laws(self, case: Case) -> None:
        for step, table in zip(case.release.sensors, case.release.signals() or [], strict=True):
            assert table.shape[1] == len(step) + 1
            assert (table >= 0).all()
            np.testing.assert_allclose(table.sum(axis=0), 1, atol=1e-12)

    def test_agree_with_what_is_published(self) -> None:
        release = pb.Release([[0, 1]], Jumbled(0.5), others=[[1, 0]])
        runs = 20_000
        traces = np.ones((runs, 1), dtype=np.int64)
        evidence = release.evidence(release.publish(traces, np.random.default_rng(2)))[:, 0]
        shape = np.exp(evidence - np.logaddexp.reduce(evidence, axis=1, keepdims=True))
        for row in (release.signals() or [])[0]:
            same = np.isclose(shape, row / row.sum(), atol=1e-9).all(axis=1)
            assert same.mean() == pytest.approx(row[2], abs=4 * np.sqrt(0.25 / runs))


@given(cases(mechanisms=FINITE))
def test_evidence_of_what_is_drawn(case: Case) -> None:
    # Raw counts are not drawn, and tell the same.
    traces = case.prior.sample(20, case.steps, np.random.default_rng(1))
    published = case.release.publish(traces, np.random.default_rng([2, 3]))
    np.testing.assert_array_equal(case.release.drawn(traces, [2, 3]), case.release.evidence(published))


@pytest.mark.parametrize(
    "release",
    [
        pb.Release([[0, 2], [], 1], pb.Rounding(5), others=[[3, 4], [], 5]),
        pb.Release([[0, 2], [], 1]),
        pb.Release(counts=[pb.Present([0, 1], 0), pb.Moved([0], [2], 1)], steps=3, mechanism=pb.Gaussian(1.0)),
    ],
)
class TestEveryReleaseIsOfCounts:
    """Sensors are counts of one place: all releases say the same of themselves."""

    def test_counts_make_the_same_release(self, release: pb.Release) -> None:
        again = pb.Release(counts=release.listed, steps=3)
        assert again == release
        assert again.counts == release.counts
        assert [len(step) for step in release.counts] == [len(step) for step in release.sensors]

    def test_places_that_are_counted_alike_have_one_label(self, release: pb.Release) -> None:
        label = release.alike(5)
        for one in range(5):
            for two in range(5):
                same = all((one in zone) == (two in zone) for zone in release.zones)
                assert (label[one] == label[two]) == same
        assert label[4] == 0

    def test_workers_get_the_same_and_no_more(self, release: pb.Release) -> None:
        bare = len(pickle.dumps(release))
        assert release.listed
        sent = pickle.dumps(release)
        assert len(sent) == bare
        assert (pickle.loads(sent), hash(pickle.loads(sent))) == (release, hash(release))
