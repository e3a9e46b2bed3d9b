"""What is asked of a measurement, and what a method is that answers: attacks and bounds, and what they need."""

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

#: What averages are over: everything that can be published, or traces drawn as in the paper.
Way = Literal["exact", "sampling"]


@dataclass(frozen=True)
class Goal(Setup):
    """How likely it is that all but `misses` steps of a guess are right, given what a release publishes."""

    misses: int = field(default=0, kw_only=True)
    way: Way = field(default="exact", kw_only=True)

    @property
    def told(self) -> Release:
        """The release, as raw counts from some of its sensors where it tells the same as those."""
        return self.equivalent

    @cached_property
    def paper_information(self) -> float:
        """What the paper takes the release to tell, in nats, for its bounds."""
        return paper_information(self.prior, self.release)

    @property
    def level(self) -> float:
        """The confidence of each end that may rest on a sample, so that all hold together at the level asked for.

        These are the two ends of the interval and, against a crowd, one bound more.
        """
        return 1 - (1 - self.confidence) / (2 if self.release.crowd is None else 3)

    def within(self, lower: float, upper: float) -> bool:
        """Whether two ends are as close as was asked for."""
        return upper <= lower * (1 + self.tolerance)


def check_asked(prior: MarkovPrior, release: Release, misses: int) -> None:
    """Refuse what is no prior, no release, or no number of misses: kernels do not look at what they are given."""
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
    """A question whose every part was checked: what is wrong is an `InputError` that names it."""
    way = options.pop("way", "exact")
    return ask(set_up(prior, release, seed, published, **options), misses, way)


def ask(setup: Setup, misses: int, way: Way) -> Goal:
    """How likely it is that all but so many steps of a guess are right."""
    word(way, "method", ("exact", "sampling"))
    if way == "sampling" and not setup.release.fixed:
        raise UnsupportedRelease("method='sampling': the paper's way is for counts that are fixed in advance")
    return Goal(
        **{each.name: getattr(setup, each.name) for each in fields(setup)},
        misses=setup.release.check_misses(misses),
        way=way,
    )


def never(goal: Goal) -> None:
    """A method that answers every question refuses none."""
    return


@dataclass(frozen=True)
class Method:
    """A way to find attacks or bounds.

    `attacks` and `bounds` name what it yields, and `says` tells in a sentence how. `needs` names what must have been
    found before. `refuses` gives the reason why a question cannot be answered in this way, if there is one, and `cost`
    the elementary operations that it takes, roughly. `run` yields findings one by one; it may look at what is `Known`,
    yield nothing where that is enough, and raise `UnsupportedRelease` for what it cannot find. Only what is `adaptive`
    is asked about counts that are chosen as one goes. What is `of_places` holds only where a guess names the place
    itself.
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
        """Why a question is not answered in this way; None where it is."""
        if not goal.release.fixed and not self.adaptive:
            return "it is for counts that are fixed in advance, not chosen as one goes"
        if self.of_places and goal.prior.naming is not None:
            return "it holds for guesses of the place itself, not of its zone or of a place nearby"
        return self.refuses(goal)

    @property
    def yields(self) -> tuple[str, ...]:
        """All that it may find, by name."""
        return self.attacks + self.bounds
