"""Work done by copies of this process, beside its own.

A copy has all that this process has, and nothing has to be sent to it; what it found comes back as bytes. A process of a notebook has threads, of which a
copy has none but its own: should one of them have held what the copy waits for, the copy is ended after a while, and its work is left to this process.
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

PATIENCE = 30.0
"""So many seconds a copy may take longer than twice what this process took for its own work."""


def most_processes() -> int:
    """As many processes as can work at once; one where processes are not copied."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def beside(others: Sequence[Callable[[], bytes]], own: Callable[[], T]) -> tuple[T, list[bytes | None]]:
    """What this process finds, and what a copy finds for each of the others; None where it did not come to an end."""
    begun = monotonic()
    copies = [_begun(other) for other in others]
    try:
        mine = own()
        until = monotonic() + (monotonic() - begun) + PATIENCE
        return mine, [None if copy is None else _found(copy[1], until) for copy in copies]
    finally:
        for copy in copies:
            if copy is not None:
                _end(*copy)


def _begun(work: Callable[[], bytes]) -> tuple[BaseProcess, Connection] | None:
    receiver, sender = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_do, args=(work, sender))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # that it has threads is reckoned with
            process.start()
    except (OSError, AssertionError):  # too many processes, or one that may have none
        receiver.close()
        return None
    finally:
        sender.close()
    return process, receiver


def _do(work: Callable[[], bytes], sender: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(Exception):  # what goes wrong here goes wrong again where the work is done instead, and is told there
        sender.send_bytes(work())


def _found(receiver: Connection, until: float) -> bytes | None:
    try:
        return receiver.recv_bytes() if receiver.poll(max(0.0, until - monotonic())) else None
    except (EOFError, OSError):  # it ended, perhaps within what it sent
        return None


def _end(process: BaseProcess, receiver: Connection) -> None:
    receiver.close()
    process.join(1.0)
    if process.is_alive():
        process.kill()
        process.join()
    process.close()
