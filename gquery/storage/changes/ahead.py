"""Room for changes, made before they come: to copy the rows of forty million edges takes a second, for which whoever
writes would wait."""

from __future__ import annotations

import threading

from gquery.lasting.promises import Promise
from gquery.storage.adjacency import Adjacency
from gquery.storage.changes.paged import ChangedAdjacency, with_room
from gquery.storage.edges import AdjacencyKey, Edges

_LEAST = 1 << 20  # edges of a type, or entries, that are worth it
_THREAD = "gquery room"


class RoomAhead:
    """Room in the adjacencies of each type of many edges, of those that a graph has already or has saved. The first
    change waits for what is being made."""

    def __init__(self, edges: Edges) -> None:
        promised = edges.promised(key for key in edges.known_keys if edges.count_of(key.types) >= _LEAST)
        self._left = [(edges, key, promise) for key, promise in promised.items()]
        self._is_wanted = True

    def make(self) -> None:
        """Once; what is not wanted any more is left out. Holds nothing of the graph then."""
        while self._left:
            _keep(*self._left.pop(0), self._is_wanted and threading.main_thread().is_alive())

    def make_behind(self) -> None:
        """In a thread of its own, which ends soon after the program does."""
        if self._left:
            try:
                threading.Thread(target=self.make, name=_THREAD).start()
            except RuntimeError:  # there is none to be had: whoever needs room makes it
                self.stop()
                self.make()

    def stop(self) -> None:
        """Makes no more than what is being made."""
        self._is_wanted = False


def _keep(edges: Edges, key: AdjacencyKey, promise: Promise[Adjacency], is_wanted: bool) -> None:
    try:
        promise.keep(with_room(edges.kept(key)) if is_wanted else None)
    except Exception:  # whoever writes will run into it
        promise.keep(None)


def renew(adjacency: ChangedAdjacency) -> None:
    """Makes room again behind the caller, when there is not much left."""
    promise = adjacency.room.to_be_renewed() if adjacency.entries >= _LEAST else None
    if promise is None:
        return

    def make() -> None:
        try:
            promise.keep((adjacency.directory, adjacency.rows, with_room(adjacency.copied())))
        except Exception:  # most likely MemoryError, which whoever needs room will run into
            promise.keep(None)

    try:
        threading.Thread(target=make, name=_THREAD).start()
    except RuntimeError:
        promise.keep(None)


def renewed(adjacency: ChangedAdjacency) -> ChangedAdjacency | None:
    """The same rows where there is room again; None where nobody has made any."""
    made = adjacency.room.renewal()
    return None if made is None else adjacency.moved_to(*made)
