"""How figures are drawn, and what is said where they cannot be."""

import builtins
from typing import Any

import pytest

import passerby as pb
from passerby_paper import figures


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real_import(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(pb.PasserbyError, match=r"pip install 'passerby\[paper\]'"):
        figures.need_matplotlib()
