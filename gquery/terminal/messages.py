"""What goes to stderr: errors, notes, progress. Coloured only on a terminal, and never when NO_COLOR is set."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gquery.errors import GQueryError, QueryCancelled, QueryTimeout

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

ANSWERED, WRONG, USAGE, TIMEOUT, CANCELLED, BROKEN_PIPE = 0, 1, 2, 124, 130, 141
"""Exit codes, as a shell user knows them."""

STOPPED = "Cancelled"
"""What is said of Ctrl-C where no query ran yet that could say it."""


class UsageError(GQueryError):
    """A command, an option or its value is not what the terminal takes."""

    title = "Usage error"


def exit_code(error: GQueryError) -> int:
    """The exit code that stands for an error."""
    if isinstance(error, UsageError):
        return USAGE
    if isinstance(error, QueryTimeout):
        return TIMEOUT
    return CANCELLED if isinstance(error, QueryCancelled) else WRONG


UNCUT = 100_000
"""Characters: the width of what is not shown on a terminal, so that nothing is cut."""


def stdout_console() -> Console:
    """A console on stdout; when nobody reads it any more, BrokenPipeError comes out."""
    from rich.console import Console

    class Stdout(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return Stdout(width=None if sys.stdout.isatty() else UNCUT)


def stderr_console() -> Console:
    """A console on stderr."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, soft_wrap=True)


def styled(message: str, style: str) -> Text:
    """A rendered error or warning: title, caret and hint in colour."""
    from rich.text import Text

    text = Text()
    for number, line in enumerate(message.split("\n")):
        text.append("\n" if number else "")
        if number == 0:
            title = line.split(":")[0]
            text.append(title, style).append(line.removeprefix(title))
        elif line.startswith("hint: "):
            text.append("hint:", "cyan").append(line.removeprefix("hint:"))
        elif line.lstrip(" |").startswith("^"):
            text.append(line.rstrip("^")).append("^" * (len(line) - len(line.rstrip("^"))), style)
        else:
            text.append(line)
    return text


def show_error(error: GQueryError, console: Console) -> None:
    """Prints an error as its user reads it."""
    console.print(styled(str(error), "bold red"))


def seconds(elapsed: float) -> str:
    """A time as people read it: `0.4 ms`, `12 ms`, `3.21 s`, `4 min 02 s`."""
    if elapsed < 0.01:
        return f"{elapsed * 1e3:.1f} ms"
    if elapsed < 1:
        return f"{elapsed * 1e3:.0f} ms"
    if elapsed < 60:
        return f"{elapsed:.2f} s"
    minutes, rest = divmod(round(elapsed), 60)
    return f"{minutes} min {rest:02d} s"


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,234 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
