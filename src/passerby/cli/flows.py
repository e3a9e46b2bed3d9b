"""`passerby flows`: what counts reveal about the people of a public table, without anybody's visits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

#: So many of the busiest zones are counted where nothing else is asked for.
BUSIEST = 3
_Count = Annotated[int, Parameter(validator=Number(gte=1))]


def flows(
    table: Path,
    /,
    *,
    start: str,
    sensor_places: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    sensor_count: _Count | None = None,
    step: str = "1h",
    steps: _Count = 24,
    profile: str = "resident",
    mechanism: str = "raw",
    misses: Annotated[int, Parameter(validator=Number(gte=0))] = 1,
    people: _Count = 200,
    timezone: str = "UTC",
    seed: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    workers: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    out: Path | None = None,
    overwrite: Annotated[bool, Parameter(show_default=False, negative="")] = False,
) -> None:
    """Say what counts would reveal of the people of a public table: who lives where and works where.

    No visits are needed. Of each pair of zones some people stand for the others; a day at home, at work and elsewhere
    is assumed for them, and so are the numbers of others. For example, for hourly counts of two zones:
    `passerby flows commuters.csv --start 2024-01-15 --sensor-places mill harbour --mechanism "Rounding(5)"`

    Parameters
    ----------
    table
        How many people live and work where: CSV or Parquet with the columns home, work and people, or as in LODES.
    start
        When the first published step begins, such as 2024-01-15 or 2024-01-15T06:00.
    sensor_places
        Names of the zones that are counted. [default: the busiest]
    sensor_count
        How many of the busiest zones are counted, where no names are given. [default: 3]
    step
        Length of a step.
    steps
        How many steps are published.
    profile
        What a day looks like: the name of a persona, a file of personas at home and at work, or a table with the
        columns hour, home, work and elsewhere (and day, group and weight).
    mechanism
        What is done to a count before it is published, as in audits: raw, rounding, "Rounding(20)", "Gaussian(2)", ...
    misses
        How many of the steps the adversary may get wrong.
    people
        About how many people are measured; each stands for others.
    timezone
        Zone by whose clock the steps begin.
    seed
        Seed of the day that is drawn.
    workers
        Processes that share the work. [default: all cores]
    out
        Folder for the results: figures.csv, which may be shared, and people.parquet. [default: none is written]
    overwrite
        Replace earlier results in the folder.
    """
    from passerby.errors import ConfigError

    from .warm_up import ready

    if sensor_places and sensor_count is not None:
        raise ConfigError("--sensor-count is for the busiest zones, and --sensor-places names zones; give one of them")
    ready()
    from passerby.audits.flows import audit_flows
    from passerby.audits.release import build_release, check_mechanism
    from passerby.audits.settings import ReleaseSettings
    from passerby.people.flows import people_from_flows

    from .screen import consoles, stage

    found = people_from_flows(
        table, start=start, step=step, steps=steps, profile=profile, people=people, timezone=timezone, seed=seed
    )
    sensors = "fixed" if sensor_places else "most-visited"
    told = ReleaseSettings(
        sensors=sensors,  # type: ignore[arg-type]
        sensor_count=sensor_count or BUSIEST,
        sensor_places=tuple(sensor_places or ()),
        mechanism=check_mechanism(mechanism),
    )
    release = build_release(told, found, seed)
    counted = [found.places[place] for place in release.sensors[0]]
    files = _files(out, overwrite=overwrite)
    screen, aside = consoles()
    with stage(aside, "Measuring", "people") as progress:
        audit = audit_flows(found, release, misses, counted, workers=workers, progress=progress, budget=1e8)
    for line in audit.lines():
        screen.print(line, markup=False, soft_wrap=True)
    if files:
        audit.figures.write_csv(files[0])
        audit.table.write_parquet(files[1])
        screen.print(f"Figures: {files[0]}", markup=False, soft_wrap=True)


def _files(out: Path | None, *, overwrite: bool) -> list[Path]:
    """The files of the results; existing ones are refused unless they may be replaced."""
    from passerby.errors import InputError
    from passerby.support.files import make_folder

    if out is None:
        return []
    files = [out / "figures.csv", out / "people.parquet"]
    there = next((file for file in files if file.exists()), None)
    if there is not None and not overwrite:
        raise InputError(f"--out: {str(there)!r} exists; choose another folder, or --overwrite")
    make_folder(out, "--out")
    return files
