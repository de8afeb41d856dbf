"""The backends by the name of their device."""

from __future__ import annotations

from collections.abc import Callable

from gquery.executor.backend import Backend
from gquery.settings import Settings


def _cpu(settings: Settings) -> Backend:
    from gquery.executor.cpu.engine import CpuBackend  # Numba takes half a second to import

    return CpuBackend(settings.threads)


def _gpu(settings: Settings) -> Backend:
    from gquery.executor.gpu.device import card
    from gquery.executor.gpu.engine import GpuBackend

    return GpuBackend(card())


BACKENDS: dict[str, Callable[[Settings], Backend]] = {"auto": _cpu, "cpu": _cpu, "gpu": _gpu}


def backend_of(settings: Settings) -> Backend:
    """The backend that the settings ask for. Raises UnsupportedError when there is none."""
    return BACKENDS[settings.device](settings)
