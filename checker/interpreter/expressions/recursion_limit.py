"""Python's recursion limit, raised for deeply nested expressions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

from assay.checker.interpreter.values.undefined import TOO_DEEP
from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.kernel import Kernel

T = TypeVar("T")

DEEPEST = 20_000
"""The most Python frames of an evaluation. Each level of nesting takes one; the parser admits far fewer."""


class _Raised:
    """How many evaluations of the process need the raised limit, and the limit that was set before them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._before = 0

    def enter(self) -> None:
        """Raise the limit for one more evaluation."""
        with self._lock:
            if not self._inside:
                self._before = sys.getrecursionlimit()
            self._inside += 1
            sys.setrecursionlimit(max(self._before, DEEPEST))

    def leave(self) -> None:
        """An evaluation has ended. The last one sets the limit back: threads do not leave in the order they came."""
        with self._lock:
            self._inside -= 1
            if not self._inside:
                sys.setrecursionlimit(self._before)


_raised = _Raised()


@contextmanager
def deep_recursion(kernel: Kernel) -> Iterator[None]:
    """Inside, deeply nested expressions can be evaluated; beyond the limit a ``SpecError`` is raised instead of a
    crash."""
    _raised.enter()
    try:
        yield
    except RecursionError:
        message = "an expression is nested too deeply to be evaluated"
        raise SpecError([Diagnostic(TOO_DEEP, kernel.span, message)]) from None
    finally:
        _raised.leave()


def each_deep(kernel: Kernel, items: Iterator[T]) -> Iterator[T]:
    """The items of an iterator, each made with the raised limit. While the iterator waits the limit is as before: it
    belongs to the whole process."""
    while True:
        with deep_recursion(kernel):
            try:
                item = next(items)
            except StopIteration:
                return
        yield item
