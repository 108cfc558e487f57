"""Log lines that people pasted: from a web page, a chat, a word processor; often without time, level or logger."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition, LogRecord
from assay.traces.input.lines.timestamps import Clock
from assay.traces.patterns.match import PatternMatch, PatternMatcher

_WIDTHLESS = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
# What word processors and web pages make of quotes, hyphens and blanks. Characters without a width vanish.
_LETTERS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2007\u202f\u2009\u200a\u2002\u2003\t", " "),
        **dict.fromkeys(_WIDTHLESS, None),
        "\u2026": "...",
    }
)
_SPLIT_NAME = re.compile(r"\b(org|kafka|com|apache|common|errors|zookeeper|server|zk|controller)\s*\.\s+(?=[A-Za-z$])")
_BLANKS = re.compile(r" {2,}")
_HEADER = re.compile(
    r"[\s\"'>*|]*(?:\[?(?P<stamp>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[,.]\d{3})\]?)?[\s:,-]*(?:\[?(?P<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\]?[\s:-]+)?"
)
_LOGGER = re.compile(r"\s*\((?P<logger>[A-Za-z_][\w$]*(?:\.[\w$-]+)+)\)[\s\"'.]*\Z")
_MAX_WRAPPED_LINES = 4
_LONGEST = 1 << 14


def normalise(text: str) -> str:
    """The line as the program printed it: plain quotes, hyphens and blanks, no blanks inside class
    names, no entities.
    """
    plain = html.unescape(text) if "&" in text else text
    plain = plain.translate(_LETTERS)
    return _BLANKS.sub(" ", _SPLIT_NAME.sub(r"\1.", plain))


@dataclass(frozen=True, slots=True)
class PastedRecord:
    """A pasted record that a pattern matched."""

    record: LogRecord
    findings: tuple[PatternMatch, ...]


def pasted_records(text: bytes, place: LogPosition, matcher: PatternMatcher) -> Iterator[PastedRecord]:
    """The log lines in a text; one that was wrapped over up to four lines is joined.

    Only lines that hold an anchor of a pattern, or end in the name of a known logger, are tried; all others are prose.
    """
    # Of bytes, which end lines at CR and LF only; `str.splitlines` would cut a line at U+2028 and count one too many.
    lines = text.splitlines(keepends=True)
    offset, number = place.offset, 0
    while number < len(lines):
        used = 1
        found = None
        if len(lines[number]) <= _LONGEST:
            here = LogPosition(place.file, place.line + number, offset)
            found, used = _first_match(lines[number : number + _MAX_WRAPPED_LINES], here, matcher)
        if found is not None:
            yield found
        offset += sum(map(len, lines[number : number + used]))
        number += used


def _first_match(lines: list[bytes], place: LogPosition, matcher: PatternMatcher) -> tuple[PastedRecord | None, int]:
    """The record that begins on the first of these lines, and how many of them it takes; otherwise None and 1."""
    text = ""
    for used, line in enumerate(lines, 1):
        if len(line) > _LONGEST or (used > 1 and not line.strip()):
            break
        # With one blank in between, because pages and mails wrap lines between words.
        text = f"{text} {line.decode('utf-8', 'replace').strip()}"
        plain = normalise(text).strip()
        # Prose ends here: most lines of a page hold no word of a log.
        if used == 1 and not _may_be_log_line(plain, matcher):
            return None, 1
        if (found := _match(plain, place, matcher)) is not None:
            return found, used
    return None, 1


def _may_be_log_line(plain: str, matcher: PatternMatcher) -> bool:
    """Whether a line holds an anchor, or ends in the name of a known logger."""
    if any(anchor in plain for anchor in matcher.anchors):
        return True
    logger = _LOGGER.search(plain[-200:])
    return logger is not None and matcher.patterns_of(logger["logger"]) is not None


def _match(plain: str, place: LogPosition, matcher: PatternMatcher) -> PastedRecord | None:
    """The record in a normalised text, if a pattern describes its whole message."""
    header = _HEADER.match(plain)
    stamp, level, begin = (header["stamp"], header["level"], header.end()) if header is not None else (None, None, 0)
    suffix = _LOGGER.search(plain)
    logger = suffix["logger"] if suffix is not None else ""
    message = plain[begin : suffix.start() if suffix is not None else len(plain)]
    patterns = matcher.patterns_of(logger) if logger else None
    if patterns is not None:
        findings, whole = patterns.find(message)
    else:
        findings, whole = (
            matcher.match_by_anchor(message) or matcher.match_by_anchor(message.rstrip(" \"'")),
            True,
        )
    if not findings or not whole:
        return None
    time = Clock().read(stamp.encode()) if stamp is not None else None
    record = LogRecord(place, time, level or "", logger or findings[0].pattern.loggers[0], None, message)
    return PastedRecord(record, tuple(findings))
