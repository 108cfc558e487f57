"""Executions in few bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.result import ExecutedStep, Execution
from assay.traces.slices.packed_execution import PackedExecution, Shelf


def _run(line: Callable[..., Any], shared: tuple[object, ...]) -> Execution:
    states = [(shared[0], 1, shared[1]), (shared[0], 2, shared[1]), (shared[1], 2, shared[0])]
    steps = [ExecutedStep(line("n1", 1, 10, "Put", n=1), "put", (("n", 2),), states[1])]
    steps.append(ExecutedStep(None, None, (), states[2]))
    return Execution(states[0], tuple(steps))


def test_what_is_packed_is_unpacked_as_it_was(line: Callable[..., Any]) -> None:
    shared = frozenset({1, 2}), frozenset({3})
    run, shelf = _run(line, shared), Shelf.of([shared])
    packed = PackedExecution(shelf.pack(run), shelf)
    assert packed == run
    assert run == packed
    assert packed.initial[0] is shared[0]
    assert packed.steps[-1].state[0] is shared[1]
    assert packed != Execution(run.initial, run.steps[:1])


def test_one_execution_after_another_is_unpacked_from_the_same_shelf(line: Callable[..., Any]) -> None:
    shared = frozenset({1, 2}), frozenset({3})
    run, shelf = _run(line, shared), Shelf.of([shared])
    short = Execution(run.initial, run.steps[:1])
    packed, other = (PackedExecution(shelf.pack(each), shelf) for each in (run, short))
    assert [len(packed.steps), len(other.steps), len(packed.steps)] == [2, 1, 2]


def test_a_packed_execution_travels_as_a_plain_one(line: Callable[..., Any]) -> None:
    shared = frozenset({1, 2}), frozenset({3})
    run, shelf = _run(line, shared), Shelf.of([shared])
    sent = from_bytes(to_bytes(PackedExecution(shelf.pack(run), shelf)))
    assert type(sent) is Execution
    assert sent == run
