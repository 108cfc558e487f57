"""The decorator that makes machine code of a function over arrays."""

from __future__ import annotations

import ast
import ctypes
import inspect
import textwrap
from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any, Generic, TypeVar

import numpy as np

from assay.checker.array_code.kinds import ArrayKind, Element, Kind, Source, WordKind
from assay.checker.array_code.objects import Loaded, cache_key, kept
from assay.checker.array_code.translate import translate

VERSION = 1
LEVEL = 3

R = TypeVar("R")


class Compiled(Generic[R]):
    """A function over arrays that runs as machine code, built for each combination of argument types when it is first called with them.

    It runs without the interpreter's lock. Arrays must lie in memory without gaps; indexes are not checked. A result is a word without a sign.
    ``python`` is the function as it was written, which gives the same answer.
    """

    def __init__(self, function: Callable[..., R]) -> None:
        self.python = function
        self._entries: dict[tuple[Any, ...], tuple[Loaded, Any]] = {}
        update_wrapper(self, function)

    @cached_property
    def source(self) -> Source:
        """Its text, parsed, with the names of its module."""
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.python))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        return Source(tree, self.python.__globals__)

    def __call__(self, *arguments: Any) -> R:
        """Call it. Raises ``ValueError`` for an array with gaps, ``UntranslatableError`` for a function outside the language."""
        passed: list[int] = []
        signature: list[tuple[str, int] | None] = []
        for each in arguments:
            if isinstance(each, np.ndarray):
                if not each.flags.c_contiguous:
                    raise ValueError(f"{self.python.__name__} takes only arrays without gaps")
                passed += (each.ctypes.data, *each.shape)
                signature.append((each.dtype.str, each.ndim))
            else:
                passed.append(int(each))
                signature.append(None)
        key = tuple(signature)
        entry = self._entries.get(key) or self._build(key)
        result: R = entry[1](*passed)
        return result

    def _build(self, key: tuple[tuple[str, int] | None, ...]) -> tuple[Loaded, Any]:
        kinds = tuple(_kind(each) for each in key)
        text = translate(self.source, kinds, lambda named: named.source if isinstance(named, Compiled) else None)
        loaded = Loaded(kept(cache_key(text, VERSION), text, LEVEL))
        types = [type_ for kind in kinds for type_ in _types(kind)]
        self._entries[key] = loaded, loaded.function("main", ctypes.c_uint64, *types)
        return self._entries[key]


def _kind(of: tuple[str, int] | None) -> Kind:
    if of is None:
        return WordKind()
    known = np.dtype(of[0])
    return ArrayKind(Element(known.itemsize * 8, known.kind == "i"), of[1])


def _types(kind: Kind) -> list[Any]:
    sizes = [ctypes.c_int64] * kind.dimensions if isinstance(kind, ArrayKind) else []
    return [ctypes.c_void_p, *sizes] if isinstance(kind, ArrayKind) else [ctypes.c_int64]
