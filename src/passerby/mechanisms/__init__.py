"""What is done to a count before it is published.

`base` says what a mechanism is; `rules` are fixed, `chance` draws, `noise` and `whole` add noise (both are `additive`),
`shaped` is noise that fixed rules follow, `composition` puts any two one after another. `check` tests whether a
mechanism of one's own keeps its promises, and `notation` reads one from text.
"""

from .base import HIDDEN, Discrete, Mechanism, mixture_information
from .chance import Miscount, RandomRounding, Sampling
from .composition import Then
from .conformance import check_mechanism
from .real_noise import Gaussian, Laplace
from .rules import AtLeast, Bands, Raw, Rounding, Suppression
from .whole_noise import DiscreteGaussian, Geometric

__all__ = [
    "HIDDEN",
    "AtLeast",
    "Bands",
    "Discrete",
    "DiscreteGaussian",
    "Gaussian",
    "Geometric",
    "Laplace",
    "Mechanism",
    "Miscount",
    "RandomRounding",
    "Raw",
    "Rounding",
    "Sampling",
    "Suppression",
    "Then",
    "check_mechanism",
    "mixture_information",
]
