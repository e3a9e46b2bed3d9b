"""Files appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from passerby.errors import PasserbyError


@contextmanager
def whole_or_nothing(target: Path) -> Iterator[Path]:
    """A temporary path beside the target that becomes the target on success and vanishes on failure.

    Whatever the disk refuses (no space, no permission) is a `PasserbyError` that names the target.
    """
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())  # else a crash of the system could leave the name without the content
        temporary.replace(target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PasserbyError(f"{target} could not be written: {reason}; nothing was left behind") from error
    except Exception as error:
        # polars reports a full disk as an error of its own.
        if type(error).__module__.startswith("polars"):
            raise PasserbyError(f"{target} could not be written: {error}; nothing was left behind") from error
        raise
    finally:
        temporary.unlink(missing_ok=True)
