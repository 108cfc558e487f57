"""A file that one process alone appends whole lines to, whatever happens to its disk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import orjson

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows has none: there each process names its file itself
    flock = None  # type: ignore[assignment]


class OwnFile:
    """The file at ``wished``; or one beside it, if another process or recorder has that open.

    ``error`` says what kept lines from being written last.
    """

    def __init__(self, wished: Path) -> None:
        self.wished = wished
        self.path = wished
        self.error = ""
        self._descriptor: int | None = None
        self._closed = False
        self._is_cut = False
        self._unreported = 0

    def open(self) -> None:
        """Open the first file that nobody else writes; raises ``OSError`` if there can be none."""
        for path in self._names():
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            # O_EXCL: between the look whether it exists and here, another thread may have made it.
            descriptor = os.open(path, flags if path == self.wished else flags | os.O_EXCL, 0o666)
            # The lock is that of the open file: another recorder of this process is refused too, and a fork shares it.
            if _is_free(descriptor):
                self.path, self._descriptor = path, descriptor
                self._is_cut = _ends_within_a_line(path, os.fstat(descriptor))
                return
            os.close(descriptor)

    def _names(self) -> Iterator[Path]:
        yield self.wished
        for number in count(1):
            suffix = "" if number == 1 else f"-{number}"
            path = self.wished.with_name(f"{self.wished.stem}-p{os.getpid()}{suffix}{self.wished.suffix}")
            if not path.exists():
                yield path

    def forget(self) -> None:
        """In a copy of the process: leave the file to the original, and open another with the first line."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor, self._is_cut, self._unreported = None, False, 0

    def write(self, lines: Sequence[bytes]) -> int:
        """Append the lines, in one call of the system where it takes them all. Returns how many were lost."""
        text = b"".join(lines)
        self._open_again()
        # A line that was cut is ended first. Else the next one would be glued to it, and both would be lost.
        written = self._append(b"\n" + text if self._is_cut else text) - self._is_cut
        if written >= len(text):
            self._is_cut = False
            self._say_lost()
            return 0
        if written >= 0:
            self._is_cut = written > 0 and not text[:written].endswith(b"\n")
        lost = len(lines) - text[: max(written, 0)].count(b"\n")
        self._unreported += lost
        return lost

    def _open_again(self) -> None:
        """Open the file if it is not open: after a fork, and where it could not be opened before."""
        if self._closed:
            self.error = "the recorder was closed"
        elif self._descriptor is None:
            try:
                self.open()
            except OSError as error:
                self.error = error.strerror or str(error)

    def _append(self, text: bytes) -> int:
        """How many bytes could be written."""
        done = 0
        if self._descriptor is None:
            return done
        try:
            while done < len(text):
                done += os.write(self._descriptor, text[done:] if done else text)
        except OSError as error:
            self.error = error.strerror or str(error)
        return done

    def _say_lost(self) -> None:
        """After lines that could be written again: a line that is no event says how many are missing before it."""
        if self._unreported:
            said = {
                "event": None,
                "lost": self._unreported,
                "message": f"{self._unreported} events were lost: {self.error}",
            }
            line = orjson.dumps(said, option=orjson.OPT_APPEND_NEWLINE)
            done = self._append(line)
            self._is_cut = 0 < done < len(line)
            if done == len(line):
                self._unreported = 0

    def close(self) -> None:
        """Close it; what is written later is lost."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor, self._closed = None, True


def _ends_within_a_line(path: Path, found: os.stat_result) -> bool:
    """Whether the last line of a file has no end: a process that wrote it was killed, or found no room."""
    if not stat.S_ISREG(found.st_mode) or not found.st_size:
        return False
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) != b"\n"
    except OSError:  # it may be written, and not be read
        return False


def _is_free(descriptor: int) -> bool:
    """Whether nobody else writes the file; from now on this process does."""
    if flock is None:
        return True
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
