"""The machine code of a module, built by a process of its own. LLVM lets one thread of a process in at a time, and
cannot be interrupted.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from pathlib import Path
from typing import IO, Any

from assay.checker.jit.build_object import build

WATCH = 0.5
"""Seconds between two looks of the child at whether its parent is still there."""


class BuildProcess:
    """A module that is being built, at a level of ``build_object.build``. The process ends with this object, or with
    the process that has it."""

    def __init__(self, text: str, level: int) -> None:
        root = str(Path(__file__).parents[3])
        # Isolated, and without relative folders: nothing is imported from the working directory.
        path = [root, *(entry for entry in sys.path if Path(entry).is_absolute())]
        program = (
            f"import sys; sys.path[:0] = {path!r}; from assay.checker.jit.build_process import serve; "
            f"serve({level}, {os.getpid()})"
        )
        # A file and not a pipe: a child that fills a pipe would wait for a parent that polls.
        self._made: IO[Any] = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as this object
        with tempfile.TemporaryFile() as given:
            given.write(text.encode())
            given.seek(0)
            command = [sys.executable, "-I", "-c", program]
            try:
                self._child = subprocess.Popen(command, stdin=given, stdout=self._made, stderr=subprocess.DEVNULL)
            except OSError:
                self._made.close()
                raise
        # A finalizer runs at the end of the interpreter, too; `__del__` need not.
        self._end = weakref.finalize(self, _end, self._child, self._made)

    @property
    def is_done(self) -> bool:
        """Whether the process has ended."""
        return self._child.poll() is not None

    def code(self) -> bytes | None:
        """What was built by the process that has ended; None if it failed."""
        self._made.seek(0)
        made: bytes = self._made.read()
        whole = self._child.returncode == 0 and made != b""
        self._end()
        return made if whole else None


def _end(child: subprocess.Popen[bytes], made: IO[Any]) -> None:
    child.kill()
    child.wait()
    made.close()


def serve(level: int, parent: int) -> None:
    """The child's side: the text comes in, the object code goes out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    threading.Thread(target=_follow, args=(parent,), daemon=True).start()
    code = build(sys.stdin.buffer.read().decode(), level)
    sys.stdout.buffer.write(code)
    sys.stdout.buffer.flush()
    # At once: LLVM's own clean-up takes time and nobody needs it.
    os._exit(0)


def _follow(parent: int) -> None:
    # A process whose parent has ended gets another one. There is no signal for that on all systems.
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(1)
