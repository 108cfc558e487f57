"""The decorator ``ArrayFunction``: a Python function over arrays runs as machine code."""

from __future__ import annotations

import ast
import ctypes
import inspect
import os
import textwrap
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, Generic, TypeVar, cast

import numpy as np

from assay.checker.jit.argument_types import (
    ArrayKind,
    Element,
    FunctionSource,
    Kind,
    TupleKind,
    WordKind,
    operands,
    parameter,
)
from assay.checker.jit.object_cache import LoadedObject, cache_key, kept
from assay.checker.jit.python_to_llvm import results, translate
from assay.grammar.lazy_dataclass import dataclass

VERSION = 2
LEVEL = 3
CHECKED = bool(os.environ.get("ASSAY_CHECK_INDEXES"))
"""Whether an index out of bounds aborts the process. It is slower; for tests, and to look for a mistake."""

R = TypeVar("R")
Signature = tuple[Any, int | None] | None
"""The types of arguments, as a key: None for a number; element type and number of dimensions for an array; the
signatures of a tuple's items, and None."""


@dataclass(frozen=True, slots=True)
class CompiledEntry:
    """Machine code for one combination of argument types; ``given`` is the ctypes type of its results."""

    code: LoadedObject
    call: Any
    given: Any


class ArrayFunction(Generic[R]):
    """A function over arrays that runs as machine code, compiled for each combination of argument types at the first
    such call.

    It runs without the interpreter's lock. Arrays must be contiguous. Indexes are not checked (but see ``CHECKED``). A
    result is a signed number, or a tuple of them. ``python`` is the original function, which gives the same results.
    """

    def __init__(self, function: Callable[..., R]) -> None:
        self.python = function
        self._entries: dict[tuple[Signature, ...], CompiledEntry] = {}
        update_wrapper(self, function)

    @cached_property
    def source(self) -> FunctionSource:
        """Its parsed source, with the names of its module."""
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.python))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        return FunctionSource(tree, self.python.__globals__)

    def __call__(self, *arguments: Any) -> R:
        """Call it. Raises ``ValueError`` for an array that is not contiguous, ``UntranslatableError`` for a function
        outside the subset."""
        passed: list[int] = []
        key = tuple(self._pass(each, passed) for each in arguments)
        entry = self._entries.get(key) or self._build(key)
        words = entry.given()
        entry.call(words, *passed)
        return cast(R, words[0] if len(words) == 1 else tuple(words) or None)

    def _pass(self, argument: Any, passed: list[int]) -> Signature:
        """Append the words by which an argument is passed, and return its signature."""
        if isinstance(argument, np.ndarray):
            if not argument.flags.c_contiguous:
                raise ValueError(f"{self.python.__name__} takes only arrays without gaps")
            passed += (argument.ctypes.data, *argument.shape)
            return argument.dtype.str, argument.ndim
        if isinstance(argument, tuple):
            return tuple(self._pass(each, passed) for each in argument), None
        passed.append(int(argument))
        return None

    def _build(self, key: tuple[Signature, ...]) -> CompiledEntry:
        kinds = tuple(map(_kind, key))
        text = translate(
            self.source,
            kinds,
            lambda named: named.source if isinstance(named, ArrayFunction) else None,
            checked=CHECKED,
        )
        loaded = LoadedObject(kept(cache_key(text, VERSION), text, LEVEL))
        types = [ctypes.c_void_p, *(type_ for kind in kinds for type_ in _types(kind))]
        given = ctypes.c_int64 * results(self.source)
        self._entries[key] = CompiledEntry(loaded, loaded.function("main", None, *types), given)
        return self._entries[key]


def _kind(of: Signature) -> Kind:
    if of is None:
        return WordKind()
    first, dimensions = of
    if dimensions is None:
        return TupleKind(tuple(map(_kind, first)))
    known = np.dtype(first)
    return ArrayKind(Element(known.itemsize * 8, known.kind == "i"), dimensions)


def _types(kind: Kind) -> list[Any]:
    return [ctypes.c_void_p if each.startswith("ptr") else ctypes.c_int64 for each in operands(parameter(kind, ""))]
