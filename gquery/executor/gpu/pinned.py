"""Memory of the host that a card copies to at full speed and on its own, while kernels run.

Pinning takes longer than copying, so what is lent comes back to be lent again. It is memory that nothing else can use:
there is a bound, behind which whoever asks has to do with memory of the usual kind.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST = 1 << 30  # bytes
_LEAST = 1 << 16  # bytes; for less it is not worth it


class Pinned:
    """Lends pinned memory. pin: makes so many bytes of it, an object with Python's buffer protocol, or fails with one
    of some errors."""

    def __init__(self, pin: Callable[[int], Any], errors: tuple[type[Exception], ...]) -> None:
        self._pin = pin
        self._errors = errors
        self._free: deque[tuple[int, Any]] = deque()
        self._made = 0
        self._lock = Lock()  # of those who lend: whoever gives back only appends

    def lend(self, size: int) -> NDArray[np.uint8] | None:
        """An array of so many bytes, whose memory is lent again when nobody knows the array any more; None where it is
        not to be had."""
        if size < _LEAST:
            return None
        wanted = 1 << (size - 1).bit_length()
        with self._lock:
            memory = self._taken(wanted) or self._new(wanted)
        if memory is None:
            return None
        return np.asarray(_Lent(memory, wanted, self._free))[:size]

    def _taken(self, wanted: int) -> Any:
        """One of this size that has come back."""
        for _ in range(len(self._free)):
            size, memory = self._free.popleft()
            if size == wanted:
                return memory
            self._free.append((size, memory))
        return None

    def _new(self, wanted: int) -> Any:
        """Memory that is pinned now; what has come back of other sizes makes room for it."""
        while self._made + wanted > _MOST:
            if not self._free:
                return None
            self._made -= self._free.popleft()[0]
        try:
            memory = self._pin(wanted)
        except self._errors:
            return None
        self._made += wanted
        return memory


class _Lent:
    """What an array that is lent keeps, and gives back."""

    def __init__(self, memory: Any, size: int, back: deque[tuple[int, Any]]) -> None:
        self._memory = memory
        self._size = size
        self._back = back

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return dict(np.frombuffer(self._memory, np.uint8, self._size).__array_interface__)

    def __del__(self) -> None:
        self._back.append((self._size, self._memory))
