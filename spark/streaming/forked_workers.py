"""Work done by forked children of this process, at the same time as its own.

A child has all that this process has in memory, so that nothing is sent to it; its result comes back as bytes. The
process of a notebook has threads, which a fork does not copy. If one of them held a lock that the child needs, the
child never ends. Then it is killed after some time, and its work is left to this process.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import TypeVar

T = TypeVar("T")

EXTRA_SECONDS = 30.0
"""How many seconds a child may take longer than twice the time that this process took for its own work."""


def most_processes() -> int:
    """How many processes can work at once; one where the system does not fork."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def run_in_fork(others: Sequence[Callable[[], bytes]], own: Callable[[], T]) -> tuple[T, list[bytes | None]]:
    """The result of ``own``, run in this process, and the result of a child for each of ``others``. None for a child
    that did not end in time.
    """
    begun = monotonic()
    children = [_start(other) for other in others]
    try:
        # After the children have begun, so that all work at once.
        mine = own()
        until = monotonic() + (monotonic() - begun) + EXTRA_SECONDS
        return mine, [None if child is None else _result(child[1], until) for child in children]
    finally:
        for child in children:
            if child is not None:
                _end(*child)


def _start(work: Callable[[], bytes]) -> tuple[BaseProcess, Connection] | None:
    receiver, sender = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_child_main, args=(work, sender))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # Python warns of forks in a process with threads: see above
            process.start()
    except (OSError, AssertionError):  # too many processes, or a daemon, which may have no children
        receiver.close()
        return None
    finally:
        # The child has the other copy. With this one open, the pipe would not end when the child dies.
        sender.close()
    return process, receiver


def _child_main(work: Callable[[], bytes], sender: Connection) -> None:
    # Ctrl-C goes to every process of the terminal: the parent handles it, and ends its children.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(Exception):  # an error here occurs again, and is reported, where the parent does this work instead
        sender.send_bytes(work())


def _result(receiver: Connection, until: float) -> bytes | None:
    try:
        return receiver.recv_bytes() if receiver.poll(max(0.0, until - monotonic())) else None
    except (EOFError, OSError):  # it has died, perhaps while it was sending
        return None


def _end(process: BaseProcess, receiver: Connection) -> None:
    receiver.close()
    process.join(1.0)
    # A child that waits for a lock of a thread that the fork did not copy ends in no other way.
    if process.is_alive():
        process.kill()
        process.join()
    process.close()
