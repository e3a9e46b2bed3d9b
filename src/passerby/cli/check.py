"""`passerby check`: what a table of counts would tell, before it is published and without anybody's trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from passerby.tables.check import TableCheck

HEADS = ("published", "was there: insider", "was there: by habits", "is counted: by habits", "whole day: insider")


def check(
    table: Path,
    *,
    personas: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    place: Annotated[list[str] | None, Parameter(consume_multiple=True, negative="")] = None,
    timezone: str | None = None,
    time_format: str | None = None,
    step: str | None = None,
    out: Path = Path("check"),
    runs: int = 100,
    seed: int = 0,
    overwrite: Annotated[bool, Parameter(show_default=False, negative="")] = False,
) -> None:
    """Check a table of counts before it is published: what it would tell of people who are described in words.

    For example: `passerby check counts.csv`, or `passerby check counts.csv --place clinic="hospital 001"`

    Writes a folder with report.html, which opens offline, and check.json. Nobody's trace is needed.

    Parameters
    ----------
    table
        The table: a column of times and one for each place, or the columns time, place and count, or a schedule with
        expected sizes. Text with any separator, or Parquet.
    personas
        Who is asked about: ready personas by name (`passerby personas` lists them), or TOML files of your own.
        [default: ready ones whose places are called like those of the table]
    place
        Which place of the table a role of the personas is, as in clinic="hospital 001". Others are guessed by name.
    timezone
        Time zone of times without an offset, such as Europe/Paris.
    time_format
        How dates such as 03/04/2024 are read: day-first or month-first.
    step
        Length of a step, such as 1h, where the table does not tell.
    out
        Folder for the page and check.json.
    runs
        Series of counts that are drawn where they are too many to list.
    seed
        Seed of what is drawn.
    overwrite
        Replace a finished check in the folder.
    """
    how = {"timezone": timezone, "time_format": time_format, "step": step, "runs": runs, "seed": seed}
    _check(table, personas, roles_of(place or []), how, out, overwrite=overwrite)


def _check(
    table: Path, personas: list[str] | None, places: dict[str, str], how: dict[str, Any], out: Path, *, overwrite: bool
) -> None:
    """Check, write the folder, and say what was found."""
    from passerby.audits.wording import Options
    from passerby.report.check_page import sentences, write_check
    from passerby.report.destination import Destination
    from passerby.tables.check import check_table

    from .screen import consoles, say, stage
    from .warm_up import ready

    Destination(out, "check.json", "a table that was checked", overwrite, Options()).check()
    ready()
    screen, aside = consoles()
    with stage(aside, "Checking"), in_option_words():
        found = check_table(table, personas, roles=places, **how)
        write_check(found, out, words_of(table, personas, places), Options(), overwrite=overwrite)
    _show(screen, found)
    for sentence in sentences(found):
        say(screen, sentence)
    screen.print(f"Report: {out / 'report.html'}", markup=False, soft_wrap=True)


def words_of(table: Path, personas: list[str] | None, places: dict[str, str]) -> list[str]:
    """The words after a command about a table."""
    words = [str(table), *(x for role, name in places.items() for x in ("--place", f"{role}={name}"))]
    return [*words, "--personas", *personas] if personas else words


@contextmanager
def in_option_words() -> Iterator[None]:
    """Errors about roles, in the words of the option."""
    from passerby.errors import InputError

    try:
        yield
    except InputError as error:
        said = str(error)
        raise InputError(said.replace("roles: ", "--place: ", 1) if said.startswith("roles: ") else said) from None


def roles_of(given: list[str]) -> dict[str, str]:
    """Roles with their places, from options such as clinic="hospital 001"."""
    from passerby.errors import InputError

    out: dict[str, str] = {}
    for each in given:
        role, sign, name = each.partition("=")
        if not sign or not role.strip() or not name.strip():
            raise InputError(f'--place: {each!r} binds no role; expected one such as clinic="hospital 001"')
        if out.get(role.strip(), name.strip()) != name.strip():
            raise InputError(f"--place: {role.strip()!r} is bound twice; give it one place")
        out[role.strip()] = name.strip()
    return out


def _show(screen: Console, found: TableCheck) -> None:
    """A short table for each persona, and one for readers."""
    from rich.table import Table

    from passerby.report.check_page import screen_rows
    from passerby.support.numerals import percent

    for day in found.days:
        shown = Table(box=None, padding=(0, 2, 0, 0), title=f"{day.persona.name} at {day.places[0]}, {day.day}")
        shown.title_justify = "left"
        for head in HEADS:
            shown.add_column(head, overflow="fold")
        for row in screen_rows(found, day):
            shown.add_row(*row)
        screen.print(shown)
    shown = Table(box=None, padding=(0, 2, 0, 0), title="What readers lose")
    shown.title_justify = "left"
    for head in ("published", "shown", "people per count", "order kept", "change right", "error in all"):
        shown.add_column(head, overflow="fold")
    for name, lost in found.readers.items():
        figures = (percent(lost.shown), f"{lost.error:.2g}", percent(lost.order), percent(lost.change))
        shown.add_row(name, *figures, percent(lost.total))
    screen.print(shown)
