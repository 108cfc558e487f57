"""The types of the language of ``translate``: numbers, and arrays of them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Element:
    """What an array is made of: so many bits, with a sign or without."""

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


Kind = ArrayKind | WordKind


@dataclass(frozen=True, slots=True)
class Array:
    """An array in the code: where it begins, and its sizes; it lies in memory without gaps, the last index running fastest."""

    element: Element
    pointer: str
    sizes: tuple[str, ...]

    @property
    def kind(self) -> ArrayKind:
        """Its type."""
        return ArrayKind(self.element, len(self.sizes))


Value = str | Array


@dataclass(frozen=True, slots=True)
class Source:
    """A function as it was parsed, and the names of its module."""

    tree: ast.FunctionDef
    names: Mapping[str, Any]
