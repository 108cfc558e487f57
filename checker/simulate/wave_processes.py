"""Waves of random walks, made by several processes at once: copies of this one make some waves, and it makes the rest.

Which walks are made does not depend on the number of processes. A wave has a random generator of its own, and knows
what was exercised before its round began. A wave in which a copy finds something new is made once more by this process,
which keeps the findings. So a copy only counts.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING

from assay.grammar.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

POLL = 0.05
PATIENCE = 0.4
"""Seconds for copies to hand over what they have counted, once the time is over."""


@dataclass(frozen=True, slots=True)
class WaveCounts:
    """What a wave adds to a simulation. ``marks`` are the states that were new to it, each with the action that led
    there; ``is_whole`` says that no limit ended it."""

    walks: int
    moves: int
    ended: int
    longest: int
    generated: int
    taken: Counter[str]
    bounds: Counter[str]
    decisive: tuple[tuple[str, frozenset[str]], ...]
    marks: tuple[tuple[int, str], ...]
    is_whole: bool


Made = WaveCounts | None
"""None for a wave that this process has to make. That is its own, one in which something was found, or one of a copy
that did not end.
"""


def processes(wanted: int | None) -> int:
    """How many processes may make waves. One where copies of this one are not safe: it is a copy itself, or another
    thread than the first one asks.
    """
    package = sys.modules.get("multiprocessing.process")
    # Copies are daemons, and multiprocessing lets a daemon have no children.
    is_copy = package is not None and package.current_process().daemon
    if sys.platform != "linux" or is_copy or threading.current_thread() is not threading.main_thread():
        return 1
    return wanted or len(os.sched_getaffinity(0))


def made_by_copies(
    count: int, waves: Sequence[int], make: Callable[[int, Callable[[], bool]], Made], is_over: Callable[[], bool]
) -> Generator[Made, None, None]:
    """What ``make`` says of each wave, in their order. Of so many processes this is one, whose share is None.

    ``make`` gets the number of a wave, and what asks whether it should end; ``is_over`` asks whether the time is.
    """
    from multiprocessing import get_context  # noqa: PLC0415 - most commands never need it

    # By fork: compiled code and states of the model are there already, and need not be sent.
    context = get_context("fork")
    ending = context.RawValue(ctypes.c_bool, False)
    copies: list[tuple[ForkProcess, Connection]] = []
    try:
        # Share 0 is that of this process.
        for share in range(1, min(count, len(waves))):
            receiving, sending = context.Pipe(duplex=False)
            copy = context.Process(target=_make, args=(waves[share::count], make, ending, sending), daemon=True)
            copy.start()
            # The next copy must not inherit this end: reading ends when the only process that holds it does.
            sending.close()
            copies.append((copy, receiving))
        for at in range(len(waves)):
            # Wave `at` belongs to process `at % count`; number 0 is this one.
            yield _received(copies[at % count - 1][1], ending, is_over) if at % count else None
    finally:
        for copy, receiving in copies:
            # A copy has nothing to clean up; what it did not hand over is made again or not needed.
            copy.kill()
            copy.join()
            receiving.close()


def _make(
    waves: Sequence[int], make: Callable[[int, Callable[[], bool]], Made], ending: ctypes.c_bool, to: Connection
) -> None:
    """What a copy does."""
    for wave in waves:
        try:
            made = make(wave, lambda: bool(ending.value))
        except Exception:  # noqa: BLE001 - made again where it can be said
            made = None
        to.send_bytes(pickle.dumps(made))
    os._exit(0)  # nothing of the first process is written or taken apart here


def _received(receiving: Connection, ending: ctypes.c_bool, is_over: Callable[[], bool]) -> Made:
    """The next answer of a copy; None where it does not come in time."""
    until: float | None = time.monotonic() + PATIENCE if ending.value else None
    try:
        while not receiving.poll(POLL):
            if until is None and is_over():
                ending.value, until = True, time.monotonic() + PATIENCE
            if until is not None and time.monotonic() > until:
                return None
        # From a copy of this process: nobody else can write to the pipe.
        made = pickle.loads(receiving.recv_bytes())
    except (EOFError, OSError):
        return None
    assert made is None or isinstance(made, WaveCounts)
    return made
