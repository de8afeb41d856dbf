"""The manifest: a small JSON file that says which files are the graph, and everything about it that is not a column."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import zlib
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from gquery.errors import LoadError, shortened
from gquery.storage.persist.encoding import decoded, encoded
from gquery.storage.persist.entries import Manifest
from gquery.storage.persist.files import DATA_FILE, open_regular, sync_directory

NAME = "gquery.json"
FORMAT = "gquery graph"
# versions: tables numbered one after the other, in segments; with indexes; with ids that several vertices have
_CONSECUTIVE, _SEGMENTS, _ORDERED, _REPEATED = 1, 2, 3, 4
_VERSIONS = (_CONSECUTIVE, _SEGMENTS, _ORDERED, _REPEATED)
_NUMBERS = {"vertex_segments", "edge_segments"}
_LOG = re.compile(r"changes-[0-9a-f]{16}\.log")
_UNFINISHED = re.compile(r"gquery\.[0-9a-f]{8}\.tmp")
_BEFORE, _BEHIND = b', "graph": ', b"}"  # what a graph stands between
_LARGEST = 64 * 2**20  # bytes of a manifest: some 10^5 columns. A file without end must not fill the memory


def folder_of(path: object) -> Path:
    """The path that a user gave. LoadError for what is none."""
    if isinstance(path, (str, os.PathLike)):
        text = os.fspath(path)
        if isinstance(text, str) and text and "\0" not in text:
            with suppress(UnicodeEncodeError):
                os.fsencode(text)
                return Path(text)
    raise LoadError(f"{shortened(repr(path))} is not the path of a folder", hint="give a text or a pathlib.Path")


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a folder holds a saved graph."""
    try:
        return (Path(path) / NAME).is_file()
    except (OSError, ValueError, TypeError):  # such a path there cannot be
        return False


def is_ours(name: str) -> bool:
    """Whether a file name is one that only a save, or a store, gives."""
    return any(pattern.fullmatch(name) for pattern in (DATA_FILE, _LOG, _UNFINISHED))


def manifest_there(directory: Path) -> tuple[int, ...] | None:
    """What tells the manifest that a folder has now from those that it had; None where there is none."""
    try:
        status = os.stat(directory / NAME)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def log_name(digest: str) -> str:
    """The file of the changes since a manifest was written, if there is one."""
    return f"changes-{digest[:16]}.log"


def digest_of(manifest: Manifest) -> str:
    """What the digest of a manifest will be when it is read."""
    return hashlib.sha256(_text(encoded(manifest))).hexdigest()


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Replace the manifest of a directory in one step, which every file of the new one must precede."""
    graph = encoded(manifest)
    version = _SEGMENTS if _NUMBERS & graph.keys() else _CONSECUTIVE
    version = _ORDERED if any("orders" in table for table in graph["vertex_tables"]) else version
    version = _REPEATED if any("ids_repeat" in table for table in graph["vertex_tables"]) else version
    content = _text(graph)
    head = json.dumps({"format": FORMAT, "version": version, "checksum": zlib.crc32(content)}).encode()
    text = head[:-1] + _BEFORE + content + _BEHIND
    if len(text) > _LARGEST:
        raise LoadError("the graph has more tables and columns than a saved graph can hold", file=str(directory))
    unfinished = directory / f"gquery.{secrets.token_hex(4)}.tmp"
    with open(unfinished, "xb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, directory / NAME)
    sync_directory(directory)


def read_manifest(directory: Path) -> Manifest:
    """The manifest of a saved graph; LoadError when there is none, it is damaged, or of another version."""
    path = directory / NAME
    try:
        document, graph = _parsed(_read(path))
        if document["format"] == FORMAT and document["version"] not in _VERSIONS:
            raise LoadError(
                f"the graph was saved in version {document['version']} of the format, this gquery reads those up to "
                f"{_REPEATED}",
                file=str(path),
                hint="load the graph from its source and save it again, or open it with the gquery that saved it",
            )
        if document["format"] != FORMAT or document["checksum"] != zlib.crc32(graph):
            raise _damaged(path)
        return replace(decoded(document["graph"]), digest=hashlib.sha256(graph).hexdigest())
    except (FileNotFoundError, NotADirectoryError):
        raise _absent(directory) from None
    except OSError as error:
        raise LoadError(f"the saved graph cannot be read: {error.strerror or error}", file=str(path)) from error
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        OverflowError,
        RecursionError,
        pa.ArrowException,
    ) as error:
        raise _damaged(path) from error


def _parsed(text: bytes) -> tuple[Any, bytes]:
    """The document, and what its checksum is taken of: that stands in the text, but in one of before November 2026."""
    if not text.startswith(b'{"'):
        document = json.loads(text, parse_constant=_refuse)
        return document, _text(document["graph"])
    head, _, content = text.removesuffix(_BEHIND).partition(_BEFORE)
    graph = json.loads(content, parse_constant=_refuse)
    return json.loads(head + _BEHIND, parse_constant=_refuse) | {"graph": graph}, content


def _read(path: Path) -> bytes:
    descriptor, _ = open_regular(str(path))
    with open(descriptor, "rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError("too long")
    return content


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _absent(directory: Path) -> LoadError:
    what = "is no saved graph" if directory.exists() else "does not exist"
    return LoadError(
        f"`{directory}` {what}",
        file=str(directory),
        hint="`save` makes such a folder; CSV, Parquet and edge lists are read by `gquery.load`",
    )


def _damaged(path: Path) -> LoadError:
    return LoadError(
        "the saved graph is damaged: its manifest does not have the content that was saved",
        file=str(path),
        hint="bring the folder back from a copy, or load the graph from its source and save it again",
    )


def _text(graph: Any) -> bytes:
    """What the checksum is taken of."""
    return json.dumps(graph).encode()
