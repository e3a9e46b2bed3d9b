"""Runs experiments: those whose tables are already there are not run again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

import passerby as pb
from passerby_paper import figures, page

from .experiments import EXPERIMENTS, REAL, SIMULATED
from .people import read_file
from .settings import LAYOUTS, Piece, Row, Settings
from .tables import fingerprint, read_table, whole, write_table

GROUPS = {"simulated": [*SIMULATED], "real": [*REAL]}

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Report:
    """What was done: names of experiments that were run, taken from an earlier run, or left out for want of files."""

    ran: list[str]
    kept: list[str]
    left_out: list[str]
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
    SVG) and `claims.md` with its folder, about all experiments with tables there. `progress(name, done, all)` is called
    as pieces of an experiment are done.
    """
    chosen = choose(names, files)
    tell = progress or (lambda name, done, total: None)
    figures.need_matplotlib()
    numbers, drawn = out / "numbers", out / "figures"
    try:
        for folder in (numbers, drawn):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pb.InputError(f"--out: cannot make the folder {str(out)!r} ({error.strerror})") from None
    marks = {name: fingerprint(name, settings, files if name in REAL else {}) for name in EXPERIMENTS}
    tables = {name: table for name in EXPERIMENTS if (table := read_table(numbers, name, marks[name])) is not None}
    todo, kept = ([name for name in chosen if (name in tables) == there] for there in (False, True))
    for name in kept:
        tell(name, 1, 1)
    for name, rows in _rows(todo, files, settings, workers, tell):
        tables[name] = EXPERIMENTS[name].table(rows, settings)
        write_table(numbers, name, tables[name], marks[name])
    for name in chosen:
        _draw(name, tables[name], drawn)
    for name, text in page.written(tables, settings).items():
        (out / name).parent.mkdir(exist_ok=True)
        with whole(out / name) as draft:
            draft.write_text(text, encoding="utf-8")
    left_out = [] if set(names) else [name for name in EXPERIMENTS if name not in chosen]
    return Report(todo, kept, left_out, out / page.VERDICTS_PAGE)


def choose(names: Iterable[str], files: Mapping[str, Path]) -> list[str]:
    """The experiments asked for, in their order. Groups ("simulated", "real") stand for their members."""
    asked: set[str] = set()
    for name in names:
        if name not in EXPERIMENTS and name not in GROUPS:
            raise pb.ConfigError(f"there is no experiment {name!r}; choose from {', '.join((*EXPERIMENTS, *GROUPS))}")
        asked.update(GROUPS.get(name, [name]))
    for name, path in files.items():
        if not path.is_file():
            what = "is a folder, not a file" if path.is_dir() else "does not exist"
            raise pb.InputError(f"--{name}: {str(path)!r} {what}; give a file in the layout of {LAYOUTS[name]}")
    needing = [name for name in EXPERIMENTS if name in asked and name in REAL]
    if needing and not files:
        raise pb.ConfigError(
            f"{', '.join(needing)}: real check-ins are needed; give --foursquare FILE, --gowalla FILE or both"
        )
    return [name for name in EXPERIMENTS if (name in asked if asked else files or name in SIMULATED)]


def _rows(
    todo: list[str], files: Mapping[str, Path], settings: Settings, workers: int | None, tell: Progress
) -> Iterable[tuple[str, list[Row]]]:
    """Rows of each experiment in the order of its pieces, as soon as all of them are done."""
    data: dict[str, pb.Visits] = {}
    if any(name in REAL for name in todo):
        data = {name: read_file(name, files[name]) for name in sorted(files)}
    work: list[Piece] = []
    at: dict[str, range] = {}
    for name in todo:
        own = EXPERIMENTS[name].pieces(settings, data)
        at[name] = range(len(work), len(work) + len(own))
        work += own
        tell(name, 0, len(own))
    found: dict[int, list[Row]] = {}
    for i, rows in pb.stream(_do, None, work, workers=workers):
        name = next(name for name in todo if i in at[name])
        found[i] = rows
        ready = sum(j in found for j in at[name])
        tell(name, ready, len(at[name]))
        if ready == len(at[name]):
            yield name, [row for j in at[name] for row in found.pop(j)]


def _do(_: None, piece: Piece) -> list[Row]:
    return piece()


def _draw(name: str, table: pl.DataFrame, folder: Path) -> None:
    if (draw := EXPERIMENTS[name].draw) is not None:
        with figures.styled():
            figures.save(draw(table), folder, name)
