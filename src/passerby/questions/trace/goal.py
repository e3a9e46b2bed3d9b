"""The goal of a measurement, and the form of a method for it: attacks and bounds, and their needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from passerby.errors import UnsupportedRelease
from passerby.measurement.finding import Finding, Known
from passerby.measurement.information import paper_information
from passerby.measurement.setup import Setup, set_up
from passerby.model.kinds import check_prior, check_release
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.checks import word

#: The domain of averages: all possible outputs, or traces drawn as in the paper.
Way = Literal["exact", "sampling"]


@dataclass(frozen=True)
class Goal(Setup):
    """The chance of getting all but `misses` steps of a guess right, given the outputs of a release."""

    misses: int = field(default=0, kw_only=True)
    way: Way = field(default="exact", kw_only=True)

    @property
    def told(self) -> Release:
        """The release, or raw counts from some of its sensors if they tell the same."""
        return self.equivalent

    @cached_property
    def paper_information(self) -> float:
        """The information of the release for the paper's bounds, in nats."""
        return paper_information(self.prior, self.release)

    @property
    def level(self) -> float:
        """The confidence of each end on a sample, for all of them to hold together at the wanted level.

        These are the two ends of the interval and, against a crowd, one bound more.
        """
        return 1 - (1 - self.confidence) / (2 if self.release.crowd is None else 3)

    def within(self, lower: float, upper: float) -> bool:
        """Whether two ends are as close as was asked for."""
        return upper <= lower * (1 + self.tolerance)


def check_asked(prior: MarkovPrior, release: Release, misses: int) -> None:
    """Refuse a wrong prior, release or number of misses: kernels do not check their inputs."""
    check_prior(prior)
    check_release(release)
    release.check_misses(misses)


def pose(
    prior: MarkovPrior,
    release: Release,
    misses: int,
    seed: int | Sequence[int],
    published: Iterable[float | Iterable[float]] | None,
    **options: Any,
) -> Goal:
    """A question with every part checked: a wrong part is an `InputError` naming it."""
    way = options.pop("way", "exact")
    return ask(set_up(prior, release, seed, published, **options), misses, way)


def ask(setup: Setup, misses: int, way: Way) -> Goal:
    """The chance of getting all but so many steps of a guess right."""
    word(way, "method", ("exact", "sampling"))
    if way == "sampling" and not setup.release.fixed:
        raise UnsupportedRelease("method='sampling': the paper's way is for counts that are fixed in advance")
    return Goal(
        **{each.name: getattr(setup, each.name) for each in fields(setup)},
        misses=setup.release.check_misses(misses),
        way=way,
    )


def never(goal: Goal) -> None:
    """A method without limits refuses no question."""
    return


@dataclass(frozen=True)
class Method:
    """A way to find attacks or bounds.

    `attacks` and `bounds` name its results, and `says` explains it in a sentence. `needs` names the findings it needs
    beforehand. `refuses` gives the reason against answering a question in this way, if there is one. `cost` is a rough
    number of elementary operations. `run` yields findings one by one. It may look at `Known`, and yield nothing if this
    is enough. It raises `UnsupportedRelease` if it cannot find an answer. Only `adaptive` methods are asked about
    counts chosen adaptively. A finding `of_places` holds only if a guess names the place itself.
    """

    name: str
    says: str
    run: Callable[[Goal, Known], Iterator[Finding]]
    attacks: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    refuses: Callable[[Goal], str | None] = never
    cost: Callable[[Goal], float] = lambda goal: 0.0
    adaptive: bool = False
    of_places: bool = False

    def reason(self, goal: Goal) -> str | None:
        """The reason against answering a question in this way; None if it can be answered."""
        if not goal.release.fixed and not self.adaptive:
            return "it is for counts that are fixed in advance, not chosen as one goes"
        if self.of_places and goal.prior.naming is not None:
            return "it holds for guesses of the place itself, not of its zone or of a place nearby"
        return self.refuses(goal)

    @property
    def yields(self) -> tuple[str, ...]:
        """All its possible findings, by name."""
        return self.attacks + self.bounds
