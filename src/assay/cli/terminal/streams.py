"""Standard output and standard error that never fail: what cannot be written is lost, and the loss is remembered.

A full disk or a closed pipe must not change what a command finds out. So it is noted here, below every writer, and
turned into the exit code once, at the end.
"""

from __future__ import annotations

import io
import os
import select
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

OUTPUT_LOST = 74
"""The exit code of an answer that could not be written, EX_IOERR of sysexits.h."""
HELD = frozenset({2, 70, 130})
"""Exit codes that say by themselves that there is no answer. They stay where only standard error is lost."""


class UnfailingFile(io.RawIOBase):
    """A file that takes every write. ``lost`` is the first error of the operating system; what follows it is dropped.

    Without a descriptor everything is lost: that of a stream which was closed before the program began.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self.lost: str | None = None

    def writable(self) -> bool:
        """Always."""
        return True

    def fileno(self) -> int:
        """The descriptor; raises ``OSError`` if there is none."""
        return super().fileno() if self._descriptor is None else self._descriptor

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._descriptor is not None and os.isatty(self._descriptor)

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all, or note why not. A descriptor that does not block, as some parents leave it, is waited for."""
        rest = memoryview(data).cast("B")
        size = len(rest)
        if self._descriptor is None:
            self.lost = "it is closed"
        while rest and self.lost is None and self._descriptor is not None:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [])
            except OSError as error:
                self.lost = error.strerror
        return size


@dataclass(frozen=True, slots=True)
class StandardStreams:
    """The files behind ``sys.stdout`` and ``sys.stderr``. ``unwanted``: standard error was closed from the start."""

    output: UnfailingFile
    error: UnfailingFile
    unwanted: bool

    def exit_code(self, code: int, *, as_json: bool) -> int:
        """The exit code, 74 if the answer was lost. That is then said in one line, on the stream that is left.

        Who closes standard error before the program begins does not want it, and nothing is lost.
        """
        _flush()
        # Above, because only then it is known whether what was buffered can be written.
        error = None if self.unwanted else self.error.lost
        # Code 2 is no exception here: what was lost on standard output is the JSON that says why.
        if self.output.lost is not None and code not in (HELD - {2}):
            sys.stderr.write(f"error: standard output cannot be written: {self.output.lost}\n")
            code = OUTPUT_LOST
        elif error is not None and code not in HELD:
            if not as_json:
                sys.stdout.write(f"error: standard error cannot be written: {error}\n")
            code = OUTPUT_LOST
        _flush()
        return code


def _flush() -> None:
    """Write what is left; a server for editors or agents has closed its output when it ends."""
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()


def unfailing_streams() -> StandardStreams:
    """Replace ``sys.stdout`` and ``sys.stderr`` by streams that never fail. A closed standard input becomes an empty one.

    The descriptors of streams that are closed are taken, so that no file which is opened later gets their numbers. A
    child process would write its messages into it.
    """
    while (taken := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(taken)
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - it stays open
    unwanted = sys.stderr is None
    output, sys.stdout = _replaced(sys.stdout)
    error, sys.stderr = _replaced(sys.stderr)
    return StandardStreams(output, error, unwanted)


def _replaced(stream: TextIO | None) -> tuple[UnfailingFile, TextIO]:
    if stream is None:
        file = UnfailingFile(None)
        return file, io.TextIOWrapper(io.BufferedWriter(file), encoding="utf-8", errors="backslashreplace")
    stream.flush()
    file = UnfailingFile(stream.fileno())
    buffer = io.BufferedWriter(file)
    return file, io.TextIOWrapper(
        buffer, encoding=stream.encoding, errors="backslashreplace", line_buffering=file.isatty()
    )
