"""What a record may say: the parts of its header, its message, and what follows that."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from assay.traces.input.lines.line_layout import LineHeader, header_without_logger, headers, split_logger, split_thread
from assay.traces.input.lines.pasted_lines import normalise


class ReadLine(NamedTuple):
    """One interpretation of a record: the parts of its header, the message, and what follows the message."""

    level: str
    thread: str | None
    logger: str
    message: str
    tail: str
    in_header: bool = False


def interpretations(text: str, level: str, *, header_first: bool) -> Iterator[ReadLine]:
    """The interpretations of a record, with the logger before the message or behind it; then those of its text before a
    web page changed it.
    """
    ways = (_with_header, _with_suffix) if header_first else (_with_suffix, _with_header)
    for way in ways:
        yield from way(text, level)
    if not text.isascii() or "&" in text:
        for way in ways:
            yield from way(normalise(text), level)


def _with_suffix(text: str, level: str) -> Iterator[ReadLine]:
    """Interpretations with the logger behind the message, and perhaps a thread behind the logger or
    before the message.
    """
    data = text.encode()
    head, logger, tail = split_logger(data)
    thread: str | None = None
    if not logger:
        data, thread = split_thread(data)
        head, logger, tail = split_logger(data)
    if not logger:
        return
    message = head.decode()
    if not level:
        before = header_without_logger(message)
        if before is None:
            return
        level, thread, message = before.level, before.thread or thread, message[before.begin :]
    yield ReadLine(level, thread, logger.decode(), message, tail.decode())
    if message.startswith("[") and (end := message.find("] ")) > 0:
        yield ReadLine(level, message[1:end].strip(), logger.decode(), message[end + 2 :].lstrip(), tail.decode())


def _with_header(text: str, level: str) -> Iterator[ReadLine]:
    """Interpretations with the logger before the message, which is the first line, or all lines."""
    for header in headers(text):
        if not (header.level or level):
            continue
        rest = text[header.begin :]
        first, _, tail = rest.partition("\n")
        yield _headed(header, level, first, tail)
        # A stack trace follows the message, whereas a configuration dump is itself a message of many lines: both are
        # tried.
        if tail.strip():
            yield _headed(header, level, rest.rstrip("\n") + "\n", "")
            yield _headed(header, level, rest.rstrip("\n"), "")


def _headed(header: LineHeader, level: str, message: str, tail: str) -> ReadLine:
    return ReadLine(header.level or level, header.thread, header.logger, message, tail, in_header=True)


def without_logger(text: str, level: str) -> ReadLine:
    """The reading of a record that names no logger."""
    head = None if level else header_without_logger(text)
    if head is None:
        return ReadLine(level, None, "", text.rstrip(), "")
    return ReadLine(head.level, head.thread, "", text[head.begin :].rstrip(), "")
