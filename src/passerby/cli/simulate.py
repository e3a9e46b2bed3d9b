"""`passerby simulate`: a city of any size as a file of visits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number


def simulate(
    out: Path,
    /,
    *,
    people: Annotated[int, Parameter(validator=Number(gte=1))] = 2000,
    places: Annotated[int, Parameter(validator=Number(gte=4))] = 200,
    days: Annotated[int, Parameter(validator=Number(gte=1))] = 14,
    step: str = "1h",
    seen: Annotated[float, Parameter(validator=Number(gt=0, lte=1))] = 1.0,
    start: str = "2024-01-01",
    seed: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    layout: Literal["table", "foursquare"] = "table",
    overwrite: Annotated[bool, Parameter(show_default=False, negative="")] = False,
) -> None:
    """Write the visits of a simulated city: homes, work, errands, a daily rhythm, few places that draw many.

    Beside city.csv, the file city-zones.csv tells which ward and district each place is in (`passerby audit --zones`).

    Parameters
    ----------
    out
        The file: CSV, with gzip where it ends in .gz, or Parquet where it ends in .parquet. A name without an ending
        becomes a folder of Parquet files, for a city of any size.
    people
        Number of people.
    places
        Number of places.
    days
        Number of days.
    step
        Length of a step, such as 1h or 30m; each person is recorded once in each.
    seen
        Share of the steps in which a person is recorded.
    start
        The first day.
    seed
        Seed of the city: the same numbers give the same city.
    layout
        A table with the columns person, time and place, or the layout of Foursquare's check-ins.
    overwrite
        Replace the file if it is there.
    """
    from passerby.errors import InputError

    from .screen import in_options

    _check_free(overwrite, out)
    zones = out.with_name(f"{out.name.partition('.')[0]}-zones.csv")
    _check_free(overwrite, zones)
    city = {"people": people, "places": places, "days": days, "step": step, "seed": seed, "seen": seen, "start": start}
    try:
        _write(out, zones, layout, city)
    except InputError as error:
        # Written out here: a step is also the column of a file, and not an option.
        raise InputError(in_options(str(error), city)) from None


def _write(out: Path, zones: Path, layout: Literal["table", "foursquare"], city: dict[str, Any]) -> None:
    """Write both files, and print their content."""
    from passerby.support.files import make_folder

    from .screen import consoles, stage

    screen, aside = consoles()
    people, places, days = (city[name] for name in ("people", "places", "days"))
    with stage(aside, "Simulating a city") as progress:
        from passerby.visits import write_city, write_zones

        make_folder(out.parent, "OUT")
        rows = write_city(out, **city, layout=layout, progress=progress)
        found = write_zones(zones, places, layout=layout)
    size = f"{_several(people, 'person', 'people')} to {places:,} places in {_several(days, 'day', 'days')}"
    screen.print(f"{rows:,} visits of {size}: {out}", soft_wrap=True)
    screen.print(f"{found:,} zones of these places, wards and districts: {zones}", soft_wrap=True)


def _several(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _check_free(overwrite: bool, file: Path) -> None:
    """Refuse to replace an existing file, unless allowed to."""
    from passerby.errors import InputError

    if file.exists() and not (overwrite and file.is_file()):
        what = "exists" if file.is_file() else "is no file"
        raise InputError(f"OUT: {str(file)!r} {what}; choose another name{', or --overwrite' * file.is_file()}")
