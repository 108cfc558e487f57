"""Compressed streams, decompressed block by block: gzip, xz, bzip2 and zstd, recognised by their first bytes."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import zstandard

from assay.traces.event import LogPosition, Notice
from assay.traces.input.lines.record_scanner import ByteStream

_BLOCK = 1 << 18


class Engine(Protocol):
    """A decompressor of one stream that never returns more bytes than it is asked for."""

    @property
    def eof(self) -> bool:
        """Whether the compressed stream is complete."""
        ...

    @property
    def unused_data(self) -> bytes:
        """The bytes behind the end of the compressed stream."""
        ...

    def decompress(self, data: bytes, limit: int, /) -> bytes:
        """At most ``limit`` more bytes."""
        ...

    @property
    def needs_input(self) -> bool:
        """Whether all input was used up."""
        ...


class _Gzip:
    """zlib's decompressor with the interface of the other two.

    It returns what comes before damage, or before a wrong checksum.
    """

    def __init__(self) -> None:
        # 16 for a gzip header, and 15 for the largest window.
        self._engine = zlib.decompressobj(wbits=31)
        self._damage: zlib.error | None = None

    @property
    def eof(self) -> bool:
        return self._engine.eof

    @property
    def unused_data(self) -> bytes:
        return self._engine.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._engine.unconsumed_tail

    def decompress(self, data: bytes, limit: int) -> bytes:
        if self._damage is not None:
            raise self._damage
        # A call that fails loses its output. So the state before it is kept, and damage is approached byte by byte.
        block, before = self._engine.unconsumed_tail + data, self._engine.copy()
        try:
            return self._engine.decompress(block, limit)
        except zlib.error as error:
            self._damage = error
            return _before_damage(before, block, limit)


def _before_damage(engine: zlib._Decompress, block: bytes, limit: int) -> bytes:
    """What a block holds before the damage; the next call of ``_Gzip.decompress`` raises the error."""
    out, left = bytearray(), b""
    with suppress(zlib.error):
        for at in range(len(block)):  # byte by byte, because the output of a call that fails is lost
            out += engine.decompress(left + block[at : at + 1], max(1, limit - len(out)))
            left = engine.unconsumed_tail
    return bytes(out)


class _Zstd:
    """One frame of zstd.

    The library limits the input of a call, not its output: 4 KB can become 128 MB at most, and usually become 40 KB.
    """

    def __init__(self) -> None:
        # 128 MB, the largest window that `zstd` itself decompresses without being told to.
        self._engine = zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
        self._input, self._output = b"", b""

    @property
    def eof(self) -> bool:
        return self._engine.eof and not self._output

    @property
    def unused_data(self) -> bytes:
        return self._engine.unused_data + self._input

    @property
    def needs_input(self) -> bool:
        return not self._input and not self._output

    def decompress(self, data: bytes, limit: int) -> bytes:
        self._input += data
        while self._input and not self._output and not self._engine.eof:
            piece, self._input = self._input[:4096], self._input[4096:]
            try:
                self._output = self._engine.decompress(piece)
            except zstandard.ZstdError as error:
                raise ValueError(str(error)) from error
        out, self._output = self._output[:limit], self._output[limit:]
        return out


ENGINES: dict[bytes, Callable[[], Engine]] = {
    b"\x1f\x8b": _Gzip,
    b"\xfd7zXZ\x00": lzma.LZMADecompressor,
    b"BZh": bz2.BZ2Decompressor,
    b"\x28\xb5\x2f\xfd": _Zstd,
}
"""The decompressors by the first bytes of a stream."""


class Decompressed:
    """The content of a compressed stream, or of several in a row; damage ends it with a notice."""

    def __init__(
        self, stream: ByteStream, make: Callable[[], Engine], place: LogPosition, notices: list[Notice]
    ) -> None:
        self._stream, self._make, self._place, self._notices = stream, make, place, notices
        self._engine = make()
        self._given = 0
        self._over = False

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes; what could be decompressed before the damage is returned."""
        while not self._over:
            try:
                out = self._step(size)
            except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
                self._stop(f"is damaged after {self._given:,} bytes: {error}")
                return b""
            if out:
                self._given += len(out)
                return out
        return b""

    def _step(self, size: int) -> bytes:
        """A piece of the content; empty where the decompressor needs more input, or at the end."""
        data = b""
        # Several streams in a row are one file: `cat a.gz b.gz`, or a log that is appended to by blocks.
        if self._engine.eof:
            # Zeros between two compressed streams are padding, as tape archives have it.
            data = self._engine.unused_data.lstrip(b"\0")
            while not data:
                if not (block := self._stream.read(_BLOCK)):
                    self._over = True
                    return b""
                data = block.lstrip(b"\0")
            self._engine = self._make()
        elif self._engine.needs_input and not (data := self._stream.read(_BLOCK)):
            out = self._engine.decompress(b"", size)
            if not out and not self._engine.eof:
                self._stop(f"ends in the middle, after {self._given:,} bytes")
            return out
        return self._engine.decompress(data, size)

    def _stop(self, text: str) -> None:
        self._over = True
        self._notices.append(Notice("damaged file", self._place, f"the compressed file {text}"))
