"""Values as they are written: JSON without a loss, ``key=value`` lines (logfmt), and the cells of tables."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Set
from decimal import Decimal
from typing import Any

from assay.traces.patterns.field_types import scalar

MOST_KEYS = 12
"""How many keys of a line are listed."""

TWICE: Any = object()
"""The key of an object under which the names are that it holds twice."""

MISFIT: Any = object()
"""The key of a row under which it is said why nobody knows which of its cells is under which name."""

_PAIR = re.compile(r'([^\s="]{1,200})=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))(?=\s|\Z)|([^\s="]{1,200})(?=\s|\Z)')
_LOGFMT = re.compile(rb'\s*[A-Za-z_@][\w.@/-]{0,200}=(?:"|[^\s"]*(?:\s|\Z))')


def exact_json(text: bytes) -> Any:
    """A JSON value: numbers with a fraction as decimals, and names that an object holds twice under ``TWICE``.

    Raises ``ValueError``, or ``RecursionError``.
    """
    text = text.removeprefix(b"\xef\xbb\xbf")
    # UTF-8 holds no zero byte and neither of these two; `json.loads` would make a decoder for each line.
    encoding = json.detect_encoding(text) if b"\0" in text or text[:1] in {b"\xfe", b"\xff"} else "utf-8"
    return _DECODER.decode(text.decode(encoding, "surrogatepass"))


def keys_of(line: bytes) -> list[str]:
    """The keys of an object in JSON or logfmt, those of nested objects with a dot; none if the line is no object."""
    try:
        content = logfmt(line) if is_logfmt(line) else exact_json(line)
    except (ValueError, RecursionError):
        return []
    if not isinstance(content, dict):
        return []
    found: list[str] = []
    for key, value in content.items():
        inner = value if isinstance(value, dict) else {}
        found += [f"{key}.{name}" for name in inner if name is not TWICE] or ([] if key is TWICE else [key])
    return found[:MOST_KEYS]


def unusual_json(error: Exception) -> str | None:
    """What is unusual about a text that may be JSON and was not read; None if it is no JSON."""
    if isinstance(error, RecursionError):
        return "its lists and objects are nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return None
    return "it holds a number of more than 4,300 digits" if "digits" in str(error) else None


def _object_of(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
    """An object; a key that is there twice is noted, for it is not known which of its values is meant."""
    content: dict[Any, Any] = dict(pairs)
    if len(content) != len(pairs):
        names = [name for name, _ in pairs]
        content[TWICE] = frozenset(name for name in names if names.count(name) > 1)
    return content


# As decimals: 0.29 times 100 is 29, and as floats it is 28.999999999999996.
_DECODER = json.JSONDecoder(parse_float=Decimal, object_pairs_hook=_object_of)


def named_twice(content: Mapping[Any, Any]) -> Set[str]:
    """The keys that the text of an object holds twice."""
    found: Set[str] = content.get(TWICE, frozenset())
    return found


def is_logfmt(line: bytes) -> bool:
    """Whether a line begins with a key, an equals sign and a value."""
    return _LOGFMT.match(line) is not None


def logfmt(line: bytes) -> dict[Any, Any]:
    """The keys and values of a line such as ``level=info msg="so it is"``; a key without a value is true."""
    pairs: list[tuple[str, Any]] = []
    for key, quoted, plain, alone in _PAIR.findall(line.decode("utf-8", "replace")):
        if alone:
            pairs.append((alone, True))
        elif quoted:
            pairs.append((key, _unescaped(quoted)))
        else:
            pairs.append((key, cell(plain)))
    return _object_of(pairs)


def _unescaped(quoted: str) -> str:
    try:
        return str(json.loads(f'"{quoted}"'))
    except ValueError:
        return quoted


def cell(text: str) -> Any:
    """The value of a cell: a number, a truth, a list or an object in JSON, a text; None if it is empty."""
    if text[:1] in {"[", "{"}:
        try:
            return exact_json(text.encode())
        except (ValueError, RecursionError):
            return text
    return scalar(text) if text and text != "null" else None
