"""Mechanisms: the law of the published value given the true count.

`base` has the interface, `laws` the common parts of all laws, `fixed` the bases `Discrete` and `Fixed`. Kinds: `rules`
leave nothing to chance; `sampling` draws people; `noise` (`gaussian`, `laplace`) and `whole_noise` are additive.
`composition` puts any two one after another, by `post_processing` (rules after noise) and `mixture` (the rest); `group`
compares the laws without a group and with it. `conformance` tests a mechanism's own statements. `registry` has a line
for each kind, and reads one from text.
"""

from .base import Mechanism
from .composition import Then
from .conformance import check_mechanism
from .fixed import Discrete
from .gaussian import Gaussian
from .laplace import Laplace
from .laws import COUNTS, HIDDEN, REALS, WHOLE, Domain, mixture_information
from .rules import AtLeast, Bands, Raw, Rounding, RoundingBySize, Scaled, Suppression
from .sampling import Miscount, RandomRounding, Sampling
from .whole_noise import DiscreteGaussian, Geometric

__all__ = [
    "COUNTS",
    "HIDDEN",
    "REALS",
    "WHOLE",
    "AtLeast",
    "Bands",
    "Discrete",
    "DiscreteGaussian",
    "Domain",
    "Gaussian",
    "Geometric",
    "Laplace",
    "Mechanism",
    "Miscount",
    "RandomRounding",
    "Raw",
    "Rounding",
    "RoundingBySize",
    "Sampling",
    "Scaled",
    "Suppression",
    "Then",
    "check_mechanism",
    "mixture_information",
]
