"""A tape: the operations of one launch, and all that they refer to (kernels/run.cu).

Each launch and each look at a result costs as long as a small query's work, so what a query does on the device is
written down first and runs at once. Operations wait for each other where one reads what another has written; which
do is found here, from what each says that it touches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from gquery.errors import UnsupportedError
from gquery.executor.gpu.device import Device, DeviceArray, source
from gquery.executor.progress import Control

_TAG = 60  # words with one of these above the bit are addresses in the tape's own memory
_CELL, _DATA = 1 << _TAG, 2 << _TAG
_HALTED = 1  # as in kernels/run.cu, and the kernels that go on where a tape has stopped
_APART = {2: "inside", 3: "adaptive"}
_HEADER = 37  # words of `Machine` before its registers
_MOST_REGISTERS = 1024
_SHORT = 8  # launches of a run after which others take longer: little is lost where it is given up soon
_STEPS = 0  # the register with what has been tried, as in kernels/scan.cuh
_CHUNK = 1 << 18  # bytes; what is smaller shares an allocation, of twice as many each time
_LARGEST_CHUNK = 1 << 24
_ALIGNED = 256


def _numbered() -> dict[str, int]:
    """The operations' numbers: the kernels say them."""
    text = source()
    flow = re.search(r"enum Name \{ ([^O]*Halt, .*?)OPERATIONS", text)
    assert flow is not None
    names = [name.removeprefix("Of") for name in flow[1].replace(",", " ").split()]
    listed = text[text.index("#define OPERATIONS") : text.index("#define NAMED")]
    return {name: number for number, name in enumerate([*names, *re.findall(r"\b(?:EACH|TIMES)\((\w+)\)", listed)])}


_NAMES = _numbered()


class Room:
    """Memory of the device that is given back with this object."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._held: list[DeviceArray] = []
        self._next = self._end = 0
        self._chunk = _CHUNK

    def take(self, size: int) -> int:
        """The address of so many bytes."""
        size = -(-max(size, 1) // _ALIGNED) * _ALIGNED
        if self._next + size > self._end:
            chunk = self._chunk
            self._chunk = min(2 * chunk, _LARGEST_CHUNK)
            if size >= chunk:
                return self._allocated(size)
            self._next = self._allocated(chunk)
            self._end = self._next + chunk
        self._next += size
        return self._next - size

    def hold(self, array: DeviceArray) -> int:
        """The address of an array, which is kept."""
        self._held.append(array)
        return self.device.address(array)

    @property
    def nbytes(self) -> int:
        return sum([int(array.nbytes) for array in self._held])

    def _allocated(self, size: int) -> int:
        return self.hold(self.device.empty(size))


class Tape:
    """Words of operations are addresses and numbers. A register is told by its number; a cell is a word with an
    address, which the host reads when the tape has run."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.room = Room(device)
        self._code: list[int] = []
        self._data: list[int] = []
        self._registers = [0]  # the first is `_STEPS`
        self._constants: dict[int, int] = {}
        self._cells = 0
        self._written: dict[int, int | None] = {}  # since all waited: by what, the rows it was touched by
        self._read: dict[int, int | None] = {}
        self._waits = False

    # --- what operations refer to --------------------------------------------------------------------------------

    def register(self, value: int = 0) -> int:
        self._registers.append(value)
        return len(self._registers) - 1

    def constant(self, value: int) -> int:
        """A register that nothing sets."""
        if value not in self._constants:
            self._constants[value] = self.register(value)
        return self._constants[value]

    def cell(self, count: int = 1) -> int:
        """The first of so many words that are zero before."""
        self._cells += count
        return _CELL + self._cells - count

    def data(self, words: Sequence[int]) -> int:
        """Words that operations point to; null when there are none."""
        begin = len(self._data)
        self._data += words
        return _DATA + begin if words else 0

    def reserve(self, count: int) -> int:
        """Room for words that are set later."""
        return self.data([0] * count)

    def set(self, begin: int, words: Sequence[int]) -> None:
        self._data[begin - _DATA : begin - _DATA + len(words)] = words

    # --- operations ------------------------------------------------------------------------------------------------

    @property
    def here(self) -> int:
        """Where the next operation begins."""
        return len(self._code)

    def add(
        self,
        name: str,
        *words: int,
        rows: int | None = None,
        reads: Sequence[int] = (),
        writes: Sequence[int] = (),
        gathers: Sequence[int] = (),
        scatters: Sequence[int] = (),
    ) -> int:
        """Appends an operation; where it is. What it touches is told by any word that stands for it. rows: the register
        with the number of rows, where what it reads and writes is touched by the thread of its row alone; what it
        gathers and scatters is read and written anyhow."""
        if self._waits or self._clashes(reads, writes, rows) or self._clashes_anyhow(gathers, scatters):
            self._written, self._read, self._waits = {}, {}, True
        self._code += (_NAMES[name], int(self._waits), 3 + len(words), *words)
        self._waits = False
        self._touch(reads, writes, rows)
        self._touch_anyhow(gathers, scatters)
        return self.here - 3 - len(words)

    def _clashes(self, read: Iterable[int], written: Iterable[int], rows: int | None) -> bool:
        """Whether one of these was touched by other threads than those of the same rows since all have waited."""
        for each in read:
            if each in self._written and (rows is None or self._written[each] != rows):
                return True
        for each in written:
            for touched in (self._written, self._read):
                if each in touched and (rows is None or touched[each] != rows):
                    return True
        return False

    def _clashes_anyhow(self, read: Iterable[int], written: Iterable[int]) -> bool:
        """Whether one of these was touched by anybody since then."""
        before = self._written.keys()
        return not (before.isdisjoint(read) and before.isdisjoint(written) and self._read.keys().isdisjoint(written))

    def _touch(self, read: Iterable[int], written: Iterable[int], rows: int | None) -> None:
        for each in read:
            if each:  # what is null is nothing
                self._read[each] = rows if self._read.get(each, rows) == rows else None
        for each in written:
            if each:
                self._written[each] = rows

    def _touch_anyhow(self, read: Iterable[int], written: Iterable[int]) -> None:
        for touched, each in ((self._read, read), (self._written, written)):
            touched.update(dict.fromkeys(each))
            touched.pop(0, None)

    def jump(self, name: str, *words: int, waits: bool = False) -> int:
        """Appends an operation that others may come from or go on to: whatever comes next waits. waits: this does, too,
        since it looks at what others have written."""
        self._code += (_NAMES[name], int(waits), 3 + len(words), *words)
        self._waits = True
        return self.here - 3 - len(words)

    def patch(self, operation: int, word: int, value: int) -> None:
        """Sets a word of an operation that was appended before."""
        self._code[operation + 3 + word] = value

    def wait(self) -> None:
        """All wait before the next operation, which others than those before it may come to."""
        self._waits = True

    # --- running ---------------------------------------------------------------------------------------------------

    def start(self, control: Control, modulus: int = 0) -> Run:
        """The tape at its beginning."""
        if len(self._registers) > _MOST_REGISTERS:
            raise UnsupportedError("the query is too large for the GPU backend", hint="use device='cpu'")
        return Run(self, control, modulus)

    def run(self, control: Control) -> Run:
        """The tape at its first halt."""
        run = self.start(control)
        for _ in run.launches():
            pass
        return run

    def image(self, address: int) -> NDArray[np.int64]:
        """All words, when the first is at an address."""
        cells = _HEADER + len(self._registers)
        code = cells + self._cells
        data = code + len(self._code)
        header = [address + 8 * code, 0, 0, len(self._registers), *[0] * (_HEADER - 4)]
        parts = chain(header, self._registers, repeat(0, self._cells), self._code, self._data)
        words = np.fromiter(parts, np.int64, self.words)
        tags = words >> _TAG
        told = np.flatnonzero((tags == 1) | (tags == 2))
        begins = np.array([0, cells - _CELL, data - _DATA])[tags[told]]
        words[told] = address + 8 * (words[told] + begins)
        return words

    @property
    def words(self) -> int:
        return _HEADER + len(self._registers) + self._cells + len(self._code) + len(self._data)

    @property
    def read_back(self) -> int:
        """Words that a look at the machine takes: its header, registers and cells."""
        return _HEADER + len(self._registers) + self._cells

    @property
    def register_count(self) -> int:
        return len(self._registers)


class Run:
    """A tape that runs: what the host sees of it between two launches."""

    def __init__(self, tape: Tape, control: Control, modulus: int) -> None:
        self.tape = tape
        self.control = control
        self.modulus = modulus
        self._machine = tape.device.empty(8 * tape.words)
        self._address = tape.device.address(self._machine)
        tape.device.write(self._address, tape.image(self._address))
        self._seen = np.zeros(tape.read_back, np.int64)
        self._under_way = False
        self._launched = 0

    def set(self, first: int, *values: int) -> None:
        """What registers from one on have before the next launch."""
        self.tape.device.write(self._address + 8 * (_HEADER + first), np.array(values))

    def launch(self) -> None:
        """Launches what comes next, unless it is under way."""
        if not self._under_way:
            if kernel := _APART.get(int(self._seen[2])):
                self.tape.device.run_apart(kernel, self._address, self.modulus)
            self.tape.device.run(self._address, self.modulus, self._launched < _SHORT)
        self._under_way = True
        self._launched += 1

    def launches(self) -> Iterator[None]:
        """Launches until the tape halts; the host may look in between."""
        while True:
            self.launch()
            self._under_way = False
            before = self.steps
            self._seen = self.tape.device.read(self._address, self.tape.read_back, np.int64)
            self.control.tried(self.steps - before)
            yield
            if self._seen[2] == _HALTED:
                return
            self.control.check()

    @property
    def ended(self) -> bool:
        """Whether the halt is the last."""
        return int(self._seen[1]) >= self.tape.here

    @property
    def steps(self) -> int:
        """What has been tried so far."""
        return self.register(_STEPS)

    def register(self, number: int) -> int:
        return int(self._seen[_HEADER + number])

    def cells(self, first: int, count: int = 1) -> NDArray[np.int64]:
        begin = _HEADER + self.tape.register_count + first - _CELL
        return self._seen[begin : begin + count]
