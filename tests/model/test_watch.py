import numpy as np
from hypothesis import given
from tests.evidence import classes as plainly
from tests.states import state_cases
from tests.strategies import Case

import passerby as pb


@given(state_cases())
def test_states_of_a_place_are_in_the_class_of_its_sensor(case: Case) -> None:
    np.testing.assert_array_equal(case.release.classes(case.prior), plainly(case.release.grid, case.prior.place_of))


@given(state_cases())
def test_evidence_has_a_column_for_each_class(case: Case) -> None:
    """What a state is told by is what its place is told by."""
    told = case.release.classes(case.prior)
    assert told.dtype == np.int64
    assert told.flags.c_contiguous
    assert told.max() <= case.release.grid.shape[1]
    silent = pb.Release.silent(case.steps).classes(case.prior)
    assert silent.shape == told.shape
    assert not silent.any()


def test_a_sensor_at_no_step_is_no_class() -> None:
    prior = pb.MarkovPrior([0.5, 0.5, 0], np.eye(3), place_of=[0, 1, 0])
    assert pb.Release.silent(2).classes(prior).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert pb.Release([[0, 1], 1]).classes(prior).tolist() == [[1, 2, 1], [0, 1, 0]]


def test_each_sensor_counts_its_own_class() -> None:
    counted = pb.Release([[0, 1, 2]] * 2).sees
    assert counted.shape == (2, 4, 3)
    assert not counted[:, 0].any()
    assert (counted[:, 1:] == np.eye(3)).all()
    assert not counted.flags.writeable
    assert pb.Release.silent(1).sees.shape == (1, 1, 0)
