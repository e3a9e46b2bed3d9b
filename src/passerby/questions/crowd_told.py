"""Draws of others who are known by their habits, and of what somebody is told of them; and what these hide.

Given what is told, a count has one law with the target and one without. With τ their total variation (of a raw count
`max_k Pr[K = k]` of the unknown others), it follows from the raw count that is shown with chance τ, else nothing
(section 26). With b their Bhattacharyya coefficient, that of several counts is the product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from passerby.errors import UnsupportedRelease
from passerby.model.release import Release
from passerby.model.signals import Channel, counts_of
from passerby.others.bridges import passages
from passerby.others.crowd import Crowd
from passerby.others.sensors import SensorInformation, draw_at_sensors
from passerby.others.side_information import SideInformation, draw_side_information
from passerby.outcomes.stand_ins import stand_ins

Floats = NDArray[np.float64]


def told_of_crowd(release: Release, size: int, rng: np.random.Generator) -> SensorInformation | SideInformation:
    """So many draws of the others in a release, with side information: their places at every second step."""
    crowd = release.crowd
    if crowd is not None and crowd.told is not None:
        return SensorInformation.of(release, crowd.told, size, rng)
    if crowd is not None and crowd.side is not None:
        drawn: SideInformation = crowd.side.draw(size, rng)
        return drawn
    if crowd is None or crowd.priors is None:
        raise UnsupportedRelease(f"{release.words}: how numbers of others at different counts go together is not known")
    if crowd.counts is None:
        return draw_at_sensors(crowd.priors, crowd.where or release.sensors, size, rng)
    return draw_side_information(passages(crowd.priors, crowd.counts), size, rng)


def is_given(release: Release) -> bool:
    """Whether what is told of the others is given, as in an audit: the same in all draws."""
    return release.crowd is not None and release.crowd.priors is None


class Hidden(NamedTuple):
    """What counts of a step hide of a target of each class (n, T, C), at least, beside nobody: 1 where nothing shows.

    `chance` is that no count shows anything, and `overlap` the Bhattacharyya coefficient of the laws of its values.
    """

    chance: Floats
    overlap: Floats


def hidden(told: SensorInformation | SideInformation, release: Release) -> Hidden:
    """What is hidden of somebody who is told; where that is given, one row says it for all draws."""
    rows = 1 if is_given(release) else len(told)
    if isinstance(told, SideInformation):
        return _hidden_among_counts(told, release, rows)
    chance, overlap = (np.ones((rows, release.grid.shape[0], release.grid.shape[1] + 1)) for _ in range(2))
    known = _with_known_others(release)
    given = None
    if release.crowd is not None and release.crowd.told is not None:
        given = release.with_others(Crowd.told_of(release.crowd.told, release.crowd.told)).channels
    for t, law in enumerate(told.laws):
        here = np.s_[:, t, 1 : 1 + law.shape[1]]
        if given is None or release.mechanism.raw:
            alike = alike_but_for_one(law[:rows])
        else:
            alike = Hidden(*np.array([_laws_of(channel) for channel in given[t]]).reshape(-1, 2).T[:, None])
        for out, found, most in zip((chance, overlap), alike, known, strict=True):
            out[here] = np.maximum(found, most[t, : law.shape[1]])
    return Hidden(chance, overlap)


def _hidden_among_counts(told: SideInformation, release: Release, rows: int) -> Hidden:
    """The same of counts of any kind: with K unknown people along a direction, one more of them may be the target.

    Classes that do not differ by a direction are told apart by the numbers, and what noise hides it hides of all.
    """
    sees, known = release.sees, _with_known_others(release)
    out = Hidden(*(np.ones((rows, *sees.shape[:2])) for _ in range(2)))
    for t, step in enumerate(release.counts):
        for group in told.groups(t, len(step)):
            bits = sees[t][:, group.counts]
            along = (bits == group.signs).all(axis=1) | (bits == -group.signs).all(axis=1)
            for mine, found, most in zip(out, alike_but_for_one(group.law[:rows]), known, strict=True):
                blurred = np.where(bits == 1, most[t, group.counts], 1.0).prod(axis=1)
                alike = np.maximum(np.where(along, found[:, None], 0.0), blurred)
                mine[:, t] *= np.where(bits.any(axis=1), alike, 1.0)
    return out


def alike_but_for_one(law: Floats, size: int = 1) -> Hidden:
    """How alike numbers of these laws (..., numbers) are to the same and one more, or a group of a size.

    `1 - τ`, and the Bhattacharyya coefficient.
    """
    more = np.zeros((*law.shape[:-1], size))
    absent, present = np.concatenate([law, more], axis=-1), np.concatenate([more, law], axis=-1)
    found = np.minimum(absent, present).sum(axis=-1), np.sqrt(absent * present).sum(axis=-1)
    return Hidden(*(np.clip(each, 0.0, 1.0) for each in found))


def _with_known_others(release: Release) -> Hidden:
    """What noise alone hides of each count (T, S), of somebody who knows all others, and so of whoever knows less.

    It is nothing where that depends on how many they are.
    """
    out = Hidden(*np.zeros((2, *release.grid.shape)))
    if all(way.shift_invariant and not way.raw for way in release.ways):
        for channel, cells in counts_of(release.with_others(None).channels):
            for each, value in zip(out, _laws_of(channel), strict=True):
                each[cells] = value
    return out


def _laws_of(channel: Channel) -> tuple[float, float]:
    """How alike both laws of a count are, or of a stand-in that tells more."""
    pair = stand_ins(*channel)
    overlap = 0.0 if pair is None else float(np.sqrt(pair[1][:, 0] * pair[1][:, 1]).sum())
    return 1 - channel.apart, min(1.0, overlap)
