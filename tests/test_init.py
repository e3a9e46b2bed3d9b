"""The front door."""

import ast
from pathlib import Path

import pytest

import passerby as pb


def test_every_public_name_is_there() -> None:
    for name in pb.__all__:
        assert getattr(pb, name) is not None
    assert set(dir(pb)) >= set(pb.__all__)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="module 'passerby' has no attribute 'nothing'"):
        _ = pb.nothing


def test_type_checkers_see_the_same_names() -> None:
    """Names are loaded on first use; a second list, for type checkers only, must not fall behind."""
    tree = ast.parse(Path(pb.__file__).read_text(encoding="utf-8"))
    declared = {
        alias.asname
        for block in tree.body
        if isinstance(block, ast.If)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert declared >= set(pb.__all__) - {"__version__"}


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert version("passerby") == pb.__version__
