"""Binds what stands behind USING: how a pattern is to be matched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gquery.errors import BindError, did_you_mean
from gquery.grammar import ast
from gquery.planner.binding.scope import Names
from gquery.settings import Device, parse_device


@dataclass(slots=True)
class Hints:
    """device: where the query is to be matched, once a clause has said so."""

    device: Device | None = None

    def lead(self, clauses: Iterable[ast.Match], names: Names) -> tuple[str, ...]:
        """The nodes that the matching order of some clauses is to begin with; a device is kept for the whole query."""
        found: list[str] = []
        for hint in (hint for clause in clauses for hint in clause.hints):
            if isinstance(hint, ast.DeviceHint):
                self._choose(hint)
            else:
                found += [self._node(node, names) for node in hint.nodes]
        return tuple(dict.fromkeys(found))

    def _choose(self, hint: ast.DeviceHint) -> None:
        try:
            device = parse_device(hint.device)
        except BindError as error:
            raise BindError(error.message, span=hint.span, hint=error.hint) from None
        if self.device not in (None, device):
            raise BindError(f"the query is matched on one device, `{self.device}` or `{device}`", span=hint.span)
        self.device = device

    def _node(self, node: ast.Variable, names: Names) -> str:
        if node.name not in names.vertices:
            hint = did_you_mean(node.name, names.vertices) or "name nodes of this MATCH"
            raise BindError(f"USING speaks of `{node.name}`, which is no node here", span=node.span, hint=hint)
        return node.name
