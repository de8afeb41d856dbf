"""`gquery` without a command: the REPL at a terminal, or a script from standard input."""

from __future__ import annotations

import threading
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from gquery import __version__
from gquery.caches import user_folder
from gquery.errors import GQueryError
from gquery.opening import from_arrow
from gquery.terminal.entry.syntax import is_complete
from gquery.terminal.messages import ANSWERED, STOPPED, counted, seconds
from gquery.terminal.shell import Shell

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.history import History
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent
    from prompt_toolkit.output import Output

_PROMPT = "gquery> "
_CONTINUATION = "   ...> "


def run(shell: Shell, input: Input | None = None, output: Output | None = None) -> int:
    """Reads and runs statements until the user leaves. `input` and `output` None: the terminal."""
    from gquery.terminal.entry.ctrl_c import CtrlC

    session = make_session(shell, input, output)
    shell.notes.print(f"gquery {__version__} · :help for help, Ctrl-D to leave")
    threading.Thread(target=_warm_up, name="gquery warm-up", daemon=True).start()
    ctrl_c = CtrlC(session)
    with ctrl_c.heard():
        while not shell.finished:
            try:
                text = ctrl_c.prompt()
            except KeyboardInterrupt:
                continue
            except EOFError:
                break
            try:
                with ctrl_c.interrupts():
                    shell.execute_all(text)
            except KeyboardInterrupt:
                shell.notes.print(STOPPED)
    return ANSWERED


def make_session(shell: Shell, input: Input | None = None, output: Output | None = None) -> PromptSession[str]:
    """The prompt: highlighting, completion, history, keys, toolbar."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.auto_suggest import AutoSuggestFromHistory

    from gquery.terminal.entry.completion import QueryCompleter, Words
    from gquery.terminal.entry.highlight import STYLE, QueryLexer

    def words() -> Words:
        return Words(shell.graph.schema if shell.graph else None, tuple(shell.parameters))

    return PromptSession(
        [("class:prompt", _PROMPT)],
        multiline=True,
        prompt_continuation=[("class:continuation", _CONTINUATION)],
        lexer=QueryLexer(),
        completer=QueryCompleter(words),
        complete_while_typing=True,
        auto_suggest=AutoSuggestFromHistory(),
        history=_history(),
        key_bindings=_keys(),
        bottom_toolbar=lambda: toolbar(shell),
        style=STYLE,
        input=input,
        output=output,
    )


def toolbar(shell: Shell) -> StyleAndTextTuples:
    """Graph, counts, mode and the time of the last query."""
    if shell.graph is None:
        return [("", "no graph: :load SOURCE or :open FOLDER")]
    nodes = counted(shell.graph.vertex_count, "node")
    relationships = counted(shell.graph.edge_count, "relationship")
    parts = [f"{nodes}, {relationships}", shell.settings.mode]
    if shell.timing and shell.last_seconds is not None:
        parts.append(f"last query {seconds(shell.last_seconds)}")
    return [("class:bottom-toolbar.name", shell.name), ("", " · " + " · ".join(parts))]


def history_file() -> Path | None:
    """Where the history is kept: the XDG state folder."""
    state = user_folder("XDG_STATE_HOME", "~/.local/state")
    return state and state / "gquery" / "history"


def _history() -> History:
    from prompt_toolkit.history import InMemoryHistory

    from gquery.terminal.entry.history import KeptHistory

    file = history_file()
    if file is None:
        return InMemoryHistory()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
    return KeptHistory(file)


def _keys() -> KeyBindings:
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.key_binding import KeyBindings

    keys = KeyBindings()

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None  # the completion that was chosen stays
        elif buffer.document.on_last_line and is_complete(buffer.text):
            buffer.validate_and_handle()
        else:
            buffer.newline()

    @keys.add("tab")
    def _(event: KeyPressEvent) -> None:
        """A single completion is put in at once; of several the common beginning, then one after the other."""
        buffer = event.current_buffer
        if buffer.complete_state is not None and len(buffer.complete_state.completions) > 1:
            buffer.complete_next()
            return
        asked = CompleteEvent(completion_requested=True)
        found = list(islice(buffer.completer.get_completions(buffer.document, asked), 2))
        if len(found) == 1:
            buffer.apply_completion(found[0])
        else:
            buffer.start_completion(insert_common_part=True)

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return keys


def _warm_up() -> None:
    """Answers a small query, so that everything is imported and compiled while the user is still typing."""
    with suppress(GQueryError):
        ends = {"source": [0], "target": [1]}
        graph = from_arrow(vertices={"V": {"id": [0, 1]}}, edges={("V", "E", "V"): ends})
        graph.query("MATCH (a:V)-[:E]->(b) RETURN a.id").to_arrow()
