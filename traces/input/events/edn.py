"""Lines of Jepsen: its histories in EDN (https://github.com/edn-format/edn), one map a line, and its log, whose lines
are ``0 :invoke :write 3`` behind a logger.

A line becomes the object that a JSON line would hold. Keywords and symbols are texts, ``nil`` is null, vectors, lists
and sets are lists, and a tagged value is the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

DEEPEST = 64
"""How deep a value may be nested."""

_LIKE_A_MAP = re.compile(rb"\s*(?:#[A-Za-z][\w./*+!?$%&=<>-]*\s*)?\{\s*:")
_LIKE_A_LOG = re.compile(
    rb"(?:.*?\sjepsen\.\S+\s+-\s+|.*?\sjepsen\.\S+:?\s+)?(\d+|:nemesis)\s+:(invoke|ok|fail|info)\s+:(\S+)(?:\s+(.*\S))?\s*"
)
_TOKEN = re.compile(
    r"""[\s,]*(?:;[^\n]*[\s,]*)*(?:
        (?P<open>\#\{|[\[({])|(?P<close>[\])}])|(?P<text>"(?:\\.|[^"\\])*")|(?P<discard>\#_)|(?P<tag>\#[A-Za-z][^\s,\[\](){}"]*)
        |(?P<character>\\(?:newline|space|tab|return|formfeed|backspace|u[0-9A-Fa-f]{4}|\S))|(?P<atom>[^\s,\[\](){}";\#]+))""",
    re.VERBOSE | re.DOTALL,
)
_CLOSES = {"{": "}", "#{": "}", "[": "]", "(": ")"}
_NUMBER = re.compile(r"[+-]?\d")
_NAMED = {"newline": "\n", "space": " ", "tab": "\t", "return": "\r", "formfeed": "\f", "backspace": "\b"}
_CONSTANTS: dict[str, object] = {"nil": None, "true": True, "false": False}


class EdnError(ValueError):
    """Raised for text that is no EDN; the text says why."""


def is_jepsen(line: bytes) -> bool:
    """Whether a line is a map in EDN, or an operation in a log of Jepsen."""
    return _LIKE_A_MAP.match(line) is not None or _LIKE_A_LOG.fullmatch(line) is not None


def jepsen_object(line: bytes) -> Any:
    """The object of such a line. Raises ``EdnError``."""
    logged = _LIKE_A_LOG.fullmatch(line)
    if logged is None:
        return edn_value(line.decode())
    process, phase, operation, value = logged.groups()
    found = {"process": _atom(process.decode()), "type": phase.decode(), "f": operation.decode()}
    if value is not None:
        found["value"], *more = _all_values(value.decode())
        if more:
            # Jepsen prints the reason of a failure behind the value: `0 :info :write 3 :timed-out`.
            found["error"] = more[0]
    return found


def edn_value(text: str) -> Any:
    """The value that a text holds. Raises ``EdnError``."""
    found = _all_values(text)
    if len(found) != 1:
        raise EdnError("the line is no EDN map" if not found else "more follows the value of the line")
    return found[0]


def _all_values(text: str) -> list[Any]:
    tokens = _tokens(text)
    found: list[Any] = []
    for kind, token in tokens:
        found += _value(kind, token, tokens, 0)
    return found


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at, end = 0, len(text.rstrip(" \t\r\n,"))
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            if text[at:].lstrip(" ,\t").startswith(";"):
                return
            raise EdnError(f"the line is no EDN from column {at + 1} on, or only the beginning of it")
        yield found.lastgroup, found[found.lastgroup]
        at = found.end()


def _value(kind: str, token: str, tokens: Iterator[tuple[str, str]], depth: int) -> list[Any]:
    """The value that a token begins, as a list: a discarded one is none."""
    if depth > DEEPEST:
        raise EdnError(f"it is nested in more than {DEEPEST} lists and maps")
    match kind:
        case "open":
            return [_collection(token, tokens, depth)]
        case "close":
            raise EdnError(f"`{token}` closes nothing")
        case "text":
            return [_text(token)]
        case "discard":
            _next(tokens, depth)
            return []
        case "tag":
            return [_next(tokens, depth)]
        case "character":
            name = token[1:]
            return [_NAMED.get(name) or (chr(int(name[1:], 16)) if len(name) == 5 else name)]
        case _:
            return [_atom(token)]


def _next(tokens: Iterator[tuple[str, str]], depth: int) -> Any:
    """The next value."""
    for kind, token in tokens:
        found = _value(kind, token, tokens, depth + 1)
        if found:
            return found[0]
    raise EdnError("a tag has no value behind it")


def _collection(opening: str, tokens: Iterator[tuple[str, str]], depth: int) -> Any:
    found: list[Any] = []
    for kind, token in tokens:
        if kind == "close":
            if token != _CLOSES[opening]:
                raise EdnError(f"`{opening}` is closed by `{token}`")
            return _map(found) if opening == "{" else found
        found += _value(kind, token, tokens, depth + 1)
    raise EdnError(f"`{opening}` is not closed: the line is only the beginning of an EDN value")


def _map(parts: list[Any]) -> dict[str, Any]:
    if len(parts) % 2:
        raise EdnError("a map has a key without a value")
    keys = [key if isinstance(key, str) else json.dumps(key, default=str) for key in parts[::2]]
    doubled = {key for key in keys if keys.count(key) > 1}
    if doubled:
        raise EdnError(f"the line has the key `{min(doubled)}` twice")
    return dict(zip(keys, parts[1::2], strict=True))


def _text(token: str) -> str:
    try:
        # Not strict, because texts in EDN may hold line feeds as they are.
        text: str = json.loads(token, strict=False)
    except ValueError:
        raise EdnError(f"{token} has an escape that no text in EDN has") from None
    return text


def _atom(token: str) -> Any:
    if token in _CONSTANTS:
        return _CONSTANTS[token]
    if _NUMBER.match(token):
        try:
            # EDN marks integers of any size with `N`, and decimals with `M`.
            number = Decimal(token.rstrip("NM"))
        except InvalidOperation:
            return token
        return int(number) if token.rstrip("N").lstrip("+-").isdecimal() else number
    return token.removeprefix(":")
