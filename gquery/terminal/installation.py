"""What this installation of gquery has: versions, devices, the kernels that are compiled already."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import version

import gquery
from gquery.executor.cpu.machine import kernel_cache
from gquery.executor.gpu.device import describe_card
from gquery.settings import Settings


def describe_installation() -> list[str]:
    """Lines of name and value."""
    return [f"{name:<16} {value}" for name, value in _facts()]


def _facts() -> Iterator[tuple[str, str]]:
    yield "gquery", gquery.__version__
    yield "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield "libraries", ", ".join(f"{name} {version(name)}" for name in ("pyarrow", "duckdb", "numba"))
    yield "cpu backend", f"{Settings().threads} threads"
    yield "gpu backend", describe_card()
    compiled = kernel_cache.compiled_kernels()
    state = f"{compiled} compiled" if compiled else "none compiled yet: the first query takes some seconds more"
    yield "kernel cache", f"{state}, in {kernel_cache.folder()}"
