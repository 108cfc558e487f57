"""Compressed files and archives as streams of bytes, recognised by their first bytes and not by their names.

Everything is streamed, and memory stays small. Only a zip archive is kept while it is read, because its directory is at
its end. The bytes that come out of one file are limited in proportion to its size, so that an archive bomb ends as a
notice.
"""

from __future__ import annotations

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition, Notice
from assay.traces.input.decompress import ENGINES, Decompressed
from assay.traces.input.lines.record_scanner import ByteStream

_BLOCK = 1 << 18
# Each layer counts: `logs.zip!server.tar.gz` is a zip, a gzip and a tar, three deep.
_DEPTH = 4

_UNSUPPORTED = {
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!": "rar",
}


_ZIP = b"PK\x03\x04"
_ZIP_IN_MEMORY = 1 << 26
# Headers in front of a member (pax, GNU's long names), each of which `tarfile` reads into memory as a whole.
_EXTENDED = frozenset(
    {tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
)
_LARGEST_HEADER = 1 << 22
"""No path and no comment of a member of an archive has four megabytes."""


@dataclass(slots=True)
class Budget:
    """How many bytes may still come out of one file, and whether the limit was exceeded."""

    left: int
    spent: bool = False


class PeekableStream:
    """A stream whose first bytes can be examined before they are read."""

    def __init__(self, stream: ByteStream, size: int = 1 << 16) -> None:
        self._stream = stream
        parts: list[bytes] = []
        while (have := sum(map(len, parts))) < size and (part := stream.read(size - have)):
            parts.append(part)
        self.head = b"".join(parts)
        self._left = self.head

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes."""
        if self._left:
            out, self._left = self._left[:size], self._left[size:]
            return out
        return self._stream.read(size)


class LimitedStream:
    """A stream that ends where the budget does, with one notice."""

    def __init__(self, stream: ByteStream, budget: Budget, place: LogPosition, notices: list[Notice]) -> None:
        self._stream, self._budget, self._place, self._notices = stream, budget, place, notices

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes."""
        if self._budget.left > 0:
            out = self._stream.read(min(size, self._budget.left))
            self._budget.left -= len(out)
            return out
        # One more byte is read to distinguish a file that ends exactly at the limit from one that goes beyond it.
        if not self._budget.spent and self._stream.read(1):
            self._budget.spent = True
            text = "the file expands to far more than its size; the rest of it was not read (an archive bomb?)"
            self._notices.append(Notice("expansion limit", self._place, text))
        return b""


@dataclass(frozen=True, slots=True)
class ArchivePath:
    """The address of a file: a path, and the names of the members in nested archives there."""

    path: str
    members: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "!".join((self.path, *self.members))

    @property
    def place(self) -> LogPosition:
        """The beginning of the file."""
        return LogPosition(str(self), 1, 0)


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of one file, unpacked."""

    where: ArchivePath
    stream: PeekableStream


def is_packed(head: bytes) -> bool:
    """Whether a file with these first bytes is compressed or an archive."""
    magics = (*_UNSUPPORTED, *ENGINES, _ZIP)
    return head.startswith(magics) or _is_tar(head)


def _is_tar(head: bytes) -> bool:
    # POSIX and GNU archives have this mark; those of Unix V7, which have none, are not recognised.
    return head[257:262] == b"ustar"


def expand(
    stream: ByteStream, where: ArchivePath, budget: Budget, notices: list[Notice], depth: int = 0
) -> Iterator[Content]:
    """The files in a stream: the stream itself, or the contents if it is compressed or an archive.

    Each is read before the next.
    """
    peeked = PeekableStream(stream)
    head = peeked.head
    # Told by name: as unknown bytes they would only be called a binary file.
    for magic, name in _UNSUPPORTED.items():
        if head.startswith(magic):
            notices.append(Notice("unsupported compression", where.place, f"{name} is not read: unpack it first"))
            return
    make = next((make for magic, make in ENGINES.items() if head.startswith(magic)), None)
    if depth == _DEPTH and (make is not None or _is_tar(head) or head.startswith(_ZIP)):
        notices.append(Notice("nested archive", where.place, f"archives are read {_DEPTH} deep, not deeper"))
    elif make is not None:
        # All layers of a file draw on one budget, so that an archive in an archive does not multiply it.
        inner = LimitedStream(Decompressed(peeked, make, where.place, notices), budget, where.place, notices)
        yield from expand(inner, where, budget, notices, depth + 1)
    elif head.startswith(_ZIP):
        yield from _zip_files(peeked, where, budget, notices, depth)
    elif _is_tar(head):
        yield from _tar_files(peeked, where, budget, notices, depth)
    else:
        yield Content(where, peeked)


def _zip_files(
    stream: PeekableStream, where: ArchivePath, budget: Budget, notices: list[Notice], depth: int
) -> Iterator[Content]:
    """The files of a zip archive, in its order. The archive is kept while it is read, a large one on disk."""
    with SpooledTemporaryFile(max_size=_ZIP_IN_MEMORY) as kept:
        # Through the stream, not from the path: the archive may be in another one, and its bytes count for the budget.
        while block := stream.read(_BLOCK):
            kept.write(block)
        try:
            with zipfile.ZipFile(kept) as archive:
                for member in archive.infolist():
                    if not member.is_dir():
                        yield from _zip_member(archive, member, where, budget, notices, depth)
        # `zipfile` refuses versions of the format that it does not know.
        except NotImplementedError as error:
            notices.append(Notice("unsupported compression", where.place, f"{where} is not read: {error}"))
        except (zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
            notices.append(Notice("damaged file", where.place, f"the archive is damaged: {error}"))


def _zip_member(
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    where: ArchivePath,
    budget: Budget,
    notices: list[Notice],
    depth: int,
) -> Iterator[Content]:
    inside = ArchivePath(where.path, (*where.members, member.filename))
    try:
        with archive.open(member) as content:
            limited = LimitedStream(_CheckedMember(content, inside.place, notices), budget, where.place, notices)
            yield from expand(limited, inside, budget, notices, depth + 1)
    except (RuntimeError, NotImplementedError) as error:
        # An encrypted member, or a compression method that zipfile does not know.
        notices.append(Notice("unsupported compression", inside.place, f"not read: {error}"))


class _CheckedMember:
    """A member of a zip archive; damage ends it with a notice."""

    def __init__(self, content: IO[bytes], place: LogPosition, notices: list[Notice]) -> None:
        self._content, self._place, self._notices = content, place, notices
        self._over = False

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes."""
        if self._over:
            return b""
        try:
            return self._content.read(size)
        except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
            self._over = True
            self._notices.append(Notice("damaged file", self._place, f"the archive is damaged here: {error}"))
            return b""


class _ZeroPadded:
    """The bytes of an archive, followed by zeros: ``tarfile`` discards the block in which the archive ends early."""

    def __init__(self, stream: ByteStream) -> None:
        self._stream = stream
        self._position = 0
        self._padding = 1 << 20
        self.end: int | None = None

    def read(self, size: int, /) -> bytes:
        """Exactly ``size`` bytes, as long as the padding lasts."""
        parts: list[bytes] = []
        missing = size
        while missing and self.end is None:
            part = self._stream.read(missing)
            parts.append(part)
            missing -= len(part)
            self._position += len(part)
            if not part:
                self.end = self._position
        zeros = min(missing, self._padding)
        self._padding -= zeros
        return b"".join(parts) + bytes(zeros)


class _LargeHeaderError(Exception):
    """Raised for an extended header that is larger than any path."""


class _BoundedHeader(tarfile.TarInfo):
    """A header of a tar archive; an extended one, which is held in memory many times over, must not be large."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _EXTENDED and self.size > _LARGEST_HEADER:
            raise _LargeHeaderError(f"the archive has an extended header of {self.size:,} bytes")
        return super()._proc_member(archive)  # type: ignore[misc, no-any-return]  # what reads each kind of member


class _TarMember:
    """The bytes of one file of an archive, without the padding; ``cut`` is whether the archive ended inside it."""

    def __init__(self, content: IO[bytes], begin: int, archive: _ZeroPadded) -> None:
        self._content, self._position, self._archive = content, begin, archive
        self.cut = False

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes."""
        if self.cut:
            return b""
        out = self._content.read(min(size, 1 << 16))
        # Zeros behind the end of a cut archive are padding, and must not be taken for the rest of the member.
        end = self._archive.end
        if end is not None and self._position + len(out) > end:
            self.cut = True
            out = out[: max(0, end - self._position)]
        self._position += len(out)
        return out


def _tar_files(
    stream: PeekableStream, where: ArchivePath, budget: Budget, notices: list[Notice], depth: int
) -> Iterator[Content]:
    """The files of a tar archive, in its order."""
    padded = _ZeroPadded(stream)
    damage: str | None = None
    try:
        # `r|` never seeks, which these streams cannot. So each member is read before the next.
        with tarfile.open(fileobj=padded, mode="r|", tarinfo=_BoundedHeader) as archive:  # type: ignore[call-overload]  # only read is needed
            for member in archive:
                inside = ArchivePath(where.path, (*where.members, member.name))
                if member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    notices.append(Notice("not a file", inside.place, "a link or special file in an archive"))
                elif (content := archive.extractfile(member)) is not None:
                    data = _TarMember(content, member.offset_data, padded)
                    yield from expand(data, inside, budget, notices, depth + 1)
                    if data.cut:
                        damage = f"it ends inside {member.name}"
                        break
    except _LargeHeaderError as error:
        notices.append(Notice("expansion limit", where.place, f"{error}; the rest was not read (an archive bomb?)"))
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        damage = str(error)
    if damage is not None and not budget.spent:
        notices.append(Notice("damaged file", where.place, f"the archive is damaged: {damage}"))
