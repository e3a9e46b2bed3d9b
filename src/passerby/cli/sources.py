"""The sources of a command's settings: a settings file, and options beside it; options prevail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from passerby.plans.names import OWN

if TYPE_CHECKING:
    from passerby.audits.wording import Source


def sources_of(
    command: str,
    visits: Sequence[str],
    settings: Path | None,
    options: Mapping[str, Any],
    paths: Sequence[str] = (),
) -> list[Source]:
    """The sources of a command's settings; at least one must name the visits; `paths` are settings of its own."""
    from passerby.audits.settings_file import read_settings
    from passerby.audits.wording import Options, Source
    from passerby.errors import ConfigError

    typed = {name: value for name, value in {"visits": visits or None, **options}.items() if value is not None}
    sources = [Source(read_settings(settings, paths), str(settings))] if settings else []
    if settings and command == "audit" and (of_plan := [name for name in OWN if name in sources[0].values]):
        raise ConfigError(
            f"{settings} holds settings of a plan ({', '.join(of_plan)}): give it to passerby plan, or audit what that "
            "recommends, by the audit.toml in its folder"
        )
    sources += [Source(typed, "options", Options())] if typed else []
    if not any("visits" in source.values for source in sources):
        raise ConfigError(f"no visits are given: passerby {command} VISITS, or --settings with a file that names them")
    return sources
