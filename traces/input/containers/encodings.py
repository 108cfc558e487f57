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
_PAGE = re.compile(rb"(?i)<(?:html|pre|code|br|body|p|div|table|span|ul|ol)\b")
_LINE_END = re.compile(rb"(?i)<(?:br ?/?|/(?:p|div|tr|li|pre|h\d))>(?!\r?\n)")
_CELL_END = re.compile(rb"(?i)</t[dh]>(?=[ \n]{0,40}<t[dh]\b)")
_HARD_SPACE = "\xa0".encode()


def is_markup(head: bytes) -> bool:
    """Whether a text is that of a web page: it has entities or the tags of one, and no other brackets of tags."""
    if _ENTITY.search(head) is None and _PAGE.search(head) is None:
        return False
    plain = _TAG.sub(b"", head[: head.rfind(b"<")] if head.rfind(b"<") > head.rfind(b">") else head)
    return b"<" not in plain and b">" not in plain


def without_markup(page: bytes) -> bytes:
    """The text of a page: tags that end a line or a cell of a table become line feeds and tabs, entities characters."""
    plain = page
    if b"<" in page:
        plain = _TAG.sub(b"", _LINE_END.sub(b"\n", _CELL_END.sub(b"\t", page)))
    if b"&" in plain:
        plain = html.unescape(plain.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    return plain.replace(_HARD_SPACE, b" ")


class PageStream:
    """A stream of the text of a web page, whose lines are those that a reader sees."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._page, self._waiting = b"", b""
        self._over = False

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes."""
        while not self._waiting and not self._over:
            block = self._stream.read(size)
            self._over = not block
            self._page += block
            # A tag is not cut, and stands before what follows it.
            end = len(self._page) if self._over else max(self._page.rfind(b"\n") + 1, self._page.rfind(b"<"))
            self._waiting, self._page = without_markup(self._page[:end]), self._page[end:]
        out, self._waiting = self._waiting[:size], self._waiting[size:]
        return out


_ESCAPED_FEED = re.compile(rb"\\n(?:\\t|\\r| ?\(|[a-z]\w{0,80}\.[\w.$]{1,300}(?:Exception|Error|Throwable)|\n?\Z)")


def without_escapes(text: bytes) -> bytes:
    """The text with the line feeds and tabs that an exporter wrote as `\\n` and `\\t`; a path may hold these, too."""
    if b"\\n" not in text or _ESCAPED_FEED.search(text) is None:
        return text
    return text.replace(b"\\r\\n", b"\n").replace(b"\\n", b"\n").replace(b"\\t", b"\t")
