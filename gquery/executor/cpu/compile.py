"""How kernels are compiled: once per machine, without the interpreter's lock and without Numba's runtime.

Kernels allocate nothing, so they can do without the runtime, and then their array arguments are not reference counted:
the atomic counting inside the inner loops took more than half of the enumeration's time.

Numba's own cache looks at one file: a kernel whose inlined functions or constants changed elsewhere would be taken for
unchanged. So every state of the sources has a cache folder of its own.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import config

_OPTIONS: dict[str, Any] = {"nogil": True, "cache": True, "_nrt": False}
_HERE = Path(__file__).parent
_settings: Any = config  # whose names are made when it is imported


def _cache_folder() -> str:
    digest = hashlib.sha256()
    for source in [*sorted(_HERE.glob("*.py")), _HERE.parent / "packed.py"]:
        digest.update(source.read_bytes())
    base = _HERE / "__pycache__"
    if _settings.CACHE_DIR:
        base = Path(_settings.CACHE_DIR)
    elif not os.access(_HERE, os.W_OK):
        base = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "gquery"
    return str(base / f"kernels-{digest.hexdigest()[:16]}")


_CACHE_FOLDER = _cache_folder()


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function that stays a function."""
    return _compiled(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """A compiled function that becomes part of its callers: passing many arrays costs more than the work done."""
    return _compiled(function, inline="always")


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    before = _settings.CACHE_DIR
    _settings.CACHE_DIR = _CACHE_FOLDER
    try:
        compiled: Callable[..., Any] = njit(**_OPTIONS, **options)(function)
    finally:
        _settings.CACHE_DIR = before
    return compiled
