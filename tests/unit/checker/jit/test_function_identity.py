"""What compiled code is kept under: it differs with everything that the code depends on."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

import numpy as np
import pytest

from assay.checker.jit.function_identity import identity

TEXT = """
STEP = {step}

def below(x):
    return x + {constant}

def function(x, n):
    total = 0
    for at in range(n):
        total {operation} below(x[at]) * STEP
    return total
"""


def identity_of(step: object = 2, constant: int = 1, operation: str = "+=") -> str | None:
    names: dict[str, Any] = {"np": np}
    exec(TEXT.format(step=step, constant=constant, operation=operation), names)
    found: Callable[[Any], FunctionType | None] = lambda each: each if each is names["below"] else None  # noqa: E731
    return identity(cast(FunctionType, names["function"]), found)


def test_the_same_functions_have_the_same_identity() -> None:
    assert identity_of() is not None
    assert identity_of() == identity_of()


@pytest.mark.parametrize(
    "other", [{"step": 3}, {"step": "np.uint64(4)"}, {"constant": 5}, {"operation": "-="}], ids=str
)
def test_a_constant_a_called_function_and_the_code_count(other: dict[str, Any]) -> None:
    assert identity_of(**other) != identity_of()
