"""Slices answered by several processes. They are copies of this one, and so have the events; only the answers go from one to another."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from copy import copy
from dataclasses import dataclass
from multiprocessing import get_context

from assay.traces.events import Event
from assay.traces.join import Joiner, Joint, SliceAnswer
from assay.traces.wire import from_bytes, to_bytes

WORTH_IT = 20_000
"""From so many events on it takes less time to begin processes than they save."""

AT_ONCE = 16
"""How many slices a process takes at a time."""


Finish = Callable[[SliceAnswer, Sequence[Event]], SliceAnswer]
"""What is done with the answer about a slice where its events are."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What all processes have: the joiner, the slices with their events, and the values of the execution that they are joined on."""

    joiner: Joiner
    slices: tuple[tuple[str, Sequence[Event]], ...]
    finish: Finish | None
    values: tuple[object, ...]
    """What a process that sends an answer, and the one that takes it, both have: the values of the shared execution."""

    def answer(self, number: int) -> SliceAnswer:
        """The answer about a slice."""
        name, events = self.slices[number]
        events = copy(events)  # what is worked out about the events of a slice ends with its answer
        found = self.joiner.of_slice(name, events)
        return found if self.finish is None else self.finish(found, events)


_work: _Work | None = None


def answer_all(
    joint: Joint, slices: Mapping[str, Sequence[Event]], jobs: int, finish: Finish | None
) -> list[SliceAnswer]:
    """The answers about all slices, each finished with its events, by at most so many processes (0: as many as there are cores)."""
    values = {id(value): value for state in joint.chain.states for value in state}
    work = _Work(Joiner(joint), tuple(slices.items()), finish, tuple(values.values()))
    count = min(jobs or len(os.sched_getaffinity(0)), len(slices)) if sys.platform == "linux" else 1
    found: dict[int, SliceAnswer] = {}
    if count > 1 and sum(map(len, slices.values())) >= WORTH_IT:
        _answer_elsewhere(work, count, found)
    return [found[number] if number in found else work.answer(number) for number in range(len(work.slices))]


def _answer_elsewhere(work: _Work, count: int, found: dict[int, SliceAnswer]) -> None:
    """Take the answers of other processes; where one of these is killed, what is missing is left to this process."""
    global _work  # noqa: PLW0603 - what a process that is copied takes with it
    _work = work
    try:
        with ProcessPoolExecutor(count, get_context("fork"), initializer=_leave_interrupts_to_the_first) as pool:
            for number, answer in enumerate(pool.map(_answer, range(len(work.slices)), chunksize=AT_ONCE)):
                found[number] = from_bytes(answer, common=work.values)
    except BrokenProcessPool:
        return
    finally:
        _work = None


def _leave_interrupts_to_the_first() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _answer(number: int) -> bytes:
    if _work is None:
        raise AssertionError("a process that has no work")
    return to_bytes(_work.answer(number), common=_work.values)
