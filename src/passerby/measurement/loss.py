"""The loss of one person: what a measurement returns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from passerby.errors import InputError
from passerby.support.checks import is_number

from .finding import Finding, Pooled
from .interval import Interval
from .roots import divergence_root

#: Where the baseline leaves less room than this, `advantage` is what was added as a share of this.
LEAST_ROOM = 1e-9


@dataclass(frozen=True)
class Effort:
    """How a loss was found.

    `series` published series were looked at, listed in full or `sampled`, which cover a share `covered` of the
    probability (or so many stretches between sightings, where all series are looked at at once); the search expanded
    `nodes` beginnings of guesses in about `operations` elementary operations. `attack` and `bound` name the ones that
    decided `lower` and `upper` ("baseline" where the best guess without the release is better than what was found with
    it). `confidence` is the level at which the interval holds where an end rests on sampled series, and None where it
    holds with certainty. `reached` tells whether the tolerance was met within the budget.
    """

    series: int
    sampled: bool
    covered: float
    nodes: int
    operations: float
    attack: str
    bound: str
    confidence: float | None
    reached: bool
    seconds: float = field(compare=False)


@dataclass(frozen=True)
class Loss:
    """The privacy loss of one person: the success probability of the best attack lies in [`lower`, `upper`].

    Both ends are for a person who lives by the prior: if the habits are wrong, neither need hold.

    `lower` is what the best attack achieves for sure and `upper` the smallest bound; `attacks` and `bounds` hold each
    by name, and `refused` the ones that cannot be given for this release, with the reason. `baseline` is what the
    adversary achieves without the release, and `advantage` the share of the remaining room that the release adds:
    `(loss - baseline) / (1 - baseline)`, where the room is not taken for smaller than `LEAST_ROOM`.

    Against an adversary who knows the others only by their habits (`Crowd`), attacks guess from habits and counts, and
    the bound `crowd` is for an adversary who is told where each of the others was at every second step; the bound
    `known` is for the one who knows where everyone else was. `remarks` says what else a reader should know, such as a
    sample that was unlucky. `pooled` is what an average over many people takes from this one.
    """

    lower: float
    upper: float
    baseline: Interval
    attacks: dict[str, Finding]
    bounds: dict[str, float]
    misses: int
    steps: int
    effort: Effort
    refused: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    pooled: Pooled = field(default_factory=lambda: Pooled(0.0, 1.0))

    @property
    def advantage(self) -> Interval:
        """What the release added: `(loss - baseline) / max(1 - baseline, 1e-9)`, between 0 and 1.

        Somebody who is guessed all but for sure without the release leaves no room to add to. A share of a room that
        is no larger than rounding errors would be any number, so that of a smaller room than `LEAST_ROOM` is a share of
        `LEAST_ROOM`: about 0, as where nothing is published.
        """

        def share(loss: float, known: float) -> float:
            return (loss - known) / max(1 - known, LEAST_ROOM)

        return Interval(
            max(0.0, share(self.lower, self.baseline.upper)), max(0.0, share(self.upper, self.baseline.lower))
        )

    def robust(self, nats: float) -> float:
        """At least the success of any attack where the person's law is within so many nats of the prior.

        The largest q with `kl(q ‖ upper) <= nats`: success is an event, and by the data-processing inequality its
        chances under the two laws diverge by no more than the laws do.
        """
        if not is_number(nats) or not 0 <= nats < math.inf:
            raise InputError(f"robust(nats={nats!r}): expected a finite number of at least 0")
        return max(self.upper, divergence_root(nats, math.log(self.upper) if self.upper > 0 else -math.inf))

    def _repr_html_(self) -> str:
        """A small table, for notebooks."""
        rows = [
            ("loss", self.lower, self.upper),
            ("baseline", self.baseline.lower, self.baseline.upper),
            ("advantage", self.advantage.lower, self.advantage.upper),
        ]
        cells = "".join(f"<tr><th>{name}</th><td>{low:.4g}</td><td>{high:.4g}</td></tr>" for name, low, high in rows)
        head = "<tr><th></th><th>at least</th><th>at most</th></tr>"
        words = f"{self.steps} steps, {self.misses} of which may be wrong"
        return f"<table><caption>{words}</caption><thead>{head}</thead><tbody>{cells}</tbody></table>"
