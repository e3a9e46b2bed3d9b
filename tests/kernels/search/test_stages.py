import numpy as np
import pytest

from passerby.kernels.search import penalties

pytestmark = pytest.mark.usefixtures("plainly")
#: States are places; 24 steps, 100 places, 18 right steps needed.
CASE = True, 24, 100, 18


def record(**left: float) -> np.ndarray:
    """Stages that were tried often enough, by number, and the share of the gaps that they left."""
    tried = np.zeros((penalties.STAGES, 3))
    for name, share in left.items():
        for _ in range(penalties.TRIED):
            penalties.keep_score(tried, int(name[1:]), 0.5, 0.5 * share)
    return tried


def test_stages_come_one_after_another() -> None:
    order, stage = [], 0
    while (stage := penalties.stage_after(*CASE, stage, record())) < penalties.STAGES:
        order.append(stage)
    assert order == list(range(1, penalties.STAGES))


def test_without_penalties_only_searches_are_left() -> None:
    order, stage = [], 0
    while (stage := penalties.stage_after(False, *CASE[1:], stage, record())) < penalties.STAGES:
        order.append(stage)
    assert order == [i for i in range(1, penalties.STAGES) if penalties.SEARCHED[i] >= 0]


def test_a_stage_that_leaves_nearly_all_is_given_up() -> None:
    assert penalties.stage_after(*CASE, 1, record(s2=0.5)) == 2
    assert penalties.stage_after(*CASE, 2, record(s2=0.5, s3=0.99)) == 4
    assert penalties.stage_after(*CASE, 3, record(s4=0.99)) == 5


def test_more_rounds_are_not_tried_where_few_left_nearly_all() -> None:
    assert penalties.stage_after(*CASE, 1, record(s2=0.99)) == 4


def test_no_search_follows_one_that_helped_nobody_unless_it_adds_up_unions() -> None:
    assert penalties.stage_after(*CASE, 2, record(s0=0.99)) == 3
    assert penalties.stage_after(*CASE, 3, record(s0=0.99)) == penalties.STAGES
    assert penalties.stage_after(*CASE, 3, record(s0=0.5)) == 4
    assert penalties.stage_after(True, 6, 100, 4, 3, record(s0=0.99)) == 4


def test_where_both_of_the_cheapest_do_there_is_no_next_one() -> None:
    assert penalties.stage_after(*CASE, 1, record(s2=0.99, s4=0.99)) == penalties.STAGES
    assert penalties.stage_after(*CASE, 3, record(s2=0.5, s4=0.99)) == 5


def test_a_few_series_are_not_enough_to_give_up() -> None:
    tried = np.zeros((penalties.STAGES, 3))
    for _ in range(penalties.TRIED - 1):
        penalties.keep_score(tried, 2, 0.5, 0.5)
    assert penalties.stage_after(*CASE, 1, tried) == 2


def test_where_some_are_penalised_the_gap_counts_by_what_the_next_stage_costs() -> None:
    few, many = (penalties.urgency(0.5, *CASE, stage, record()) for stage in (1, 2))
    assert few / many == pytest.approx((penalties.PENALTY_ROUNDS[3] + 1) / (penalties.PENALTY_ROUNDS[2] + 1))
    assert penalties.urgency(0.25, *CASE, 1, record()) == pytest.approx(few / 2)
    assert penalties.urgency(0.5, *CASE, penalties.STAGES - 1, record()) == 0.0


def test_elsewhere_the_largest_gap_is_the_most_urgent() -> None:
    assert [penalties.urgency(0.5, False, *CASE[1:], stage, record()) for stage in (0, 5, 8)] == [0.5, 0.5, 0.0]


def test_paper_is_for_all_steps_where_penalties_are_improved() -> None:
    assert penalties.paper_for(*CASE).shape == (2, 24 * 8 * 100**2)
    assert penalties.paper_for(True, 24, 400, 18).shape == (2, 8 * 400**2)
    assert penalties.paper_for(False, *CASE[1:]).shape == penalties.paper_for(True, 24, 10, 18).shape == (2, 0)
