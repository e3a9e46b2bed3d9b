"""A person's places, step by step: the question of the paper, also for zones, or for places near enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from passerby.errors import InputError
from passerby.measurement.setup import Setup
from passerby.model.naming import Naming, of_near, of_zones
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.questions.question import Question

from .goal import Way, ask
from .loss import Loss
from .measure import loss_of

Near = Sequence[Iterable[Any]] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Trace(Question):
    """The whole trace, with at most `misses` steps guessed wrong.

    A whole number is short for it: `measure(prior, release, 1)` asks for `Trace(1)`.

    With `zones`, the zone of each place (P,) from 0 on, a guess names the zone of each step. Sensors count at places as
    before, so a sighting tells more than the zone. Zones with a `guessable` place are named.

    With `within`, a step is right if the named place is near enough. `within[g]` has the right places for g, as a set
    or as a row of a table (P, P). Each place is near itself; nearness need not be mutual.

    >>> import passerby as pb
    >>> east_or_west = pb.Trace(zones=[0, 0, 1, 1])
    >>> round(pb.measure(pb.line_prior(4), pb.Release([0, 3, 1]), east_or_west).lower, 3)
    0.887
    >>> next_door = pb.Trace(within=[{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3}])
    >>> round(pb.measure(pb.line_prior(4), pb.Release([0, 3, 1]), next_door).lower, 3)
    0.98
    """

    misses: int = 0
    zones: Sequence[int] | NDArray[Any] | None = None
    within: Near | None = None
    kind: ClassVar[str] = "trace"

    def __post_init__(self) -> None:
        if self.zones is not None and self.within is not None:
            raise InputError(
                "Trace: give zones=... or within=..., not both; near places of zones are one table, within"
            )
        for name in ("zones", "within"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable)):
                raise InputError(f"Trace: {name}={value!r}: expected a list with an entry for each place")

    @property
    def sentence(self) -> str:
        """The question, in words."""
        what = "place" if self.zones is None else "zone"
        near = "" if self.within is None else ", or a place near enough"
        return (f"all but {self.misses} of the {what}s" if self.misses else f"every {what}") + f" of the person{near}"

    def check(self, prior: MarkovPrior, release: Release) -> None:
        """Refuse an invalid number of misses, or one not below the number of steps, and zones of other places."""
        release.check_misses(self.misses)
        self._naming(prior)

    def answer(self, setup: Setup, way: Way = "exact") -> Loss:
        """The loss, by all methods of the paper and beyond it suited to the named things."""
        naming = self._naming(setup.prior)
        if naming is not None and way == "sampling":
            raise InputError("method='sampling': the paper's way names places; leave zones=... and within=... out")
        return loss_of(ask(replace(setup, prior=setup.prior.guessed_as(naming)), self.misses, way))

    def relabelled(self, state_of: Mapping[int, int]) -> Trace:
        """The same question over other place numbers: zones and near places of a person's own."""
        if self.zones is None and self.within is None:
            return self
        raise InputError(
            "Trace: zones=... and within=... are lists over the places of one person, and an audit numbers the places "
            "of each person anew; ask it of one person: "
            "measure(people.prior(person, reduced=False)[0], release, Trace(...))"
        )

    def _naming(self, prior: MarkovPrior) -> Naming | None:
        """The names used by a guess; None for the place itself."""
        if self.zones is not None:
            return of_zones(prior, self.zones)
        return None if self.within is None else of_near(prior, self.within)

    def _key(self) -> tuple[Any, ...]:
        """The question as values: equal questions have equal values."""
        zones = None if self.zones is None else tuple(np.asarray(self.zones).tolist())
        near = None if self.within is None else tuple(_row(row) for row in self.within)
        return self.misses, zones, near

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, Trace) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())


def _row(row: Iterable[Any]) -> Any:
    return frozenset(row) if isinstance(row, (set, frozenset)) else tuple(np.asarray(row).tolist())
