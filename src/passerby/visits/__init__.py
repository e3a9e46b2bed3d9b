"""From a table of visits to traces: readers, steps and places, a simulated city."""

from .city import simulate_city, write_city, write_zones
from .readers import read_visits
from .table import Skipped, Traces, Visits
from .windows import window_visits

__all__ = ["Skipped", "Traces", "Visits", "read_visits", "simulate_city", "window_visits", "write_city", "write_zones"]
