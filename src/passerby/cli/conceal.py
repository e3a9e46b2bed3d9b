"""`passerby conceal`: the cells of a table with totals to hide, so that no hidden number follows from the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

#: The exit code if shown numbers give hidden ones away.
GIVEN_AWAY = 3


def conceal(
    table: Path,
    *,
    below: int = 10,
    out: Path | None = None,
    check: Annotated[bool, Parameter(show_default=False, negative="")] = False,
    overwrite: Annotated[bool, Parameter(show_default=False, negative="")] = False,
) -> int:
    """Say which cells of a table of counts to hide beside the small ones, so that these cannot be worked out.

    For example: `passerby conceal counts.csv --below 10 --out published.csv`

    The first column of the file names the rows. A row or a column named total holds totals; these stay where they are
    not small themselves. Numbers below the threshold are hidden, and so are cells that are empty or hold a star. A
    hidden number may follow from a total and the other parts: such cells are listed, and then the fewest further cells
    that must be hidden.

    Parameters
    ----------
    table
        A CSV file of whole numbers, with totals.
    below
        Numbers below this are hidden.
    out
        Write the table to this file, with hidden cells empty.
    check
        For scripts: exit with 3 where the other numbers give a hidden one away.
    overwrite
        Replace the file if it is there.
    """
    from passerby.errors import InputError
    from passerby.tables.suppress import read_margins

    from .screen import consoles

    screen, _ = consoles()
    if out is not None and out.exists() and not overwrite:
        raise InputError(f"--out: {str(out)!r} exists; choose another name, or --overwrite")
    margins = read_margins(table)
    found = margins.concealed(below)
    for title, cells in (
        (f"Hidden, since below {below} or empty", found.small),
        ("Given away by the other numbers", found.given_away),
        ("To be hidden also", found.also),
    ):
        listed = ", ".join(cells) or "none"
        screen.print(f"{title} ({len(cells)}): {listed}", markup=False, soft_wrap=True)
    if out is not None:
        from passerby.support.files import make_folder

        make_folder(out.parent, "--out")
        out.write_text(margins.written(found.published), encoding="utf-8")
        screen.print(f"Written: {out}", markup=False, soft_wrap=True)
    return GIVEN_AWAY if check and found.given_away else 0
