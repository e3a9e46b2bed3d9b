"""What is done to a count before it is published.

`base` says what a mechanism is and `domain` what it takes and gives. Those of `fixed`, `by_size` and `scaled` leave
nothing to chance, those of `chance` and `sampling` draw, `real_noise` (`gaussian`, `laplace`) and `whole_noise` are
`additive`. `composition` puts any two one after another: fixed ones after noise by `post_processing`, the rest by
`mixture`. `conformance` tests whether a mechanism of one's own keeps its promises, `registry` has a line for each, and
`notation` reads one from text.
"""

from .base import Mechanism
from .by_size import RoundingBySize
from .chance import RandomRounding
from .composition import Then
from .conformance import check_mechanism
from .discrete import Discrete
from .domain import COUNTS, REALS, WHOLE, Domain
from .fixed import AtLeast, Bands, Raw, Rounding, Suppression
from .gaussian import Gaussian
from .laplace import Laplace
from .law import HIDDEN, mixture_information
from .sampling import Miscount, Sampling
from .scaled import Scaled
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
