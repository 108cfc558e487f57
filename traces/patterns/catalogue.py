"""Catalogues of line patterns, read from TOML files: the built-in ones and a user's own.

In the files a pattern is a ``[[shape]]`` table.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Span, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.patterns.container import Containers
from assay.traces.patterns.container_files import built_in_containers, load_containers
from assay.traces.patterns.field_types import CONVERSIONS
from assay.traces.patterns.line_regex import LineRegex, MatchExtent
from assay.traces.patterns.pattern import LinePattern
from assay.traces.patterns.regex_cost import EXPONENTIAL, LONGEST
from assay.traces.patterns.text_patterns import completed, line_headers
from assay.traces.patterns.toml_tables import toml_tables

BUILT_IN = (
    "kafka.toml",
    "directories.toml",
    "earlier.toml",
    "oldest.toml",
    "kraft.toml",
    "kraft_partitions.toml",
    "leadership.toml",
    "partitions.toml",
    "rare.toml",
    "attempts.toml",
    "zookeeper.toml",
)
"""The pattern files that come with the product, in the order in which their patterns are tried."""

_KEYS = frozenset(
    {
        *("name", "kind", "loggers", "reads", "around", "pattern", "literal", "fields", "constants", "unknown"),
        *("writer", "role", "joins", "clock", "anchor", "versions", "meaning", "example", "holds"),
    }
)
# `tomllib` tells where a mistake is in the text of its error alone.
_AT = re.compile(r"\(at line (\d+), column (\d+)\)")
_TABLE = re.compile(r"(shape|line|container) (\d+) of (.+?): ")
_TABLES = ("fields", "constants", "unknown", "holds")
_REQUIRED = ("name", "kind", "loggers", "pattern", "meaning", "example")
_ROLES = frozenset(
    {
        *("process prelude", "process start", "process running", "process thread", "process end"),
        *("session client", "session start", "session state", "session end"),
        *("registration", "configuration", "version"),
    }
)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Line patterns, the protocol loggers, and the containers out of which lines are taken. A pattern should describe
    every record of a protocol logger; ``*`` stands for any text.

    ``headers`` are what stands before a message in a text log, if its pattern file says it.
    """

    patterns: tuple[LinePattern, ...]
    protocol: tuple[str, ...]
    containers: Containers = field(default_factory=built_in_containers, repr=False, compare=False)
    headers: tuple[re.Pattern[str], ...] = ()
    _by_name: Mapping[str, LinePattern] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Reversed, so that the first of several patterns of a name stays.
        object.__setattr__(self, "_by_name", {pattern.name: pattern for pattern in reversed(self.patterns)})

    def pattern(self, name: str) -> LinePattern:
        """The pattern of that name; raises KeyError if there is none."""
        return self._by_name[name]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of events that these patterns can produce, sorted."""
        return tuple(sorted({pattern.kind for pattern in self.patterns}))


@dataclass(frozen=True, slots=True)
class PatternFileText:
    """The content of a pattern file, for a process (such as a Spark task) that cannot open the file."""

    name: str
    content: bytes

    def __str__(self) -> str:
        return self.name

    def read_text(self, encoding: str) -> str:
        """The text of the file."""
        return self.content.decode(encoding)


def content_of(path: Path) -> PatternFileText:
    """The content of a pattern file; raises SpecError (E701) if it cannot be read."""
    try:
        return PatternFileText(str(path), path.read_bytes())
    except OSError as error:
        raise SpecError([_unreadable(path, error)]) from None


def load_catalogue(extra: Iterable[Path | PatternFileText] = (), *, text: bool = False) -> Catalogue:
    """The built-in patterns and those of further files; of a ``text`` log of any system those of the files alone.

    Raises SpecError with one diagnostic for each mistake (E701, E702).
    """
    problems: list[Diagnostic] = []
    built_in, loggers_built_in = ((), ()) if text else _built_in()
    patterns, protocol = list(built_in), list(loggers_built_in)
    contents: list[tuple[str, Mapping[str, Any]]] = []
    headers: list[re.Pattern[str]] = []
    for source in extra:
        content = _parse(source, problems)
        contents.append((str(source), content))
        more, loggers = checked_patterns(source, content, problems, text=text)
        patterns += more
        protocol += loggers
        mistakes: list[str] = []
        headers += line_headers(content, str(source), mistakes)
        problems += map(_problem, mistakes)
    names = [pattern.name for pattern in patterns]
    problems += [
        _problem(f"two shapes are named `{name}`") for name in sorted({n for n in names if names.count(n) > 1})
    ]
    containers, wrong = load_containers(contents)
    problems += map(_problem, wrong)
    if problems:
        raise SpecError(map(_with_place, problems))
    return Catalogue(tuple(patterns), tuple(dict.fromkeys(protocol)), containers, tuple(headers))


@cache
def _built_in() -> tuple[tuple[LinePattern, ...], tuple[str, ...]]:
    """The built-in patterns, and their protocol loggers. That they have no mistakes is tested, and not asked again each
    time: it takes a fifth of a second.
    """
    contents = built_in_contents()
    patterns = tuple(_line_pattern(entry) for content in contents.values() for entry in content.get("shape", []))
    return patterns, tuple(name for content in contents.values() for name in content.get("protocol", []))


def built_in_contents() -> dict[str, Mapping[str, Any]]:
    """The contents of the built-in pattern files, by name."""
    tables = toml_tables("assay.traces.patterns.lines")
    return {name: tables[name] for name in BUILT_IN}


def checked_patterns(
    source: object, content: Mapping[str, Any], problems: list[Diagnostic], *, text: bool = False
) -> tuple[list[LinePattern], list[str]]:
    """The patterns of a file with such content, and its protocol loggers; adds a diagnostic for each mistake."""
    tables = enumerate(map(completed, content.get("shape", [])) if text else content.get("shape", []), 1)
    patterns = [_checked(entry, f"shape {number} of {source}", problems) for number, entry in tables]
    return [pattern for pattern in patterns if pattern is not None], content.get("protocol", [])


def _problem(message: str, code: str = "E702", span: Span = NOWHERE) -> Diagnostic:
    return Diagnostic(code, span, message)


def _parse(source: Path | PatternFileText, problems: list[Diagnostic]) -> dict[str, Any]:
    """The content of a pattern file; if the file cannot be read, an empty dictionary and one more diagnostic."""
    span = Span(str(source), 1, 1, 1, 1)
    try:
        content = tomllib.loads(source.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(_unreadable(source, error))
        return {}
    tables = (content.get(key, []) for key in ("shape", "line", "container"))
    if not (all(_is_list_of(each, dict) for each in tables) and _is_list_of(content.get("protocol", []), str)):
        text = "`[[shape]]` is a table, and so are `[[line]]` and `[[container]]`; `protocol` is a list of logger names"
        problems.append(_problem(text, "E701", span))
        return {}
    return content


def _unreadable(source: object, error: Exception) -> Diagnostic:
    reported = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    place = _AT.search(reported) if isinstance(error, tomllib.TOMLDecodeError) else None
    line, column = (int(place[1]), int(place[2])) if place is not None else (1, 1)
    return _problem(f"the shape file cannot be read: {reported}", "E701", Span(str(source), line, column, line, column))


def _with_place(problem: Diagnostic) -> Diagnostic:
    """A mistake in the n-th table of a file, at the head of that table."""
    # Parsed TOML has no places. The message says which table it is, such as `shape 3 of own.toml: …`; heads are
    # counted.
    found = _TABLE.match(problem.message) if problem.span == NOWHERE else None
    if found is None:
        return problem
    kind, number, file = found.groups()
    try:
        lines = Path(file).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return problem
    heads = [at for at, line in enumerate(lines, 1) if line.replace(" ", "").startswith(f"[[{kind}]]")]
    if int(number) > len(heads):
        return problem
    at = heads[int(number) - 1]
    return replace(problem, span=Span(file, at, 1, at, 1))


def _is_list_of(value: object, kind: type) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


def _checked(entry: Mapping[str, Any], where: str, problems: list[Diagnostic]) -> LinePattern | None:
    """The pattern of one table; None, and diagnostics that say why, if the table has mistakes."""
    wrong = [f"{where}: {text}" for text in _mistakes(entry)]
    problems += [_problem(text) for text in wrong]
    if wrong:
        return None
    return _line_pattern(entry)


def _line_pattern(entry: Mapping[str, Any]) -> LinePattern:
    regex, around = _regexes(entry)
    return LinePattern(
        name=entry["name"],
        kind=entry["kind"],
        loggers=tuple(entry["loggers"]),
        regex=regex,
        literal=entry.get("literal", ""),
        fields=MappingProxyType({name: CONVERSIONS[kind] for name, kind in entry.get("fields", {}).items()}),
        constants=MappingProxyType(dict(entry.get("constants", {}))),
        unknown=MappingProxyType(dict(entry.get("unknown", {}))),
        writer=entry.get("writer"),
        role=entry.get("role"),
        joins=tuple(entry.get("joins", ())),
        anchor=entry.get("anchor", ""),
        versions=entry.get("versions", ""),
        meaning=entry["meaning"],
        example=entry["example"],
        clock=entry.get("clock"),
        holds=MappingProxyType(dict(entry.get("holds", {}))),
        around=around,
    )


def _regexes(entry: Mapping[str, Any]) -> tuple[LineRegex, LineRegex | None]:
    """The regular expression of a table, and the one around its occurrences."""
    around = LineRegex(entry["around"], MatchExtent.WHOLE) if "around" in entry else None
    return LineRegex(entry["pattern"], MatchExtent(entry.get("reads", "whole"))), around


def _mistakes(entry: Mapping[str, Any]) -> list[str]:
    """What is wrong with a table, in words."""
    found = [f"`{key}` is missing" for key in _REQUIRED if key not in entry]
    found += [f"there is no key `{key}`" for key in sorted(set(entry) - _KEYS)]
    texts = set(_KEYS) - {"loggers", "joins", "fields", "constants", "unknown", "holds"}
    found += [f"`{key}` is a text" for key in sorted(texts & set(entry)) if not isinstance(entry[key], str)]
    found += [f"`{key}` is a table" for key in _TABLES if not isinstance(entry.get(key, {}), dict)]
    found += [f"`{key}` is a list of texts" for key in ("loggers", "joins") if not _is_list_of(entry.get(key, []), str)]
    # What follows relies on the types of all keys.
    if found:
        return found
    if entry.get("reads", "whole") not in {item.value for item in MatchExtent}:
        found.append(f"`reads` is whole, start or each, not `{entry['reads']}`")
    if "around" in entry and entry.get("reads") != MatchExtent.EACH.value:
        found.append('`around` goes with `reads = "each"`')
    if entry.get("role") not in _ROLES | {None}:
        found.append(f"`role` is one of {', '.join(sorted(_ROLES))}, not `{entry['role']}`")
    return found + _pattern_mistakes(entry)


def _pattern_mistakes(entry: Mapping[str, Any]) -> list[str]:
    """Patterns that do not compile, fields without a group, groups without a conversion, and unknown conversions."""
    try:
        regexes = [re.compile(entry[key], re.DOTALL) for key in ("pattern", "around") if key in entry]
    except re.error as error:
        return [f"the pattern is no regular expression: {error}"]
    # `name_` fills the field `name`, too (`line_regex.py`).
    groups = {name.rstrip("_") for regex in regexes for name in regex.groupindex}
    fields: Mapping[str, object] = entry.get("fields", {})
    found = _slowness(entry)
    found += [f"the pattern has no group `{name}`" for name in fields if name not in groups]
    found += [f"the group `{name}` has no conversion in `fields`" for name in sorted(groups - set(fields))]
    kinds = ", ".join(CONVERSIONS)
    found += [f"`{kind}` is no conversion; there are {kinds}" for kind in fields.values() if kind not in CONVERSIONS]
    named = [*entry.get("joins", []), *(entry[key] for key in ("writer", "clock") if key in entry)]
    return found + [
        f"`writer`, `clock` and `joins` name fields; there is no field `{name}`" for name in named if name not in fields
    ]


def _slowness(entry: Mapping[str, Any]) -> list[str]:
    """A complaint about a pattern that takes very long on some line; no complaint if there is none."""
    try:
        worst = max(each.degree for each in _regexes(entry) if each is not None)
    except ValueError as error:
        return [str(error)]
    if worst in LONGEST:
        return []
    how = "doubles with every character" if worst == EXPONENTIAL else "grows with the third power of the length"
    return [
        f"on some lines the time that the pattern takes {how}; say how long its repetitions can be, such as `.{{0,300}}`"
    ]
