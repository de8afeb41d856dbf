"""Builds the one compiled part of gquery: the optional DuckDB extension (see docs/duckdb.md).

It is a plain C library that DuckDB loads, not a Python module: it has a name of its own, no Python ABI, and ends with
the footer by which DuckDB knows a loadable extension. Without a C compiler everything else is installed.
"""

from __future__ import annotations

import platform
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

ROOM = "gquery/integrations/duckdb/native"
FLAGS = ["-std=c99", "-fvisibility=hidden", "-fexceptions"]  # DuckDB throws through it: an interruption
API_VERSION = "v1.2.0"  # of DuckDB's stable C extension API


def duckdb_platform() -> str:
    """The platform by DuckDB's name, such as `linux_amd64`."""
    machine = platform.machine().lower()
    system = {"Darwin": "osx"}.get(platform.system(), platform.system().lower())
    musl = "_musl" if "musl" in (sysconfig.get_config_var("HOST_GNU_TYPE") or "") else ""
    return f"{system}_{ {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(machine, machine) }{musl}"


def footer(version: str) -> bytes:
    """512 bytes: eight fields of 32, the last first, and room for a signature."""
    fields = ["", "", "", "C_STRUCT", version, API_VERSION, duckdb_platform(), "4"]
    return b"".join(field.encode().ljust(32, b"\0") for field in fields) + bytes(256)


class BuildDuckDBExtension(build_ext):
    """Compiles the library under the name that DuckDB derives the entry point from, and signs it off."""

    def get_ext_filename(self, fullname: str) -> str:
        return str(Path(*fullname.split(".")).with_suffix(".duckdb_extension"))

    def get_export_symbols(self, ext: Extension) -> list[str]:
        return []  # no PyInit_ function: the C source says what it exports

    def build_extension(self, ext: Extension) -> None:
        super().build_extension(ext)
        library, mark = Path(self.get_ext_fullpath(ext.name)), footer(self.distribution.get_version())
        content = library.read_bytes()
        if not content.endswith(mark):  # nothing is compiled anew when the library is newer than its source
            library.write_bytes(content + mark)


class Wheel(bdist_wheel):
    """One wheel a platform serves every Python 3."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


setup(
    ext_modules=[
        Extension(
            ROOM.replace("/", ".") + ".gquery",
            [f"{ROOM}/extension.c", f"{ROOM}/convert.c"],
            depends=[f"{ROOM}/api.h"],
            extra_compile_args=[] if platform.system() == "Windows" else FLAGS,
            optional=True,
        )
    ],
    cmdclass={"build_ext": BuildDuckDBExtension, "bdist_wheel": Wheel},
)
