import numpy as np
import pytest

import passerby as pb


@pytest.mark.parametrize("nats", [0.0, 1e-3, 0.05, 0.4])
def test_no_law_so_near_makes_an_attack_more_successful(nats: float) -> None:
    prior = pb.MarkovPrior.stationary([[0.7, 0.3], [0.4, 0.6]])
    loss = pb.measure(prior, pb.Release.silent(2), misses=0, tolerance=0)
    # All four traces, and all laws of them near to the prior that tilt the likeliest one.
    law = np.array([prior.initial[x] * prior.transition[x, y] for x in (0, 1) for y in (0, 1)])
    best = int(np.argmax(law))
    tilted = law * np.exp(np.linspace(0, 20, 200_001)[:, None] * (np.arange(4) == best))
    tilted /= tilted.sum(axis=1, keepdims=True)
    near = (tilted * np.log(tilted / law)).sum(axis=1) <= nats
    assert loss.robust(nats) == pytest.approx(tilted[near, best].max(), abs=1e-4)
    drawn = np.random.default_rng(0).dirichlet(np.ones(4), 100_000)
    close = (drawn * np.log(drawn / law)).sum(axis=1) <= nats
    assert not close.any() or drawn[close, best].max() <= loss.robust(nats) + 1e-12


def test_bad_nats() -> None:
    loss = pb.measure(pb.line_prior(3), pb.Release([0, 1]), misses=0)
    assert loss.robust(1e6) == 1
    for nats in (-1, float("nan"), "1", None):
        with pytest.raises(pb.InputError, match=f"nats={nats!r}"):
            loss.robust(nats)  # type: ignore[arg-type]
