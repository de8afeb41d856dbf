"""A saved graph is verified once by each user; whatever changes in it since is verified anew."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from gquery.errors import LoadError
from gquery.storage.persist import open_snapshot, save, verdicts
from tests.storage.snapshots import content, rich_snapshot
from tests.storage.test_persist_damage import tamper

pytestmark = pytest.mark.skipif(os.name != "posix", reason="what is verified is not remembered there")
WHOLE = content(rich_snapshot())
TICK = 0.05  # seconds, after which a change of a file has another time


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of verdicts. Files are taken as settled at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(verdicts, "_SETTLED", -60.0)
    return tmp_path / "cache" / "gquery" / "verified"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A saved graph that was opened and read whole before."""
    folder = tmp_path / "saved.gq"
    save(rich_snapshot(), folder)
    assert content(open_snapshot(folder)) == WHOLE
    time.sleep(TICK)
    return folder


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what checksums are taken of from here on."""
    taken: list[int] = []
    crc32 = zlib.crc32

    def take(data: bytes, before: int = 0) -> int:
        taken.append(len(data))
        return crc32(data, before)

    monkeypatch.setattr("gquery.storage.persist.files.zlib.crc32", take)
    monkeypatch.setattr("gquery.storage.persist.open.disagreement", lambda *_: taken.append(-1))
    return taken


def test_what_was_verified_is_not_verified_again(folder: Path, checks: list[int]) -> None:
    opened = open_snapshot(folder)
    checks.clear()  # that of the manifest
    assert content(opened) == WHOLE
    assert not checks


def victim(folder: Path) -> Path:
    return max(folder.glob("*.arrow"), key=lambda path: path.stat().st_size)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def replace(path: Path) -> None:
    path.rename(path.with_suffix(".old"))
    path.write_bytes(path.with_suffix(".old").read_bytes())
    flip(path)


@pytest.mark.parametrize("change", [flip, replace])
@pytest.mark.parametrize("late", [False, True])
def test_a_change_is_seen_whatever_time_it_claims(folder: Path, change: Callable[[Path], None], late: bool) -> None:
    path = victim(folder)
    status = path.stat()
    opened = open_snapshot(folder) if late else None
    change(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    if late and change is replace:  # what is open has the file that was there
        assert content(opened or open_snapshot(folder)) == WHOLE
        return
    with pytest.raises(LoadError, match="does not have the content"):
        content(opened or open_snapshot(folder))


def test_another_manifest_is_another_graph(folder: Path) -> None:
    tamper(folder, lambda graph: graph["statistics"]["types"]["KNOWS"].update(simple_both=True, simple=True))
    with pytest.raises(LoadError, match="damaged"):
        content(open_snapshot(folder))


def test_a_folder_that_others_may_write_to_is_not_believed(folder: Path, cache: Path, checks: list[int]) -> None:
    cache.chmod(0o777)
    content(open_snapshot(folder))
    assert len(checks) > 10
    cache.chmod(0o700)
    cache.rename(cache.with_name("elsewhere"))
    cache.symlink_to(cache.with_name("elsewhere"))
    checks.clear()
    content(open_snapshot(folder))
    assert len(checks) > 10


@pytest.mark.parametrize("base", ["relative", "/dev/null/cache", ""])
def test_without_a_place_everything_is_verified(folder: Path, base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    monkeypatch.setenv("HOME", "/dev/null")
    assert content(open_snapshot(folder)) == WHOLE


def test_files_that_have_just_changed_are_not_spoken_of(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another change could come within the same tick of the system's clock."""
    monkeypatch.setattr(verdicts, "_SETTLED", 60.0)
    save(rich_snapshot(), tmp_path / "new.gq")
    assert content(open_snapshot(tmp_path / "new.gq")) == WHOLE
    assert not cache.exists()


def test_verdicts_have_a_bound(folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "_MOST_GRAPHS", 3)
    for version in range(1, 7):
        save(rich_snapshot(version), folder)
        assert content(open_snapshot(folder)) == content(rich_snapshot(version))
    assert len(list(cache.iterdir())) == 3
