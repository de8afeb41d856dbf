"""What Lark makes of `gquery.lark`, as plain data: the terminals, the rules, and the table of the LALR(1) parser.

Making it takes Lark a tenth of a second, so it is kept as JSON for the processes to come, under a digest of what it is
made of. Lark is not even imported then.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from gquery.caches import folder_for, keep

Table = dict[str, Any]
"""terminals: (name, regular expression or text as written, which of them, priority). ignored: names of terminals.
rules: (how many symbols, name, method of the builder or None, whether a single child stands for the whole, children:
the place of a symbol or None for what was left out, places of symbols whose own children stand here). symbols: names.
states: by symbol's number as text, the state to go to or -1 - the rule to reduce. begin, end: states."""

_HERE = Path(__file__).parent
_GRAMMAR = _HERE / "gquery.lark"


def read_table() -> Table:
    """The table as it was kept, or made and kept now."""
    path = _kept_at()
    try:
        table: Table = json.loads(path.read_bytes())
    except (OSError, ValueError):
        table = make_table()
        keep(path, json.dumps(table, separators=(",", ":")).encode())
    return table


def _kept_at() -> Path:
    digest = hashlib.sha256(_GRAMMAR.read_bytes() + Path(__file__).read_bytes()).hexdigest()
    return folder_for(_HERE) / f"grammar-{digest[:16]}.json"


def make_table() -> Table:
    """The table, by Lark."""
    from lark import Lark
    from lark.lexer import Lexer

    class OwnScanner(Lexer):
        """Stands where Lark wants a lexer: the tokens come from `scanner.scan`."""

        def __init__(self, lexer_conf: Any) -> None:
            pass

        def lex(self, *_: Any) -> Any:
            raise AssertionError("Lark is asked for its table alone")

    grammar = _GRAMMAR.read_text(encoding="utf-8")
    lark = Lark(grammar, parser="lalr", lexer=OwnScanner, start="query", keep_all_tokens=True)
    parser: Any = lark.parse_interactive().parser_state.parse_conf
    rows = list(parser.states.values())
    rules = list(dict.fromkeys(action for row in rows for _, action in row.values() if _is_rule(action)))
    symbols = list(dict.fromkeys(str(symbol) for row in rows for symbol in row))
    rule_number = {rule: number for number, rule in enumerate(rules)}
    symbol_number = {symbol: str(number) for number, symbol in enumerate(symbols)}
    state_number = {state: number for number, state in enumerate(parser.states)}
    return {
        "terminals": [_terminal(each) for each in lark.terminals],
        "ignored": list(lark.ignore_tokens),
        "rules": [_rule(rule) for rule in rules],
        "symbols": symbols,
        "states": [
            {
                symbol_number[str(symbol)]: -1 - rule_number[found] if _is_rule(found) else state_number[found]
                for symbol, (_, found) in row.items()
            }
            for row in rows
        ],
        "begin": state_number[parser.start_state],
        "end": state_number[parser.end_state],
    }


def _is_rule(action: Any) -> bool:
    return hasattr(action, "expansion")


def _terminal(terminal: Any) -> list[Any]:
    pattern = terminal.pattern
    is_text = pattern.type == "str"
    return [terminal.name, pattern.value if is_text else pattern.to_regexp(), is_text, terminal.priority]


def _rule(rule: Any) -> list[Any]:
    """A rule whose name begins with `_` is part of those that use it, and one that begins with `?` is no more than its
    only child, as Lark has it."""
    name, options, places = str(rule.origin.name), rule.options, iter(range(len(rule.expansion)))
    method = str(rule.alias or options.template_source or name)
    children = [None if absent else next(places) for absent in options.empty_indices or [False] * len(rule.expansion)]
    spread = [place for place, each in enumerate(rule.expansion) if not each.is_term and each.name.startswith("_")]
    single = bool(options.expand1 and not rule.alias)
    nothing = method.startswith("_") or (single and len(children) == 1 and not spread)
    return [len(rule.expansion), name, None if nothing else method, single, children, spread]
