"""The folder of results: without finished ones, and free of other work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from passerby.audits.wording import Wording, instead
from passerby.errors import ConfigError, InputError
from passerby.support.files import alone_in, make_folder


@dataclass(frozen=True)
class Destination:
    """A folder for results; the file written `last` marks finished ones (`holds`)."""

    folder: Path
    last: str
    holds: str
    overwrite: bool
    wording: Wording

    def check(self) -> None:
        """Refuse a file, and refuse to replace finished results unless asked to."""
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{self.wording.name('out')}: {str(self.folder)!r} is a file; name a folder")
        if (self.folder / self.last).exists() and not self.overwrite:
            raise ConfigError(f"{self.folder} holds {self.holds}; {instead(self.wording)}")

    @contextmanager
    def held(self) -> Iterator[Path]:
        """The folder, made if need be; within this, no other process works in it."""
        with alone_in(make_folder(self.folder, self.wording.name("out"))):
            self.check()  # another may have finished there meanwhile
            yield self.folder
