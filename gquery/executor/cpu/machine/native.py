"""The few machine instructions that Numba has no name for: loads from an address, atomic access, the bits of numbers,
array address."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray


def _loader(machine_type: ir.Type, numba_type: types.Type) -> Any:
    @intrinsic
    def load(typing_context: Any, address: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], machine_type.as_pointer())
            return builder.load(builder.gep(pointer, [arguments[1]]))

        return numba_type(types.int64, types.int64), generate

    return load


load_int8 = _loader(ir.IntType(8), types.int8)  # (address, index) -> int8, and so on
load_int16 = _loader(ir.IntType(16), types.int16)
load_int32 = _loader(ir.IntType(32), types.int32)
load_int64 = _loader(ir.IntType(64), types.int64)
load_word = _loader(ir.IntType(64), types.uint64)
load_float = _loader(ir.DoubleType(), types.float64)


def _storer(machine_type: ir.Type, numba_type: types.Type) -> Any:
    @intrinsic
    def store(typing_context: Any, address: Any, index: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], machine_type.as_pointer())
            builder.store(arguments[2], builder.gep(pointer, [arguments[1]]))
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, numba_type), generate

    return store


store_int8 = _storer(ir.IntType(8), types.int8)  # (address, index, int8), and so on
store_int16 = _storer(ir.IntType(16), types.int16)
store_int32 = _storer(ir.IntType(32), types.int32)
store_int64 = _storer(ir.IntType(64), types.int64)
store_word = _storer(ir.IntType(64), types.uint64)


def _changer(operation: str) -> Any:
    @intrinsic
    def change(typing_context: Any, address: Any, index: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
            return builder.atomic_rmw(operation, builder.gep(pointer, [arguments[1]]), arguments[2], "monotonic")

        return types.int64(types.int64, types.int64, types.int64), generate

    return change


# (address, index, int64): what was there, which other threads may change as well; their sum, or the lesser or larger of
# both, is there afterwards.
fetch_add = _changer("add")
fetch_least = _changer("min")
fetch_largest = _changer("max")


@intrinsic
def load_shared(typing_context: Any, address: Any, index: Any) -> Any:
    """The int64 at (address, index), which other threads may change: it is read every time."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(builder.gep(pointer, [arguments[1]]), "monotonic", 8)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def store_shared(typing_context: Any, address: Any, index: Any, number: Any) -> Any:
    """Writes an int64 at (address, index), which other threads may read and write."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store_atomic(arguments[2], builder.gep(pointer, [arguments[1]]), "monotonic", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _bits(machine_type: ir.Type, given: types.Type, returned: types.Type) -> Any:
    @intrinsic
    def read_as(typing_context: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], machine_type)

        return returned(given), generate

    return read_as


bits_of = _bits(ir.IntType(64), types.float64, types.int64)  # of a float64, as an int64
float_of = _bits(ir.DoubleType(), types.int64, types.float64)  # and the float64 of such bits


@intrinsic
def prefetch(typing_context: Any, address: Any) -> Any:
    """Asks for the cache line of an address, and does not wait for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], shape)
        read, kept, data = number(0), number(3), number(1)
        builder.call(function, [builder.inttoptr(arguments[0], pointer), read, kept, data])
        return context.get_dummy_value()

    return types.void(types.int64), generate


def _pointer() -> Any:
    @intrinsic
    def to_first(typing_context: Any, array: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return context.make_array(array)(context, builder, arguments[0]).data

        return types.CPointer(array.dtype)(array), generate  # type: ignore[no-untyped-call]

    return to_first


# (array) -> its first element, indexed like the array from 0 on. Handed on it is one word where an array is seven,
# which a small kernel that is called often would feel.
pointer = _pointer()


@intrinsic
def count_bits(typing_context: Any, word: Any) -> Any:
    """Number of set bits of a uint64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def address(array: NDArray[Any]) -> int:
    """Address of the first element; the array must be contiguous, which is checked, and outlive its use."""
    return pa.py_buffer(array).address if array.size else 0  # NumPy's own ways take five times as long
