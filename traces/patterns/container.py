"""What log lines come wrapped in: what a container is called, how it is recognised, and where it has each part."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from enum import Enum

from assay.grammar.lazy_dataclass import dataclass

_STAMP = re.compile(rb"\[?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[,.]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?\]?")


class ContainerForm(Enum):
    """How a container carries lines (``form`` in the files)."""

    PREFIX = "prefix"
    """Before each line."""
    HEADING = "heading"
    """A line by itself, above lines."""
    OBJECT = "object"
    """A JSON object around each line."""
    DOCUMENT = "document"
    """JSON that holds many lines."""
    TABLE = "table"
    """CSV with a head line, or entries of fields."""
    OUTPUT = "output"
    """No log: what a command prints."""


ORIGIN = ("node", "role", "run", "path")
"""The parts that say whose line it is: host, pod or container; what runs there; process number; file."""

PARTS = frozenset({"message", "time", "level", "logger", "thread", "stack", "stream", "sequence", *ORIGIN})
"""All parts that an object or a table may have."""


@dataclass(frozen=True, slots=True)
class FixedFact:
    """A fact in the output of a command: the pattern of its lines, and the text of the notice."""

    pattern: re.Pattern[str]
    text: str


@dataclass(frozen=True, slots=True)
class Container:
    """One entry of the files in ``patterns/containers/``, which say what each key means."""

    name: str
    form: ContainerForm
    example: str
    holds: Mapping[str, str]
    pattern: re.Pattern[bytes] | None = None
    keys: tuple[str, ...] = ()
    also: frozenset[str] = frozenset()
    only: bool = False
    inside: str = ""
    items: str = ""
    columns: tuple[str, ...] = ()
    by_column: bool = False
    """Whether the values of a column stand together, and not those of a row."""
    pairs: tuple[str, ...] = ()
    beside: Mapping[str, str] = field(default_factory=dict)
    fields: bool = False
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    states: tuple[FixedFact, ...] = ()
    named: tuple[str, ...] = ()
    fields_of: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    cells: bool = False
    lookup: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    event: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unit: str = ""
    controls: bool = False
    rest: bytes = b""
    """What stands behind the text of a line; with quotes, the text is that of a literal."""

    def inside_of(self, line: bytes) -> bytes:
        """The text of a line behind its prefix, and before what else is the container's."""
        found = self.pattern.match(line) if self.pattern is not None else None
        text = line if found is None else line[found.end() :]
        level = found["level"] if found is not None and self.moves_level else b""
        # Behind the time, where Kafka's own layout has the level.
        if level and (stamp := _STAMP.match(text)) is not None:
            text = text[: stamp.end()] + b" " + level + text[stamp.end() :]
        # rsyslog writes control characters as `#` and three octal digits: `#011` is a tab, `#012` a line feed.
        if self.controls and b"#01" in text:
            text = text.replace(b"#011", b"\t").replace(b"#012", b"\n")
        if not self.rest or not text.rstrip(b"\r\n").endswith(self.rest):
            return text
        text = text.rstrip(b"\r\n").removesuffix(self.rest).rstrip(b" ")
        return (text.replace(b'\\"', b'"').replace(b"\\\\", b"\\") if self.rest.startswith(b'"') else text) + b"\n"

    @property
    def moves_level(self) -> bool:
        """Whether a prefix has the level of a record, which then stands behind the time."""
        return self.pattern is not None and "level" in self.pattern.groupindex

    @property
    def timed(self) -> bool:
        """Whether a prefix has a time."""
        return self.pattern is not None and "time" in self.pattern.groupindex


@dataclass(frozen=True, slots=True)
class Containers:
    """All containers, in the order in which they are tried.

    ``parts`` are the keys of each part of an object, for containers that do not name them. ``levels`` are the names of
    numeric levels. ``noise`` are patterns of lines that collectors write about themselves.
    """

    entries: tuple[Container, ...] = ()
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)
    noise: tuple[re.Pattern[bytes], ...] = ()

    def is_noise(self, line: bytes) -> bool:
        """Whether a collector wrote a line about itself."""
        return any(each.match(line) for each in self.noise)

    def without_threads(self) -> Containers:
        """The same containers without the fields of threads. Lines without a thread have Kafka's own layout, which is
        read in blocks.
        """
        entries = tuple(replace(each, parts={**each.parts, "thread": ()}) for each in self.entries)
        return replace(self, entries=entries, parts={**self.parts, "thread": ()})

    def keys_beside(self, part: str) -> frozenset[str]:
        """The keys of all other parts of objects."""
        return frozenset(key for name, keys in self.parts.items() if name != part for key in keys)

    def of(self, form: ContainerForm) -> tuple[Container, ...]:
        """Those of one form."""
        return tuple(each for each in self.entries if each.form is form)
