"""The list of methods: every attack and bound of a measurement, in the order in which they are tried.

The columns of an audit, the tables of the documentation and what `measure` does come from this list. A new attack or
bound is one file with a `Method`, and one line here.
"""

from passerby.measurement.method import Method

from .adaptive import ADAPTIVE
from .baseline import BASELINE
from .constant import CONSTANT
from .crowd import CROWD
from .dp import DP
from .enumeration import ENUMERATION, SHORT_LIST
from .erasure import ERASURE
from .fano import FANO
from .known import KNOWN
from .leakage import LEAKAGE
from .loose import LOOSE
from .modes import MODES
from .monte_carlo import MONTE_CARLO
from .no_misses import NO_MISSES
from .one_series import ONE_SERIES
from .prior import PRIOR
from .quantisation import QUANTISATION
from .raw import RAW, RAW_AGAIN
from .renewal import RENEWAL
from .sampling import SAMPLING
from .tight import TIGHT

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
