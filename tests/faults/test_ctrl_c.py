"""Ctrl-C at a random moment is KeyboardInterrupt in every phase, and the session goes on. GQUERY_SLOW=1: 50 times."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import patience
from tests.faults.graphs import dense_graph
from tests.faults.pseudo_terminal import at_terminal

pytestmark = pytest.mark.alone

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 50 if os.environ.get("GQUERY_SLOW") else 6
SEED = 20

SCRIPT = """
import sys, time
from tests.faults.graphs import *
graph = dense_graph()
QUERIES = [
    (LONG_COUNT, lambda result: result.scalar()),
    (MANY_ROWS, lambda result: [None for _ in result]),
    (MANY_ROWS, lambda result: [None for _ in result.reader()]),
    (MANY_ROWS + " ORDER BY a + b + c DESC", lambda result: result.to_arrow()),
    (MANY_ROWS.replace("RETURN", "RETURN DISTINCT"), lambda result: result.to_arrow()),
    ("MATCH (a)-[:X]->(b) WHERE size(range(1, 900000 + id(a))) > 3 RETURN count(*)", lambda result: result.scalar()),
    ("MATCH (a)-[:X]->(b) RETURN size(range(1, 900000 + id(a))) AS s", lambda result: result.rows()),
    (MANY_ROWS, lambda result: result.write(sys.argv[1])),
]
graph.query(MANY_ROWS + " LIMIT 1").rows()
for text, _ in QUERIES:  # compiled before anything is interrupted
    try:
        graph.query(text, timeout=0.1).to_arrow()
    except gquery.QueryTimeout:
        pass
number = 0
while True:
    text, read = QUERIES[number % len(QUERIES)]
    try:
        began = None
        result = graph.query(text)
        print("ready", flush=True)
        read(result)
        print("no end", flush=True)
    except KeyboardInterrupt:
        pass
    except BaseException as error:
        print("FOREIGN", number % len(QUERIES), type(error).__name__, error, flush=True)
    stopped = time.monotonic()
    print(graph.query("MATCH (a) RETURN count(*) AS n").scalar(), flush=True)
    number += 1
"""


def test_in_a_script(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "out.parquet")]
    late = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            for _ in range(ROUNDS):
                assert child.stdout.readline() == "ready\n"
                time.sleep(chance.uniform(0.0, 0.4))
                child.send_signal(signal.SIGINT)
                began = time.monotonic()
                assert child.stdout.readline() == "1000\n"
                late.append(time.monotonic() - began)
        finally:
            child.kill()
        errors = child.stderr.read()
    print(f"seed {SEED}: the next answer came after", [round(seconds, 3) for seconds in late])
    assert "Traceback" not in errors, errors
    assert sorted(late)[len(late) // 2] < 0.2 * patience()
    assert max(late) < 2.0 * patience()


COMMAND_LINE = """
import sys, gquery
from gquery.cli import main
ask = gquery.Graph.query
def query(*given, **named):
    print("asked", file=sys.stderr, flush=True)
    return ask(*given, **named)
gquery.Graph.query = query
sys.exit(main())
"""
LONG = "MATCH (a)-->(b)-->(c)-->(d)-->(e) RETURN a, b, c, d, e ORDER BY c.id + d.id + e.id"


@pytest.mark.parametrize("arguments", [["run", LONG], ["shell"]], ids=["command", "shell"])
def test_at_the_command_line(arguments: list[str], tmp_path: Path) -> None:
    """It says that the query was cancelled, and ends as a shell wants it."""
    saved = str(tmp_path / "g.gq")
    save = f"from tests.faults.graphs import *; dense_graph().save({saved!r})"
    subprocess.run([sys.executable, "-c", save], cwd=ROOT, check=True)
    chance = random.Random(SEED)
    command = [sys.executable, "-c", COMMAND_LINE, arguments[0], saved, *arguments[1:]]
    for _ in range(max(1, ROUNDS // 6)):
        with subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as child:
            assert child.stdin is not None
            if arguments == ["shell"]:
                child.stdin.write(LONG + ";")
            child.stdin.close()
            child.stdin = None
            assert child.stderr is not None
            assert child.stderr.readline() == "asked\n"
            time.sleep(chance.uniform(0.0, 1.0))
            child.send_signal(signal.SIGINT)
            began = time.monotonic()
            _, errors = child.communicate(timeout=60)
        assert child.returncode == 130, errors
        assert "ancelled" in errors
        assert "Traceback" not in errors
        assert time.monotonic() - began < 2.0 * patience()


PRESSED = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
sys.argv[0] = sys.argv[2]
from gquery.cli import main
sys.exit(main(["info"]))
"""


@pytest.mark.parametrize(
    "module", ["pyarrow", "gquery.session", "gquery.terminal.command_line", "gquery.terminal.installation"]
)
def test_while_the_command_is_imported(module: str) -> None:
    """Python showed how far it had come."""
    command = [sys.executable, "-c", PRESSED, module, "/somewhere/gquery"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (130, ""), found.stderr
    assert found.stderr in ("", "Cancelled\n")
    other = subprocess.run([*command[:-1], "other.py"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ("KeyboardInterrupt" in other.stderr) == (module != "gquery.terminal.installation"), other.stderr


def test_while_gquery_is_imported_by_a_program() -> None:
    """It hears of it as in any import, and later: nothing of the command's is left."""
    script = "import signal; before = signal.getsignal(signal.SIGINT); import gquery.cli; "
    script += "print(before is signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    for name in ("other.py", "gquery"):
        run = f"import sys; sys.argv = [{name!r}]; {script}"
        found = subprocess.run([sys.executable, "-c", run], cwd=ROOT, capture_output=True, text=True, check=True)
        assert found.stdout == "True\n"


DELAYS = (0, 1, 2, 5, 10, 20, 50)  # ms after Enter, while the prompt is put away or the query has just begun


def test_at_the_prompt_of_the_shell(tmp_path: Path) -> None:
    """A press right after Enter is for what was entered, not for the next prompt."""
    dense_graph().save(tmp_path / "g.gq")
    home = {"XDG_STATE_HOME": str(tmp_path), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    command = [sys.executable, "-m", "gquery", "shell", str(tmp_path / "g.gq")]
    with at_terminal(command, {**os.environ, "PYTHONPATH": str(ROOT), **home}) as terminal:
        terminal.wait_for(b"gquery>", seconds=60)
        terminal.type(b"RETURN 1 + 41 AS n\r")
        terminal.wait_for(b"42", seconds=60)
        for delay in DELAYS * (ROUNDS if ROUNDS > 6 else 1):
            terminal.wait_for(b"gquery>", seconds=5 * patience())
            terminal.type(LONG.encode())
            time.sleep(0.2)  # a prompt that has only just been drawn
            terminal.screen = b""
            terminal.type(b"\r")
            time.sleep(delay / 1000)
            terminal.type(b"\x03")
            terminal.wait_for(b"ancelled", seconds=2 * patience())
        terminal.wait_for(b"gquery>", seconds=5 * patience())
        terminal.type(b":quit\r")


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs a terminal of Unix")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_is_ended_at_the_prompt_leaves_the_terminal_as_it_was(number: int, tmp_path: Path) -> None:
    home = {"XDG_STATE_HOME": str(tmp_path), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
    command = [sys.executable, "-m", "gquery", "shell"]
    with at_terminal(command, {**os.environ, "PYTHONPATH": str(ROOT), **home}) as terminal:
        echoes = terminal.echoes
        terminal.wait_for(b"gquery>", seconds=60)
        os.kill(terminal.child, number)
        ended = os.waitid(os.P_PID, terminal.child, os.WEXITED | os.WNOWAIT)
        assert ended is not None
        assert (ended.si_code, ended.si_status) == (os.CLD_KILLED, number)
        assert echoes
        assert terminal.echoes
