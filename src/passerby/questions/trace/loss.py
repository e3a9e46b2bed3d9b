"""The loss of one person: the answer of a measurement."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from passerby.errors import InputError
from passerby.measurement.finding import Finding, Interval, Pooled
from passerby.measurement.roots import divergence_root
from passerby.support.checks import is_number

if TYPE_CHECKING:
    from .worst import Spread, Worst

#: If the baseline leaves less room than this, `advantage` is the gain as a share of this.
LEAST_ROOM = 1e-9
#: Both ends of single series may cross by so much: sums of probabilities are rounded.
SLACK = 1e-9


@dataclass(frozen=True)
class Effort:
    """The effort behind a loss.

    The looks went to `series` published series, listed in full or `sampled`. They cover a share `covered` of the
    probability. If all series are looked at at once, `series` counts stretches between sightings. The search expanded
    `nodes` beginnings of guesses in about `operations` elementary operations. `attack` and `bound` name the deciders of
    `lower` and `upper`. They are "baseline" if the best guess without the release beats every attack found with it.
    `confidence` is the level of the interval if an end rests on sampled series. It is None if the interval holds with
    certainty. `reached` tells whether the tolerance was met within the budget.
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

    Both ends are for a person who lives by the prior: if the habits are wrong, neither need hold. All other people are
    taken to move independently of the person: nobody exceeds `upper` to whom these tell nothing of the person.

    `lower` is the certain success of the best attack, and `upper` the smallest bound. `attacks` and `bounds` hold each
    by name. `refused` holds the ones impossible for this release, with the reason. `baseline` is the adversary's
    success without the release. `advantage` is the share of the remaining room added by the release: `(loss - baseline)
    / (1 - baseline)`. The room is not taken for smaller than `LEAST_ROOM`.

    Against an adversary knowing the others only by their habits (`Crowd`), attacks guess from habits and counts. The
    bound `crowd` is for an adversary with side information: the place of each of the others at every second step. The
    bound `known` is for an adversary knowing the places of everybody else. `remarks` holds other news for a reader,
    such as an unlucky sample. `pooled` is this person's part in an average over many people.

    The mean chance of finding the person over the worst series of this total probability: a tenth of all, say. `worst`
    and `tail` are about the most telling series. These are looked at, one by one, on the first call.
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
    series: Worst | None = field(default=None, repr=False, compare=False)

    @property
    def advantage(self) -> Interval:
        """The gain by the release: `(loss - baseline) / max(1 - baseline, 1e-9)`, between 0 and 1.

        Somebody nearly certain to be guessed without the release leaves no room to add to. A share of a room within
        rounding errors would be any number. So below `LEAST_ROOM`, the gain is a share of `LEAST_ROOM`: about 0, as if
        nothing were published.
        """

        def share(loss: float, known: float) -> float:
            return (loss - known) / max(1 - known, LEAST_ROOM)

        return Interval(
            max(0.0, share(self.lower, self.baseline.upper)), max(0.0, share(self.upper, self.baseline.lower))
        )

    def robust(self, nats: float) -> float:
        """A lower bound for the success of any attack, if the person's law is within so many nats of the prior.

        The largest q with `kl(q ‖ upper) <= nats`: success is an event, and by the data-processing inequality its
        chances under the two laws diverge by no more than the laws do.
        """
        if not is_number(nats) or not 0 <= nats < math.inf:
            raise InputError(f"robust(nats={nats!r}): expected a finite number of at least 0")
        return max(self.upper, divergence_root(nats, math.log(self.upper) if self.upper > 0 else -math.inf))

    def worst(self, chance: float = 0.9) -> Interval:
        """The chance of a series after which this person is found with more than this chance.

        With V the best guess's chance given a series, `(loss - c) / (1 - c) <= Pr[V > c] <= loss / c`. Ends of single
        series narrow this interval. If these must be drawn, it holds at the chosen confidence.

        >>> from passerby import Release, line_prior, measure
        >>> loss = measure(line_prior(4), Release([1, 2]))
        >>> loss.worst(0.5) == loss.worst(0.6), round(loss.worst(0.6).upper, 3)
        (True, 0.5)
        """
        _check_share("worst", "chance", chance)
        lower = (self.lower - chance) / (1 - chance) if chance < 1 else 0.0
        upper = self.upper / chance if 0 < chance < 1 else 1.0 - (chance == 1)
        return self._narrowed(max(0.0, lower), min(1.0, upper), lambda spread: spread.above(float(chance)))

    def tail(self, share: float = 0.1) -> Interval:
        """The mean chance to be found over the worst series, which are so likely together: a tenth of all, say.

        Unlike `worst`, it never grows with noise.
        """
        _check_share("tail", "share", share)
        if share == 0:
            raise InputError("tail(share=0): the worst of no series has no mean; give a share above 0")
        lower, upper = self.lower, min(1.0, self.upper / share)
        return self._narrowed(lower, upper, lambda spread: spread.mean_of_worst(float(share)))

    def _narrowed(self, lower: float, upper: float, ends: Callable[[Spread], tuple[float, float]]) -> Interval:
        """The ends from the loss, narrowed by single series. Two samples are not trusted at once."""
        spread = None if self.series is None else self.series.spread
        if spread is None:
            return Interval(lower, upper)
        low, high = ends(spread)
        if self.effort.confidence is None:
            low, high = max(low, lower), min(high, upper)
        # Beyond rounding, only an unlucky sample contradicts certain ends.
        if low > high + SLACK:
            return Interval(lower, upper)
        return Interval(min(low, high), max(low, high))

    def _repr_html_(self) -> str:
        """A small table, for notebooks."""
        rows = [
            ("loss", self.lower, self.upper),
            ("baseline", self.baseline.lower, self.baseline.upper),
            ("advantage", self.advantage.lower, self.advantage.upper),
            ("worst tenth of series", self.tail(0.1).lower, self.tail(0.1).upper),
            ("found with more than 90 %", self.worst(0.9).lower, self.worst(0.9).upper),
        ]
        cells = "".join(f"<tr><th>{name}</th><td>{low:.4g}</td><td>{high:.4g}</td></tr>" for name, low, high in rows)
        head = "<tr><th></th><th>at least</th><th>at most</th></tr>"
        words = f"{self.steps} steps, {self.misses} of which may be wrong"
        return f"<table><caption>{words}</caption><thead>{head}</thead><tbody>{cells}</tbody></table>"


def _check_share(name: str, argument: str, value: object) -> None:
    """Refuse anything but a number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{name}({argument}={value!r}): expected a number from 0 to 1")
