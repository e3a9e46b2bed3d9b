"""What is asked of a measurement: about whom, of which release, how many misses, and with how much effort."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from passerby.errors import UnsupportedRelease
from passerby.model.kinds import check_prior, check_release
from passerby.model.prior import MarkovPrior
from passerby.model.release import Release
from passerby.support.checks import word

from .information import paper_information
from .setup import Setup, set_up

#: What averages are over: everything that can be published, or traces drawn as in the paper.
Way = Literal["exact", "sampling"]


@dataclass(frozen=True)
class Question(Setup):
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
) -> Question:
    """A question whose every part was checked: what is wrong is an `InputError` that names it."""
    way = options.pop("way", "exact")
    return ask(set_up(prior, release, seed, published, **options), misses, way)


def ask(setup: Setup, misses: int, way: Way) -> Question:
    """How likely it is that all but so many steps of a guess are right."""
    word(way, "method", ("exact", "sampling"))
    if way == "sampling" and not setup.release.fixed:
        raise UnsupportedRelease("method='sampling': the paper's way is for counts that are fixed in advance")
    return Question(
        **{each.name: getattr(setup, each.name) for each in fields(setup)},
        misses=setup.release.check_misses(misses),
        way=way,
    )
