"""The decorator ``ArrayFunction``: a Python function over arrays runs as machine code."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cached_property, update_wrapper
from threading import local
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from assay.checker.jit.argument_types import (
    ArrayKind,
    Element,
    Kind,
    TupleKind,
    WordKind,
    operands,
    parameter,
)
from assay.checker.jit.function_identity import identity
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.user_cache import cached, keep

if TYPE_CHECKING:
    from assay.checker.jit.argument_types import FunctionSource
    from assay.checker.jit.object_cache import LoadedObject

LEVEL = 3
CHECKED = bool(os.environ.get("ASSAY_CHECK_INDEXES"))
"""Whether an index out of bounds aborts the process. It is slower; for tests, and to look for a mistake."""

FEW = 8192

R = TypeVar("R")
Signature = tuple[Any, int | None] | None
"""The types of arguments, as a key. It is None for a number, and element type and number of dimensions for an array. A
tuple gives the signatures of its items, and None.
"""


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
        import ast  # noqa: PLC0415 - only for what no earlier run has compiled
        import inspect  # noqa: PLC0415 - as above
        import textwrap  # noqa: PLC0415 - as above

        from assay.checker.jit.argument_types import FunctionSource  # noqa: PLC0415 - as above

        tree = ast.parse(textwrap.dedent(inspect.getsource(self.python))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        return FunctionSource(tree, self.python.__globals__)

    def __call__(self, *arguments: Any) -> R:
        """Call it. Raises ``ValueError`` for an array that is not contiguous or has no integers, ``UntranslatableError``
        for a function outside the subset."""
        return self.bound(*arguments)()

    def bound(self, *arguments: Any) -> Callable[[], R]:
        """What calls it with these arguments again and again, without looking at them each time: for arrays that change
        in place. Raises as a call does."""
        passed: list[int] = []
        key = tuple(self._pass(each, passed) for each in arguments)
        entry = self._entries.get(key) or self._build(key)

        # The arrays and the code live as long as what is returned: another thread that builds the code replaces an entry.
        def again(_: object = arguments) -> R:
            words = entry.given()
            entry.call(words, *passed)
            return cast(R, words[0] if len(words) == 1 else tuple(words) or None)

        return again

    def _pass(self, argument: Any, passed: list[int]) -> Signature:
        """Append the words by which an argument is passed, and return its signature."""
        if isinstance(argument, np.ndarray):
            # A copy would be no help: functions write into arrays that are passed.
            if not argument.flags.c_contiguous:
                raise ValueError(f"{self.python.__name__} takes only arrays without gaps")
            passed += (argument.ctypes.data, *argument.shape)
            return argument.dtype.str, argument.ndim
        if isinstance(argument, tuple):
            return tuple(self._pass(each, passed) for each in argument), None
        passed.append(int(argument))
        return None

    def _build(self, key: tuple[Signature, ...]) -> CompiledEntry:
        from assay.checker.jit.object_cache import LoadedObject  # noqa: PLC0415 - it loads LLVM

        kinds = tuple(map(_kind, key))
        given, code = self._code(kinds)
        loaded = LoadedObject(code)
        types = [ctypes.c_void_p, *(type_ for kind in kinds for type_ in _types(kind))]
        self._entries[key] = CompiledEntry(loaded, loaded.function("main", None, *types), ctypes.c_int64 * given)
        return self._entries[key]

    def _code(self, kinds: tuple[Kind, ...]) -> tuple[int, bytes]:
        """How many words it returns, and its object code, from the cache if it is there and undamaged."""
        from assay.checker.jit.build_object import build  # noqa: PLC0415 - it loads LLVM
        from assay.checker.jit.object_cache import cache_key  # noqa: PLC0415 - so does this

        # Found without the source: parsing it takes longer than all the rest of a warm start.
        known = identity(cast(FunctionType, self.python), _python)
        name = None if known is None else f"{cache_key(known, kinds, LEVEL, CHECKED)}.o"
        content = None if name is None else cached(name)
        if content:
            return content[0], content[1:]
        # A warm cache gets here never, so that a short command does not load the translator or LLVM.
        from assay.checker.jit.python_to_llvm import results, translate  # noqa: PLC0415 - as in ``source``

        text = translate(self.source, kinds, _source, checked=CHECKED)
        given, code = results(self.source), build(text, LEVEL)
        if name is not None:
            # The number of results stands before the code: to find it otherwise the source would be parsed.
            keep(name, bytes((given,)) + code)
        return given, code


class _Interpreting(local):
    """Whether this thread interprets a function: what that one calls is a part of it."""

    active = False


_interpreting = _Interpreting()


class LinearFunction(ArrayFunction[R]):
    """An ``ArrayFunction`` whose time is linear in the size of its first array.

    While a process has given such functions ``FEW`` elements at most, they are interpreted: loading LLVM takes as long.
    """

    _interpreted = 0
    """The elements so far, of all such functions."""

    def __call__(self, *arguments: Any) -> R:
        """Call it; raises as ``ArrayFunction`` does."""
        if _interpreting.active:
            return self.python(*arguments)
        if LinearFunction._interpreted > FEW or CHECKED:
            return super().__call__(*arguments)
        # Threads may lose an addition to each other: the number only decides which of two ways is faster.
        LinearFunction._interpreted += next((each.size for each in arguments if isinstance(each, np.ndarray)), 1)
        if LinearFunction._interpreted > FEW:
            return super().__call__(*arguments)
        _interpreting.active = True
        try:
            # Machine code is silent where words overflow.
            with np.errstate(over="ignore"):
                found: Any = self.python(*arguments)
        finally:
            _interpreting.active = False
        return cast(
            R, tuple(map(_signed, found)) if isinstance(found, tuple) else None if found is None else _signed(found)
        )


def _signed(word: Any) -> int:
    """A word as a signed number, as machine code returns it."""
    return (int(word) + (1 << 63)) % (1 << 64) - (1 << 63)


def _python(named: object) -> FunctionType | None:
    return cast(FunctionType, named.python) if isinstance(named, ArrayFunction) else None


def _source(named: object) -> FunctionSource | None:
    return named.source if isinstance(named, ArrayFunction) else None


def _kind(of: Signature) -> Kind:
    if of is None:
        return WordKind()
    first, dimensions = of
    if dimensions is None:
        return TupleKind(tuple(map(_kind, first)))
    known = np.dtype(first)
    # Machine code would take the bits of a fraction, or of a number in another byte order, for another number.
    if known.kind not in "biu" or not known.isnative:
        raise ValueError(f"an array of {known} has no integers as this machine keeps them")
    return ArrayKind(Element(known.itemsize * 8, known.kind == "i"), dimensions)


def _types(kind: Kind) -> list[Any]:
    return [ctypes.c_void_p if each.startswith("ptr") else ctypes.c_int64 for each in operands(parameter(kind, ""))]
