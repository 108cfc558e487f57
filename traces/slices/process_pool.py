"""Validates slices in several processes. They are forks of this one, so they have the events; only answers are sent."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event
from assay.traces.explain.mismatch import FIRST_ONLY
from assay.traces.gc_control import frozen_heap
from assay.traces.observe.binding_tally import counted_as_ignored
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.result import SliceResult, TraceVerdict
from assay.traces.slices.packed_execution import PackedExecution, Shelf
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.slices.slice_context import Joint
from assay.traces.slices.slice_validator import Joiner
from assay.traces.stop import StopRequest, stopped

WORTH_IT = 20_000
"""With fewer events than this, forking takes longer than it saves."""

AT_ONCE = 16
"""How many slices a process takes at a time."""


Finish = Callable[[SliceAnswer, Sequence[Event]], SliceAnswer]
"""Completes a slice's answer in the process that has its events."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What all processes have: the validator, the slices, and what executions are packed with, if they are packed."""

    joiner: Joiner
    slices: tuple[tuple[str, Sequence[Event]], ...]
    finish: Finish | None
    shelf: Shelf | None

    def answer(self, number: int) -> tuple[SliceAnswer, bytes]:
        """The answer about a slice, and its packed execution if it is packed."""
        name, events = self.slices[number]
        events = copy(events)  # caches on the events of a slice are dropped with its answer
        found = self.joiner.of_slice(name, events)
        found = found if self.finish is None else self.finish(found, events)
        run = found.result.execution
        if self.shelf is None or run is None:
            return found, b""
        return replace(found, result=replace(found.result, execution=None)), self.shelf.pack(run)

    def whole(self, answer: SliceAnswer, run: bytes) -> SliceAnswer:
        """The answer with its execution, which stays packed until it is read."""
        if self.shelf is None or not run:
            return answer
        return replace(answer, result=replace(answer.result, execution=PackedExecution(run, self.shelf)))


_work: _Work | None = None


def answer_all(
    joint: Joint, slices: Mapping[str, Sequence[Event]], jobs: int, finish: Finish | None
) -> list[SliceAnswer]:
    """The finished answers about all slices, by at most ``jobs`` processes (0: one for each core)."""
    many = sum(map(len, slices.values())) >= WORTH_IT
    work = _Work(Joiner(joint), tuple(slices.items()), finish, Shelf.of(joint.chain.states) if many else None)
    jobs = 1 if joint.first else jobs  # which slice is the first must not depend on processes
    # The cores that this process may use, not those of the machine; the call exists on Linux only.
    count = min(jobs or len(os.sched_getaffinity(0)), len(slices)) if sys.platform == "linux" else 1
    found: dict[int, SliceAnswer] = {}
    with frozen_heap():
        try:
            if count > 1 and many:
                _answer_elsewhere(work, count, found)
            for number in range(len(work.slices)):
                if number not in found:
                    found[number] = work.whole(*work.answer(number))
                if joint.first and found[number].result.violations:
                    break
        except StopRequest:
            pass  # the rest is not checked, as the answer about each slice says
    why = f"not checked: {stopped() or FIRST_ONLY}"
    numbered = enumerate(work.slices)
    return [found[number] if number in found else unchecked(name, events, why) for number, (name, events) in numbered]


def unchecked(name: str, events: Sequence[Event], why: str) -> SliceAnswer:
    """The answer about a slice that was not checked."""
    result = SliceResult(name, TraceVerdict.INCONCLUSIVE, why, 0, (), (), {}, None, ())
    return SliceAnswer(result, counted_as_ignored(events, why), 0)


def _answer_elsewhere(work: _Work, count: int, found: dict[int, SliceAnswer]) -> None:
    """Collect the answers of other processes; if one of them is killed, this process computes what is missing."""
    global _work  # noqa: PLW0603 - what a process that is copied takes with it
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - only large logs need it
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - as above
    from multiprocessing import active_children, get_context  # noqa: PLC0415 - as above

    _work = work
    try:
        with ProcessPoolExecutor(count, get_context("fork"), initializer=_leave_interrupts_to_the_first) as pool:
            try:
                for number, (answer, run) in enumerate(pool.map(_answer, range(len(work.slices)), chunksize=AT_ONCE)):
                    found[number] = work.whole(from_bytes(answer), run)
            except StopRequest:
                # At its end the `with` waits for all slices that were handed out: a stop would take minutes.
                for each in active_children():
                    each.kill()
                raise
    except BrokenProcessPool:
        return
    finally:
        _work = None


def _leave_interrupts_to_the_first() -> None:
    # A terminal interrupts the whole process group. The first process alone decides, and ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _answer(number: int) -> tuple[bytes, bytes]:
    if _work is None:
        raise AssertionError("a process that has no work")
    answer, run = _work.answer(number)
    return to_bytes(answer), run
