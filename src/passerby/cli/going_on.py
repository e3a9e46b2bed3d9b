"""After an interruption: what is kept, and what to type to go on."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .screen import Interrupted, Terminated


@contextmanager
def resumable(command: str, draft: Path, workers: int | None, overwrite: bool) -> Iterator[None]:
    """Within this, an interruption says how to go on, from settings whose `draft` is there once anything is kept."""
    try:
        yield
    except KeyboardInterrupt as stop:
        kind = Terminated if isinstance(stop, Terminated) else Interrupted
        how = _how_to_go_on(command, draft, workers, overwrite)
        raise kind(f"{str(stop) or 'interrupted'}; {how}") from None


def _how_to_go_on(command: str, draft: Path, workers: int | None, overwrite: bool) -> str:
    """What to type."""
    if not draft.exists():
        return "nobody was measured yet, and nothing was written"
    typed = ["passerby", command, "--settings", str(draft)]
    typed += ["--workers", str(workers)] if workers else []
    typed += ["--overwrite"] if overwrite else []
    return f"what is finished is kept. To go on:\n  {shlex.join(typed)}"
