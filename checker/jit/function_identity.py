"""What the machine code of a function depends on, found without parsing it. It is the code of the function and of those
that it calls, with the constants that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

Find = Callable[[Any], FunctionType | None]


def identity(function: FunctionType, called: Find) -> str | None:
    """A hash that differs where the machine code may differ; None where the translator's own text cannot be read.

    ``called`` gives the Python function behind another function that may be called.
    """
    translator = _translator()
    return None if translator is None else sha256(repr((translator, *_parts(function, called))).encode()).hexdigest()


def _parts(function: FunctionType, called: Find) -> Iterator[object]:
    seen: list[FunctionType] = []
    waiting = [function]
    while waiting:
        each = waiting.pop()
        # A function may call itself, and two may call a third.
        if any(each is other for other in seen):
            continue
        seen.append(each)
        # Not the source text: a comment that changes would build everything anew.
        code = each.__code__
        yield each.__name__, code.co_code, code.co_varnames, code.co_names, tuple(map(_constant, code.co_consts))
        for name in code.co_names:
            named = each.__globals__.get(name)
            below = called(named)
            if below is not None:
                waiting.append(below)
                yield name, below.__module__, below.__qualname__
            elif isinstance(named, int | np.integer):
                # A constant of the module is written into the machine code, so its value counts.
                yield name, int(named)
            else:
                yield name, getattr(named, "__name__", repr(type(named)))


def _constant(value: object) -> object:
    return value.co_code if isinstance(value, CodeType) else value


@cache
def _translator() -> str | None:
    # Bytecode differs between versions of Python; the magic number names its version.
    digest = sha256(MAGIC_NUMBER)
    try:
        for path in sorted(Path(__file__).parent.glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    except OSError:
        return None
    return digest.hexdigest()
