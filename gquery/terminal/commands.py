"""The colon-commands of the REPL."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentParser
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, NoReturn

from gquery.errors import GQueryError, did_you_mean
from gquery.settings import Settings
from gquery.terminal.asking import explained
from gquery.terminal.graphs import add_loading_options, loading_options
from gquery.terminal.literals import read_literal
from gquery.terminal.messages import UsageError, seconds
from gquery.terminal.output.progress import watch
from gquery.terminal.output.tables import answer, head

if TYPE_CHECKING:
    from gquery.terminal.shell import Shell

Argument = Literal["", "path", "query", "mode", "setting", "switch", "command"]


@dataclass(frozen=True, slots=True)
class Command:
    """usage: its arguments as help shows them; argument: what completion offers for them."""

    run: Callable[[Shell, str], None]
    usage: str
    help: str
    argument: Argument = ""


def run_command(shell: Shell, line: str) -> None:
    """Runs `:name arguments`; a beginning of a name will do where it is the only one. Raises UsageError."""
    name, _, arguments = line.partition(" ")
    COMMANDS[_full_name(name)].run(shell, arguments.strip().rstrip(";").rstrip())


def _full_name(name: str) -> str:
    fitting = [known for known in COMMANDS if known.startswith(name.lower())]
    if name.lower() in COMMANDS:
        return name.lower()
    if len(fitting) == 1:
        return fitting[0]
    if fitting and len(name) > 1:
        raise UsageError(f"`{name}` may be {' or '.join(fitting)}")
    raise UsageError(f"there is no command `{name}`", hint=did_you_mean(name, COMMANDS) or "`:help` lists them")


_PARAMETER = re.compile(r"\$?(?P<name>\w+|`[^`]+`)(?:\s*(?:=>|=|:)\s*|\s+|$)(?P<value>.*)", re.DOTALL)
"""Between name and value may stand what other shells and `--param` have there."""


# --- one function a command --------------------------------------------------------------------------------------

_GUIDE = (
    "\nEnter runs a query that is complete on one line. Where it is not, Enter goes on to the next line; a query of "
    "several lines is run by `;` at its end or by an empty line. Alt-Enter runs what is there. Tab completes, Ctrl-R "
    "searches the history, Ctrl-C stops a query or clears the line, Ctrl-D leaves."
)


def _help(shell: Shell, name: str) -> None:
    from rich.table import Table
    from rich.text import Text

    chosen = [_full_name(":" + name.removeprefix(":"))] if name else list(COMMANDS)
    table = Table.grid(padding=(0, 2))
    for known in chosen:
        command = COMMANDS[known]
        table.add_row(Text.assemble((known, "bold"), f" {command.usage}"), command.help)
    shell.console.print(table)
    if not name:
        shell.console.print(_GUIDE, markup=False, highlight=False)


def _schema(shell: Shell, _: str) -> None:
    from gquery.terminal.output.schema_picture import show_schema

    show_schema(shell.loaded(), shell.console)


def _load(shell: Shell, arguments: str) -> None:
    parser = _Parser(prog=":load", add_help=False, allow_abbrev=False)
    parser.add_argument("source")
    add_loading_options(parser)
    chosen = parser.parse_args(_split(arguments))
    shell.open(chosen.source, loading_options(chosen))


def _open(shell: Shell, arguments: str) -> None:
    parser = _Parser(prog=":open", add_help=False, allow_abbrev=False)
    parser.add_argument("folder")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args(_split(arguments))
    if chosen.write:
        shell.open_to_write(chosen.folder)
    else:
        shell.open(chosen.folder, {})


def _save(shell: Shell, path: str) -> None:
    graph, path = shell.loaded(), _one_path(":save", path)
    graph.save(path)
    shell.notes.print(f"saved as {path}", highlight=False)


def _explain(shell: Shell, query: str) -> None:
    with GQueryError.behind("EXPLAIN "):
        text = f"EXPLAIN {query or _last_text(shell)}"
        result = explained(shell.loaded(), text, shell.parameters, shell.notes)
    text = "\n".join(result.to_arrow()["plan"].to_pylist())
    shell.console.print(text, markup=False, highlight=False, soft_wrap=True)


def _profile(shell: Shell, query: str) -> None:
    with GQueryError.behind("PROFILE "):
        result = shell.ask(f"PROFILE {query or _last_text(shell)}")
    found = watch(result, lambda: head(result), shell.notes)
    shell.console.print(answer(found, found.table.num_rows, shell.console))
    if result.changes is not None:
        shell.notes.print(str(result.changes), highlight=False)


def _mode(shell: Shell, mode: str) -> None:
    if mode:
        shell.set("mode", mode)
    _show(shell, "mode")


def _set(shell: Shell, arguments: str) -> None:
    name, _, value = arguments.partition(" ")
    if not name:
        _show(shell, *(field.name for field in fields(Settings)))
        _param(shell, "")
    elif name.startswith("$"):
        _param(shell, arguments)
    elif not value:
        raise UsageError(f"`:set {name}` lacks a value", hint="such as `:set timeout 10` or `:set timeout none`")
    else:
        shell.set(name.lower(), value.strip())
        _show(shell, name.lower())


def _show(shell: Shell, *names: str) -> None:
    for name in names:
        value = getattr(shell.settings, name)
        shown = "none" if value is None else ("off", "on")[value] if isinstance(value, bool) else value
        shell.notes.print(f"{name:<13} {shown}", highlight=False)


def _param(shell: Shell, arguments: str) -> None:
    given = _PARAMETER.fullmatch(arguments)
    if given is None and arguments.startswith("$"):
        raise UsageError("a parameter's name must follow `$`")
    if given is None and arguments:
        raise UsageError(f"`{arguments}` is no name and value", hint="such as `:param min 30`")
    name = given["name"].strip("`") if given else ""
    if given and given["value"]:
        shell.parameters[name] = read_literal(given["value"])
    elif name:
        shell.parameters.pop(name, None)
        shell.notes.print(f"{'$' + name:<13} has no value", markup=False, highlight=False)
    for known in {name} & shell.parameters.keys() if name else shell.parameters:
        shell.notes.print(f"{'$' + known:<13} {shell.parameters[known]!r}", markup=False, highlight=False)


def _export(shell: Shell, path: str) -> None:
    path = _one_path(":export", path)
    if shell.last is None:
        raise UsageError("there is no answer to export yet", hint="run a query first")
    result = shell.last
    rows = watch(result, lambda: result.write(path), shell.notes)
    took = f" in {seconds(result.progress.elapsed)}" if shell.timing else ""
    shell.notes.print(f"{rows:,} rows written to {path}{took}", markup=False, highlight=False)


def _timing(shell: Shell, switch: str) -> None:
    if switch.lower() not in ("", "on", "off"):
        raise UsageError(f"`:timing {switch}` is neither on nor off")
    shell.timing = switch.lower() == "on" if switch else not shell.timing
    shell.notes.print(f"timing: {'on' if shell.timing else 'off'}", highlight=False)


def _quit(shell: Shell, _: str) -> None:
    shell.finished = True


COMMANDS: dict[str, Command] = {
    ":help": Command(_help, "[COMMAND]", "this list, or one command", "command"),
    ":schema": Command(_schema, "", "labels, types, which go together, properties, counts"),
    ":load": Command(_load, "SOURCE [OPTIONS]", "load files; takes the options of `gquery load`", "path"),
    ":open": Command(_open, "FOLDER [--write]", "open a saved graph; --write: statements may change it", "path"),
    ":save": Command(_save, "FOLDER", "save the graph; it opens in milliseconds", "path"),
    ":explain": Command(_explain, "[QUERY]", "the plan with estimates; without QUERY that of the last one", "query"),
    ":profile": Command(_profile, "[QUERY]", "run it and show the plan with real counts and times", "query"),
    ":mode": Command(_mode, "[MODE]", "how far matches may repeat elements", "mode"),
    ":set": Command(_set, "[NAME VALUE]", "mode, timeout, memory_limit, device, threads, strict, `$name`", "setting"),
    ":param": Command(_param, "[NAME VALUE]", "a parameter: `:param min 30`; without VALUE it is removed"),
    ":export": Command(_export, "FILE", "all of the last answer: .csv .jsonl .parquet .arrow; runs it again", "path"),
    ":timing": Command(_timing, "[on|off]", "whether times are shown", "switch"),
    ":quit": Command(_quit, "", "leave; so does Ctrl-D"),
}


# --- arguments ---------------------------------------------------------------------------------------------------


class _Parser(ArgumentParser):
    """Raises what argparse would print before ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=self.format_usage().removeprefix("usage: ").strip())


def _split(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError as error:
        raise UsageError(str(error).lower()) from None


def _one_path(command: str, arguments: str) -> str:
    paths = _split(arguments)
    if len(paths) != 1:
        raise UsageError(f"`{command}` takes one path", hint="quote a path with blanks")
    return paths[0]


def _last_text(shell: Shell) -> str:
    if not shell.last_text:
        raise UsageError("there is no last query yet", hint="write the query behind the command")
    return shell.last_text
