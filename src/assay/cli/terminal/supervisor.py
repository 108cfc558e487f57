"""A process that watches over the one that works: `--timeout`, Ctrl-C and SIGTERM end a command in whatever it is doing.

The work can be in one long call of compiled code, or in one product of two huge integers. There Python runs neither
signal handlers nor other threads. So it runs in a child process, which notes on a page of shared memory what it is
doing and when its time is over. The parent imports nothing and sleeps. It hands signals on, and where the child has not
taken notice within a second, it ends the child and says so. Its exit code is that of the child.

Where processes cannot fork, the work runs unwatched.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable
from types import FrameType

UNDECIDED, INTERNAL, INTERRUPTED = 3, 70, 130
"""As in ``checker/report.py``, which takes time to import."""
GRACE = 0.7
"""Seconds that the child has to take notice, so that the answer is there within one."""
ENDING = 10.0
"""Seconds from then on for its answer, which may need explanations; without a limit after Ctrl-C."""
POLL = 0.1
WATCHED = (signal.SIGINT, signal.SIGTERM, signal.SIGTSTP, signal.SIGCHLD)
# Two times in seconds, the second one by `time.monotonic`; two flags; the length of the text in bytes.
_HEAD = struct.Struct("dd??H")
_PAGE = 4096
# PR_SET_PDEATHSIG of prctl(2).
_KILL_WITH_PARENT = 1


class Noticeboard:
    """The page that both processes see: the limit, whether the child is making its answer, and what it is doing."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, _PAGE)
        self.began = time.monotonic()
        self.limit = 0.0
        self.deadline = 0.0
        self.is_ending = self.is_patient = False
        self._text = b""

    def read(self) -> None:
        """Take over what the other process wrote."""
        self.limit, self.deadline, self.is_ending, self.is_patient, size = _HEAD.unpack_from(self._page)
        self._text = self._page[_HEAD.size : _HEAD.size + size]

    def write(self) -> None:
        """Show the other process what is here."""
        # The text is there before its length: who reads in between gets one that is cut, at worst.
        head = (self.limit, self.deadline, self.is_ending, self.is_patient, len(self._text))
        self._page[_HEAD.size : _HEAD.size + len(self._text)] = self._text
        _HEAD.pack_into(self._page, 0, *head)

    @property
    def doing(self) -> str:
        """What the child is doing."""
        return self._text.decode("utf-8", "replace") or "the program was loaded"

    def note(self, text: str) -> None:
        """Note what is being done."""
        self._text = text.encode("utf-8", "replace")[: _PAGE - _HEAD.size]
        self.write()


_board: Noticeboard | None = None
"""The page of this process, if a parent watches over it."""


def limit_time(seconds: float | None, *, patient: bool = False) -> float:
    """Set a command's time limit, and return when its clock began, by ``time.monotonic``. It begins with the process,
    since imports take seconds on a busy machine.

    With ``patient`` its answer may take as long as it takes, since a checkpoint belongs to it.
    """
    if _board is None:
        return time.monotonic()
    if seconds:
        _board.limit, _board.deadline, _board.is_patient = seconds, _board.began + seconds, patient
        _board.write()
    return _board.began


def answering() -> None:
    """Tell the parent that the work has ended or will now, and that the answer is being made."""
    if _board is not None and not _board.is_ending:
        _board.is_ending = True
        _board.write()


def note(what: str) -> None:
    """Tell the parent what is being done."""
    if _board is not None:
        _board.note(what)


def supervised(work: Callable[[], int]) -> int:
    """The exit code of ``work``, which runs in a child process. A parent that comes back from here has nothing left to
    do but to exit.
    """
    # With ASSAY_DEBUG there is one process, as debuggers and profilers want it.
    if not hasattr(os, "fork") or os.environ.get("ASSAY_DEBUG"):
        return work()
    board = Noticeboard()
    reading, writing = os.pipe()
    for each in (reading, writing):
        os.set_blocking(each, False)
    # Handlers and pipe are there before the fork: a signal, or the end of a child, is not missed however early it
    # comes.
    before = [signal.signal(each, _nothing) for each in WATCHED]
    wakeup = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    # What is still buffered at the fork would be written by both.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    parent = os.getpid()
    child = os.fork()
    if child:
        code = _Watch(child, board, reading).code()
        if reads_terminal():
            # The child was in front (`_become_child`). The parent takes the terminal back for the shell, from behind,
            # which would stop it by SIGTTOU.
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            os.tcsetpgrp(sys.stdin.fileno(), os.getpgrp())
        return code
    signal.set_wakeup_fd(wakeup)
    os.close(reading)
    os.close(writing)
    for each, handler in zip(WATCHED, before, strict=True):
        signal.signal(each, signal.default_int_handler if each in (signal.SIGINT, signal.SIGTERM) else handler)
    _become_child(parent, board)
    return work()


def reads_terminal() -> bool:
    """Whether the command reads what is typed: a session, keys, or a log that is pasted."""
    asked = "repl" in sys.argv[1:2] or not {"-", "--tui"}.isdisjoint(sys.argv[1:])
    return asked and sys.stdin is not None and sys.stdin.isatty()


def _nothing(_signal: int, _frame: FrameType | None) -> None:
    """The parent reads signals from its pipe."""


def _become_child(parent: int, board: Noticeboard) -> None:
    """A process group of its own, so that Ctrl-C comes once, by the parent, and so that all its children end with it."""
    global _board  # noqa: PLW0603 - one page in a process
    _board = board
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # it writes to the terminal from behind
    if reads_terminal():
        # A terminal stops a group behind that reads from it. In front, it is the child that Ctrl-C comes to.
        os.tcsetpgrp(sys.stdin.fileno(), os.getpgrp())
        signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # the shell sees only the parent stop
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_KILL_WITH_PARENT, signal.SIGKILL)
        # The parent has ended before the line above took effect.
        if os.getppid() != parent:
            os._exit(INTERRUPTED)


class _Watch:
    """The parent: what it waits for, and until when."""

    def __init__(self, child: int, board: Noticeboard, signals: int) -> None:
        self._child = child
        self._board = board
        self._signals = signals
        self._asked = 0
        self._until: float | None = None
        """When the child will be ended, unless it takes notice."""

    def code(self) -> int:
        """Wait for the child, and say how it ended."""
        while True:
            # Signals end the wait, that of the child's end among them. The limit on the page has to be looked at.
            select.select([self._signals], [], [], POLL)
            with contextlib.suppress(BlockingIOError):
                for each in os.read(self._signals, 64):
                    self._heed(each)
            ended, status = os.waitpid(self._child, os.WNOHANG)
            if ended:
                return self._exit_code(os.waitstatus_to_exitcode(status))
            self._board.read()
            if self._is_over():
                return self._end()

    def _heed(self, number: int) -> None:
        if number == signal.SIGTSTP:
            self._stop()
        elif number in (signal.SIGINT, signal.SIGTERM):
            self._asked += 1
            self._until = time.monotonic() + GRACE
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, number)

    def _stop(self) -> None:
        """Ctrl-Z: both stop, and both go on."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child, signal.SIGSTOP)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.killpg(self._child, signal.SIGCONT)

    def _is_over(self) -> bool:
        now, board = time.monotonic(), self._board
        # A signal was handed on, and the child has not taken notice.
        if self._until is not None and now >= self._until and not board.is_ending:
            return True
        if not board.deadline or now < board.deadline + GRACE:
            return False
        # The limit is over. A child that makes its answer has `ENDING` more, and without end after Ctrl-C or for a
        # checkpoint.
        return not board.is_ending or (now > board.deadline + ENDING and not board.is_patient and not self._asked)

    def _end(self) -> int:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)
        if self._until is not None:
            return self._say("interrupted", f"interrupted while {self._board.doing}", INTERRUPTED)
        why = f"the time limit of {self._board.limit:g} s was reached while {self._board.doing}"
        return self._say("unknown", why, UNDECIDED)

    def _exit_code(self, code: int) -> int:
        if code >= 0:
            return code
        name = signal.Signals(-code).name
        self._board.read()
        # Out of memory, the kernel of Linux ends the largest process by SIGKILL. That is no mistake of the program.
        if -code == signal.SIGKILL:
            why = f"the working process was ended from outside, perhaps for want of memory, while {self._board.doing}"
            return self._say("unknown", why, UNDECIDED)
        return self._say("internal error", f"{name} while {self._board.doing}", INTERNAL)

    def _say(self, verdict: str, why: str, code: int) -> int:
        """The answer of a child that could not give one."""
        as_json = "--json" in sys.argv
        sentence = f"{why[0].upper()}{why[1:]}. What was found until then is lost."
        if as_json:
            sys.stdout.write(json.dumps({"assay": "1", "verdict": verdict, "stopped": why}, ensure_ascii=False) + "\n")
        # Standard output holds one JSON object and nothing else.
        (sys.stderr if as_json else sys.stdout).write(f"{verdict}\n\n{sentence}\n")
        return code
