"""The backends by the name of their device."""

from __future__ import annotations

import logging
import math
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec

from gquery.errors import UnsupportedError
from gquery.executor.backend import Backend
from gquery.settings import Settings
from gquery.stopping import Check, unchecked
from gquery.storage.graph import Snapshot


def _cpu(settings: Settings) -> Backend:
    from gquery.executor.cpu.engine import CpuBackend  # Numba takes half a second to import

    return CpuBackend(settings.threads)


def _gpu(settings: Settings) -> Backend:
    from gquery.executor.gpu.device import card, other_cards
    from gquery.executor.gpu.engine import GpuBackend
    from gquery.executor.gpu.several import SharingBackend

    first, others = card(), other_cards()
    return SharingBackend(first, others) if others else GpuBackend(first)


class CardBeside:
    """The card that a count may go to instead of the CPU."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def begun(self, snapshot: Snapshot) -> tuple[bool, bool]:
        """Whether this process has used the card before, and whether the graph is on it."""
        if "gquery.executor.gpu.engine" not in sys.modules:
            return self.started(), False
        from gquery.executor.gpu.engine import is_resident

        return self.started(), is_resident(snapshot)

    def started(self) -> bool:
        """Whether this process has used the card before."""
        if "gquery.executor.gpu.device" not in sys.modules:
            return False
        from gquery.executor.gpu.device import card

        return card.cache_info().currsize > 0

    def backend(self, check: Check) -> Backend:
        """Raises UnsupportedError where there is none, or not soon."""
        self.wait(check)
        return _gpu(self._settings)

    def wait(self, check: Check) -> None:
        """Until it turns out whether there is a card. Raises UnsupportedError where that is not ready soon: its kernels
        may have to be compiled. They are meanwhile, for those who ask next."""
        if not _is_ready(check, _SOON):
            raise UnsupportedError("the card is being made ready")


_SOON = 2.0  # seconds that a count waits for a card, and nobody is told of
_log = logging.getLogger("gquery")


def _is_ready(check: Check, seconds: float) -> bool:
    """Whether it turns out within some seconds whether there is a card."""
    until = time.monotonic() + seconds
    while not _getting_ready().wait(0.02):
        check()
        if time.monotonic() > until:
            return False
    return True


def _wait_for_card(check: Check) -> None:
    """Until it turns out whether there is a card: its kernels may have to be compiled, and a compiler does not look
    whether anybody still waits."""
    if not _is_ready(check, _SOON):
        _log.warning("gquery compiles its kernels for the card, once on this machine: this takes some seconds")
        _is_ready(check, math.inf)


@cache
def _getting_ready() -> threading.Event:
    """Set once the card is ready, or known not to be there. That it becomes so is the work of a thread: compilers hear
    no signals."""
    ready = threading.Event()

    def prepare() -> None:
        from gquery.executor.gpu.device import describe_card

        try:
            describe_card()
        finally:
            ready.set()

    threading.Thread(target=prepare, daemon=True).start()
    return ready


def card_beside(settings: Settings) -> CardBeside | None:
    """What `auto` may choose, where CuPy is installed."""
    choice = settings.device == "auto" and BACKENDS["auto"] is _cpu
    return CardBeside(settings) if choice and has_cupy() else None


def walker_beside(settings: Settings) -> Callable[[Check], Backend] | None:
    """What walks for a backend that does not."""
    return (lambda _: _cpu(settings)) if settings.device == "gpu" else None


@cache
def has_cupy() -> bool:
    """Whether a card could be used."""
    return find_spec("cupy") is not None


BACKENDS: dict[str, Callable[[Settings], Backend]] = {"auto": _cpu, "cpu": _cpu, "gpu": _gpu}


def backend_of(settings: Settings, check: Check = unchecked) -> Backend:
    """The backend that the settings ask for, once it is ready. Raises UnsupportedError when there is none."""
    if BACKENDS[settings.device] is _gpu:
        _wait_for_card(check)
    return BACKENDS[settings.device](settings)
