"""What a caller of `load` can choose, checked once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gquery.errors import LoadError, did_you_mean

Progress = Callable[[str, float], None]

BAD_ROW_POLICIES = ("error", "skip")
DANGLING_POLICIES = ("error", "skip", "create")


@dataclass(frozen=True, slots=True)
class Options:
    """`delimiter` and `header` None: told by the file. `quote` is one character, or "" when quotes mean nothing."""

    super_labels: Mapping[str, Iterable[str]] = field(default_factory=dict)
    undirected: bool = False
    delimiter: str | None = None
    quote: str = '"'
    array_delimiter: str = ";"
    header: bool | None = None
    on_bad_row: str = "error"
    on_dangling: str = "error"
    progress: Progress | None = None

    def __post_init__(self) -> None:
        _check_choice("on_bad_row", self.on_bad_row, BAD_ROW_POLICIES)
        _check_choice("on_dangling", self.on_dangling, DANGLING_POLICIES)
        check_character("delimiter", self.delimiter)
        check_character("array_delimiter", self.array_delimiter)
        if self.quote:
            check_character("quote", self.quote)


def check_character(option: str, value: object) -> None:
    """Raises LoadError unless `value` is None or one ASCII character that can separate or quote fields."""
    if value is None:
        return
    if not (isinstance(value, str) and len(value) == 1 and value.isascii()) or value in "\n\r\0":
        raise LoadError(f"option `{option}` is {value!r}, not one ASCII character", hint="write for example ',' or '|'")


def _check_choice(option: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise LoadError(
            f"option `{option}` is {value!r}, which is none of {', '.join(choices)}",
            hint=did_you_mean(str(value), choices),
        )
