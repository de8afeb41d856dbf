"""From the parser's reductions to the syntax tree: one method for each rule or alias of `gquery.lark`.

A method gets the rule's children in order, every token among them and None for what was left out, so that the first
and the last child give the span. It returns a node, or for a part without a node of its own a list, tuple or string.
"""

from __future__ import annotations

from gquery.grammar.builder.clauses import ClauseRules
from gquery.grammar.builder.expressions import ExpressionRules
from gquery.grammar.builder.patterns import PatternRules
from gquery.grammar.builder.updates import UpdateRules


class Builder(ClauseRules, UpdateRules, PatternRules, ExpressionRules):
    """The methods are called by the parser, by name; the object has no state."""
