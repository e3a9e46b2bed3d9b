"""The answer to a question of yes or no: how well the event and its absence are told apart."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Literal

from passerby.errors import Contradiction, InputError
from passerby.measurement.finding import Interval
from passerby.support.checks import is_number, whole

from .event_looks import parts_of
from .hypotheses import Hypotheses
from .parts import ANYTHING, Ends, Part

#: A certain end may exceed the other by this share, or by so much: sums of probabilities are rounded.
ROUNDING, LITTLE = 1e-9, 1e-14
#: Weeks, at most.
MOST_WEEKS = 1_000_000

Status = Literal["open", "certain", "impossible"]


@dataclass(frozen=True, eq=False)
class EventAnswer:
    """How well the published counts tell an event from its absence for one person.

    `event` is its chance without the release. `advantage` is the best test's share of true positives minus its share of
    false positives. It does not depend on the event's chance. `weeks(w)` is the advantage over so many weeks.
    `power(f)` is the largest share of true positives with a share f of false ones. `certain(c)` is the chance of counts
    making the event at least so likely, for people with the event. `absent(c)` is the same for its absence. Each is an
    `Interval`. With `published` counts, `chance` is how likely these make the event.

    `status` is "open" unless the event is "certain" or "impossible" for this person whatever is published: then there
    is nothing to be told. Ends hold for certain unless `sampled`, and then each interval at level `confidence`.
    """

    event: Interval
    status: Status
    confidence: float
    tolerance: float
    seconds: float = field(compare=False)
    parts: tuple[Part, ...] = field(default=(), repr=False)
    chance: Interval | None = None

    @property
    def advantage(self) -> Interval:
        """True positives minus false positives of the best test: the total variation between both laws."""
        self._check_average("advantage")
        return self._interval("advantage", [part.advantage() for part in self.parts])

    def power(self, false: float = 0.01) -> Interval:
        """The largest share of true positives with so many false positives."""
        self._check_average("power")
        _check_share("power", "share of false alarms", false)
        if self.status != "open":
            return Interval(float(false), float(false))
        found = self._interval("power", [part.power(float(false)) for part in self.parts])
        return Interval(max(found.lower, float(false)), max(found.upper, float(false)))

    def weeks(self, count: int = 52) -> Interval:
        """The advantage if the same is published for so many weeks, and habits are known.

        Weeks are independent given habits. The event holds in all of them, or in none: somebody is counted every week,
        or never. It never falls with more weeks.

        >>> import passerby as pb
        >>> found = pb.measure(pb.line_prior(20), pb.Release([3, 5]), pb.InData())
        >>> [round(found.weeks(count).lower, 3) for count in (1, 10, 52)]
        [0.099, 0.648, 0.996]
        """
        self._check_average("weeks")
        times = whole(count, "weeks", 1, MOST_WEEKS)
        return self._interval("weeks", [part.weeks(times) for part in self.parts])

    def certain(self, chance: float = 0.9) -> Interval:
        """The chance of counts making the event at least so likely, for people with the event."""
        self._check_average("certain")
        _check_share("certain", "chance of the event", chance)
        return self._tail("certain", float(chance), self.event.lower)

    def absent(self, chance: float = 0.9) -> Interval:
        """The chance of counts making the event's absence at least so likely, for people without the event."""
        self._check_average("absent")
        _check_share("absent", "chance of its absence", chance)
        return self._tail("absent", float(chance), 1 - self.event.upper)

    @property
    def sampled(self) -> bool:
        """Whether an end of the advantage rests on drawn series."""
        return self.status == "open" and self.chance is None and self._ends(self._both("advantage"))[1]

    @property
    def methods(self) -> tuple[str, ...]:
        """The looks taken, by name."""
        return tuple(dict.fromkeys(part.name for part in self.parts))

    def _check_average(self, name: str) -> None:
        if self.chance is not None:
            raise InputError(
                f"{name}: it is an average over all that may be published; with published=..., ask for `chance`, or "
                "leave the values out"
            )

    def _both(self, measure: str) -> list[Ends]:
        return [getattr(part, measure)() for part in self.parts]

    def _interval(self, measure: str, ends: list[Ends]) -> Interval:
        if self.status != "open":
            return Interval(0.0, 0.0)
        (lower, upper), _ = self._ends(ends)
        return Interval(lower, upper)

    def _ends(self, ends: list[Ends]) -> tuple[Ends, bool]:
        """The narrowest ends, and whether one rests on a sample. If certain ends are close, they are given."""
        pairs = list(zip(self.parts, ends, strict=True))
        certain = _within([end for part, end in pairs if part.level is None])
        if certain[0] > certain[1]:
            if certain[0] > certain[1] * (1 + ROUNDING) + LITTLE:
                raise Contradiction(
                    f"an event is told apart by {certain[0]!r} at least and {certain[1]!r} at most: one of the two is "
                    "wrong, so no interval is given. Please report this with the prior and the release"
                )
            certain = certain[1], certain[0]
        drawn = [end for part, end in pairs if part.level is not None]
        if not drawn or certain[1] <= certain[0] * (1 + self.tolerance) + 1e-12:
            return certain, False
        both = _within([certain, *drawn])
        # A sample may be unlucky: its ends may contradict each other, or the certain ends.
        return (both, both != certain) if both[0] <= both[1] else (certain, False)

    def _tail(self, measure: str, chance: float, event: float) -> Interval:
        """Chances of a series after which somebody is as sure. The advantage bounds these chances as well."""
        if self.status != "open":
            known = (self.status == "certain") == (measure == "certain")
            return Interval(float(known), float(known))
        found = self._interval(measure, [getattr(part, measure)(chance) for part in self.parts])
        return Interval(found.lower, max(found.lower, min(found.upper, self._most_tail(chance, event))))

    def _most_tail(self, chance: float, event: float) -> float:
        """Being so sure rightly has few false positives: `x (1 - k) <= advantage`, with `k` their odds at most."""
        if chance <= event or event <= 0:
            return 1.0
        odds = event / (1 - event) * (1 - chance) / chance
        return min(1.0, self.advantage.upper / (1 - odds)) if odds < 1 else 1.0

    def _repr_html_(self) -> str:
        """A small table, for notebooks."""
        if self.chance is not None:
            rows = [("chance given what was published", self.chance)]
        else:
            rows = [("advantage", self.advantage), ("found at 1 % false alarms", self.power(0.01))]
            rows += [("90 % sure that it happened", self.certain(0.9)), ("90 % sure that it did not", self.absent(0.9))]
        rows.insert(0, ("chance without the release", self.event))
        cells = "".join(f"<tr><th>{name}</th><td>{i.lower:.4g}</td><td>{i.upper:.4g}</td></tr>" for name, i in rows)
        return (
            f"<table><thead><tr><th></th><th>at least</th><th>at most</th></tr></thead><tbody>{cells}</tbody></table>"
        )


def told_apart(asked: Hypotheses, *, mirrored: bool = False) -> EventAnswer:
    """The answer for an event, or with `mirrored` for its complement."""
    started = time.perf_counter()
    no, yes = asked.chance
    status: Status = "open" if min(asked.logs) > -math.inf else "certain" if yes > 0.5 else "impossible"
    parts: list[Part] = []
    chance = None
    if asked.setup.published is not None:
        found = asked.logs_of(asked.setup.published.evidence)[0]
        chance = _chance(float(found[1]), float(found[0]))
    elif status == "open":
        parts = list(parts_of(asked))
    answer = EventAnswer(
        Interval(yes, yes),
        status,
        asked.setup.confidence,
        asked.setup.tolerance,
        time.perf_counter() - started,
        tuple(parts),
        chance,
    )
    return mirror(answer, no) if mirrored else answer


def mirror(answer: EventAnswer, event: float) -> EventAnswer:
    """The answer for the complement, whose chance is given."""
    turned: dict[str, Status] = {"open": "open", "certain": "impossible", "impossible": "certain"}
    return EventAnswer(
        Interval(event, event),
        turned[answer.status],
        answer.confidence,
        answer.tolerance,
        answer.seconds,
        tuple(part.mirrored() for part in answer.parts),
        None if answer.chance is None else Interval(1 - answer.chance.upper, 1 - answer.chance.lower),
    )


def _chance(yes: float, no: float) -> Interval:
    """The chance of an event from log-probabilities of a series with it and without."""
    if yes == no == -math.inf:
        raise InputError(
            "published: this series has probability zero for a person with this prior; check the values, the sensors "
            "and the numbers of other people"
        )
    chance = 1 / (1 + math.exp(min(no - yes, 700.0)))
    return Interval(chance, chance)


def _check_share(name: str, argument: str, value: object) -> None:
    """Refuse anything but a number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{name}({value!r}): expected a {argument}, a number from 0 to 1")


def _within(ends: list[Ends]) -> Ends:
    """The intersection of several intervals."""
    both = [*ends, ANYTHING]
    return max(lower for lower, _ in both), min(upper for _, upper in both)
