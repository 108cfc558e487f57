"""Writes to standard output and standard error: plain text into a pipe, colours on a terminal."""

from __future__ import annotations

import codecs
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

import click

from assay.grammar.diagnostics.diagnostic import Diagnostic
from assay.report.diagnostics import diagnostics_text
from assay.report.lines import Line, Tone

STYLES: dict[Tone, dict[str, Any]] = {
    Tone.PLAIN: {},
    Tone.GOOD: {"fg": "green", "bold": True},
    Tone.BAD: {"fg": "red", "bold": True},
    Tone.WARN: {"fg": "yellow"},
    Tone.FAINT: {"dim": True},
    Tone.HEADING: {"bold": True},
}

_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_ASCII = re.compile("[^\\x00-\\x7f]")


def say(lines: Iterable[Line]) -> None:
    """Write lines to standard output."""
    _write(sys.stdout, lines)


def complain(lines: Iterable[Line]) -> None:
    """Write lines to standard error."""
    _write(sys.stderr, lines)


def complain_about(diagnostics: Sequence[Diagnostic], sources: Mapping[str, str] | None = None) -> None:
    """Write diagnostics to standard error, with the source lines that they are about."""
    if diagnostics:
        _put(sys.stderr, diagnostics_text(diagnostics, sources, color=wants_colour(sys.stderr)))


def say_json(answer: Mapping[str, Any], *, in_a_line: bool = False) -> None:
    """Write one JSON object to standard output. A command with ``--json`` writes nothing else there.

    It is UTF-8 whatever the locale, and ASCII where standard output is not UTF-8. Names of files that are not UTF-8 hold
    lone surrogates, which JSON must not; each becomes the replacement character.
    """
    is_unicode = codecs.lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    text = _SURROGATE.sub("\ufffd", json.dumps(answer, ensure_ascii=False, indent=None if in_a_line else 2))
    text = text if is_unicode else _NOT_ASCII.sub(_escaped, text)
    # What was written as text waits above the buffer, and would come after the object.
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.flush()


def _escaped(character: re.Match[str]) -> str:
    return json.dumps(character[0])[1:-1]


def _write(stream: TextIO, lines: Iterable[Line]) -> None:
    coloured = wants_colour(stream)
    _put(stream, "\n".join(click.style(line.text, **STYLES[line.tone]) if coloured else line.text for line in lines))


def output_width() -> int | None:
    """The columns of the terminal on standard output; None if it is none, so that nothing need be cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def wants_colour(stream: TextIO) -> bool:
    """Whether the stream is a terminal whose user has not switched colours off (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _put(stream: TextIO, text: str) -> None:
    # The stream may be one that `start` has not replaced, whose own way with strange characters is an exception.
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()
