"""The parser of ``assay.lark``, from tables that come with the package.

Lark takes most of a second to make the tables of the grammar. So they are kept beside it. Where they are of another
grammar or of another version of Lark, they are made anew and kept in the user's cache.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from operator import itemgetter
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule, Terminal
from lark.lark import PostLex
from lark.lexer import TerminalDef

from assay.grammar.user_cache import cached, keep

TABLES = "assay.lark.json.gz"
"""The file beside the grammar; ``pytest --rewrite tests/unit/grammar`` writes it anew."""


def make_parser(layout: PostLex) -> Lark:
    """The parser; ``layout`` makes tokens of line breaks and indentation."""
    found = _of_this_grammar(_package().joinpath(TABLES).read_bytes()) or _of_this_grammar(cached(_cache_entry()))
    if found is None:
        content = new_tables(layout)
        keep(_cache_entry(), content)
        found = json.loads(gzip.decompress(content))
    data, table = found["data"], found["data"]["parser"]["parser"]
    table["tokens"] = _by_number(table["tokens"])
    table["states"] = {number: _by_number(each) for number, each in _by_number(table["states"]).items()}
    parser = Lark.__new__(Lark)
    # Not ``Lark.load``, which would unpickle.
    parser._load({"data": data, "memo": _by_number(found["memo"])}, postlex=layout)
    # An expression goes through a rule for each precedence. Where nothing happens there, its node is the result; Lark
    # would work out its place again, which is a quarter of the time of reading a spec.
    parser._callbacks.update((rule, itemgetter(0)) for rule in parser._callbacks if _hands_on(rule))
    return parser


def _hands_on(rule: Rule) -> bool:
    """Whether the result of a rule is the node of its only symbol."""
    if not rule.options.expand1 or rule.alias or len(rule.expansion) != 1:
        return False
    (symbol,) = rule.expansion
    return not symbol.name.startswith("_") and not (isinstance(symbol, Terminal) and symbol.filter_out)


def new_tables(layout: PostLex) -> bytes:
    """The tables of the grammar, made anew."""
    parser = Lark(
        _grammar(),
        parser="lalr",
        start=["chunk", "lone_expression"],
        postlex=layout,
        propagate_positions=True,
        # Parts that are absent are None among the children, which the builders take by position.
        maybe_placeholders=True,
    )
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    # An object, which JSON cannot hold. `make_parser` gives it again.
    del data["options"]["postlex"]
    text = json.dumps({"version": _version(), "data": data, "memo": memo}, separators=(",", ":"))
    # Without the time, so that the same grammar makes the same bytes.
    return gzip.compress(text.encode(), mtime=0)


def _of_this_grammar(content: bytes | None) -> dict[str, Any] | None:
    tables = None if content is None else json.loads(gzip.decompress(content))
    return tables if tables is not None and tables["version"] == _version() else None


def _by_number(table: dict[str, Any]) -> dict[int, Any]:
    """JSON has texts as keys."""
    return {int(key): value for key, value in table.items()}


def _cache_entry() -> str:
    return f"parser-{_version()}"


@cache
def _version() -> str:
    """Of the grammar and of Lark's minor version: a patch changes neither how tables look nor what they mean."""
    return sha256(f"{_grammar()}\0{lark.__version__.rpartition('.')[0]}".encode()).hexdigest()


def _grammar() -> str:
    return _package().joinpath("assay.lark").read_text(encoding="utf-8")


def _package() -> Traversable:
    return resources.files("assay.grammar")
