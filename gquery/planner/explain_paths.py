"""Relationships of variable length in plans as text."""

from __future__ import annotations

from gquery.planner.explain_filters import looked_up_lines
from gquery.planner.ir.query_plan import PathsPlan
from gquery.planner.ir.written import written


def paths_heading(plan: PathsPlan) -> str:
    """The relationship with its length, and what its rows are joined by, if they are."""
    segment = plan.segment
    words = ["MATCH"]
    if segment.shortest is not None:
        words.append("ALL SHORTEST" if segment.shortest == "all" else f"SHORTEST {segment.shortest}")
    words.append(segment.mode.upper() if segment.mode != "any" else "TRAIL" if segment.differ else "WALK")
    joined = f", joined by {', '.join(segment.bound)}" if plan.joined else ""
    most = "" if segment.most is None else segment.most
    words.append(f"{segment.edge.described}{{{segment.least},{most}}}" + joined)
    return " ".join(words)


def paths_lines(plan: PathsPlan) -> list[str]:
    segment = plan.segment
    source, target = (segment.graph.vertices[end].described for end in (segment.source, segment.target))
    both = f" and from {target}" if segment.graph.vertices[segment.target].variable in segment.bound else ""
    at_once = plan.together and not segment.depends_on_source
    how = "all at once and breadth first" if at_once else "breadth first"
    back = "until they meet" if both and plan.measured and segment.shortest == 1 else "and back along the distances"
    lines = {
        "sweep": f"Sweep from {source}, {how}, for where paths lead",
        "shortest": f"Go breadth first from {source}{both}, {back}",
        "count": f"Go breadth first from {source}{both}, and count the shortest paths that meet",
        "list": f"List paths from {source} hop by hop",
    }
    conditions = [(segment.edge.described, segment.edge.predicates)]
    conditions += [(target, segment.graph.vertices[segment.target].predicates)]
    apart = [f"{target}: <> {source}"] if segment.apart else []
    conditions += [("each edge and the one before", segment.following), (f"each edge and {source}", segment.of_source)]
    asked = [f"{name}: {written(each)}" for name, each in conditions if each]
    looked_up = [] if plan.begins is None else ["Begin with what is looked up", *looked_up_lines(plan.begins)]
    measured = ["Hand on how long paths are, and not the paths"] if plan.measured else []
    return [*looked_up, *asked, *apart, lines[plan.way], *measured]
