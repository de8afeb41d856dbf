"""Kernels are made machine code as wholes.

Numba optimises every function that a kernel calls by itself and makes machine code of it, with all that it calls in
turn, and then does so again where it is called. Of ours, only kernels are ever called from outside: what they are made
of is handed on as it is, and optimised once, together. That is half of the time that compiling takes.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

from gquery.executor.cpu.machine.kept import KernelCode, library_class
from gquery.imports import collected_later


class _Unset:
    """Stands where a part would be told of its globals: they are set in the whole."""

    def set_env(self, name: str, environment: object) -> None:
        pass


class Part(JITCodeLibrary):
    """The code of a function that becomes part of kernels: neither optimised nor made machine code."""

    @property
    def codegen(self) -> _Unset:
        return _Unset()

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class Whole(Compiler):
    """Compiles a kernel, and all that it calls and that is not compiled yet as parts. Numba compiles one function at a
    time: its lock is held meanwhile."""

    def compile_extra(self, function: Any) -> Any:
        codegen = self.state.targetctx.codegen()
        self.state.library = KernelCode(codegen, function.__qualname__)  # type: ignore[no-untyped-call]
        self.state.library.enable_object_caching()
        with library_class(codegen, Part), collected_later():  # which would take a sixth of the time
            result = super().compile_extra(function)  # type: ignore[no-untyped-call]
        for name in (each.name for each in result.library._final_module.global_variables):
            environment = lookup_environment(name)  # type: ignore[no-untyped-call]
            if environment is not None:
                codegen.set_env(name, environment)
        return result
