"""Memory of a device that is zero when it is lent and when it comes back: to write it anew would take longer than a
short query."""

from __future__ import annotations

from collections import deque

import numpy as np

from gquery.executor.gpu.device import Device, DeviceArray

_KEPT = 2  # of those that have come back


class Zeros:
    """Lends arrays, and keeps a few that come back."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._back: deque[DeviceArray] = deque(maxlen=_KEPT)

    def lend(self, size: int) -> Lent:
        """So many bytes; lent again to whoever asks for as many."""
        for _ in range(len(self._back)):
            try:
                array = self._back.popleft()
            except IndexError:  # another thread was first
                break
            if len(array) == size:
                return Lent(array, self._back)
        return Lent(self._device.xp.zeros(size, np.uint8), self._back)


class Lent:
    """An array that goes back when nobody knows of it any more, if it is zero then."""

    def __init__(self, array: DeviceArray, back: deque[DeviceArray]) -> None:
        self.array = array
        self.is_zero = False  # until somebody says so
        self._back = back

    def __del__(self) -> None:
        if self.is_zero:
            self._back.append(self.array)
