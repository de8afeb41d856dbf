"""Ctrl-C in the REPL belongs to one statement at a time: none between Enter and the run of what was entered is lost.

A key that is pressed while the prompt is still being put away comes in one of three ways: as a key that the prompt has
read already, as a character that waits in the terminal, or as SIGINT. All three count for the statement just entered.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from prompt_toolkit.input.typeahead import get_typeahead, store_typeahead
from prompt_toolkit.keys import Keys

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.input import Input

_ENDING = [number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None]


class CtrlC:
    """Hears SIGINT, from `with` on, and says who gets it."""

    def __init__(self, session: PromptSession[str]) -> None:
        self._session = session
        self._pressed = False
        self._runs = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        before = signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def prompt(self) -> str:
        """What the user enters. Raises EOFError, and KeyboardInterrupt for Ctrl-C at the prompt."""
        self._runs = False
        with self._put_away():
            return self._session.prompt(pre_run=self._forget, handle_sigint=False)

    @contextmanager
    def interrupts(self) -> Iterator[None]:
        """In here Ctrl-C is KeyboardInterrupt; at once where it came since the prompt has ended."""
        self._runs = True
        try:
            if self._pressed or _typed_ahead(self._session.input):
                raise KeyboardInterrupt
            yield
        finally:
            self._runs = False

    @contextmanager
    def _put_away(self) -> Iterator[None]:
        """A signal that ends the process puts the prompt away first: it leaves the terminal as it was."""
        ended: list[int] = []

        def end(number: int, frame: FrameType | None) -> None:
            ended.append(number)
            self._soon(EOFError)

        heard = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
        for number in heard:
            signal.signal(number, end)
        try:
            yield
        finally:
            for number in heard:
                signal.signal(number, signal.SIG_DFL)
            for number in ended:
                signal.raise_signal(number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._runs:
            raise KeyboardInterrupt
        self._pressed = True
        self._soon(KeyboardInterrupt)  # a SIGINT at the prompt that no key brought, such as that of `kill -INT`

    def _soon(self, exception: type[BaseException]) -> None:
        """The prompt raises this, where it is there."""
        app = self._session.app

        def end() -> None:
            if app.is_running and not app.is_done:
                app.exit(exception=exception)

        if app.loop is not None:
            app.loop.call_soon_threadsafe(end)

    def _forget(self) -> None:
        """A press before the prompt is there came too late for the last statement."""
        self._pressed = False


def _typed_ahead(keyboard: Input) -> bool:
    """Whether Ctrl-C was typed after Enter. It throws away what was typed before it, as a terminal does; the rest is
    left to the next prompt."""
    keys = get_typeahead(keyboard) + keyboard.read_keys()
    presses = [place for place, press in enumerate(keys) if press.key == Keys.ControlC]
    store_typeahead(keyboard, keys[presses[-1] + 1 :] if presses else keys)
    return bool(presses)
