"""Python's recursion limit, raised for deeply nested expressions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from assay.checker.interpreter.values.undefined import TOO_DEEP
from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.kernel import Kernel

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
