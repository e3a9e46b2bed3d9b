"""Raw counts: the best guess over all series at once, bracketed by the stretches between sightings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from passerby.errors import UnsupportedRelease
from passerby.kernels.renewal import sightings
from passerby.measurement.information import check_stretches
from passerby.model.lumping import with_one_sensor
from passerby.model.mixture import average, parts
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from .guess import missing

if TYPE_CHECKING:
    from passerby.kernels.renewal.best_guess import Stretchwise

#: Elementary operations above which guesses for all stretches are dear.
DENSE = 1e9
#: Tables over pairs of sightings may have at most this many entries.
PAIRS_LIMIT = 1e8


def bracket_stretches(
    prior: MarkovPrior,
    release: Release,
    misses: int,
    tolerance: float,
    budget: float,
    *,
    told: bool = False,
    more: Callable[[Stretchwise], float | None] | None = None,
) -> Stretchwise | None:
    """Bracket the best guess over all series of raw counts at once, by the stretches between sightings.

    See `kernels.renewal.best_guess`. For a chain of places, `more` gives the effort to spend on top of the budget, or
    None to end soon. For a mixture, no attack exceeds `Σ_k w_k loss_k`, the success of an adversary knowing the mode.
    From below, guesses are scored under every mode. With `told`, both ends are for an adversary knowing it. None if the
    tables over pairs of sightings are too big, or if a sensor is at an unnameable place. None also if a sighting does
    not reveal the state (of a mode).
    """
    if not release.reveals or prior.naming is not None:
        return None
    prior, release = with_one_sensor(prior, release)
    if not tables_fit(prior, release, misses) or not prior.guessable[release.grid[release.grid >= 0]].all():
        return None
    if prior.single:
        return _of_chain(prior, release, misses, tolerance, budget, more)
    modes = parts(prior)
    if not all(mode.single for _, mode in modes):
        return None
    each = [_of_chain(*with_one_sensor(mode, release), misses, tolerance, weight * budget) for weight, mode in modes]
    lower, upper, _, _, refined, nodes, operations = np.array([found[:7] for found in each]).T
    weights = np.array([weight for weight, _ in modes])
    least = float(weights @ lower) if told else besides_standing(prior, release, misses, each)
    least = guided_success(prior, release, misses) if least is None else least
    return each[0]._replace(
        lower=min(1.0, least),
        upper=min(1.0, float(weights @ upper)),
        refined=int(refined.sum()),
        nodes=int(nodes.sum()),
        operations=float(operations.sum()),
        law=None,
        ceilings=None,
    )


def tables_fit(prior: MarkovPrior, release: Release, misses: int) -> bool:
    """Whether there are counts, and tables over pairs of sightings are not too big."""
    steps, sensors = release.grid.shape
    points = 1 + steps * sensors
    tables = points**2 * 4 * (misses + 1) * prior.modes, prior.places * points * 2 * max(steps, misses + 1)
    return bool(sensors > 0 and max(tables) <= PAIRS_LIMIT)


def least_cost(prior: MarkovPrior, release: Release, misses: int) -> float:
    """Elementary operations of guesses for all stretches, roughly."""
    return _cost(*with_one_sensor(prior, release), misses)


def _cost(prior: MarkovPrior, release: Release, misses: int) -> float:
    """The same with all places as they are: no less."""
    return 40.0 * (release.grid.size + 1.0) ** 2 * (misses + 1.0) * prior.states


def dense(prior: MarkovPrior, release: Release, misses: int) -> bool:
    """Whether guesses for all stretches are too dear to start without weighing their gain."""
    if not prior.single or not release.reveals or prior.naming is not None or _cost(prior, release, misses) <= DENSE:
        return False
    return least_cost(prior, release, misses) > DENSE


def stretch_ceiling(prior: MarkovPrior, release: Release, misses: int) -> float:
    """The upper end alone, at the least effort; 1 if stretches are not looked at (see `bracket_stretches`)."""
    named = prior.guessable[release.grid[release.grid >= 0]].all()
    fits = named and prior.naming is None and tables_fit(prior, release, misses)
    if not release.reveals or not prior.single or not fits:
        return 1.0
    from passerby.kernels.renewal.best_guess import ceiling_at_once

    upper = ceiling_at_once(prior.initial, prior.matrices, release.grid, prior.named, misses)
    return min(1.0, upper + missing(prior, release.steps))


def _of_chain(
    prior: MarkovPrior,
    release: Release,
    misses: int,
    tolerance: float,
    budget: float,
    more: Callable[[Stretchwise], float | None] | None = None,
) -> Stretchwise:
    """The same for a chain whose states are places. Somebody whose trace is known needs no search."""
    # Only long series need it, and it takes a while to compile.
    from passerby.kernels.renewal.best_guess import Stretchwise, stretchwise

    law = prior.marginals(release.steps)
    if ((law > 0).sum(axis=1) == 1).all():
        success = float((~prior.guessable[law.argmax(axis=1)]).sum() <= misses)
        return Stretchwise(success, success, success, success, 0, 0, 0.0)
    found = stretchwise(prior.initial, prior.matrices, release.grid, prior.named, misses, tolerance, budget, more)
    upper = found.upper + missing(prior, release.steps)
    return found._replace(lower=min(1.0, found.lower), upper=min(1.0, upper))


def besides_standing(prior: MarkovPrior, release: Release, misses: int, each: Sequence[Stretchwise]) -> float | None:
    """The certain success if one mode moves and all others stand at a place; None otherwise.

    `each` is the finding for each mode. Guesses are the guesses of the moving mode. A person standing at a permanent
    sensor is found. A person standing away from all sensors is never sighted. Then their place may be named at all
    steps, if the gain exceeds the cost to the moving mode.
    """
    modes = parts(prior)
    stands = [_stands_at(mode, release.steps) for _, mode in modes]
    if stands.count(None) != 1:
        return None
    (weight, usual), found = modes[stands.index(None)], each[stands.index(None)]
    least, unseen = weight * found.lower, dict[int, float]()
    for (share, _), place in zip(modes, stands, strict=True):
        if place is None:
            continue
        sensed = (release.grid == place).any(axis=1)
        if sensed.all():
            least += share
        elif sensed.any() or found.law is None:
            return None
        elif prior.guessable[place]:
            lost = float(found.law[0, -1].sum())
            unseen[place] = share + unseen.get(place, weight * (_unsighted(usual, release, place, misses) - lost))
    return least + max([0.0, *unseen.values()])


def _stands_at(prior: MarkovPrior, steps: int) -> int | None:
    """The place of somebody standing still for sure at all steps; None if there is no such place."""
    law = prior.marginals(steps)
    place = int(law[0].argmax())
    return place if (law[:, place] == 1.0).all() else None


def _unsighted(prior: MarkovPrior, release: Release, place: int, misses: int) -> float:
    """The probability of no sighting, and of being elsewhere than at a place at no more steps than may be missed."""
    from passerby.kernels.renewal.best_guess import unwatched

    hidden, away = unwatched(release.grid, prior.places), np.arange(prior.places) != place
    wrong = np.zeros((misses + 1, prior.places))
    wrong[0] = prior.initial
    for t in range(release.steps):
        if t:
            wrong = wrong @ prior.matrices[0 if prior.homogeneous else t - 1]
        wrong *= hidden[t]
        wrong[1:, away] = wrong[:-1, away]
        wrong[0, away] = 0.0
    return float(wrong.sum())


def guided_success(prior: MarkovPrior, release: Release, misses: int) -> float:
    """For raw counts and a mixture of chains: the certain success of guesses for the stretches between sightings.

    Guesses come from a chain moving as the mixture does on average, and from the likeliest mode. They are scored under
    each mode by itself: a sighting makes a mode start afresh (`kernels.renewal.stretch_policy`). The best is taken for
    each stretch.
    """
    from passerby.kernels.renewal.best_guess import unwatched
    from passerby.kernels.renewal.stretch_policy import best_plain, plain_laws

    modes = parts(prior)
    weights = np.array([weight for weight, _ in modes])
    starts = np.array([mode.initial for _, mode in modes])
    moves = np.concatenate([mode.matrices for _, mode in modes])
    watch = release.grid, unwatched(release.grid, prior.places), prior.named, misses
    guides = average(prior, release.steps), modes[int(weights.argmax())][1]
    every = [np.broadcast_to(guide.matrices, (release.steps - 1, *guide.transition.shape[-2:])) for guide in guides]
    lead = np.array([guide.initial for guide in guides]), np.concatenate(every)
    laws = plain_laws(*lead, starts, moves, *watch)[1]
    points, wrong = laws.shape[1], misses + 1
    tables = np.zeros((len(modes), points, wrong)), np.zeros((len(modes), points, wrong))
    law = np.zeros((len(modes), points, points, wrong))
    best = best_plain(release.grid.shape[1], weights, laws, *tables, law, np.empty(2 * len(guides)))
    return min(1.0, float(best))


def log_all_right(prior: MarkovPrior, release: Release, misses: int) -> float | None:
    """Log of `Σ_y max_x Pr[X = x, Y = y]` for raw counts; None if there are misses, or if it takes too long."""
    if misses or not release.reveals or not prior.single or prior.naming is not None:
        return None
    prior, release = with_one_sensor(prior, release)
    try:
        check_stretches(prior, release)
    except UnsupportedRelease:
        return None
    return float(sightings.log_all_right(*prior.named_logs, release.grid))
