"""The subjects of a release's counts, at any step: places, zones, flows between them, or their visitors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from passerby.model.count import Count
from passerby.model.release import Release

Ints = NDArray[np.int64]
Zone = tuple[int, ...]


@dataclass(frozen=True)
class Subject:
    """A kind of count (`Count.kind`) and its zones: one, or for flows the origin and the destination."""

    kind: str
    zones: tuple[Zone, ...]
    times: int = 1


def subject_of(count: Count) -> Subject:
    """The subject of a count.

    >>> from passerby import Moved
    >>> subject_of(Moved([0], [1, 2], step=5))
    Subject(kind='moved', zones=((0,), (1, 2)), times=1)
    """
    return Subject(count.kind, count.zones, count.repeats)


@lru_cache(maxsize=16)
def subjects_of(release: Release) -> tuple[Subject, ...]:
    """Each subject once, in the order of the release; of sensors, the places in their order.

    >>> [subject.zones for subject in subjects_of(Release([[3], [1, 3]]))]
    [((1,),), ((3,),)]
    """
    if not release.reveals:
        return tuple(dict.fromkeys(subject_of(count) for count in release.listed))
    places = sorted({place for step in release.sensors for place in step})
    return tuple(Subject("present", ((place,),)) for place in places)


def in_words(release: Release) -> str:
    """The number of published values, and their subjects.

    >>> from passerby import Moved, Present
    >>> in_words(Release([[3], [1, 3]])), in_words(Release(counts=[Present([0, 1], 0), Moved([0], [1], 0)], steps=2))
    ('3 counts from 2 places', '2 counts of 1 zone and of 1 flow')
    """
    total = sum(map(len, release.sensors))
    counts = f"{total:,} count{'s' * (total != 1)}"
    about = subjects_of(release)
    if release.reveals:
        return f"{counts} from {len(about):,} place{'s' * (len(about) != 1)}"
    words = {"present": "{} zone{s}", "moved": "{} flow{s}", "visitors": "visitors of {} zone{s}"}
    kinds = dict.fromkeys((*words, *(each.kind for each in about)))
    sizes = {kind: sum(each.kind == kind for each in about) for kind in kinds}
    parts = [words.get(kind, f"{{}} {kind}").format(f"{n:,}", s="s" * (n != 1)) for kind, n in sizes.items() if n]
    return f"{counts} of {' and of '.join(parts)}" if parts else counts


@lru_cache(maxsize=16)
def subject_grid(release: Release) -> Ints:
    """The number of the subject of each count (T, S), in the form of `release.grid`; -1 without one."""
    number = {subject: k for k, subject in enumerate(subjects_of(release))}
    about = [subject_of(count) for count in release.listed]
    out = np.full(release.grid.shape, -1)
    out[release.grid >= 0] = [number[each] for each in about]
    out.flags.writeable = False
    return out
