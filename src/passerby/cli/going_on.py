"""After an interruption: the kept parts, and the command to continue."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from .screen import Interrupted, Terminated


def resumable(command: str, draft: Path, workers: int | None, overwrite: bool) -> AbstractContextManager[None]:
    """Within this, an interruption says how to go on, from settings whose `draft` is there once anything is kept."""
    return _interruptible(lambda: _how_to_go_on(command, draft, workers, overwrite))


def repeatable(kept: Path | None = None) -> AbstractContextManager[None]:
    """Within this, an interruption says whether the same command continues: it does if the folder `kept` exists."""
    again = "what is finished is kept, and the same command goes on with it"
    return _interruptible(lambda: again if kept is not None and kept.exists() else "nothing was written")


@contextmanager
def _interruptible(how: Callable[[], str]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as stop:
        kind = Terminated if isinstance(stop, Terminated) else Interrupted
        raise kind(f"{str(stop) or 'interrupted'}; {how()}") from None


def _how_to_go_on(command: str, draft: Path, workers: int | None, overwrite: bool) -> str:
    """The command to type."""
    if not draft.exists():
        return "nobody was measured yet, and nothing was written"
    typed = ["passerby", command, "--settings", str(draft)]
    typed += ["--workers", str(workers)] if workers else []
    typed += ["--overwrite"] if overwrite else []
    return f"what is finished is kept. To go on:\n  {shlex.join(typed)}"
