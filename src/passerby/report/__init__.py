"""The report of an audit: what each figure needs, the figures, and the page that holds them."""

from passerby.explore import Findings

from .data import explore, trials
from .page import render

__all__ = ["Findings", "explore", "render", "trials"]
