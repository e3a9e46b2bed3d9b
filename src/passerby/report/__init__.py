"""The report of an audit: what each figure needs, the figures, and the page that holds them."""

from .folder import audit_folder
from .notebook import Report, audit_report
from .page import render

__all__ = ["Report", "audit_folder", "audit_report", "render"]
