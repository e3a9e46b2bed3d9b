"""Earlier origins, and evidence of everybody's steps after them: the data for the choice of habits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from passerby.support.blocks import Blocks

from .evidence import Before, Evidence, gather
from .family import Floats, Grouping, Ints, Trim
from .modes import fitted_weights, groups, log_chances
from .origins import Clock, Origin, looked_at, origins
from .population import Population

TRIMS: tuple[Trim, ...] = ("none", "before", "around")
#: Candidate weights of moves in other parts of the cycle.
CARRIES = (0.0, 0.1, 1.0)
#: Half-lives, as parts of the fitted steps, besides a half-life without forgetting.
HALF_LIVES = (1 / 2, 1 / 4, 1 / 8, 1 / 16)


@dataclass(frozen=True)
class Past:
    """Fitted steps (n, F) of the chosen people, earlier origins, and evidence of the steps after them.

    `numbers` (n,) are their rows among everybody.
    """

    fitted: NDArray[np.int32]
    numbers: Ints
    places: int
    stretch: int
    looked: Sequence[Origin]
    lives: tuple[float | None, ...]

    @property
    def people(self) -> int:
        """How many different people are looked at."""
        return len(np.unique(np.concatenate([origin.who for origin in self.looked])))

    @property
    def half(self) -> NDArray[np.bool_]:
        """Whether each stretch (n,) is in the first half of the people."""
        return np.asarray(self.numbers[np.concatenate([origin.who for origin in self.looked])] % 2 == 0)

    @property
    def count(self) -> Floats:
        """How much each stretch (n,) counts: at each origin half as much as at the next later one."""
        return np.concatenate([np.full(len(origin.who), 0.5**k) for k, origin in enumerate(self.looked)])

    def groups(self, grouping: Grouping) -> Ints:
        """The group of each stretch (n,)."""
        return np.concatenate(
            [groups(self.fitted[each.who, : each.cut], self.places - 1, grouping) for each in self.looked]
        )

    def evidence(self, trim: Trim, levels: tuple[Ints, ...], carries: Sequence[float] = CARRIES) -> Evidence:
        """Evidence of all stretches."""
        found = []
        for origin in self.looked:
            cut = origin.cut
            population = Population.of(self.fitted[origin.everybody, :cut], self.places, trim, levels)
            before = Before.of(self.fitted[origin.who, :cut], self.places, trim)
            path = self.fitted[origin.who, cut : cut + self.stretch]
            found.append(gather(before, path, population, levels, self.lives, carries))
        return Evidence.together(found)

    def trims(self) -> list[Trim]:
        """The trims with a difference for any of these people."""
        kept: dict[bytes, Trim] = {}
        for trim in TRIMS:
            sides = [Before.of(self.fitted[each.who, : each.cut], self.places, trim).kept for each in self.looked]
            kept.setdefault(b"".join(np.packbits(side).tobytes() for side in sides), trim)
        return list(kept.values())

    def scored(self, logs: Floats, grouping: Grouping) -> float:
        """The mean log probability of a step, with weights from the other half of the people."""
        return self.mean(self.scores(logs, grouping))

    def scores(self, logs: Floats, grouping: Grouping) -> Floats:
        """The log probability of each stretch (n,), with weights from the other half of the people."""
        group, count, half = self.groups(grouping), self.count, self.half
        everybody = np.ones(len(half), dtype=bool)
        both = half.any() and not half.all()
        out = np.empty(len(half))
        for fit, tried in ((half, ~half), (~half, half)) if both else ((everybody, everybody),):
            weights = fitted_weights(logs[fit], group[fit], count[fit], grouping)
            out[tried] = log_chances(logs[tried], weights[group[tried]])
        return out

    def mean(self, scores: Floats) -> float:
        """The mean log probability of a step, from the log probability of each stretch (n,)."""
        return float(scores @ self.count) / (float(self.count.sum()) * self.stretch)

    def surely_better(self, scores: Floats, simpler: Floats) -> bool:
        """Whether scores of stretches (n,) are above simpler ones by more than a standard error of their difference.

        The rule of Breiman et al. (1984): a smaller gain may be chance, and the simpler habits are taken.
        """
        gain = (scores - simpler) * self.count
        return bool(gain.sum() > np.sqrt(len(gain)) * gain.std())


def past(
    blocks: Blocks[NDArray[np.int32]],
    fitted: int,
    places: int,
    horizon: int,
    least: int,
    week: int,
    clock: Clock | None = None,
) -> Past | None:
    """The data for a choice; None if nobody was known before an earlier origin.

    `blocks` are the `fitted` steps (N, F) of everybody. `least` is the least number of known steps of a person used
    here. No half-life is shorter than `week` steps: faster forgetting takes a weekend for a new habit.
    """
    stretch, cuts = origins(fitted, horizon, clock)
    if not cuts:
        return None
    found = looked_at(blocks, cuts, places - 1, least, stretch)
    lives = (None, *(each for part in HALF_LIVES if (each := part * fitted) >= week))
    return Past(found.fitted, found.numbers, places, stretch, found.origins, lives) if found.origins else None
