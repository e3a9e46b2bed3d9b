"""Settings of the documentation: `make docs` builds it into docs/_build/html, without a network."""

from passerby import __version__

project = "passerby"
version = release = __version__  # as in src/passerby/__init__.py, and nowhere else
author = "The passerby developers"
copyright = "The passerby developers"  # noqa: A001

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
default_role = "code"  # docstrings write code and formulas in single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "Floats": "Floats", "Ints": "Ints"}
python_use_unqualified_type_names = True
myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]

html_theme = "furo"
html_title = "passerby"
html_show_sphinx = False
