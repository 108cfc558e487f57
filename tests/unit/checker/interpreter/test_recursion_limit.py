"""The recursion limit is one of the process, and evaluations of several threads share it."""

from __future__ import annotations

import sys
from contextlib import ExitStack

from assay.checker.interpreter.expressions.recursion_limit import DEEPEST, deep_recursion
from assay.grammar.load import load_text


def test_the_limit_stays_raised_until_the_last_evaluation_has_ended() -> None:
    kernel = load_text("state:\n    x: bool = false\n").kernel
    before = sys.getrecursionlimit()
    first, second = ExitStack(), ExitStack()
    first.enter_context(deep_recursion(kernel))
    second.enter_context(deep_recursion(kernel))
    # As two threads do: the one that came first leaves first.
    first.close()
    inside = sys.getrecursionlimit()
    second.close()
    assert inside >= DEEPEST
    assert sys.getrecursionlimit() == before
