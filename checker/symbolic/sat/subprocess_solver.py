"""A SAT solver in a child process, which can be killed at any time: CaDiCaL itself cannot be interrupted.

The process keeps its clauses, so that questions with different assumptions go to one incremental solver. Clauses travel
as 32-bit integers, each clause terminated by a zero.
"""

from __future__ import annotations

import select
import signal
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from pysat.solvers import Solver

ENGINE = "cadical153"
"""The fastest of those measured on bounded search (docs/proving.md)."""
POLL = 0.05


class NoAnswerError(Exception):
    """The solver was ended before it had an answer; the message gives the reason."""


class ChildSolver:
    """A solver in a child process. ``deadline`` is a value of ``time.monotonic``; ``interrupted`` is called while
    waiting."""

    def __init__(self, deadline: float | None = None, interrupted: Callable[[], bool] = lambda: False) -> None:
        self._deadline = deadline
        self._interrupted = interrupted
        root = str(Path(__file__).parents[4])
        # Isolated, and without relative folders: nothing is imported from the working directory.
        path = [root, *(entry for entry in sys.path if Path(entry).is_absolute())]
        program = f"import sys; sys.path[:0] = {path!r}; from assay.checker.symbolic.sat.subprocess_solver import serve; serve()"
        self._child = subprocess.Popen(
            [sys.executable, "-I", "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=-1
        )

    def __enter__(self) -> ChildSolver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.kill()
        for stream in (self._child.stdin, self._child.stdout):
            assert stream is not None
            stream.close()
        self._child.wait()

    def solve(self, clauses: Iterable[Sequence[int]], assumptions: Sequence[int]) -> set[int] | None:
        """The positive variables of a model of all clauses so far under the assumptions; None if there is none.

        Raises ``NoAnswerError`` at the deadline, or if the process ended (out of memory, for example), and
        ``KeyboardInterrupt`` at the user's request. The solver cannot be used after that.
        """
        flat = array("i")
        for clause in clauses:
            flat.extend(clause)
            flat.append(0)
        try:
            _send(self._pipe(self._child.stdin), [flat, array("i", assumptions)])
            self._wait()
            answer = _receive(self._pipe(self._child.stdout))
        except (EOFError, BrokenPipeError):
            raise NoAnswerError("the solver's process has ended, perhaps for want of memory,") from None
        return {literal for literal in answer[1:] if literal > 0} if answer[0] else None

    def _pipe(self, stream: object) -> BinaryIO:
        return stream  # type: ignore[return-value]  # Popen was given pipes

    def _wait(self) -> None:
        """Wait for the answer to begin."""
        answer = self._pipe(self._child.stdout)
        while not select.select([answer], [], [], POLL)[0]:
            if self._interrupted():
                raise KeyboardInterrupt
            if self._deadline is not None and time.monotonic() >= self._deadline:
                raise NoAnswerError("the time limit was reached")


def _send(stream: BinaryIO, parts: Iterable[array[int]]) -> None:
    for part in parts:
        stream.write(len(part).to_bytes(8, "little"))
        stream.write(part.tobytes())
    stream.flush()


def _receive(stream: BinaryIO) -> array[int]:
    size = stream.read(8)
    if len(size) < 8:
        raise EOFError("the process of the solver has ended")
    part = array("i")
    part.frombytes(stream.read(int.from_bytes(size, "little") * part.itemsize))
    return part


def serve() -> None:
    """The child's side: take clauses and assumptions, answer with a model, until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    with Solver(ENGINE) as solver:
        while True:
            try:
                flat, assumptions = _receive(sys.stdin.buffer), _receive(sys.stdin.buffer)
            except EOFError:
                return
            clause: list[int] = []
            for literal in flat:
                if literal:
                    clause.append(literal)
                else:
                    solver.add_clause(clause)
                    clause = []
            found = solver.solve(list(assumptions))
            model = [literal for literal in solver.get_model() if literal > 0] if found else []
            _send(sys.stdout.buffer, [array("i", [int(found), *model])])
