"""The screen during long work.

The library's complaints in the words of Python, put into the words of the command line.

After an interruption: the kept parts, and the command to continue.
"""

from __future__ import annotations

import logging
import re
import shlex
import time
from ast import literal_eval
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from textwrap import wrap
from threading import Event, Thread

from rich.console import Console

from passerby.audits.engine import AUDITING, COMPARING, GOING_BACK, KNOWING, OTHERS, READING, TRYING
from passerby.audits.wording import Options
from passerby.plans.names import CONFIRMING, WANTED
from passerby.support.numbers import duration

#: Seconds between two lines off a terminal.
MINUTE = 55.0
#: Stages that go on where an earlier run was.
RESUMED = (AUDITING, TRYING, COMPARING, GOING_BACK, OTHERS, KNOWING, WANTED, CONFIRMING)


def consoles() -> tuple[Console, Console]:
    """The consoles: one for results, and one for progress, aside on standard error."""
    return Console(highlight=False), Console(stderr=True, highlight=False)


class _Aside(logging.Handler):
    """Shows the library's messages without breaking into a spinner."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self.console = console

    def emit(self, record: logging.LogRecord) -> None:
        self.console.print(record.getMessage(), markup=False, highlight=False)


def say(console: Console, text: str) -> None:
    """Print sentences wrapped to the screen; no line begins with the percent sign of a number."""
    whole = text.replace(" %", "\N{NO-BREAK SPACE}%")
    lines = wrap(whole, console.width, break_long_words=False, break_on_hyphens=False)
    console.print("\n".join(lines).replace("\N{NO-BREAK SPACE}", " "), markup=False, highlight=False, soft_wrap=True)


class Interrupted(KeyboardInterrupt):
    """The user stopped the work; the message names the stage and the way to continue."""


class Terminated(Interrupted):
    """The system asked the work to end (SIGTERM), as it does before a time limit or a shutdown."""


@contextmanager
def _every_minute(console: Console, what: str, pace: Pace) -> Iterator[None]:
    """Off a terminal, report a stage's progress, so a log shows it is alive."""
    if console.is_terminal:
        yield
        return
    over = Event()

    def tell() -> None:
        while not over.wait(MINUTE):
            console.print(f"{what}: {pace.told}", markup=False, highlight=False, soft_wrap=True)

    teller = Thread(target=tell, name="progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


@contextmanager
def stage(
    console: Console, what: str, unit: str = "", *, resumed: bool = False
) -> Iterator[Callable[[int, int], None]]:
    """Show a stage of the work: its name, the finished part, the rate and the time left.

    Yields `progress(done, all)`, in bytes if the unit is "MB". Off a terminal, a line is written every minute, and one
    for each stage longer than two seconds. The part done at the start of a `resumed` stage is an earlier run's. The
    library's messages are shown meanwhile, too (for example on compiling kernels, once after an installation). An
    interruption names its stage.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    started = time.perf_counter()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    pace = Pace(unit, resumed=resumed)
    logger, handler = logging.getLogger("passerby"), _Aside(console)
    logger.addHandler(handler)
    try:
        with (
            Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars,
            _every_minute(console, what, pace),
        ):
            bar = bars.add_task(what, total=None, rate="")

            def progress(done: int, everything: int) -> None:
                pace.note(done, everything)
                bars.update(bar, completed=done, total=everything, rate=str(pace))

            yield progress
    except KeyboardInterrupt as stop:
        word, kind = ("terminated", Terminated) if isinstance(stop, Terminated) else ("interrupted", Interrupted)
        raise kind(f"{word} while {what[0].lower()}{what[1:]}{pace.reached}") from None
    finally:
        logger.removeHandler(handler)
    spent = time.perf_counter() - started
    if spent > 2:
        console.print(f"{what}: {spent:.0f} s{pace.size(spent)}", markup=False, highlight=False, soft_wrap=True)


@contextmanager
def stages(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """Show one stage after another: yields `tell(stage, done, all)`, with `all` 0 if it is unknown.

    Reading is measured in bytes, and everything else in finished units.
    """
    with ExitStack() as shown:
        now, progress = "", None

        def tell(what: str, done: int, everything: int) -> None:
            nonlocal now, progress
            if what != now:
                shown.close()
                unit, resumed = "MB" if what == READING else "", what in RESUMED
                now, progress = what, shown.enter_context(stage(console, what, unit, resumed=resumed))
            if everything and progress:
                progress(done, everything)

        yield tell


class Pace:
    """How far a stage is, and how fast it goes since it was first heard of.

    >>> pace = Pace("MB")
    >>> pace.note(3_000_000, 8_000_000)
    >>> str(pace), pace.reached, pace.size(2.0)
    ('3 of 8 MB', ' (3 of 8 MB)', ' (8 MB, 4 MB per second)')
    """

    def __init__(self, unit: str = "", *, resumed: bool = False) -> None:
        self.resumed, self.unit, self.scale = resumed, unit and f" {unit}", 1e6 if unit == "MB" else 1
        self.done, self.everything = 0.0, 0.0
        self.first: tuple[float, float] | None = None

    def note(self, done: int, everything: int) -> None:
        """Take down how much is done."""
        self.done, self.everything = done / self.scale, everything / self.scale
        self.first = self.first or (time.perf_counter(), self.done)

    def __str__(self) -> str:
        spent, made = self._since
        return f"{self._reached}{self._rate(made, spent) if made and spent > 0 else ''}"

    @property
    def _since(self) -> tuple[float, float]:
        """Seconds since it was first heard of, and how much was done in them."""
        began, before = self.first or (0.0, 0.0)
        return time.perf_counter() - began, self.done - before

    @property
    def told(self) -> str:
        """The progress, its speed, and the time left, as far as known."""
        if not self.everything:
            return "going on"
        spent, made = self._since
        left = (self.everything - self.done) * spent / made if made and spent > 0 else None
        return f"{self}{'' if left is None else f', about {duration(left)} left'}"

    @property
    def _reached(self) -> str:
        return f"{self.done:,.0f} of {self.everything:,.0f}{self.unit}"

    def _rate(self, made: float, seconds: float) -> str:
        rate = made / seconds
        return f", {rate:,.0f}{self.unit} per second" if rate >= 10 else f", {rate:.2g}{self.unit} per second"

    @property
    def reached(self) -> str:
        """The progress so far, in brackets; empty if it is unknown."""
        return f" ({self._reached})" if self.everything else ""

    def size(self, seconds: float) -> str:
        """The amount done now, and its speed, in brackets; empty if unknown.

        An earlier run's part is not counted.
        """
        before = self.first[1] if self.first and self.resumed else 0.0
        made = self.everything - before
        if not made:
            return ""
        kept = f"; {before:,.0f} were there before" if before else ""
        return f" ({made:,.0f}{self.unit}{self._rate(made, seconds)}{kept})"


_VALUE = r"'[^']*'|\"[^\"]*\"|[\w.+-]+"
#: Part of a path, of a longer word or of a quoted name: not the name of a setting.
_APART = r"(?<![\w/\\.'\"-]){}(?![\w/\\'\"-]|\.\w)"


def in_options(message: str, settings: Collection[str]) -> str:
    """A message with settings as options on the command line.

    Three forms are rewritten: a setting with a value (`place='loc'`, but not `Rounding(base=5)`), a name outside
    English (`grid_metres`), and a name at the head of a sentence about an error in it (`until is ...`, `holdout: ...`).

    >>> in_options("give grid_metres, as in grid_metres=500; since is 'May'", {"grid_metres", "since"})
    "give --grid-metres, as in --grid-metres 500; --from is 'May'"
    """
    words = Options()
    for name in sorted(settings, key=len, reverse=True):
        option = words.name(name).replace("\\", r"\\")
        given = re.compile(rf"(?<![\w(-]){name}=({_VALUE})")
        message = given.sub(lambda match, name=name: words.given(name, _plain(match[1])), message)  # type: ignore[misc]
        if "_" in name:
            message = re.sub(_APART.format(name), option, message)
        message = re.sub(rf"(?m)(^|[:;] ){name}(?=: | (?:is|names|has|needs|cannot) )", rf"\1{option}", message)
    return message


def _plain(value: str) -> object:
    """A value as it is typed."""
    return literal_eval(value) if value[0] in "'\"" else value


def resumable(command: str, draft: Path, workers: int | None, overwrite: bool) -> AbstractContextManager[None]:
    """Within this, an interruption says how to go on, from settings whose `draft` is there once anything is kept."""
    return _interruptible(lambda: _how_to_go_on(command, draft, workers, overwrite))


def repeatable(kept: Path | None = None) -> AbstractContextManager[None]:
    """Within this, an interruption says whether the same command continues: it does if the folder `kept` exists."""
    again = "what is finished is kept, and the same command goes on with it"
    return _interruptible(lambda: again if kept is not None and kept.exists() else "nothing was written")


@contextmanager
def _interruptible(how: Callable[[], str]) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as stop:
        kind = Terminated if isinstance(stop, Terminated) else Interrupted
        raise kind(f"{str(stop) or 'interrupted'}; {how()}") from None


def _how_to_go_on(command: str, draft: Path, workers: int | None, overwrite: bool) -> str:
    """The command to type."""
    if not draft.exists():
        return "nobody was measured yet, and nothing was written"
    typed = ["passerby", command, "--settings", str(draft)]
    typed += ["--workers", str(workers)] if workers else []
    typed += ["--overwrite"] if overwrite else []
    return f"what is finished is kept. To go on:\n  {shlex.join(typed)}"
