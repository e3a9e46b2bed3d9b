"""How much published counts reveal about one person who was counted.

The front door: every public name is reachable as `passerby.<name>`. Names are loaded on first use, so that
importing the package stays fast and only what is used is compiled.

>>> import passerby as pb
>>> prior = pb.line_prior(places=20, tau=0.1)
>>> release = pb.Release(sensors=[3, 11, 7])
>>> loss = pb.measure(prior, release, misses=1)
>>> loss.lower <= loss.upper
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .auditing import audit as audit
    from .comparisons import DifferentialPrivacy as DifferentialPrivacy
    from .comparisons import differential_privacy as differential_privacy
    from .comparisons import reconstruction_advantage as reconstruction_advantage
    from .crowd import Crowd as Crowd
    from .errors import ConfigError as ConfigError
    from .errors import InputError as InputError
    from .errors import PasserbyError as PasserbyError
    from .errors import UnsupportedRelease as UnsupportedRelease
    from .information import entropy as entropy
    from .information import mutual_information as mutual_information
    from .loss import Attack as Attack
    from .loss import Effort as Effort
    from .loss import Interval as Interval
    from .loss import Loss as Loss
    from .measuring import measure as measure
    from .mechanisms import AtLeast as AtLeast
    from .mechanisms import Bands as Bands
    from .mechanisms import Discrete as Discrete
    from .mechanisms import DiscreteGaussian as DiscreteGaussian
    from .mechanisms import Gaussian as Gaussian
    from .mechanisms import Geometric as Geometric
    from .mechanisms import Laplace as Laplace
    from .mechanisms import Mechanism as Mechanism
    from .mechanisms import Miscount as Miscount
    from .mechanisms import RandomRounding as RandomRounding
    from .mechanisms import Raw as Raw
    from .mechanisms import Rounding as Rounding
    from .mechanisms import Sampling as Sampling
    from .mechanisms import Suppression as Suppression
    from .mechanisms import Then as Then
    from .mechanisms import check_mechanism as check_mechanism
    from .prior import MarkovPrior as MarkovPrior
    from .prior import line_prior as line_prior
    from .release import Release as Release
    from .report.notebook import Report as Report
    from .report.notebook import audit_report as audit_report
    from .visits.city import simulate_city as simulate_city
    from .visits.people import People as People
    from .visits.people import fit_people as fit_people
    from .visits.readers import read_visits as read_visits
    from .visits.sensors import fixed_sensors as fixed_sensors
    from .visits.sensors import most_visited_sensors as most_visited_sensors
    from .visits.sensors import random_sensors as random_sensors
    from .visits.table import Visits as Visits
    from .visits.traces import Traces as Traces
    from .visits.traces import window_visits as window_visits

__version__ = "0.1.0"

_HOME = {
    "auditing": ("audit",),
    "comparisons": ("DifferentialPrivacy", "differential_privacy", "reconstruction_advantage"),
    "crowd": ("Crowd",),
    "errors": ("ConfigError", "InputError", "PasserbyError", "UnsupportedRelease"),
    "information": ("entropy", "mutual_information"),
    "loss": ("Attack", "Effort", "Interval", "Loss"),
    "measuring": ("measure",),
    "mechanisms": (
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
    ),
    "prior": ("MarkovPrior", "line_prior"),
    "release": ("Release",),
    "report.notebook": ("Report", "audit_report"),
    "visits.city": ("simulate_city",),
    "visits.people": ("People", "fit_people"),
    "visits.readers": ("read_visits",),
    "visits.sensors": ("fixed_sensors", "most_visited_sensors", "random_sensors"),
    "visits.table": ("Visits",),
    "visits.traces": ("Traces", "window_visits"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [*sorted(_MODULE), "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module 'passerby' has no attribute {name!r}")
    value = getattr(import_module(f".{_MODULE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
