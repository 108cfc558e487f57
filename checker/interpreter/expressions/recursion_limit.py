"""Room for deeply nested expressions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from assay.checker.interpreter.values.undefined import TOO_DEEP
from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.kernel import Kernel

DEEPEST = 20_000
"""Python frames that an evaluation may need; each level of nesting takes one, which is far beyond what the parser admits."""


@contextmanager
def deep_recursion(kernel: Kernel) -> Iterator[None]:
    """Room for deeply nested expressions; beyond it a ``SpecError`` instead of a crash."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, DEEPEST))
    try:
        yield
    except RecursionError:
        message = "an expression is nested too deeply to be evaluated"
        raise SpecError([Diagnostic(TOO_DEEP, kernel.span, message)]) from None
    finally:
        sys.setrecursionlimit(limit)
