"""Where compiled kernels are kept, and which of them are of no use any more.

Numba's own cache looks at one file: a kernel whose inlined functions or constants changed elsewhere would be taken for
unchanged. So every state of the sources has a cache folder of its own, and those of earlier states are removed when a
new one begins.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from gquery.caches import folder_for, keep

_CPU = Path(__file__).parent.parent
SOURCES = (_CPU, _CPU.parent / "lowering")  # folders of all that becomes part of kernels: functions, and constants
_PREFIX = "kernels-"
_REMOVED = "removed-"
_INDEX = "**/*.nbi"  # the files in which Numba says what it has compiled
_ALL = "all"
_LASTS = 24 * 3600.0  # seconds that a folder of another state is left alone: another process may be using it


@cache
def folder() -> Path:
    """Of the sources as they are: where Numba is told to, beside them, or with the user's caches."""
    digest = hashlib.sha256()
    for sources in SOURCES:
        for source in sorted(sources.rglob("*.py")):
            digest.update(source.read_bytes())
    return _base() / f"{_PREFIX}{digest.hexdigest()[:16]}"


def _base() -> Path:
    if configured := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(configured)
    return folder_for(_CPU)


def compiled_kernels() -> int:
    """How many kernels of the sources as they are have been compiled on this machine."""
    return sum(1 for _ in folder().glob(_INDEX))


def has_all() -> bool:
    """Whether all kernels that are compiled beforehand are there."""
    return (folder() / _ALL).exists()


def note_all() -> None:
    """Keeps that they are, in a file that a full disk does not take."""
    keep(folder() / _ALL, b"compiled\n")


def begin() -> None:
    """Makes the folder, and removes those of earlier states that nobody has begun or used for a day. A folder is
    renamed before it is emptied, so that two processes never take the same one apart; a process that still reads from
    it compiles again. Where nothing can be written, nothing happens."""
    with suppress(OSError):
        is_new = not folder().exists()
        folder().mkdir(parents=True, exist_ok=True)
        os.utime(folder())
        if is_new:
            _remove_old(folder().parent)


def _remove_old(base: Path) -> None:
    for other in [*base.glob(f"{_PREFIX}*"), *base.glob(f"{_REMOVED}*")]:
        with suppress(OSError):
            if other != folder() and time.time() - other.stat().st_mtime > _LASTS:
                gone = other.with_name(f"{_REMOVED}{os.getpid()}-{other.name}")
                other.rename(gone)
                shutil.rmtree(gone, ignore_errors=True)
