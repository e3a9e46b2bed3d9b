"""`passerby personas`: passerby's own people in words, to look at and to change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from passerby.personas.persona import Persona

SHOW = "show"
#: The week on display, and the length of its steps, in hours.
MONDAY, BLOCK = "2024-01-01", 2
#: Signs for a share of people at a place, from none to all of them.
SHADES = " .:-=+*#%@"


def personas(
    *names: str,
    write: Path | None = None,
    overwrite: Annotated[bool, Parameter(show_default=False, negative="")] = False,
) -> None:
    """List the personas that come with passerby, show some (`passerby personas show nurse`), or write them to a file.

    A persona is somebody in words: where they are in the course of a week, and how likely. `passerby check` takes them
    for the habits of a person, so that nobody's trace is needed. To have your own, write some and change them:
    `passerby personas nurse pupil --write family.toml`

    Parameters
    ----------
    names
        Personas by name, with "show" before to see their weeks. [default: all]
    write
        Write them to this file, to be changed.
    overwrite
        Replace the file if it is there.
    """
    from passerby.errors import ConfigError, InputError
    from passerby.personas.persona import ready_texts
    from passerby.support.checks import nearest

    from .screen import consoles

    screen, _ = consoles()
    shown, texts = names[:1] == (SHOW,), ready_texts()
    chosen = names[1:] if shown else names
    for name in chosen:
        if name not in texts:
            near = nearest(name, [*texts])
            raise InputError(
                f"NAMES: {name!r} is no persona{f' (did you mean {near}?)' if near else ''}; there are "
                f"{', '.join(texts)}"
            )
    if shown and write:
        raise ConfigError("show some personas, or --write them, not both")
    if write:
        _write(write, [texts[name] for name in chosen or texts], overwrite=overwrite)
        said = "persona" if len(chosen) == 1 else "personas"
        screen.print(f"{len(chosen or texts)} {said}: {write}", markup=False, soft_wrap=True)
    elif shown or chosen:
        for name in chosen or texts:
            _show(screen, name, texts[name])
    else:
        _list(screen)


def _write(file: Path, texts: list[str], *, overwrite: bool) -> None:
    from passerby.errors import InputError
    from passerby.support.files import make_folder

    if file.exists() and not (overwrite and file.is_file()):
        what = "exists" if file.is_file() else "is no file"
        raise InputError(f"--write: {str(file)!r} {what}; choose another name{', or --overwrite' * file.is_file()}")
    make_folder(file.parent, "--write")
    head = '# Personas: places are names of the table, or roles (`--place clinic="hospital 001"`).\n\n'
    file.write_text(head + "\n".join(texts), encoding="utf-8")


def _list(screen: Console) -> None:
    """A line for each: the name, its subject, and its places."""
    from rich.table import Table

    from passerby.personas.persona import ELSEWHERE, read_personas

    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("persona", "who", "places"):
        table.add_column(title, overflow="fold")
    for persona in read_personas("ready"):
        table.add_row(persona.name, persona.about, ", ".join(x for x in persona.places if x != ELSEWHERE))
    screen.print(table)
    screen.print("\nMore: passerby personas show nurse. Yours: passerby personas --write family.toml", markup=False)


def _show(screen: Console, name: str, text: str) -> None:
    """The file, the share of the week at each place, and the course of two days and a weekend."""
    from passerby.personas.persona import read_personas

    (persona,) = read_personas(name)
    screen.print(text.rstrip(), markup=False, soft_wrap=True)
    screen.print("\nShare of the week, and by the hours of each day (a sign for two hours):", markup=False)
    for line in course(persona):
        screen.print(line.rstrip(), markup=False, soft_wrap=True)
    screen.print("")


def course(persona: Persona) -> list[str]:
    """A line for each place: its share of the week, and a sign for each two hours, darker for more."""
    from passerby.support.numbers import percent

    steps = 7 * 24 // BLOCK
    law = persona.prior(MONDAY, f"{BLOCK}h", steps).marginals(steps)
    wide = max(map(len, persona.places))
    days = [day.ljust(24 // BLOCK) for day in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")]
    lines = [f"{'':{wide + 10}}{' '.join(days)}"]
    for (place, share), row in zip(persona.shares.items(), law.T.tolist(), strict=True):
        signs = "".join(SHADES[min(len(SHADES) - 1, round(chance * (len(SHADES) - 1)))] for chance in row)
        parts = [signs[at : at + 24 // BLOCK] for at in range(0, steps, 24 // BLOCK)]
        lines.append(f"{place:{wide}}  {percent(share):>6}  {' '.join(parts)}")
    return lines
