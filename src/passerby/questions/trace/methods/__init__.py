"""The list of methods: every attack and bound of a measurement, in the order of trying them.

The columns of an audit, the tables of the documentation and the steps of `measure` come from this list. A new attack or
bound is one file with a `Method`, and one line here.
"""

from passerby.questions.trace.goal import Method

from .adaptive import ADAPTIVE
from .baseline import BASELINE, CONSTANT, PRIOR
from .crowd import CROWD
from .enumeration import ENUMERATION, ONE_SERIES, SHORT_LIST
from .formula import DP, FANO, LEAKAGE, LOOSE, TIGHT
from .monte_carlo import MONTE_CARLO
from .quantisation import QUANTISATION
from .raw import ERASURE, RAW, RAW_AGAIN
from .renewal import NO_MISSES, RENEWAL
from .sampling import SAMPLING
from .side_information import KNOWN, MODES

METHODS: tuple[Method, ...] = (
    PRIOR,
    CONSTANT,
    MONTE_CARLO,
    BASELINE,
    LOOSE,
    TIGHT,
    FANO,
    LEAKAGE,
    DP,
    RAW,
    NO_MISSES,
    RENEWAL,
    ENUMERATION,
    QUANTISATION,
    SHORT_LIST,
    MODES,
    SAMPLING,
    RAW_AGAIN,
    ERASURE,
    KNOWN,
    CROWD,
    ONE_SERIES,
    ADAPTIVE,
)


def _names(kind: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for method in METHODS for name in getattr(method, kind)))


#: The names of all attacks and of all bounds.
ATTACKS, BOUNDS = _names("attacks"), _names("bounds")
