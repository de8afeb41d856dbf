"""Runs the tests of the native DuckDB door on an extension that checks its own memory: `make asan`.

The extension is compiled anew with -fsanitize=address,undefined into a folder of its own, which this module, as a
plugin of pytest, puts in the place of the installed one; libasan is loaded before Python. Where there is no compiler
that can do this, it says so and ends.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gquery.integrations.duckdb.native import extension

ROOT = Path(__file__).resolve().parents[2]
ROOM = ROOT / "gquery" / "integrations" / "duckdb" / "native"
FLAGS = ["-g", "-O1", "-std=c99", "-fexceptions", "-fvisibility=hidden", "-fno-omit-frame-pointer"]
CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


CHECKED = "GQUERY_CHECKED_LIBRARY"


def pytest_configure(config: pytest.Config) -> None:
    extension.LIBRARY = Path(os.environ[CHECKED])


def runtime_of(compiler: str, name: str) -> str | None:
    """Where the compiler keeps a library, None where it has none."""
    path = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
    return path if Path(path).is_absolute() else None


def main(compiler: str, tests: list[str]) -> int:
    # DuckDB throws C++ exceptions, which libasan has to find the library of before DuckDB is there
    runtimes = (
        [runtime_of(compiler, name) for name in ("libasan.so", "libstdc++.so.6")] if shutil.which(compiler) else []
    )
    if not runtimes or None in runtimes:
        print(f"skipped: {compiler} with libasan is not here")
        return 0
    if not extension.LIBRARY.exists():
        print("skipped: gquery was installed without a C compiler")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "gquery.duckdb_extension"
        sources = [str(ROOM / name) for name in ("extension.c", "convert.c")]
        subprocess.run([compiler, "-shared", "-fPIC", *FLAGS, *CHECKS, *sources, "-o", str(library)], check=True)
        with library.open("ab") as file:
            file.write(extension.LIBRARY.read_bytes()[-512:])  # the mark of a DuckDB extension
        environment = os.environ | {
            "LD_PRELOAD": " ".join(map(str, runtimes)),
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:handle_segv=0:alloc_dealloc_mismatch=0",
            "PYTHONMALLOC": "malloc",
            CHECKED: str(library),
        }
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-k", "not macro", "-p", "tests.integrations.asan"]
        return subprocess.run([*command, *tests], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(os.environ.get("CC", "gcc"), sys.argv[1:] or ["tests/integrations"]))
