"""`passerby check`: what a table of counts reveals, before it is published and without anybody's trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rich.console import Console

    from passerby.tables.check import TableCheck

HEADS = ("published", "was there: insider", "was there: by habits", "is counted: by habits", "whole day: insider")


#: Options of a plan that also apply to a table of counts.
OF_TABLES = (
    "at_most",
    "above",
    "against",
    "levers",
    "forbid",
    "stay",
    "out",
    "timezone",
    "time_format",
    "seed",
    "runs",
)
#: What options are where they are not given.
DEFAULTS = {"runs": 100, "seed": 0}
#: The limit where none is given: nobody above this advantage.
ABOVE = 0.25


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
    """Check, write the folder, and print the findings."""
    from passerby.audits.wording import Options
    from passerby.report.check_page import sentences
    from passerby.runs.tables import check_destination, write_check
    from passerby.tables.check import check_table

    from .screen import consoles, say, stage
    from .warm_up import ready

    check_destination(out, Options(), overwrite=overwrite).check()
    ready()
    screen, aside = consoles()
    with stage(aside, "Checking"), in_option_words():
        found = check_table(table, personas, roles=places, **how)
        write_check(
            found, out, [*words_of(table, personas, places), *option_words(how)], Options(), overwrite=overwrite
        )
    _show(screen, found)
    for sentence in sentences(found):
        say(screen, sentence)
    screen.print(f"Report: {out / 'report.html'}", markup=False, soft_wrap=True)


def words_of(table: Path, personas: list[str] | None, places: dict[str, str]) -> list[str]:
    """The words after a command about a table."""
    words = [str(table), *(x for role, name in places.items() for x in ("--place", f"{role}={name}"))]
    return [*words, "--personas", *personas] if personas else words


def option_words(given: dict[str, Any]) -> list[str]:
    """Options with their values as they are typed again, those left out that were not given."""
    from passerby.audits.wording import Options

    out: list[str] = []
    for name, value in given.items():
        if value is not None and value != DEFAULTS.get(name):
            each = value if isinstance(value, (list, tuple)) else [value]
            out += [Options().name(name), *map(str, each)] if each else []
    return out


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
    """A short table for each persona and place that is told about, and one for readers."""
    from rich.table import Table

    from passerby.report.check_page import screen_rows, told_about
    from passerby.support.numbers import percent, size

    for who, place in [(each, place) for each in found.people for place in told_about(found, each)]:
        shown = Table(box=None, padding=(0, 2, 0, 0), title=f"{who.persona.name} at {place}")
        shown.title_justify = "left"
        for head in HEADS:
            shown.add_column(head, overflow="fold")
        for row in screen_rows(found, who, place):
            shown.add_row(*row)
        screen.print(shown)
    shown = Table(box=None, padding=(0, 2, 0, 0), title="What readers lose")
    shown.title_justify = "left"
    for head in (
        "published",
        "shown",
        "people per count",
        "share of the count",
        "order kept",
        "change right",
        "error in all",
    ):
        shown.add_column(head, overflow="fold")
    for name, lost in found.readers.items():
        shares = (percent(each) for each in (lost.relative, lost.order, lost.change, lost.total))
        shown.add_row(name, percent(lost.shown), size(lost.error), *shares)
    screen.print(shown)


def is_table(visits: Sequence[str]) -> bool:
    """Whether the input of a plan is one table of counts: it has no column for a person."""
    from passerby.errors import PasserbyError
    from passerby.tables.columns import columns_of, key, rows_of
    from passerby.visits.layouts import SYNONYMS

    if len(visits) != 1 or not Path(visits[0]).is_file():
        return False
    try:
        _, header, rows, _, _ = rows_of(Path(visits[0]))
        people = {name.replace("_", " ") for name in SYNONYMS["person"]}
        return not people & {key(name) for name in header} and bool(columns_of(header, rows).cells)
    except PasserbyError:
        return False


def plan_counts(
    tables: Sequence[str],
    personas: list[str] | None,
    place: list[str] | None,
    options: dict[str, Any],
    *,
    overwrite: bool,
) -> None:
    """Plan the publication of a table of counts, write the folder, and print the plan."""
    from passerby.audits.wording import Options
    from passerby.errors import ConfigError
    from passerby.plans.limit import Limit
    from passerby.plans.table_plan import LEVERS, plan_table
    from passerby.report.table_plan_page import plan_sentences
    from passerby.runs.tables import plan_destination, write_table_plan

    from .screen import consoles, say, stage
    from .warm_up import ready

    if len(tables) != 1:
        raise ConfigError(f"--personas and --place are for one table of counts; {len(tables)} files are given")
    table = Path(tables[0])
    given = {name: value for name, value in options.items() if value is not None}
    other = next((name for name in given if name not in OF_TABLES), None)
    if other is not None:
        known = ", ".join(Options().name(name) for name in OF_TABLES)
        raise ConfigError(f"{Options().name(other)} is for visits, and {table} holds counts; a table takes {known}")
    out = Path(given.pop("out", "plan"))
    again = dict(given)
    limit = Limit(share=_number("at_most", given.pop("at_most", 0)), above=_number("above", given.pop("above", ABOVE)))
    levers = _levers(given.pop("levers", None) or LEVERS, given.pop("forbid", None) or (), LEVERS)
    how: dict[str, Any] = {name: int(_number(name, given.pop(name))) for name in ("seed", "runs") if name in given}
    plan_destination(out, Options(), overwrite=overwrite).check()
    ready()
    screen, aside = consoles()
    places = roles_of(place or [])
    with stage(aside, "Planning"), in_option_words():
        plan = plan_table(table, limit, personas, roles=places, levers=levers, **how, **given)
        said = {"at_most": f"{limit.share:g}", "above": f"{limit.above:g}"} | again
        words = [*words_of(table, personas, places), *option_words(said)]
        write_table_plan(plan, out, words, Options(), overwrite=overwrite)
    for sentence in plan_sentences(plan):
        say(screen, sentence)
    screen.print(f"Page: {out / 'plan.html'}", markup=False, soft_wrap=True)


def _number(name: str, text: object) -> float:
    from passerby.audits.wording import Options
    from passerby.errors import InputError

    try:
        return float(str(text))
    except ValueError:
        raise InputError(f"{Options().name(name)} is {text!r}; expected a number") from None


def _levers(levers: Sequence[str], forbid: Sequence[str], known: Sequence[str]) -> list[str]:
    from passerby.errors import InputError

    wrong = next((name for name in (*levers, *forbid) if name not in known), None)
    if wrong is not None:
        raise InputError(f"--levers, --forbid: a table has no lever {wrong!r}; it has {', '.join(known)}")
    return [name for name in levers if name not in forbid]
