"""Kernels are pickles, and so are taken only from a folder that is this user's alone."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from passerby.kernels import jit

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders of this system have no such owners")
Chosen = Callable[[], Path]


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chosen:
    """The folder that is chosen where `NUMBA_CACHE_DIR` names one in a temporary folder."""
    monkeypatch.setattr(jit.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))

    def folder() -> Path:
        return jit.folder.__wrapped__()

    return folder


def mode(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def test_it_is_open_to_its_owner_alone(chosen: Chosen, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        found = chosen()
    finally:
        os.umask(before)
    # The folder around it could be replaced by anybody.
    assert found.parent != tmp_path / "cache"
    assert mode(found) == 0o700


def test_it_is_made_in_the_folder_that_was_named(chosen: Chosen, tmp_path: Path) -> None:
    assert chosen().parent == tmp_path / "cache"
    assert mode(chosen()) == 0o700


def test_one_of_somebody_else_is_not_taken(chosen: Chosen, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = chosen()
    (planted / "kernel.nbc").write_bytes(b"not mine")
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    found = chosen()
    assert found != planted
    assert not [*found.glob("*.nbc")]
    assert mode(found) == 0o700


def test_one_that_others_may_read_is_closed(chosen: Chosen) -> None:
    found = chosen()
    (found / "kernel.nbc").write_bytes(b"mine")
    found.chmod(0o755)
    assert chosen() == found
    assert mode(found) == 0o700
    assert (found / "kernel.nbc").exists()


@pytest.mark.parametrize("open_to", [0o720, 0o702])
def test_what_others_could_write_is_removed(chosen: Chosen, open_to: int) -> None:
    found = chosen()
    (found / "kernel.nbc").write_bytes(b"whose?")
    found.chmod(open_to)
    assert chosen() == found
    assert mode(found) == 0o700
    assert not [*found.iterdir()]


def test_a_link_is_not_taken(chosen: Chosen, tmp_path: Path) -> None:
    found = chosen()
    found.rename(tmp_path / "elsewhere")
    found.symlink_to(tmp_path / "elsewhere")
    assert chosen() != found


def test_one_that_anybody_may_replace_is_not_taken(chosen: Chosen) -> None:
    found = chosen()
    found.parent.chmod(0o777)
    assert chosen().parent != found.parent
    found.parent.chmod(0o1777)  # as /tmp is: only the owner may replace what is there
    assert chosen() == found
