"""Whether a person is counted at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.measurement.setup import Setup
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release

from .event_answer import EventAnswer, told_apart
from .hypotheses import Hypotheses
from .question import Question


@dataclass(frozen=True)
class InData(Question):
    """Whether somebody with these habits is among the counted people.

    The alternative is an empty place in the data. With `instead`, the alternative is somebody else with other habits.
    The chance of it, `share`, matters to `certain`, `absent` and `chance` alone.

    >>> import passerby as pb
    >>> prior = pb.MarkovPrior.stationary([[0.9, 0.1], [0.5, 0.5]])
    >>> round(pb.measure(prior, pb.Release([1, [], 1]), pb.InData()).advantage.lower, 3)
    0.283
    """

    instead: MarkovPrior | None = None
    share: float = 0.5
    kind: ClassVar[str] = "in_data"

    def __post_init__(self) -> None:
        if self.instead is not None and not isinstance(self.instead, MarkovPrior):
            raise InputError(f"InData: instead={self.instead!r}: expected a MarkovPrior, or None for nobody")
        if not isinstance(self.share, (float, np.floating)) or not 0 < self.share < 1:
            raise InputError(f"InData: share={self.share!r}: expected a number above 0 and below 1")

    @property
    def sentence(self) -> str:
        """The question, in words."""
        return "whether the person is counted at all" if self.instead is None else "whether it is this person"

    def check(self, prior: MarkovPrior, release: Release) -> None:
        """Refuse habits of somebody else over other places or steps."""
        if self.instead is None:
            return
        self.instead.check_steps(release.steps)
        if self.instead.places != prior.places:
            raise InputError(
                f"InData: instead has {self.instead.places} places, and the person's prior {prior.places}; give both "
                "over the same places"
            )

    def answer(self, setup: Setup) -> EventAnswer:
        """How well the release tells whether they are counted."""
        return told_apart(self.hypotheses(setup))

    def hypotheses(self, setup: Setup) -> Hypotheses:
        """The hypotheses: they are counted, or they are not."""
        prior, release = setup.given or (setup.prior, setup.release)
        both = absent(prior, self.share) if self.instead is None else either(prior, self.instead, self.share)
        group = np.repeat([1, 0], [prior.states, both.states - prior.states])
        chain, over = release.over(both)
        asked = replace(setup, prior=chain, release=over, given=(both, release))

        def follow(used: MarkovPrior) -> NDArray[np.int64]:
            # A chain with memory repeats the states of the one it remembers for.
            counted = np.tile(group, used.states // len(group))
            levels = np.tile(np.arange(2, dtype=np.int64), (asked.steps, used.states, 1))
            levels[0, counted == 1, 0] = 1
            return levels

        return Hypotheses(asked, follow)


def absent(prior: MarkovPrior, share: float) -> MarkovPrior:
    """The habits, or with probability `1 - share` nobody: one more place, never left and never counted."""
    states, places = prior.states, prior.places
    moves = np.zeros((*prior.transition.shape[:-2], states + 1, states + 1))
    moves[..., :states, :states] = prior.transition
    moves[..., states, states] = 1.0
    return MarkovPrior.known(
        np.append(share * prior.initial, 1 - share),
        moves,
        place_of=np.append(prior.place_of, places),
        mode_of=np.append(prior.mode_of, prior.modes),
        guessable=np.append(prior.guessable, False),
        universe=prior.universe + 1,
        merged_entropy=np.append(prior.merged_entropy, 0.0),
        elsewhere=prior.elsewhere,
    )


def either(prior: MarkovPrior, other: MarkovPrior, share: float) -> MarkovPrior:
    """The habits, or with probability `1 - share` the habits of somebody else: one block of states each."""
    sides = [side.transition for side in (prior, other)]
    steps = {len(moves) for moves in sides if moves.ndim == 3}
    if len(steps) > 1:
        raise InputError(f"InData: instead: chains for different numbers of steps: {sorted(n + 1 for n in steps)}")
    size, states = prior.states + other.states, prior.states
    moves = np.zeros((*steps, size, size))
    moves[..., :states, :states], moves[..., states:, states:] = sides
    return prior.with_states(
        np.concatenate([share * prior.initial, (1 - share) * other.initial]),
        moves,
        np.concatenate([prior.place_of, other.place_of]),
        np.concatenate([prior.mode_of, prior.modes + other.mode_of]),
    )
