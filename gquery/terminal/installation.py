"""What this installation of gquery has: versions, devices, the kernels that are compiled already."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import gquery
from gquery.settings import Settings

_KERNELS = "gquery.executor.cpu"
_INDEX = "**/*.nbi"  # the files in which Numba says what it has compiled


def describe_installation() -> list[str]:
    """Lines of name and value."""
    return [f"{name:<16} {value}" for name, value in _facts()]


def _facts() -> Iterator[tuple[str, str]]:
    yield "gquery", gquery.__version__
    yield "Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    yield "libraries", ", ".join(f"{name} {version(name)}" for name in ("pyarrow", "duckdb", "numba"))
    yield "cpu backend", f"{Settings().threads} threads"
    yield "gpu backend", "available" if importlib.util.find_spec("gquery.executor.gpu") else "none in this version"
    compiled = compiled_kernels()
    state = f"{compiled} compiled" if compiled else "none compiled yet: the first query takes some seconds more"
    yield "kernel cache", f"{state}, in {_cache()}"


def compiled_kernels() -> int:
    """How many kernels Numba has compiled on this machine since their source was written."""
    written = {file.stem: file.stat().st_mtime for file in _folder().glob("*.py")}
    return sum(
        index.stat().st_mtime >= written.get(index.name.partition(".")[0], float("inf"))
        for index in _cache().glob(_INDEX)
    )


def _folder() -> Path:
    found = importlib.util.find_spec(_KERNELS)
    return Path(found.origin or "").parent if found else Path()


def _cache() -> Path:
    """Where Numba keeps what it has compiled: where it is told to, beside the source, or with the user's caches."""
    if configured := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(configured)
    if os.access(_folder(), os.W_OK):
        return _folder() / "__pycache__"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
