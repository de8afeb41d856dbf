"""The backends by the name of their device."""

from __future__ import annotations

from collections.abc import Callable

from gquery.errors import UnsupportedError
from gquery.executor.backend import Backend
from gquery.settings import Settings


def _cpu(settings: Settings) -> Backend:
    from gquery.executor.cpu.engine import CpuBackend  # Numba takes half a second to import

    return CpuBackend(settings.threads)


BACKENDS: dict[str, Callable[[Settings], Backend]] = {"auto": _cpu, "cpu": _cpu}


def backend_of(settings: Settings) -> Backend:
    """The backend that the settings ask for. Raises UnsupportedError when there is none."""
    if settings.device not in BACKENDS:
        raise UnsupportedError(f"gquery has no {settings.device.upper()} backend", hint="use device='cpu'")
    return BACKENDS[settings.device](settings)
