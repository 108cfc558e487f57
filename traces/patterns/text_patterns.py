"""Pattern files of text logs of any system: what their tables may leave out, and what their examples show.

They are the files of ``catalogue.py`` with less that is needed: loggers, conversions and meanings may be left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from assay.traces.patterns.regex_cost import bounded, degree

ANY_LOGGER = ("",)
UNRELATED = ("", "x", "42", "the quick brown fox", "2026-11-21 10:00:00,000 INFO [main] a.b.C: done (in 3 ms)")
"""Lines that no pattern describes on purpose: one that describes several of them describes everything."""

LINE_KEYS = frozenset({"name", "pattern", "example"})
_DEFAULTS: Mapping[str, Any] = {"loggers": list(ANY_LOGGER), "meaning": ""}


def completed(table: Mapping[str, Any]) -> dict[str, Any]:
    """A ``[[shape]]`` table with what it may leave out. Groups without a conversion are ``auto``, and the kind is empty
    if a group of the pattern is the event.
    """
    found = {**_DEFAULTS, **table}
    # `name_` fills the field `name`, as in `line_regex.py`: a regular expression cannot use a group's name twice.
    groups = [group.rstrip("_") for group in _groups(found.get("pattern"))]
    if "event" in groups:
        found.setdefault("kind", "")
    if isinstance(found.get("fields", {}), dict):
        # These groups are the parts of a record. A thread called `7` stays a text.
        found["fields"] = {name: _OF_TEXT.get(name, "auto") for name in groups} | found.get("fields", {})
    found.setdefault("name", found.get("kind"))
    return {key: value for key, value in found.items() if value is not None}


_OF_TEXT = dict.fromkeys(("event", "time", "message", "level", "thread", "logger"), "text")


def _groups(pattern: object) -> Iterator[str]:
    try:
        yield from re.compile(str(pattern)).groupindex
    except re.error:
        return


def line_headers(content: Mapping[str, Any], where: str, problems: list[str]) -> list[re.Pattern[str]]:
    """What stands before a message, by the ``[[line]]`` tables of a file; mistakes go to ``problems``."""
    found: list[re.Pattern[str]] = []
    for number, table in enumerate(content.get("line", ()), 1):
        wrong = list(_header_mistakes(table))
        problems += [f"line {number} of {where}: {text}" for text in wrong]
        if not wrong:
            found.append(re.compile(bounded(table["pattern"])))
    return found


def _header_mistakes(table: Mapping[str, Any]) -> Iterator[str]:
    if "pattern" not in table:
        yield "`pattern` is missing"
    yield from (f"there is no key `{key}`" for key in sorted(set(table) - LINE_KEYS))
    yield from (f"`{key}` is a text" for key in sorted(LINE_KEYS & set(table)) if not isinstance(table[key], str))
    if not isinstance(table.get("pattern"), str):
        return
    try:
        compiled = re.compile(bounded(table["pattern"]))
        if degree(compiled, to_the_end=False) > 1:
            yield "the time that the pattern takes grows faster than the line; say how long its repetitions can be"
    except (re.error, ValueError) as error:
        yield f"the pattern is no regular expression: {error}"
        return
    if isinstance(table.get("example"), str) and compiled.match(table["example"]) is None:
        yield "the pattern does not fit its example"
