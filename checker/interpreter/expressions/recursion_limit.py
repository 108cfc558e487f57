"""Python's recursion limit, raised for deeply nested expressions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from assay.checker.interpreter.values.undefined import TOO_DEEP
from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.kernel import Kernel

T = TypeVar("T")

DEEPEST = 20_000
"""The most Python frames of an evaluation. Each level of nesting takes one; the parser admits far fewer."""


@contextmanager
def deep_recursion(kernel: Kernel) -> Iterator[None]:
    """Inside, deeply nested expressions can be evaluated; beyond the limit a ``SpecError`` is raised instead of a
    crash."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEPEST))
    try:
        yield
    except RecursionError:
        message = "an expression is nested too deeply to be evaluated"
        raise SpecError([Diagnostic(TOO_DEEP, kernel.span, message)]) from None
    finally:
        sys.setrecursionlimit(limit)


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
