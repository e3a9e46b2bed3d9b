"""The front door."""

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

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


def signatures() -> Iterator[tuple[str, inspect.Signature]]:
    """The arguments of all that can be called: functions, classes, and what is asked of a class."""
    for name in pb.__all__:
        public = getattr(pb, name)
        if not callable(public) or (isinstance(public, type) and issubclass(public, Exception)):
            continue
        yield name, inspect.signature(public)
        for member, held in vars(public).items() if isinstance(public, type) else ():
            if not member.startswith("_") and isinstance(held, staticmethod | classmethod | FunctionType):
                yield f"{name}.{member}", inspect.signature(getattr(public, member))


def test_every_argument_has_a_name() -> None:
    """Notebooks complete names, and say what there is: `**settings` would say nothing."""
    unnamed = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    found = dict(signatures())
    assert {"Release", "Release.adaptive", "audit_folder", "measure"} <= set(found)
    assert {"tolerance", "window", "holdout"} <= set(found["audit_folder"].parameters)
    assert [name for name, each in found.items() if any(one.kind in unnamed for one in each.parameters.values())] == []


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert version("passerby") == pb.__version__
