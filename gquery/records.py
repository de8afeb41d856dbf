"""Data classes that nobody changes, and that are made often.

A frozen data class sets its fields in a roundabout way, past the method that refuses everybody else: one of six fields
takes ten times as long to make as one that is not frozen, and a short query makes some hundreds. That nobody changes
one is seen by mypy, for which `record` is `dataclass`. When the program runs, a record is compared and hashed like a
frozen data class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(*, frozen, **options):
        """The decorator `dataclass(frozen=True, ...)`, but for what happens when a field is set later."""
        assert frozen

        def decorate(kind):
            return dataclass(unsafe_hash=kind.__dict__.get("__hash__") is None, **options)(kind)

        return decorate
