"""The bytes by which a file grows, as ``tail -F`` has them, or those of a pipe."""

from __future__ import annotations

import os
import select
from io import FileIO
from pathlib import Path
from typing import Protocol

BLOCK = 1 << 20


class GrowingText(Protocol):
    """What is followed: new bytes, whether there can be more, and sentences about what happened to the file."""

    ended: bool
    remarks: list[str]

    def read(self, longest_wait: float) -> bytes:
        """The next bytes, after at most ``longest_wait`` seconds; none if there are none by then."""
        ...

    def close(self) -> None:
        """Leave it."""
        ...


class FollowedFile:
    """A file by name. If another one takes its name (rotation), the rest of the first is read, then the other from its
    beginning. If it gets shorter, it is read from its beginning.

    A last line without its end is a line once the file is rotated. A file that is not there yet is waited for.
    """

    ended = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.remarks: list[str] = []
        self._stream: FileIO | None = None
        self._at_line_end = True

    def read(self, longest_wait: float) -> bytes:
        """The next bytes; raises ``OSError`` if the file may not be read."""
        found = self._next()
        if not found:
            select.select([], [], [], longest_wait)
            found = self._next()
        return found

    def _next(self) -> bytes:
        found = self._read()
        if found or self._stream is None:
            return found
        own = os.fstat(self._stream.fileno())
        # Cut in its place, as logrotate does with `copytruncate`: it is the same file.
        if own.st_size < self._stream.tell():
            return self._turn(f"{self.path} was cut to {own.st_size:,} bytes, and is read from its beginning")
        if not self._is_renamed(own):
            return b""
        # What was written between the last read and the renaming comes before the new file.
        return self._read() or self._turn(f"{self.path} was rotated, and the new file is read")

    def _read(self) -> bytes:
        if self._stream is None:
            return self._open()
        found = self._stream.read(BLOCK)
        if found:
            self._at_line_end = found.endswith(b"\n")
        return found

    def _open(self) -> bytes:
        try:
            self._stream = FileIO(self.path)
        except FileNotFoundError:
            return b""
        # The last line before had no end, and none will come. Without one, both lines would be read as one.
        lead = b"" if self._at_line_end else b"\n"
        self._at_line_end = True
        return lead + self._read()

    def _is_renamed(self, own: os.stat_result) -> bool:
        """Whether the name stands for another file than the one that is read."""
        try:
            now = self.path.stat()
        # Between the renaming and the first line of the new file nothing has the name.
        except FileNotFoundError:
            return False
        return (now.st_dev, now.st_ino) != (own.st_dev, own.st_ino)

    def _turn(self, remark: str) -> bytes:
        """The first bytes that the name stands for now."""
        self.remarks.append(remark)
        self.close()
        return self._read()

    def close(self) -> None:
        """Leave the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


class FollowedPipe:
    """A descriptor that is read to its end: standard input."""

    def __init__(self, descriptor: int) -> None:
        self.ended = False
        self.remarks: list[str] = []
        self._descriptor = descriptor

    def read(self, longest_wait: float) -> bytes:
        """The next bytes."""
        ready, _, _ = select.select([self._descriptor], [], [], longest_wait)
        # Not by `sys.stdin`: lines in its buffer are ones that `select` does not know of.
        found = os.read(self._descriptor, BLOCK) if ready else b""
        self.ended = bool(ready) and not found
        return found

    def close(self) -> None:
        """The descriptor stays open: it belongs to the process."""
