"""`passerby demo`: a simulated city whose hourly counts are audited, raw and with noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.validators import Number

from passerby.audits.settings import NOISE

if TYPE_CHECKING:
    from rich.console import Console

    from passerby.visits import Visits

#: People on whom sensors, steps and noise are tried out.
EXPLORE = 40
#: The hours the adversary may get wrong.
MISSES = 2
ASKED = (
    "A simulated city: {people:,} people, {days} days. {sensors} places publish hourly counts for the last day, "
    "{which}. Can it be told who was there?"
)
#: The sensitive place, and its name if the city has none.
CLINIC = "hospital"
#: Ways to publish for the last comparison, in words, and the number of people for it.
WAYS = {
    "Raw": "Raw()",
    "Hidden below 10": "Suppression(10)",
    "Rounded to 10": "Rounding(10)",
    "With noise 4": "Gaussian(4)",
}
COMPARED = 60
#: The audits by their mechanisms: the folder and the title of each.
AUDITS = {
    "raw": ("raw", "A simulated city: raw hourly counts"),
    "gaussian": ("noisy", "A simulated city: hourly counts with noise"),
}
#: Settings of both audits: the last day by the hour, and quick numbers.
DAY: dict[str, Any] = {
    "window": "1h",
    "origin": "2024-01-01",
    "min_active": 24,
    "holdout": 24,
    "misses": MISSES,
    "tolerance": 0.01,
    "runs": 30,
    "budget": 6e7,
    "backtest": 250,
    "adversaries": 30,
    "presence": 25,
}
#: Candidate noise and rounding.
TRIED: dict[str, Any] = {"sigmas": (1.0, 4.0), "bases": (10,)}


def demo(
    *,
    people: Annotated[int, Parameter(validator=Number(gte=10))] = 2000,
    places: Annotated[int, Parameter(validator=Number(gte=20))] = 200,
    days: Annotated[int, Parameter(validator=Number(gte=3))] = 17,
    sensors: Annotated[int, Parameter(validator=Number(gte=1))] = 12,
    sample: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    explore: Annotated[int, Parameter(validator=Number(gte=0))] = EXPLORE,
    sigma: Annotated[float, Parameter(validator=Number(gte=NOISE["ge"], lte=NOISE["le"]))] = 2.0,
    seed: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    workers: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    out: Path = Path("passerby-demo"),
    overwrite: Annotated[bool, Parameter(show_default=False, negative="")] = False,
) -> None:
    """Audit a simulated city: a day of hourly counts from a dozen sensors, raw and with noise.

    Writes the visits, and a folder with a report for each of the two.

    Parameters
    ----------
    people
        Number of people in the city.
    places
        Number of places.
    days
        Number of days; the last one is published and to be found.
    sensors
        Number of places that are counted: the most visited ones, and a hospital.
    sample
        Audit only so many people, drawn at random; counts are still of everybody. [default: everyone]
    explore
        On how many people sensors, steps and noise are tried out for the report; 0 for none.
    sigma
        Standard deviation of the noise.
    seed
        Seed of the city and of all other random numbers.
    workers
        Processes that share the work. [default: all cores]
    out
        Folder for the results.
    overwrite
        Replace an earlier demo in the folder.
    """
    from passerby.errors import InputError
    from passerby.support.files import make_folder

    from .screen import consoles, say, stage

    taken = [name for name in ("visits.parquet", *(folder for folder, _ in AUDITS.values())) if (out / name).exists()]
    if taken and not overwrite:
        raise InputError(f"--out: {str(out)!r} holds {' and '.join(taken)} already; choose another, or --overwrite")

    screen, aside = consoles()
    file = make_folder(out, "--out") / "visits.parquet"
    with stage(aside, "Simulating a city"):
        from passerby.visits import read_visits, write_city

        write_city(file, people, places, days, seed=seed)
        visits = read_visits(file)
    named, clinic = _counted(visits, days, sensors)
    which = f"{clinic} among them" if clinic else "the most visited ones"
    screen.print(ASKED.format(people=people, days=days, sensors=len(named), which=which), markup=False)
    city = {
        "visits": file,
        "places": places,
        "sensors": "fixed",
        "sensor_places": named,
        "seed": seed,
        "sample": sample,
    }
    city |= {"sensitive": (clinic,)} if clinic else {}
    for mechanism, (name, title) in AUDITS.items():
        screen.print(f"\n{title}", style="bold", markup=False)
        tried = {"explore": explore, **(TRIED if explore else {})}
        choice = tried if mechanism == "raw" else {"explore": 0, "mechanism": mechanism, "sigma": sigma}
        _audit({**DAY, **city, **choice, "title": title, "out": out / name}, visits, workers, aside)
    if clinic:
        from .demo_clinic import compared

        screen.print(f"\nWho was at {clinic}?", style="bold", markup=False)
        for line in compared({**DAY, **city, "out": out / "raw"}, visits, clinic, WAYS, COMPARED, aside):
            say(screen, line)


def _counted(visits: Visits, days: int, sensors: int) -> tuple[tuple[str, ...], str | None]:
    """The counted places: the most visited ones before the last day, and the first hospital."""
    import polars as pl

    table = visits.table
    earlier = table.filter(pl.col("time") < table["time"].max() - pl.duration(days=1)) if days > 1 else table
    rows = earlier.group_by("place").len().sort("len", "place", descending=[True, False])
    names = [visits.places[number] for number in rows["place"].to_list()]
    clinic = min((name for name in names if name.startswith(CLINIC)), default=None)
    chosen = [name for name in names if name != clinic][: sensors - (clinic is not None)]
    return (*chosen, *([clinic] if clinic else [])), clinic


def _audit(settings: dict[str, Any], visits: Visits, workers: int | None, aside: Console) -> None:
    from .screen import stage
    from .warm_up import ready

    ready()
    with stage(aside, "Loading the kernels"):
        from passerby.audits.validation import check_settings
        from passerby.audits.wording import Options

        from .run import run_and_show
    run_and_show(check_settings(settings, "options", Options()), workers, overwrite=True, visits=visits)
