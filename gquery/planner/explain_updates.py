"""What a clause changes, as EXPLAIN prints it."""

from __future__ import annotations

from collections.abc import Iterator

from gquery.planner.ir.updates import (
    OWN,
    Change,
    Create,
    Delete,
    Give,
    GiveLabels,
    GiveMap,
    Given,
    GiveValues,
    Merge,
    Update,
)


def update_heading(update: Update) -> str:
    """The clause that changes the graph."""
    match update.action:
        case Create():
            return "CREATE, for all rows at once"
        case Merge(apart=apart):
            return "MERGE, row by row" if apart else "MERGE, for all rows at once"
        case Give():
            return "SET, for all rows at once"
        case Delete(detach=detach):
            return "DETACH DELETE, for all rows at once" if detach else "DELETE, for all rows at once"
    return "Keep the rows"


def update_lines(update: Update) -> list[str]:
    """What is made, set or deleted."""
    match update.action:
        case Create() as create:
            return [f"Make {text}" for text in _made(create)]
        case Merge(create=create):
            return [f"Make {text} where it is not found, once for the same values" for text in _made(create)]
        case Give(changes=changes):
            return list(map(_changed, changes))
        case Delete(columns=columns):
            return [f"Delete {len(columns)} element{'s' if len(columns) > 1 else ''} of each row"]
    return []


def _made(create: Create) -> Iterator[str]:
    for vertex in create.vertices:
        labels = "".join(f":{label}" for label in vertex.labels)
        yield f"({_name(vertex.variable)}{labels}{_keys(vertex.properties)})"
    for edge in create.edges:
        inside = f"[{_name(edge.variable)}:{edge.type}{_keys(edge.properties)}]"
        yield f"({_name(edge.source)})-{inside}->({_name(edge.target)})"


def _keys(properties: tuple[Given, ...]) -> str:
    return " {" + ", ".join(each.key for each in properties) + "}" if properties else ""


def _changed(change: Change) -> str:
    match change:
        case GiveValues(properties=properties, replacing=replacing):
            keys = ", ".join(each.key for each in properties) or "nothing"
            return f"Set {keys}, and nothing else" if replacing else f"Set {keys}"
        case GiveMap(replacing=replacing):
            return "Set what a map has, and nothing else" if replacing else "Set what a map has"
        case GiveLabels(labels=labels, removing=removing):
            return ("Remove " if removing else "Set ") + "".join(f":{label}" for label in labels)


def _name(variable: str) -> str:
    return "" if variable.startswith(OWN) else variable
