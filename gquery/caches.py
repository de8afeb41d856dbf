"""Where what gquery makes of its own sources is kept from one process to the next."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def folder_for(sources: Path) -> Path:
    """Of what is made of the files in a folder: beside them, where that can be written, or with the user's caches."""
    beside = sources / "__pycache__"
    if os.access(beside if beside.exists() else sources, os.W_OK):
        return beside
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "gquery"


def keep(path: Path, content: bytes) -> None:
    """Writes a file in one step, so that nobody reads half of it. Where nothing can be written, nothing happens."""
    unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            unfinished.write_bytes(content)
            os.replace(unfinished, path)
        finally:
            unfinished.unlink(missing_ok=True)
