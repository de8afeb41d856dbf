"""Random edits of bytes."""

from __future__ import annotations

import random

PIECES = [
    b"\0", b'"', b",", b"\n", b"\r", b"\t", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1f\x8b", b"9" * 40, b"-", b"::",
    b"[]", b"#", b"t ", b"e ", b"|", b"`", b"(", b")", b";", b"\xed\xa0\x80", b"1e999", b"NaN", b" " * 70,
    b"2020-02-30", b"a" * 300, b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\1\0\0\0\0\0\0\0",
]  # fmt: skip


def mutate(data: bytes, source: random.Random) -> bytes:
    """One to four random edits: cut, delete, double, overwrite, insert, swap."""
    for _ in range(source.randint(1, 4)):
        at = source.randint(0, len(data))
        match source.randrange(6):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + data[at + source.randint(1, 8) :]
            case 2:
                data = data[:at] + data[max(0, at - 20) : at] + data[at:]
            case 3:
                data = data[:at] + bytes([source.randrange(256)]) + data[at + 1 :]
            case 4:
                data = data[at:] + data[:at] if source.random() < 0.1 else data[:at] + data[at + 1 :]
            case _:
                data = data[:at] + source.choice(PIECES) + data[at:]
    return data
