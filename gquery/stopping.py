"""How work stays stoppable: whatever loops over what a user gave calls a check now and then.

A check raises QueryTimeout or QueryCancelled when the work has to end; `Control.check` of the executor is one. It costs
less than a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable

Check = Callable[[], object]


def unchecked() -> None:
    """The check of work that nobody stops."""
