"""Earlier origins: everybody's traces up to the steps after each, by places and people of the steps before it.

Later steps choose no place or person at an origin: places are ranked, and active steps counted, before it. So an origin
is like an audit made at its time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from passerby.errors import InputError
from passerby.people.fit import Fitting, often_enough
from passerby.people.whereabouts import Whereabouts
from passerby.support.checks import is_whole, whole
from passerby.visits.all_visits import AllVisits
from passerby.visits.table import Visits
from passerby.visits.traces import Traces
from passerby.visits.windows import Tracing, chosen_by, earlier, traces_in

from .sample import some_numbers

#: Habits at an origin are fitted to at most so many people: more would take longer and tell little more of everybody.
MOST_PEOPLE = 20_000
#: Origins with overlapping later steps are used only if fewer than these have steps of their own.
APART = 3


@dataclass(frozen=True)
class Earlier:
    """Traces up to the steps after an origin, of `MOST_PEOPLE` people at most, in as few bytes as they fit in.

    If these are not all people, `whereabouts` has everybody's places after the origin.
    """

    traces: Traces
    whereabouts: Whereabouts | None = None

    @classmethod
    def of(cls, traces: Traces, cut: int, seed: int) -> Earlier:
        """From everybody's traces in memory."""
        some = some_traces(traces, MOST_PEOPLE, seed)
        everybody = None if some is traces else Whereabouts.of(traces, cut, traces.array.shape[1])
        return cls(small(some), everybody)

    @property
    def whole(self) -> Traces:
        """The traces, in the numbers of the fitted habits."""
        return replace(self.traces, array=self.traces.array.astype(np.int32))


def small(traces: Traces) -> Traces:
    """The same traces in as few bytes as they fit in."""
    return replace(traces, array=traces.array.astype(np.min_scalar_type(len(traces.places))))


#: The knowledge at each earlier origin, by its fitted steps; or the reason for none.
Origins = Mapping[int, Earlier | str]


def earlier_tracings(
    everybody: AllVisits, how: Tracing, fitting: Fitting, count: int, places: int | Sequence[str], also: Sequence[str]
) -> dict[int, Tracing]:
    """The settings of traces at each of so many origins but the latest; the latest uses the traces of the audit."""
    holdout = whole(fitting.holdout, "holdout", 1)
    latest, *before = earlier_origins(how.steps.count, holdout, count)
    out = {}
    for cut in before:
        least = least_at(fitting, cut, latest)
        often = least if fitting.habits == "paper" else often_enough(least)
        out[cut] = chosen_by(everybody, earlier(how, cut, holdout, often), places, also)
    return out


def earlier_traces(
    visits: Visits,
    how: Tracing,
    fitting: Fitting,
    count: int,
    seed: int,
    places: int | Sequence[str],
    also: Sequence[str] = (),
) -> Origins:
    """Traces at each of so many origins but the latest, from visits in memory."""
    found: dict[int, Earlier | str] = {}
    for cut, tracing in earlier_tracings(AllVisits.of(visits), how, fitting, count, places, also).items():
        try:
            found[cut] = Earlier.of(traces_in(visits, tracing), cut, seed)
        except InputError as reason:
            found[cut] = str(reason)
    return found


def least_at(fitting: Fitting, cut: int, latest: int) -> int:
    """In how many of `cut` steps people must be known at an origin."""
    return known_by(max(1, fitting.least), cut, latest)


def earlier_origins(steps: int, holdout: int, count: int) -> list[int]:
    """Numbers of fitted steps at no more than `count` origins, from the latest, and none with less than half of them.

    They are one published length apart; if this leaves fewer than `APART`, they are nearer.

    >>> earlier_origins(30, 5, 3), earlier_origins(30, 5, 9), earlier_origins(16, 5, 3), earlier_origins(5, 2, 3)
    ([25, 20, 15], [25, 20, 15], [11, 8, 5], [3, 2])
    """
    if not is_whole(count) or count < 1:
        raise InputError(f"origins: expected a whole number of at least 1, got {count!r}")
    latest = steps - holdout
    earliest = max(2, latest // 2)
    if holdout < 1 or latest < earliest:
        raise InputError(
            f"origins: {steps} steps are too few to fit habits to some and find the {holdout} after them; lower holdout"
        )
    own = min(count, 1 + (latest - earliest) // holdout)
    if own >= min(count, APART):
        return [latest - k * holdout for k in range(own)]
    near = min(count, APART, 1 + latest - earliest)
    apart = (latest - earliest) // max(1, near - 1)
    return [latest - k * apart for k in range(near)]


def known_by(least: int, cut: int, latest: int) -> int:
    """In how many of `cut` steps people must be known: as large a share as of the `latest`, and half as many at least.

    >>> known_by(10, 25, 25), known_by(10, 15, 25), known_by(1, 15, 25)
    (10, 6, 1)
    """
    return max(often_enough(least), ceil(least * cut / latest))


def first_steps(traces: Traces, steps: int) -> Traces:
    """The first steps of all traces."""
    array = np.ascontiguousarray(traces.array[:, :steps])
    return replace(traces, array=array, starts=traces.starts[:steps], counts=traces.counts[:steps])


def some_traces(traces: Traces, count: int, seed: int) -> Traces:
    """So many traces, drawn at random; counts are still of everybody."""
    if len(traces.array) <= count:
        return traces
    chosen = some_numbers(len(traces.array), count, seed)
    people = traces.people.gather(chosen.tolist())
    return replace(traces, array=traces.array[chosen], people=people, active=traces.active[chosen])
