"""The script that draws the charts of every page is the installed one, whatever lies on disk."""

from importlib.metadata import version
from pathlib import Path

import pytest

from passerby.kernels import jit
from passerby.report import picture

SCRIPT = "draw();"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """An empty folder, and how often the script was put together."""
    calls: list[int] = []

    def put_together() -> str:
        calls.append(1)
        return SCRIPT

    monkeypatch.setattr(jit, "folder", lambda: tmp_path)
    monkeypatch.setattr(picture, "_put_together", put_together)
    monkeypatch.setattr(picture, "version", lambda _: "1.0")
    monkeypatch.setattr(picture, "_dialect", lambda: "6.0")
    return calls


def bundle() -> str:
    return picture.bundle.__wrapped__()


def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "SCRIPTS", {("1.0", "6.0"): picture._digest(SCRIPT)})


def test_it_is_put_together_once(made: list[int], tmp_path: Path) -> None:
    assert [bundle(), bundle()] == [SCRIPT, SCRIPT]
    assert len(made) == len([*tmp_path.iterdir()]) == 1


def test_a_damaged_one_is_made_again(made: list[int], tmp_path: Path) -> None:
    bundle()
    (file,) = tmp_path.iterdir()
    for content in (b"steal();", b"\xff\xfe", b""):
        file.write_bytes(content)
        assert bundle() == SCRIPT
        assert file.read_bytes() == SCRIPT.encode()


def test_another_one_with_its_own_hash_is_not_taken(
    made: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(monkeypatch)
    (tmp_path / picture._name(("1.0", "6.0"), picture._digest("steal();"))).write_text("steal();")
    assert bundle() == SCRIPT
    assert bundle() == SCRIPT
    assert len(made) == 1


def test_the_script_in_pages_has_the_known_hash() -> None:
    made_by = (version("vl-convert-python"), picture._dialect())
    script = picture.bundle()
    assert picture._digest(script) == picture.SCRIPTS.get(made_by, picture._digest(script))


@pytest.mark.thorough
def test_the_installed_package_makes_the_script_that_is_kept() -> None:
    assert picture._put_together() == picture.bundle()
