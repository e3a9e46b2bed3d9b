"""`passerby reproduce`: the paper's experiments, with figures, numbers and a page of its claims."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

#: Of the names of experiments, beside the progress bar.
WIDTH = 14


def reproduce(
    *names: str,
    out: Path = Path("passerby-reproduce"),
    foursquare: Path | None = None,
    gowalla: Path | None = None,
    quick: Annotated[bool, Parameter(show_default=False, negative="")] = False,
    seed: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    workers: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
) -> None:
    """Run the experiments of Koga, Meehan and Chaudhuri (2024), and set their claims beside what is found.

    Experiments that are already in the folder, from the same settings and files, are not run again.

    Parameters
    ----------
    names
        Experiments to run, or the groups "simulated" and "real"; all that there are files for where none is named.
        Simulated: examples formulas places right steps-half steps-two sigma noise. Real: people real-right real-sigma
        real-noise sensor-visits spectral-gap readings.
    out
        Folder for figures (PDF, SVG), numbers (Parquet, CSV) and the pages of claims.
    foursquare
        Check-ins in the layout of dataset_TIST2015_Checkins.txt (may be compressed).
    gowalla
        Check-ins in the layout of loc-gowalla_totalCheckins.txt (may be compressed).
    quick
        Small sizes: every experiment within a minute in all, to see that it works, not to quote.
    seed
        Seed of sensors, traces and noise.
    workers
        Processes that share the work; all cores by default.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    from .screen import consoles
    from .warm_up import ready

    ready()
    from passerby_paper.run import reproduce
    from passerby_paper.settings import Settings

    screen, aside = consoles()
    settings = Settings.fast(seed) if quick else Settings(seed=seed)
    files = {name: path for name, path in (("foursquare", foursquare), ("gowalla", gowalla)) if path is not None}
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=False),
        console=aside,
    ) as bars:
        everything = bars.add_task("reading".ljust(WIDTH), total=None)
        known: dict[str, tuple[int, int]] = {}

        def show(name: str, done: int, total: int) -> None:
            known[name] = (done, total)
            finished, pieces = (sum(pair[i] for pair in known.values()) for i in (0, 1))
            bars.update(everything, completed=finished, total=pieces, description=name.ljust(WIDTH))

        report = reproduce(names, out, files, settings, workers, show)
        bars.update(everything, description="done".ljust(WIDTH))
    if report.kept:
        screen.print(f"Taken from an earlier run: {', '.join(report.kept)}", soft_wrap=True)
    if report.left_out:
        screen.print(f"Left out, for want of --foursquare and --gowalla: {', '.join(report.left_out)}", soft_wrap=True)
    screen.print(f"Figures and numbers: {out / 'figures'}, {out / 'numbers'}", markup=False, soft_wrap=True)
    screen.print(f"Claims of the paper: {report.page}", markup=False, soft_wrap=True)
