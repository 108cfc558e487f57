"""Commands that read what is typed do so on a terminal, although another process watches over them."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")

LINE = "[2024-05-01 10:00:00,000] INFO [Controller id=1] 1 successfully elected as the controller (kafka.controller)"


@contextmanager
def terminal(folder: Path, *arguments: str) -> Iterator[tuple[Callable[[str], None], Callable[[str], str]]]:
    """Runs assay on a terminal of its own: what writes to it, and what waits until a text was printed."""
    process, end = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ["TERM"] = "dumb"
        os.execv(sys.executable, [sys.executable, "-m", "assay", *arguments])
    seen = bytearray()

    def wait(text: str) -> str:
        limit = time.monotonic() + 120
        while text.encode() not in seen and time.monotonic() < limit:
            if select.select([end], [], [], 0.2)[0]:
                try:
                    seen.extend(os.read(end, 4096))
                except OSError:  # the program has ended
                    break
        return seen.decode("utf-8", "replace")

    try:
        yield lambda text: (os.write(end, text.encode()), None)[1], wait
    finally:
        os.close(end)
        os.waitpid(process, 0)


def test_a_session_reads_lines_and_ends_with_the_terminal(tmp_path: Path) -> None:
    with terminal(tmp_path, "repl", "classics.two_phase") as (write, wait):
        assert "choose_to_abort(r3)" in wait("assay>")
        write("1000 + 234\r")
        assert "1234" in wait("1234")


def test_a_log_can_be_pasted(tmp_path: Path) -> None:
    with terminal(tmp_path, "validate", "-") as (write, wait):
        write(f"{LINE}\n\x04")
        assert "vacuous" in wait("vacuous")


def test_the_explorer_takes_keys(tmp_path: Path) -> None:
    pytest.importorskip("textual")
    with terminal(tmp_path, "explore", "classics/two_phase", "--tui") as (write, wait):
        assert "what is refused" in wait("what is refused")
        write("r")
        assert "ready: " in wait("ready: ")
        write("q")
        assert "\x1b[?1049l" in wait("\x1b[?1049l"), "the screen before is not shown again"
