"""The import rule of the house: who may know whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gquery.executor.cpu.machine import kernel_cache

ROOT = Path(__file__).parent.parent / "gquery"

# What a room may import of the others, by prefix; the longest name that fits a module is its room. Everybody may import
# what is `SHARED`, and its own room with the rooms in it.
SHARED = ["errors", "settings", "stopping", "records", "lasting", "caches", "arrays"]
ALLOWED = {
    "errors": [],
    "settings": [],
    "stopping": [],
    "records": [],
    "arrays": ["imports"],
    "lasting": [],
    "caches": [],
    "values": [],
    "imports": [],
    "grammar": [],
    "storage": [],
    "planner.ir": ["values", "storage.schema", "storage.invariants", "storage.statistics"],
    "planner.binding": ["planner.ir", "values", "grammar.ast", "storage.schema"],
    "planner.passes": ["planner.ir", "planner.search", "storage.schema", "storage.invariants", "storage.statistics"],
    "planner.search": ["planner.ir", "planner.memo", "storage.schema", "storage.invariants", "storage.statistics"],
    "planner.memo": ["planner.ir", "grammar.ast"],
    "planner": ["storage.schema", "storage.invariants", "storage.statistics"],
    "executor.lowering": [
        "planner.ir", "storage", "executor.backend", "executor.memory", "executor.progress", "executor.relational",
    ],
    "executor.relational": [
        "planner.ir", "storage", "values", "executor.progress", "executor.cpu.kernels.lists", "imports",
    ],
    "executor.cpu": [
        "planner.ir", "storage", "executor.lowering", "executor.backend", "executor.memory", "executor.profile",
        "executor.progress", "executor.census", "imports",
    ],
    "executor.gpu": [
        "planner.ir", "storage", "executor.lowering", "executor.backend", "executor.memory", "executor.progress",
        "executor.census",
    ],
    "executor": ["planner.ir", "storage", "values"],
    "result": ["executor.progress", "executor.updates.counting", "values"],
    "session": ["grammar", "planner", "executor", "storage", "result", "values", "imports"],
    "motif": [
        "session", "storage", "values", "grammar.literals", "executor.census", "executor.cpu.census",
        "executor.cpu.random_graphs", "executor.devices", "executor.gpu.census", "executor.progress",
    ],
    "opening": ["session", "storage", "integrations"],
    "continuous": ["planner", "executor", "storage", "grammar"],
    "store": [
        "session", "opening", "continuous", "grammar", "planner", "executor", "storage", "result", "values", "imports",
    ],
    "integrations": [
        "session", "motif", "result", "values", "storage", "grammar", "opening", "executor.relational.database.private",
        "executor.relational.sql.words",
    ],
    "terminal": [
        "session", "opening", "store", "motif", "result", "values", "storage", "grammar", "planner.ir.functions",
        "executor.progress", "executor.cpu.machine.kernel_cache", "executor.devices", "executor.gpu.device",
    ],
    "cli": [
        "imports", "session", "opening", "store", "motif", "result", "terminal", "repl", "values", "storage", "grammar",
    ],
    "repl": ["session", "opening", "result", "terminal", "values", "storage", "grammar"],
    "__main__": ["cli"],
    "__init__": ["imports", "session", "opening", "store", "motif", "result", "values", "integrations"],
}  # fmt: skip

# Heavy or optional packages, and the only places that may import them.
ONLY_IN = {
    "numba": ["executor.cpu"],
    "llvmlite": ["executor.cpu"],
    "cupy": ["executor.gpu"],
    "duckdb": ["executor.relational", "storage.load", "integrations.duckdb"],
    "lark": ["grammar"],
    "networkx": ["integrations.networkx", "storage.load"],
}


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def room_of(name: str) -> str:
    """The longest room that the module stands in."""
    return max((room for room in ALLOWED if name == room or name.startswith(f"{room}.")), key=len)


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=module_name)
def test_imports(path: Path) -> None:
    name = module_name(path)
    room = room_of(name)
    for imported in imports(path):
        package = imported.split(".")[0]
        if package == "gquery":
            target = imported.removeprefix("gquery").removeprefix(".")
            allowed = [*SHARED, room, *ALLOWED[room]]
            known = any(target == prefix or target.startswith(f"{prefix}.") for prefix in allowed)
            public = target in ("", "__version__") and room in ("cli", "repl", "terminal")
            assert known or public, f"{name} imports {imported}"
        elif package in ONLY_IN:
            assert any(name.startswith(place) for place in ONLY_IN[package]), f"{name} imports {package}"


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=module_name)
def test_functions_are_short_and_take_few_arguments(path: Path) -> None:
    """Kernels too: they take bundles of tables."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            taken = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
            assert len([name for name in taken if name not in ("self", "cls")]) <= 9, f"{node.name} takes {taken}"
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= 100, f"{node.name} has {lines} lines"


def test_what_kernels_are_made_of_is_in_their_digest() -> None:
    """A kernel is compiled anew when a constant or function that became part of it changes, wherever that stands."""
    decorators = {"kernel", "inner", "inlined"}
    for path in (ROOT / "executor").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        sources = {
            alias.asname or alias.name: node.module or ""
            for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
        }  # fmt: skip
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and decorators & {ast.unparse(each) for each in node.decorator_list}:
                names = {
                    each.id for statement in node.body for each in ast.walk(statement) if isinstance(each, ast.Name)
                }
                used = {sources[name] for name in names & sources.keys() if sources[name].startswith("gquery.")}
                files = [path, *(ROOT.parent / f"{module.replace('.', '/')}.py" for module in used)]
                seen = [file for file in files if any(folder in file.parents for folder in kernel_cache.SOURCES)]
                assert seen == files, f"{path}: {node.name}"


def test_no_kernel_is_called_by_another() -> None:
    """Of a kernel its machine code alone is kept, which others cannot be made of."""
    decorated: dict[tuple[str, str], str] = {}
    called: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for path in (ROOT / "executor" / "cpu").rglob("*.py"):
        tree, module = ast.parse(path.read_text(encoding="utf-8")), f"gquery.{module_name(path)}"
        sources = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
        }  # fmt: skip
        for function in (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.decorator_list):
            names = {each.id for node in function.body for each in ast.walk(node) if isinstance(each, ast.Name)}
            decorated[module, function.name] = ast.unparse(function.decorator_list[0])
            called[module, function.name] = {sources.get(name, (module, name)) for name in names}
    kernels = {name for name, decorator in decorated.items() if decorator == "kernel"}
    parts = {name for name, decorator in decorated.items() if decorator in ("kernel", "inner", "inlined", "pasted")}
    assert len(kernels) > 30
    assert not [(name, called[name] & kernels) for name in parts if called[name] & kernels]


def test_import_is_light() -> None:
    """`import gquery` brings none of the heavy packages along."""
    heavy = [
        "numba", "duckdb", "cupy", "pandas", "polars", "networkx", "lark", "prompt_toolkit", "rich", "asyncio",
        "pyarrow.compute", "gquery.store",
    ]  # fmt: skip
    script = f"import sys, gquery; print([name for name in {heavy!r} if name in sys.modules])"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


@pytest.mark.parametrize("switch", ["enable", "disable"])
def test_import_leaves_the_collection_of_garbage_as_it_was(switch: str) -> None:
    script = f"import gc; gc.{switch}(); import gquery; print(gc.isenabled())"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == str(switch == "enable")


def test_the_engine_suite_knows_no_backend() -> None:
    """Whatever takes `device` runs on every backend, so it neither asks one for more than all have nor patches it."""
    suite = [path for path in ROOT.parent.glob("tests/*/test_*.py") if "device: str" in path.read_text("utf-8")]
    assert len(suite) > 10
    for path in suite:
        for imported in imports(path):
            assert not imported.startswith(("gquery.executor.cpu", "gquery.executor.gpu")), f"{path} imports {imported}"


def test_rooms_are_not_crowded() -> None:
    """A room with more than about a dozen files is two."""
    for room in (path.parent for path in ROOT.rglob("__init__.py")):
        files = {path.stem for path in room.iterdir() if path.suffix in (".py", ".cu", ".cuh", ".c", ".h")} - {
            "__init__"
        }
        assert len(files) <= 13, f"{room} has {len(files)} files"
