"""The sentences of a report that are the same in each, in the words of somebody who protects data."""

from .data import FEW

STATUSES = {
    "ok": "measured",
    "wide": "measured, with a wider range than asked for",
    "impossible": "measured, whose real trace is impossible under their habits",
    "refused": "could not be measured",
}

LIMITS = [
    "The numbers are about a strong adversary and one question. They are a measurement, not a guarantee.",
    "The adversary knows where everybody else was, and knows the habits of the person. A raw count then tells them "
    "whether the person was there. Real adversaries know less: the numbers are what to fear, not what to expect.",
    "Habits are where a person goes next, given where they are (and the hour or weekday, if so set). They are taken "
    "from the steps before those that are published, and are treated as the truth.",
    "People are taken to move independently of each other.",
    "The question is the whole trace, but for the allowed misses. A release with a small chance here may still tell "
    "that somebody was at one place once.",
    "Other data that are published about the same people, now or later, are not considered.",
    "A person is at one place in a step. Other steps and other places would give other numbers.",
]

ZOOM = "Hold Ctrl and turn the mouse wheel to zoom, drag to move, double-click to go back."
THRESHOLDS = (
    "The share of all people who are found with at least this chance: without the release, with an attack that was "
    f"found, and with any attack that the bounds do not exclude. Shares of {FEW - 1} people or fewer are not told."
)
EXPOSURE = (
    "Choose a chance on the horizontal axis: the curves give the share of people who are found with at least this "
    "chance. The truth with the release lies between the two curves for it; the further they are above the curve "
    f"without it, the more the release reveals. {ZOOM}"
)
ADVANTAGE = (
    "The advantage is the part of the remaining uncertainty that the release takes away: 0 % if it adds nothing to "
    "what was known anyway, 100 % if it makes a person certain to be found. The bars give the share of people by "
    "advantage: at least so much by the best attack found, at most so much by the bounds."
)
SIGHTED = (
    "Each point is a person. To the right are people who are likely to pass a sensor. Where points rise to the right, "
    f"being counted exposes people. {ZOOM}"
)
GAP = (
    "Each point is a person. The spectral gap is small for people who stay where they are for long and large for "
    "people who move about freely. Where points fall to the right, slow movers are the exposed ones: one sighting "
    f"tells of many steps. {ZOOM}"
)
PROFILE = (
    "Groups of people, never a single one: the tenth who are found most often, the tenth to whose chance the release "
    "adds most, and everyone. Half of a group lie below its median and half above."
)
NOISE = (
    "Each point is a way to publish the same counts: on the lines with noise, the squares rounded. To the right the "
    "counts are less exact; the further down, the less likely people are found. Below the chance without the release "
    f"nothing can be gained. {ZOOM}"
)
EPSILON = (
    "The same ways to publish, with the epsilon of each: the smaller it is, the stronger the guarantee. Beside it, the "
    "mean chance to be found of the people who were tried."
)
REALISED = "How likely the best guess is right for a person, given exactly the series that was published."
