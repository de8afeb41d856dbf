"""Where gquery keeps what outlives a process: what it makes of its own sources beside them, all else with the user."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path


def folder_for(sources: Path) -> Path:
    """Of what is made of the files in a folder: beside them or with the user's caches, the first that can be written.
    Where neither can, beside them: who installed gquery may have kept something there."""
    beside, caches = sources / "__pycache__", user_folder("XDG_CACHE_HOME", "~/.cache")
    places = [beside, caches / "gquery"] if caches else [beside]
    return next(filter(_can_be_written, places), beside)


def _can_be_written(folder: Path) -> bool:
    """Whether a folder, or the one in which it would be made, takes files."""
    there = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
    return os.path.isdir(there) and os.access(there, os.W_OK)


def user_folder(variable: str, otherwise: str) -> Path | None:
    """Of one kind of the user's files: where a variable of the environment says, else at a place in the home. None
    where neither is known, as for a process whose user the system has no entry of."""
    path = Path(os.environ.get(variable) or os.path.expanduser(otherwise))
    return path if path.is_absolute() else None


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
