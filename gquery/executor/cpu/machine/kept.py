"""What is kept of a kernel for the processes to come: its machine code, and little else.

Numba keeps LLVM's code too, for functions that call the kernel, which none of ours does, and for each of the functions
that it is made of an environment, the globals of a module, which is imported again whenever the kernel is loaded. Only
the constants in there are ever looked at. Without these a kernel is loaded in less than half of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)
from numba.core.codegen import JITCodeLibrary

from gquery.executor.cpu.machine import kernel_cache


class KernelCode(JITCodeLibrary):
    """The code of a kernel, which nothing else is made of."""

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, tuple[str, ...]]]:
        """Its name, and the machine code with the names of what is defined there."""
        module = self._final_module
        names = (each.name for group in (module.functions, module.global_variables) for each in group
                 if not each.is_declaration)  # fmt: skip
        return self.name, "kernel", (self._get_compiled_object(), tuple(names))  # type: ignore[no-untyped-call]

    @classmethod
    def _unserialize(cls, codegen: Any, kept: tuple[str, str, tuple[bytes, tuple[str, ...]]]) -> KernelCode:
        name, _, (code, names) = kept
        self = cls(codegen, name)
        self.enable_object_caching()  # type: ignore[no-untyped-call]
        self._set_compiled_object(code)  # type: ignore[no-untyped-call]
        self._finalize_final_module()  # type: ignore[no-untyped-call]
        codegen._engine._defined_symbols.update(names)
        return self

    def _get_module_for_linking(self) -> NoReturn:
        raise RuntimeError(f"{self.name} is a kernel, which others cannot call")


@contextmanager
def library_class(codegen: Any, kind: type[JITCodeLibrary]) -> Iterator[None]:
    """Libraries are of that kind meanwhile. Numba's lock has to be held."""
    before, codegen._library_class = codegen._library_class, kind
    try:
        yield
    finally:
        codegen._library_class = before


class _InFolder(_SourceFileBackedLocatorMixin, _CacheLocator):
    """In the folder of the sources as they are, and nowhere else, whether it can be written or not: Numba's own places
    know of one file of the sources, and where it may write to none, there is no kernel."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        self._place = str(kernel_cache.folder() / self.get_suitable_cache_subpath(file))  # type: ignore[no-untyped-call]

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _InFolder:
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return self._place


class _KernelResult(CompileResultCacheImpl):
    def __init__(self, function: Any) -> None:
        self._locator_classes = [_InFolder]
        super().__init__(function)  # type: ignore[no-untyped-call]

    def reduce(self, result: Any) -> tuple[Any, ...]:
        *others, environments = super().reduce(result)  # type: ignore[no-untyped-call]
        return *others, tuple(each for each in environments if each.consts)

    def rebuild(self, context: Any, kept: tuple[Any, ...]) -> Any:
        with library_class(context.codegen(), KernelCode):
            return super().rebuild(context, kept)  # type: ignore[no-untyped-call]


class KernelCache(FunctionCache):
    """Numba's. But what is found there does not wait until Numba has learnt of everything that it could compile, which
    takes a tenth of a second; what is not found does: compilation sees to that itself. Nor is a damaged file the end of
    all queries, or a disk that takes no more: kernels are compiled then, and not kept."""

    _impl_class = _KernelResult

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except OSError:  # what cannot be read may be good for others
            return None
        except Exception:  # whatever reading half a file comes to
            with suppress(OSError):
                self._cache_file.flush()  # type: ignore[no-untyped-call]
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
