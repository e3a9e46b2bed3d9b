"""The report of an audit: sections of words, figures and tables, and the pages that hold them."""

from .folder import audit_folder
from .notebook import Report, audit_report
from .page import render, render_internal

__all__ = ["Report", "audit_folder", "audit_report", "render", "render_internal"]
