"""One writer to a folder: the lock ends with the process that has it, whatever others it has forked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from weakref import WeakSet

from gquery.errors import LoadError
from gquery.storage.persist.files import at_once

NAME = "gquery.lock"
_files: WeakSet[IO[str]] = WeakSet()  # that are locked: a forked process has them too, and would keep them so


@contextmanager
def locked(directory: Path) -> Iterator[IO[str]]:
    """Holds a folder against all other writers. The lock's file stays: removing it would race. LoadError that names the
    process which has it, where another one does. Gives the file that is locked."""
    with open(directory / NAME, "a+", opener=at_once) as file:
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _refused(directory, file.seek(0) or file.read(20)) from None
            _files.add(file)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield file


def _let_go() -> None:
    """In a forked process. The lock stays its parent's."""
    for file in list(_files):
        file.close()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_let_go)


def _refused(directory: Path, holder: object) -> LoadError:
    """A save, or a store that is open."""
    number = str(holder)
    who = f"process {number}" if number.isascii() and number.isdigit() else "another process"
    return LoadError(
        f"`{directory}` is being written to by {who}" + (", this one" if number == str(os.getpid()) else ""),
        file=str(directory),
        hint="try again when its save has ended, or its store is closed; readers need no lock",
    )
