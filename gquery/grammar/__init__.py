"""From text to syntax tree and back: `parser.parse`, `unparse.unparse`, and the tree itself, `ast`."""

from gquery.grammar.parser import keywords, parse
from gquery.grammar.unparse import unparse

__all__ = ["keywords", "parse", "unparse"]
