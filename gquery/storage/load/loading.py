"""One load under way."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

from gquery.errors import LoadError, did_you_mean
from gquery.storage.load.options import Options
from gquery.storage.load.rejects import Rejects

_READING = 0.8  # the share of the work that is reading; the rest is finding the ends of edges


class Stopped(Exception):
    """The load was told to end. Nobody sees it: who told it so has gone on."""


class Loading:
    """The options of a load, the rows it has turned down, what its user should know, and how far it is."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.rejects = Rejects(options.on_bad_row)
        self.started = time.perf_counter()
        self.notes: list[str] = []
        self.columns_seen: set[str] = set()
        self._total = 0
        self._done = 0
        self._stopped = False

    def stop(self) -> None:
        """Nobody waits for this load any more: it ends at its next step."""
        self._stopped = True

    def step(self) -> None:
        """Called often: raises Stopped when the load has been told to end."""
        if self._stopped:
            raise Stopped

    def expect(self, files: Iterable[Path]) -> None:
        """Files that will be read: their sizes are what progress is measured against."""
        for file in files:
            try:
                self._total += file.stat().st_size
            except OSError as error:
                raise cannot_read(file, error) from None

    def read(self, file: Path, size: int) -> None:
        """`size` more bytes (as on disk) of `file` have been read."""
        self._done += size
        self._show(f"reading {file.name}", _READING * min(1.0, self._done / max(1, self._total)))

    def linked(self, what: str, fraction: float) -> None:
        """Edges have been joined to their ends up to this fraction."""
        self._show(f"linking {what}", _READING + (1 - _READING) * fraction)

    def _show(self, what: str, fraction: float) -> None:
        self.step()
        if self.options.progress is not None:
            self.options.progress(what, fraction)


def as_path(value: object, what: str, hint: str | None = None) -> Path:
    """The path that a user gives. Raises LoadError for what is none."""
    if not isinstance(value, str | os.PathLike):
        raise LoadError(f"{what}: a {type(value).__name__} is no path of a file or folder", hint=hint)
    name = os.fspath(value)
    if not isinstance(name, str) or not name or not _can_be_named(name):
        raise LoadError(f"{what}: {name!r:.80} is no path of a file or folder", hint=hint)
    return Path(name)


def _can_be_named(name: str) -> bool:
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def no_such_file(path: Path, message: str) -> LoadError:
    """A LoadError for a file that does not exist, with the nearest name beside it."""
    try:
        hint = did_you_mean(path.name, [near.name for near in path.parent.iterdir()])
    except (OSError, ValueError):
        hint = None
    return LoadError(message, file=str(path), hint=hint)


def cannot_read(path: Path, error: OSError) -> LoadError:
    """A LoadError for a file that the system does not let us read."""
    return LoadError(f"cannot read the file: {error.strerror or error}", file=str(path))
