"""What one query at a time works with, while none does: it is taken out and put back, and never in two hands."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

from gquery.lasting.locks import lasting_lock

DEFAULT_MOST = 2**26  # bytes
_VALUE = 1 << 16  # bytes of the Python objects of a value and its key, besides arrays
_SEEN = 1 << 10  # keys that were asked for once and are known


class Idle:
    """Values by key, as many as were in use at the same time, of at most so many bytes together: those of keys that
    were not asked for longest go first. Who asks once leaves no value behind. epoch: what was made in an earlier one is
    not put here, since it may hold what a cache has forgotten. Safe from several threads."""

    def __init__(self, most: int | None = None) -> None:
        self.most = DEFAULT_MOST if most is None else most
        self.nbytes = 0
        self.epoch = object()
        self._values: OrderedDict[Hashable, list[tuple[Any, int]]] = OrderedDict()
        self._seen: OrderedDict[Hashable, None] = OrderedDict()
        self._lock = lasting_lock()

    def take(self, key: Hashable) -> Any | None:
        """A value of the key, which is the caller's alone now; None where there is none, or all are in use."""
        with self._lock:
            if key not in self._values:
                return None
            values = self._values[key]
            value, size = values.pop()
            self.nbytes -= size
            if values:
                self._values.move_to_end(key)
            else:
                del self._values[key]
                self._see(key)
            return value

    def expects(self, key: Hashable) -> bool:
        """Whether a value may be put here: not the first time."""
        with self._lock:
            known = key in self._values or key in self._seen
            self._see(key)
            return known

    def put(self, key: Hashable, value: Any, nbytes: int, epoch: object, limit: int | None = None) -> None:
        """nbytes: of its arrays. A value that alone takes too much, or more than `limit`, is not kept."""
        size = nbytes + _VALUE
        most = self.most if limit is None else min(self.most, limit)
        with self._lock:
            if epoch is not self.epoch or size > most:
                return
            self._values.setdefault(key, []).append((value, size))
            self._values.move_to_end(key)
            self.nbytes += size
            while self.nbytes > self.most:
                _, values = self._values.popitem(last=False)
                self.nbytes -= sum([size for _, size in values])

    def clear(self) -> None:
        """Begins another epoch."""
        with self._lock:
            self._values, self.nbytes, self.epoch = OrderedDict(), 0, object()

    def _see(self, key: Hashable) -> None:
        self._seen[key] = None
        self._seen.move_to_end(key)
        if len(self._seen) > _SEEN:
            self._seen.popitem(last=False)
