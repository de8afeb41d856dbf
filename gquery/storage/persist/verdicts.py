"""What was found right before, by this user on this machine, so that a graph is verified once and not by every process.

It is kept in the user's cache folder, out of reach of whoever made the graph: no folder can bring along its own praise.
It speaks of files as the system knows them (device, inode, size, and the times of the last change). The time at which
an inode changed cannot be set by a program, so a file that was touched in any way since is verified anew.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from gquery.caches import user_folder
from gquery.lasting.properties import cached_property

_CHECKS = 2  # another number whenever more is verified: what older versions found right is forgotten then
_SETTLED = 2.0  # seconds without a change, after which another change has another time
_MOST_GRAPHS = 1000  # whose verdicts are kept; those of the oldest go
_LONGEST = 2**24  # bytes that are read of one

Identity = tuple[int, ...]


class Witness(Protocol):
    """A file that a verdict rests on."""

    identity: Identity

    def is_unchanged(self) -> bool:
        """Whether the file is still what it was when it was opened."""


def identity_of(status: os.stat_result) -> Identity:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class Verdicts:
    """What is known of one saved graph: a manifest and its files, as they were when they were opened."""

    def __init__(self, manifest: str, files: Iterable[Witness]) -> None:
        self._manifest = manifest
        self._identities = [file.identity for file in files]
        newest = max((identity[-1] for identity in self._identities), default=0) / 1e9
        self._is_settled = os.name == "posix" and newest < time.time() - _SETTLED

    def holds(self, what: str, files: Iterable[Witness]) -> bool:
        """Whether `what` was found right, and its files are what they were then."""
        return what in self._known and all(file.is_unchanged() for file in files)

    def note(self, what: str, files: Iterable[Witness]) -> None:
        """Keep that `what` has just been found right. Where that cannot be kept it is found right again."""
        if not (self._is_settled and "\n" not in what and all(file.is_unchanged() for file in files)):
            return
        try:
            folder = _own_folder()
            if folder is None:
                return
            if not (folder / self._name).exists():
                _make_room(folder)
            with open(folder / self._name, "a", encoding="utf-8") as file:
                file.write(f"{what}\n")
        except (OSError, ValueError):
            return

    @cached_property
    def _name(self) -> str:
        return hashlib.sha256(f"{_CHECKS} {self._manifest} {sorted(self._identities)}".encode()).hexdigest()

    @cached_property
    def _known(self) -> frozenset[str]:
        try:
            folder = _own_folder() if self._is_settled else None
            if folder is None:
                return frozenset()
            with open(folder / self._name, encoding="utf-8") as file:
                *lines, _ = file.read(_LONGEST).split("\n")
                return frozenset(lines)
        except (OSError, ValueError):
            return frozenset()


def _own_folder() -> Path | None:
    """The folder of verdicts, made when it is not there; None when there is nowhere to, or others may write to it."""
    base = user_folder("XDG_CACHE_HOME", "~/.cache")
    if base is None:
        return None
    folder = base / "gquery" / "verified"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return folder if is_own else None


def _make_room(folder: Path) -> None:
    kept = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)
    for path in kept[: max(0, len(kept) - _MOST_GRAPHS + 1)]:
        path.unlink(missing_ok=True)
