"""The backends by the name of their device."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec

from gquery.errors import UnsupportedError
from gquery.executor.backend import Backend
from gquery.settings import Settings
from gquery.stopping import Check
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
        until = time.monotonic() + _SOON
        while not _getting_ready().is_set():
            check()
            if time.monotonic() > until:
                raise UnsupportedError("the card is being made ready")
            _getting_ready().wait(0.02)


_SOON = 2.0  # seconds that a count waits for a card


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
    return CardBeside(settings) if choice and _has_cupy() else None


def walker_beside(settings: Settings) -> Callable[[], Backend] | None:
    """What walks for a backend that does not."""
    return partial(_cpu, settings) if settings.device == "gpu" else None


@cache
def _has_cupy() -> bool:
    return find_spec("cupy") is not None


BACKENDS: dict[str, Callable[[Settings], Backend]] = {"auto": _cpu, "cpu": _cpu, "gpu": _gpu}


def backend_of(settings: Settings) -> Backend:
    """The backend that the settings ask for. Raises UnsupportedError when there is none."""
    return BACKENDS[settings.device](settings)
