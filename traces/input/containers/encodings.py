"""Text in UTF-16, as editors and shells of Windows write it, as a stream of UTF-8; and text of web pages."""

from __future__ import annotations

import codecs
import html
import re

from assay.traces.input.lines.record_scanner import ByteStream

_SAMPLE = 512


def encoding_of(head: bytes) -> str | None:
    """The encoding of a text with these first bytes, if it is UTF-16; None for all else, which is read as UTF-8."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    sample = head[: _SAMPLE & ~1]
    # Without a mark, every other byte of text in Latin letters is zero, and no other is.
    for name, high in (("utf-16-le", 1), ("utf-16-be", 0)):
        zeros, others = sample[high::2], sample[1 - high :: 2]
        if len(sample) >= 16 and zeros.count(0) > 0.9 * len(zeros) and others.count(0) == 0:
            return name
    return None


class DecodedStream:
    """A stream in UTF-8 of the text in another encoding; what cannot be decoded becomes replacement characters."""

    def __init__(self, stream: ByteStream, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        self._waiting = b""
        self._over = False

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes."""
        while not self._waiting and not self._over:
            block = self._stream.read(size)
            self._over = not block
            self._waiting = self._decoder.decode(block, final=self._over).encode("utf-8", "replace")
        out, self._waiting = self._waiting[:size], self._waiting[size:]
        return out


class RepeatedStart:
    """A stream whose beginning was read already."""

    def __init__(self, start: bytes, stream: ByteStream) -> None:
        self._start, self._stream = start, stream

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes."""
        if self._start:
            out, self._start = self._start[:size], self._start[size:]
            return out
        return self._stream.read(size)


_ENTITY = re.compile(rb"&(?:quot|gt|lt|amp|nbsp|apos|#\d{1,4}|#x[0-9A-Fa-f]{1,4});")
_TAG = re.compile(rb"</?[A-Za-z][^<>\n]{0,300}>|<![^<>\n]{0,300}>")
_PAGE = re.compile(rb"(?i)<(?:html|pre|code|br|body|p|div)\b")


def is_markup(head: bytes) -> bool:
    """Whether a text is that of a web page: it has entities or the tags of one, and no other brackets of tags."""
    if _ENTITY.search(head) is None and _PAGE.search(head) is None:
        return False
    plain = _TAG.sub(b"", head)
    return b"<" not in plain and b">" not in plain


def without_markup(line: bytes) -> bytes:
    """A line without tags, and with the characters that entities stand for."""
    plain = _TAG.sub(b"", line) if b"<" in line else line
    if b"&" not in plain:
        return plain
    return html.unescape(plain.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
