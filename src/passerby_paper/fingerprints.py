"""What a table was made from, as a short digest: a table with another digest is made anew."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path

import passerby

from .experiment import Experiment
from .settings import Settings

#: Sources that no table depends on, by the beginning of their path: they show what was measured.
SHOWING = ("cli/", "report/", "paper/changes", "paper/claims", "paper/curves", "paper/page", "paper/wording")


def fingerprint(experiment: Experiment, settings: Settings, files: Mapping[str, Path]) -> str:
    """A digest of all that an experiment's table depends on: the code, the settings and, if real, the files."""
    digest = hashlib.blake2b(digest_size=16)
    made_by = (passerby.__version__, sources(Path(passerby.__file__).parent))
    digest.update(repr((made_by, experiment.name, asdict(settings))).encode())
    if experiment.real:
        for name in sorted(files):
            digest.update(name.encode())
            digest.update(_glance(files[name]))
    return digest.hexdigest()


@cache
def sources(root: Path) -> str:
    """A digest of the package's sources, but for those that only show what was measured."""
    digest = hashlib.blake2b(digest_size=16)
    for name, path in sorted(_measuring(root)):
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _measuring(root: Path) -> Iterable[tuple[str, Path]]:
    for path in root.rglob("*.py"):
        name = path.relative_to(root).as_posix()
        if not name.startswith(SHOWING):
            yield name, path


def _glance(path: Path) -> bytes:
    """The size of a file, its beginning and its end: enough to tell files of check-ins apart, however long."""
    size, some = path.stat().st_size, 1 << 20
    with path.open("rb") as file:
        head = file.read(some)
        file.seek(max(0, size - some))
        return str(size).encode() + head + file.read(some)
