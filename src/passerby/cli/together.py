"""`passerby together`: what several tables about the same people reveal, beside each alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number


def together(
    *audits: Path,
    misses: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    sample: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    budget: Annotated[float | None, Parameter(validator=Number(gte=0))] = None,
    seed: Annotated[int | None, Parameter(validator=Number(gte=0))] = None,
    workers: Annotated[int | None, Parameter(validator=Number(gte=1))] = None,
    out: Path = Path("passerby-together"),
    overwrite: Annotated[bool, Parameter(show_default=False, negative="")] = False,
) -> None:
    """Say what tables reveal together: what a new one adds, given those that are out already.

    Two tables that hide small numbers may tell them by their difference. For example, after an audit of each:
    `passerby together wards/ districts/`

    Writes a folder with together.html (a page of means, which may be shared), together.json (the same numbers) and
    people.parquet (a row per person and release).

    Parameters
    ----------
    audits
        Folders of audits, or their settings files (audit.toml): two or more, of the same visits and steps.
    misses
        How many of the steps the adversary may get wrong. [default: as in the first]
    sample
        Measure only so many people, drawn at random; counts are still of everybody. [default: as in the first]
    budget
        Effort for each person and release, in elementary operations. [default: as in the first]
    seed
        Seed of all random numbers. [default: as in the first]
    workers
        Processes that share the work. [default: all cores]
    out
        Folder for the results.
    overwrite
        Replace earlier results in the folder.
    """
    from passerby.audits.wording import Options
    from passerby.errors import ConfigError

    from .warm_up import ready

    if len(audits) < 2:
        raise ConfigError("name two folders of audits or more: passerby together A/ B/")
    ready()
    from passerby.runs.together import run_together

    from .screen import consoles, repeatable, stages

    given = {"misses": misses, "budget": budget, "seed": seed}
    how = {name: value for name, value in given.items() if value is not None}
    screen, aside = consoles()
    with repeatable(), stages(aside) as tell:
        found = run_together(
            audits, out, how, sample, overwrite=overwrite, workers=workers, tell=tell, wording=Options()
        )
    for line in (*found.lines(), f"The page: {out / 'together.html'}", f"All numbers: {out / 'together.json'}"):
        screen.print(line, markup=False, soft_wrap=True)
