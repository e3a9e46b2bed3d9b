"""The command line: parses, calls the library, prints, and turns errors into messages and exit codes.

Nothing below this folder prints or exits. Exit codes: 0 done, 1 a defect of passerby, 2 an input error, 3 a table under
check may not go out, 130 interrupted, 143 terminated. Set `PASSERBY_DEBUG=1` to see the origin of an error.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cyclopts import App, CycloptsError

from passerby import __version__
from passerby.errors import PasserbyError, SettingsError
from passerby.support.processes import interruptible, is_about_memory, limit

from .audit import audit
from .check import check
from .conceal import conceal
from .demo import demo
from .flows import flows
from .line import line
from .personas import personas
from .plan import next_table, plan
from .reproduce import reproduce
from .simulate import simulate
from .together import together

HELP = """How much published counts reveal about one person who was counted.

Begin with `passerby demo`, or with `passerby audit --help` for data of your own.
"""

#: The message for short memory, from any source.
NO_MEMORY = (
    "out of memory, or of threads{limit}; allow more, or let it take less: an audit takes less with --workers 1, with "
    "--store disk, with fewer --places or with a --sample of the people"
)

app = App(
    name="passerby",
    help=HELP,
    version=__version__,
    version_flags=["--version"],
    help_format="markdown",
    suppress_keyboard_interrupt=False,
)
for command in (demo, check, audit, plan, together, personas, flows, conceal, simulate, line, reproduce):
    app.command(command)
app.command(next_table, name="next")
app["next"].usage = "Usage: passerby next VISITS... [OPTIONS]"
app["check"].usage = "Usage: passerby check TABLE [OPTIONS]"
app["audit"].usage = "Usage: passerby audit VISITS... [OPTIONS]"
app["reproduce"].usage = "Usage: passerby reproduce [NAMES...] [OPTIONS]"
app["conceal"].usage = "Usage: passerby conceal TABLE [OPTIONS]"
app["personas"].usage = "Usage: passerby personas [show] [NAMES...] [OPTIONS]"
app["plan"].usage = "Usage: passerby plan VISITS... [OPTIONS]"
app["together"].usage = "Usage: passerby together AUDITS... [OPTIONS]"
app["simulate"].usage = "Usage: passerby simulate OUT [OPTIONS]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line on `arguments` (the process's own by default), and return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if "" in given:
        # As the path of a folder it would be the current one.
        before = f" (after {given[given.index('') - 1]})" if given.index("") else ""
        return _complain(f"an argument is empty{before}; fill it in, or leave it out with its option", 2)
    try:
        with _asked_to_end(), interruptible():
            code = app(given, exit_on_error=False, result_action="return_value")
    except CycloptsError:
        return 2  # cyclopts has said what is wrong
    except KeyboardInterrupt as stop:
        return _complain(str(stop) or "interrupted", 143 if type(stop).__name__ == "Terminated" else 130)
    except PasserbyError as error:
        if _debugging():
            raise
        if isinstance(error, SettingsError):
            return _complain(str(error), 2)  # in the words of the options and files that it speaks of
        from passerby.audits.settings import SETTINGS
        from passerby.plans.names import OPTIONS

        from .screen import in_options

        return _complain(in_options(str(error), {*SETTINGS, *OPTIONS}), 2)
    except BaseException as error:
        if _debugging() or isinstance(error, SystemExit | GeneratorExit):
            raise
        if is_about_memory(error):
            return _complain(NO_MEMORY.format(limit=limit()), 2)
        if not isinstance(error, Exception) and not type(error).__name__.endswith("PanicException"):
            raise  # Rust panics, which is no `Exception`
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            return _complain(f"what is found cannot be shown: {error.strerror}; send the output elsewhere", 2)
        # The message itself may quote the data, ids among them: it is shown only on request.
        what = f"{type(error).__name__} in {_origin(error)}"
        return _complain(f"this should not happen ({what}); run with PASSERBY_DEBUG=1 to see more, and report it", 1)
    return code if isinstance(code, int) else 0


@contextmanager
def _asked_to_end() -> Iterator[None]:
    """A request to end (SIGTERM) is like the interrupt key: work is kept, with advice on continuing."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return

    def end(*_: object) -> None:
        from .screen import Terminated

        raise Terminated("terminated")

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _complain(message: str, code: int) -> int:
    print(f"passerby: {message}", file=sys.stderr)
    return code


def _origin(error: BaseException) -> str:
    """The last place in passerby that an error passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "passerby" in Path(frame.filename).parts]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(last.filename).name}, line {last.lineno}"


def _debugging() -> bool:
    return os.environ.get("PASSERBY_DEBUG", "0") not in ("", "0")
