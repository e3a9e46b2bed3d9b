"""Runs experiments: those whose tables are already there are not run again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from passerby.errors import ConfigError, InputError
from passerby.support.files import whole_or_nothing

from . import page, style
from .examples import EXAMPLES
from .experiment import Experiment
from .fingerprints import fingerprint
from .formulas import FORMULAS
from .people import LAYOUTS, Data, read_data
from .pieces import Piece, Row, done
from .readings import OPEN
from .real import COUNTS, REAL_NOISE, REAL_RIGHT, REAL_SIGMA
from .scatter import GAP, VISITS
from .settings import Settings
from .sweep_places import PLACES
from .sweep_right import RIGHT
from .sweep_sigma import NOISE, SIGMA
from .sweep_steps import STEPS_HALF, STEPS_TWO
from .tables import read_table, write_table

EXPERIMENTS = {
    e.name: e
    for e in (
        EXAMPLES, FORMULAS, PLACES, RIGHT, STEPS_HALF, STEPS_TWO, SIGMA, NOISE,
        COUNTS, REAL_RIGHT, REAL_SIGMA, REAL_NOISE, VISITS, GAP, OPEN,
    )
}  # fmt: skip
GROUPS = {
    "simulated": [name for name, e in EXPERIMENTS.items() if not e.real],
    "real": [name for name, e in EXPERIMENTS.items() if e.real],
}

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Report:
    """What was done: names of experiments that were run, taken from an earlier run, or left out for want of files."""

    ran: list[str]
    kept: list[str]
    left_out: list[str]
    figures: list[Path]
    page: Path


def reproduce(
    names: Iterable[str],
    out: Path,
    files: Mapping[str, Path],
    settings: Settings,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Run the named experiments (all that there are files for, where none is named), and write what they give.

    `files` are check-ins by layout: "foursquare", "gowalla". `out` gets `numbers/` (Parquet, CSV), `figures/` (PDF,
    SVG) and `claims.md`, which covers all experiments whose tables are there. `progress(name, done, all)` is called as
    pieces of an experiment are done.
    """
    chosen = choose(names, files)
    style.need_matplotlib()
    numbers, figures = out / "numbers", out / "figures"
    try:
        for folder in (numbers, figures):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out: cannot make the folder {str(out)!r} ({error.strerror})") from None
    marks = {name: fingerprint(e, settings, files) for name, e in EXPERIMENTS.items()}
    tables = {name: table for name in EXPERIMENTS if (table := read_table(numbers, name, marks[name])) is not None}
    todo = [name for name in chosen if name not in tables]
    for name in chosen:
        if name in tables and progress:
            progress(name, 1, 1)
    for name, rows in _rows(todo, files, settings, workers or os.cpu_count() or 1, progress):
        tables[name] = EXPERIMENTS[name].table(rows, settings)
        write_table(numbers, name, tables[name], marks[name])
    written = []
    for name in chosen:
        written += _draw(EXPERIMENTS[name], tables[name], figures)
    claims = out / "claims.md"
    with whole_or_nothing(claims) as temporary:
        temporary.write_text(page.written(tables, settings), encoding="utf-8")
    left_out = [] if set(names) else [name for name in EXPERIMENTS if name not in chosen]
    return Report(todo, [name for name in chosen if name not in todo], left_out, written, claims)


def choose(names: Iterable[str], files: Mapping[str, Path]) -> list[str]:
    """The experiments asked for, in their order. Groups ("simulated", "real") stand for their members."""
    asked: set[str] = set()
    for name in names:
        if name not in EXPERIMENTS and name not in GROUPS:
            raise ConfigError(f"there is no experiment {name!r}; choose from {', '.join((*EXPERIMENTS, *GROUPS))}")
        asked.update(GROUPS.get(name, [name]))
    for name, path in files.items():
        if not path.is_file():
            what = "is a folder, not a file" if path.is_dir() else "does not exist"
            raise InputError(f"--{name}: {str(path)!r} {what}; give a file in the layout of {LAYOUTS[name]}")
    needing = [name for name in EXPERIMENTS if name in asked and EXPERIMENTS[name].real]
    if needing and not files:
        raise ConfigError(
            f"{', '.join(needing)}: real check-ins are needed; give --foursquare FILE, --gowalla FILE or both"
        )
    if not asked:
        asked = {name for name, e in EXPERIMENTS.items() if files or not e.real}
    return [name for name in EXPERIMENTS if name in asked]


def _rows(
    todo: list[str], files: Mapping[str, Path], settings: Settings, workers: int, progress: Progress | None
) -> Iterable[tuple[str, list[Row]]]:
    """Rows of each experiment in the order of its pieces, as soon as all of them are done."""
    data: dict[str, Data] = {}
    if any(EXPERIMENTS[name].real for name in todo):
        data = {name: read_data(name, files[name]) for name in sorted(files)}
    work: list[tuple[str, Piece]] = []
    for name in todo:
        work += [(name, piece) for piece in EXPERIMENTS[name].pieces(settings, data)]
    indices = {name: [i for i, (of, _) in enumerate(work) if of == name] for name in todo}
    left = {name: len(indices[name]) for name in todo}
    if progress:
        for name in todo:
            progress(name, 0, left[name])
    found: dict[int, list[Row]] = {}
    for i, rows in done(work, workers):
        name = work[i][0]
        found[i] = rows
        left[name] -= 1
        if progress:
            progress(name, len(indices[name]) - left[name], len(indices[name]))
        if left[name] == 0:
            yield name, [row for j in indices[name] for row in found.pop(j)]


def _draw(experiment: Experiment, table: pl.DataFrame, folder: Path) -> list[Path]:
    if experiment.draw is None:
        return []
    with style.styled():
        return style.save(experiment.draw(table), folder, experiment.name)
