import numpy as np
import pytest
from tests.people.test_habits import random_traces

import passerby as pb
from passerby.audits.backtest import earlier_origins, first_steps
from passerby.audits.calibration import Tried, calibrate, divergence


def test_promises_are_those_of_an_audit_and_right_is_what_it_hits() -> None:
    traces = random_traces(3, 40, 14, 8)
    found = pb.backtest(traces, origins=1, holdout=3, people=1000)
    people = pb.fit_people(traces, holdout=3)
    table = pb.audit(people, pb.Release(pb.most_visited_sensors(people)), misses=1, workers=1)
    rows = {(row["attack"], row["misses"]): row for row in found.by_misses.iter_rows(named=True)}
    for name in ("map", "prior"):
        assert rows[name, 1]["promised"] == pytest.approx(table[f"attack_{name}"].mean(), rel=1e-9)
        assert rows[name, 1]["right"] == pytest.approx(table[f"hit_{name}"].mean(), rel=1e-9)
    assert (found.people, found.origins) == (40, 1)


def test_the_verdict() -> None:
    promised = np.full((200, 2, 3), 0.25)
    kept, broken = (np.zeros((200, 2, 3)) for _ in range(2))
    kept[:50], broken[:150] = 1, 1
    good, bad = (calibrate([Tried("2024", "paper", promised, right, np.zeros(200))] * 2, 1) for right in (kept, broken))
    assert good.came_true
    assert "came true: promised 25 %, came true for 25 %" in good.sentence
    assert not bad.came_true
    assert bad.gap == pytest.approx(0.5)
    assert bad.nats == pytest.approx(divergence(0.75, 0.25))
    assert bad.by_promise["people"].sum() == 2 * 400


def test_origins() -> None:
    assert first_steps(random_traces(3, 4, 14, 8), 9).array.shape == (4, 9)
    with pytest.raises(pb.InputError, match="too few for 9 origins"):
        earlier_origins(12, 5, 9)
    with pytest.raises(pb.InputError, match="origins: expected a whole number"):
        earlier_origins(12, 5, 0)
    with pytest.raises(pb.InputError, match="misses: 3 of 3 steps"):
        pb.backtest(random_traces(3, 4, 14, 8), holdout=3, misses=3)
