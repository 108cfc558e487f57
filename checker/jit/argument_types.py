"""The types of the compiled subset of Python (``python_to_llvm``): numbers, arrays, and tuples of both; and how values
are passed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Element:
    """The type of an array's elements: their bits, signed or unsigned."""

    bits: int
    signed: bool


@dataclass(frozen=True, slots=True)
class ArrayKind:
    """The type of an array argument."""

    element: Element
    dimensions: int


@dataclass(frozen=True, slots=True)
class WordKind:
    """The type of a number."""


@dataclass(frozen=True, slots=True)
class TupleKind:
    """The type of several values passed as one."""

    parts: tuple[Kind, ...]


Kind = ArrayKind | WordKind | TupleKind


@dataclass(frozen=True, slots=True)
class Array:
    """An array in the code: its address and its sizes. It is contiguous, in row-major order."""

    element: Element
    pointer: str
    sizes: tuple[str, ...]


Value = str | Array | tuple["Value", ...]
"""The text of a word; an array; or several values."""


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """A parsed function, with the names of its module."""

    tree: ast.FunctionDef
    names: Mapping[str, Any]


def kind_of(value: Value) -> Kind:
    """The type of a value."""
    match value:
        case str():
            return WordKind()
        case Array(element, _, sizes):
            return ArrayKind(element, len(sizes))
        case tuple():
            return TupleKind(tuple(map(kind_of, value)))
        case _:
            assert_never(value)


def operands(value: Value) -> Iterator[str]:
    """The operands by which a value is passed, with their types: a pointer and the sizes for an array."""
    match value:
        case str():
            yield f"i64 {value}"
        case Array(_, pointer, sizes):
            yield f"ptr {pointer}"
            # Sizes follow the pointer, in the order in which `ArrayFunction._pass` appends them.
            yield from (f"i64 {size}" for size in sizes)
        case tuple():
            for part in value:
                yield from operands(part)
        case _:
            assert_never(value)


def parameter(kind: Kind, name: str) -> Value:
    """The value that a function sees for a parameter of this name."""
    match kind:
        case WordKind():
            return f"%{name}"
        case ArrayKind(element, dimensions):
            return Array(element, f"%{name}", tuple(f"%{name}.{at}" for at in range(dimensions)))
        case TupleKind(parts):
            return tuple(parameter(part, f"{name}.{at}") for at, part in enumerate(parts))
        case _:
            assert_never(kind)
