"""A driver for a program in any language: a JSON object a line on its standard input, and one on its standard output."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from assay.testing.model_run import DepartureError, Refused

ENDING = 1.0
"""Seconds from the end of a program's output to its own: it is then taken to go on."""


class SubprocessDriver:
    """Starts the program for each run. Subclass it with ``command``, ``actions``, and what ``ModelRun`` lets a driver
    have.

    For a call the program reads ``{"action": "acquire", "arguments": {"c": "a"}}``, and writes ``{"answer": …}`` or
    ``{"refused": true}``. If ``observes`` is true, it also reads ``{"observe": true}`` and writes an object of
    expressions with their values. A program that ends, or that says nothing for ``patience`` seconds, departs from the
    model.
    """

    command: Sequence[str] = ()
    actions: frozenset[str] = frozenset()
    observes = False
    patience = 10.0
    # Its own limit: an alarm would end `_ask` without saying what the program has written.
    keeps_patience = True

    def __init__(self) -> None:
        # a session of its own, so that the processes that the program starts end with it
        self._process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name == "observe" and self.observes:
            return lambda: self._ask({"observe": True})
        if name in self.actions:
            return lambda **arguments: self._call(name, arguments)
        raise AttributeError(name)

    def _call(self, action: str, arguments: dict[str, Any]) -> Any:
        found = self._ask({"action": action, "arguments": arguments})
        if not isinstance(found, dict):
            raise DepartureError(f"the program wrote {found!r}, which is no object with `answer` or `refused`")
        if found.get("refused"):
            raise Refused
        return found.get("answer")

    def _ask(self, question: dict[str, Any]) -> Any:
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        try:
            asked.write(json.dumps(question).encode() + b"\n")
            asked.flush()
        except BrokenPipeError:
            raise DepartureError(self._why_silent("standard input")) from None
        # Read by `select`, not by `readline`: that would wait without end for a program that writes half a line.
        line, end = b"", time.monotonic() + self.patience
        while not line.endswith(b"\n"):
            if not select.select([answers], [], [], max(end - time.monotonic(), 0.0))[0]:
                said = f"wrote {line!r} alone, without the end of its line, in" if line else "said nothing for"
                raise DepartureError(f"the program {said} {self.patience:g} s")
            more = os.read(answers.fileno(), 1 << 16)
            if not more:
                break
            line += more
        if not line:
            raise DepartureError(self._why_silent("standard output"))
        try:
            return json.loads(line)
        except ValueError:
            raise DepartureError(f"the program wrote {line!r}, which is no JSON") from None

    def _why_silent(self, stream: str) -> str:
        """Why a stream of the program is closed: it ended, or it goes on without it."""
        try:
            return f"the program ended with exit code {self._process.wait(ENDING)}"
        except subprocess.TimeoutExpired:
            return f"the program closed its {stream}"

    def close(self) -> None:
        """End the program, and what it has started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()
