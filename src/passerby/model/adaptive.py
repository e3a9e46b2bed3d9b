"""A release of adaptive counts: a policy names the counts of a step from earlier publications."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar, NoReturn

from passerby.errors import InputError, PasserbyError, UnsupportedRelease
from passerby.mechanisms.base import Mechanism
from passerby.support.checks import MOST_STEPS, is_number, is_whole, whole

from .count import Count, mechanism_of
from .count_release import CountRelease, Counts, of_steps
from .counts import Present
from .forms import check_sizes, checked_mechanism, checked_size, of_size
from .prior import MarkovPrior, check_prior
from .release import Release

#: The published values, a tuple for each step so far; NaN for a cell left empty.
History = tuple[tuple[float, ...], ...]
#: The counts or places of the next step, from the published values so far.
Policy = Callable[[History], Any]


class JointPolicy:
    """The policy of several releases, one after another."""

    def __init__(self, parts: tuple[Release, ...]) -> None:
        self.parts = parts

    def __call__(self, history: History) -> list[Count]:
        """The counts of the next step."""
        own: list[History] = [()] * len(self.parts)
        for values in history:
            at = 0
            for i, named in enumerate(self._named(own)):
                own[i] = (*own[i], values[at : at + len(named)])
                at += len(named)
        return [count for named in self._named(own) for count in named]

    def _named(self, own: list[History]) -> list[tuple[Count, ...]]:
        return [part.named(history) for part, history in zip(self.parts, own, strict=True)]


#: The most counts a policy may name for one step.
MOST_NAMED = 10_000


class AdaptiveRelease(Release):
    """The counts of each step are named by `policy`, given the published values of the steps before.

    The choice follows from published values, so it tells nothing more. Given a series, the law of the target's trace is
    the same as for these counts fixed in advance. `among` holds all counts the policy may ever name, if they are known.
    """

    policy: Policy
    fixed: ClassVar[bool] = False
    #: Not known before all histories are looked at.
    reveals: ClassVar[bool] = False

    @classmethod
    def of(
        cls,
        policy: Policy,
        steps: int,
        mechanism: Mechanism | None,
        among: Iterable[Count] | None,
        size: int = 1,
    ) -> Release:
        """See `Release.adaptive`."""
        if not callable(policy):
            raise InputError(f"policy: expected a function of what was published so far, got {policy!r}")
        out = object.__new__(cls)
        out._hold(
            ((),) * whole(steps, "steps", 1, MOST_STEPS), checked_mechanism(mechanism), None, checked_size(size, None)
        )
        every = getattr(policy, "among", None) if among is None else among
        object.__setattr__(out, "policy", policy)
        if every is not None and not isinstance(every, Release):
            every = Release(counts=every, steps=steps, mechanism=out.mechanism, size=size)
        if every is not None and every.steps != steps:
            raise InputError(f"among: counts over {every.steps} steps, but the release has {steps}")
        if every is not None:
            check_sizes(every.size, size)
        object.__setattr__(out, "among", every)
        return out

    def named(self, history: History) -> tuple[Count, ...]:
        """The counts named by the policy after this, each with its mechanism; wrong ones are an error."""
        first, second = (self._asked(history) for _ in range(2))
        if first != second:
            raise InputError(
                f"policy: it names {list(first)} after {history!r}, and {list(second)} when asked again; what is "
                "chosen must follow from what was published"
            )
        return first

    def _asked(self, history: History) -> tuple[Count, ...]:
        try:
            answer = self.policy(history)
            named = list(islice(answer, MOST_NAMED + 1)) if _several(answer) else [answer]
        except PasserbyError:
            raise
        except Exception as error:
            raise InputError(f"policy: it raised {type(error).__name__} ({error}) after {history!r}") from error
        if len(named) > MOST_NAMED:
            raise InputError(f"policy: it names more than {MOST_NAMED:,} counts for one step, after {history!r}")
        counts = tuple(self._count(one, history) for one in named)
        self._check_among(counts)
        return counts

    def _count(self, one: Any, history: History) -> Count:
        """A count of the step after the history, or a place to be counted there."""
        step = len(history)
        if is_whole(one) and one >= 0:
            one = Present([int(one)], step)
        if not isinstance(one, Count):
            raise InputError(
                f"policy: it names {one!r} after {history!r}; expected places, or counts such as Present([0, 1], "
                f"step={step}), or [] for none"
            )
        if one.read > step:
            raise InputError(
                f"policy: it looks ahead: {one!r} is over at step {one.read}, and was named for step {step}, after "
                f"{history!r}"
            )
        if one.read < step:
            raise InputError(
                f"policy: {one!r} is over at step {one.read}, and was named for step {step}, after {history!r}; a "
                "count is named for the step at which it is over"
            )
        return self._counted(one if one.mechanism is not None else replace(one, mechanism=self.mechanism))

    def _counted(self, count: Count) -> Count:
        """With all necessary parts of it."""
        mechanism = mechanism_of(count)
        if mechanism.persistent:
            raise InputError(f"policy: {mechanism!r}: a draw that is used again is not modelled here")
        if count.others is None and not mechanism.shift_invariant:
            raise InputError(
                f"policy: {mechanism!r} treats small and large counts differently, so the number of other people is "
                f"needed: others=... in {count!r}"
            )
        return count

    def _check_among(self, counts: tuple[Count, ...]) -> None:
        """Refuse choices outside the announced ones; a count published again with a fresh draw is another count."""
        every = counts if self.among is None else self.among.listed
        for count in counts:
            if count not in every:
                raise InputError(f"policy: {count!r} is none of the counts that it was said to choose among")
            if (times := counts.count(count)) > (said := every.count(count)):
                raise InputError(
                    f"policy: {count!r} is named {times} times for one step, and only {said} times among the counts "
                    "that it was said to choose among; name it there as often"
                )

    def check(self, prior: MarkovPrior) -> None:
        """Refuse, with an `InputError`, a prior of other steps; places are looked at as they are named."""
        check_prior(prior)
        prior.check_steps(self.steps)
        if self.among is not None:
            self.among.check(prior)

    check_places = check

    def after(self, published: Iterable[float | Iterable[float]]) -> Release:
        """The release of the counts named by the policy on the way to these values."""
        history: History = ()
        counts: list[tuple[Count, ...]] = []
        for t, values in enumerate(as_history(published, "published")):
            if t < self.steps:
                counts.append(self.named(history))
            if t >= self.steps or len(values) != len(counts[-1]):
                wanted = f"{len(counts[-1])} values" if t < self.steps else f"no step {t}"
                raise InputError(f"published[{t}] = {list(values)}: after {history!r}, the policy asks for {wanted}")
            history = (*history, values)
        if len(history) < self.steps:
            raise InputError(f"published: {len(history)} steps, but the release has {self.steps}")
        return CountRelease.of([count for step in counts for count in step], self.steps, size=self.size)

    def __add__(self, other: Release) -> Release:
        """Both releases about the same people, each going its own way: the view of somebody with both."""
        return self._beside((self, other))

    def __radd__(self, other: Release) -> Release:
        """The same the other way round."""
        return self._beside((other, self))

    def _beside(self, parts: tuple[Release, Release]) -> Release:
        first, second = parts
        if not isinstance(first, Release) or not isinstance(second, Release):
            return NotImplemented
        if first.steps != second.steps:
            raise InputError(f"releases of {first.steps} and {second.steps} steps cannot be put together")
        check_sizes(first.size, second.size)
        crowd = first.crowd or second.crowd
        if crowd is not None:
            raise UnsupportedRelease(f"counts that are chosen as one goes beside counts of {crowd!r} are not modelled")
        return self.of(JointPolicy(parts), self.steps, None, None, self.size)

    @property
    def plain(self) -> bool:
        """Not known before all histories are looked at."""
        return False

    @property
    def revealed(self) -> None:
        """There is none."""

    @property
    def words(self) -> str:
        """The published counts, in words."""
        return "counts that are chosen as one goes"

    def __repr__(self) -> str:
        name = getattr(self.policy, "__name__", type(self.policy).__name__)
        return f"Release.adaptive({name}, steps={self.steps}{of_size(self.size)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AdaptiveRelease) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Policy, int, Mechanism, int]:
        return self.policy, self.steps, self.mechanism, self.size


def _refused(release: AdaptiveRelease) -> NoReturn:
    raise UnsupportedRelease("this is for counts that are fixed in advance, and a policy chooses these as one goes")


#: What a release says of itself that does not depend on its counts.
ANY_COUNTS = {"silent", "raw", "adaptive", "steps", "crowd", "independent", "over", "check_misses", "among"}
# The rest is refused here: it would be taken for that of a release that publishes nothing.
for _name in set(vars(Release)) - set(vars(AdaptiveRelease)) - ANY_COUNTS:
    if not _name.startswith("_"):
        setattr(AdaptiveRelease, _name, property(_refused))


def _several(answer: Any) -> bool:
    """Whether an answer is a list of some kind; a collection without order, such as a set, is none."""
    return isinstance(answer, Iterable) and not isinstance(answer, (str, bytes, Count, Mapping, Set))


def as_history(given: Any, name: str) -> History:
    """Values step by step; NaN always the same one, so histories can be compared."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(f"{name}: expected a value for each count of each step, got {given!r}")
    steps = [tuple(step) if isinstance(step, Iterable) else (step,) for step in given]
    for t, step in enumerate(steps):
        for value in step:
            if not is_number(value):
                raise InputError(f"{name}[{t}] = {value!r}: expected a number, or NaN for a cell left empty")
    return tuple(as_values(step) for step in steps)


def as_values(step: Iterable[float]) -> tuple[float, ...]:
    """Numbers as a history holds them."""
    return tuple(math.nan if math.isnan(value) else float(value) for value in step)


def union_of(paths: Iterable[Counts], steps: int, size: int) -> Release:
    """The release of all counts on any of these paths, each once."""
    every: list[dict[Count, None]] = [{} for _ in range(steps)]
    for path in paths:
        for t, step in enumerate(path):
            every[t].update(dict.fromkeys(step))
    return of_steps(tuple(tuple(step) for step in every), size)
