"""What the examples of a pattern file show: each pattern describes its own example, and no other does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Span, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Field
from assay.traces.input.events.exact_values import TWICE
from assay.traces.input.events.text_lines import TextLines
from assay.traces.patterns.catalogue import Catalogue, load_catalogue
from assay.traces.patterns.line_regex import MatchExtent
from assay.traces.patterns.pattern import LinePattern
from assay.traces.patterns.text_patterns import UNRELATED

_MOST_UNRELATED = 2
_MOST_TEXTS = 10_000
_MOST_SEARCHED, _LONGEST_SEARCHED = 500, 1_000
"""In how many lines, and how long ones, a pattern is looked for behind a beginning."""
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\d(?:[\d.,:-]*\d)?")


@dataclass(frozen=True, slots=True)
class PatternExample:
    """What a pattern finds in its example, and what is wrong with it, in words."""

    pattern: LinePattern
    found: tuple[Mapping[str, Field], ...]
    wrong: tuple[str, ...]


@dataclass(slots=True)
class DescribedLines:
    """How many lines of a text each pattern describes, and the others by their text without numbers.

    ``beginnings``: of patterns that would describe other lines if these began later, one such beginning.
    """

    by_pattern: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    beginnings: dict[str, str] = field(default_factory=dict)


def examples_of(catalogue: Catalogue) -> list[PatternExample]:
    """The example of each pattern of a catalogue of text logs, read by all patterns."""
    lines = TextLines(catalogue.patterns, catalogue.headers)
    return [_example(pattern, lines) for pattern in catalogue.patterns]


def text_catalogue(file: Path) -> Catalogue:
    """The catalogue of one pattern file; raises SpecError (E701, E702)."""
    return load_catalogue([file], text=True)


def described(text: Iterator[str], catalogue: Catalogue) -> DescribedLines:
    """Which patterns describe the lines of a text."""
    lines, found = TextLines(catalogue.patterns, catalogue.headers), DescribedLines()
    for line in text:
        reading = next(lines.readings(line), None)
        if reading is not None:
            found.by_pattern[reading[0].name] += 1
        elif line.strip() and len(found.others) < _MOST_TEXTS:
            found.others[_NUMBER.sub("<n>", line[:200])] += 1
            if found.others.total() <= _MOST_SEARCHED and len(line) <= _LONGEST_SEARCHED:
                found.beginnings |= _beginnings(line, catalogue)
    return found


def _beginnings(line: str, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
    """What stands in a line before the first place from which on a pattern describes it."""
    for pattern in catalogue.patterns:
        # From the second character on, since no pattern describes the line from the first.
        hit = pattern.regex.compiled.search(line, 1)
        if hit is not None and (pattern.reads is not MatchExtent.WHOLE or hit.end() == len(line)):
            yield pattern.name, line[: hit.start()]


def problems_of(examples: Sequence[PatternExample], file: Path) -> list[Diagnostic]:
    """A diagnostic (E702) for each thing that is wrong, at the table of its pattern."""
    places = _places(file)
    return [
        Diagnostic("E702", _place(file, places.get(each.pattern.name, 1)), f"shape `{each.pattern.name}`: {text}")
        for each in examples
        for text in each.wrong
    ]


def _place(file: Path, line: int) -> Span:
    return Span(str(file), line, 1, line, 1)


def _places(file: Path) -> dict[str, int]:
    """The lines on which the names of patterns stand in their file."""
    found: dict[str, int] = {}
    try:
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            key, equals, value = line.partition("=")
            if equals and key.strip() in {"name", "kind"}:
                found.setdefault(value.strip().strip("\"'"), number)
    except (OSError, UnicodeDecodeError):
        return {}
    return found


def _example(pattern: LinePattern, lines: TextLines) -> PatternExample:
    # A pattern that describes any line would explain a log of anything.
    if sum(bool(pattern.match(text)) for text in UNRELATED) > _MOST_UNRELATED:
        return PatternExample(pattern, (), ("its pattern describes any line; say what only these lines hold",))
    readings = {each.name: objects for each, objects in lines.readings(pattern.example)}
    read = readings.get(pattern.name) or pattern.match(pattern.example)  # an example may be a message alone
    own = tuple({key: value for key, value in each.items() if key is not TWICE} for each in read)
    wrong: list[str] = []
    if not own:
        wrong.append(f"its pattern does not describe its example `{pattern.example}`")
    wrong += [
        f"its example is described by `{name}` too; only the first in the file counts"
        for name in readings
        if name != pattern.name
    ]
    wrong += _misread(pattern.holds, own)
    return PatternExample(pattern, own, tuple(wrong))


def _misread(holds: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What differs between the fields that a table states and those that were found."""
    for name, value in holds.items():
        logged = [each.get(name) for each in found]
        wanted = tuple(value) if isinstance(value, list) else value
        if found and not any(each == wanted and type(each) is type(wanted) for each in logged):
            yield f"its example holds `{name} = {value!r}`, and {logged[0]!r} was found"


def refuse_misfits(catalogue: Catalogue, files: Sequence[Path]) -> None:
    """Raise SpecError (E702) for a pattern that describes any line, or not its own example."""
    wrong = [
        (each.pattern.name, text)
        for each in examples_of(catalogue)
        for text in each.wrong
        # What is wrong with an example alone is for the command that tests patterns to say; logs are read all the same.
        if not text.startswith("its example")
    ]
    if wrong:
        places = {name: _place(file, line) for file in files for name, line in _places(file).items()}
        raise SpecError(
            Diagnostic("E702", places.get(name, NOWHERE), f"shape `{name}`: {text}") for name, text in wrong
        )
