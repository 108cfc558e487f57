"""Symbolic values: known only when the code runs, part by part.

Each class mirrors a type of the language; its parts are scalars of the code being written. Every number stays inside
its interval, even where an expression is undefined and its result unused: so indexing by it can never leave a table.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.checker.native.llvm.function_builder import Scalar
from assay.grammar.kernel import types as t


@dataclass(frozen=True, slots=True)
class Flag:
    """A boolean."""

    value: Scalar


@dataclass(frozen=True, slots=True)
class Number:
    """An integer of ``low .. high``, or the position of an element of a set parameter."""

    value: Scalar
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class VariantSymbol:
    """A value of an enum: the position of its variant, and a payload for each variant, valid only for that one."""

    tag: Number
    payloads: tuple[tuple[Symbol, ...], ...]


@dataclass(frozen=True, slots=True)
class RecordSymbol:
    """A record."""

    fields: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Maybe:
    """An option; ``item`` is None if it can only be ``none``."""

    present: Scalar
    item: Symbol | None


@dataclass(frozen=True, slots=True)
class Mask:
    """A set over few possible elements, a bit for each: of ``item``, or of the integers from ``base``."""

    bits: Scalar
    item: t.Type
    base: int = 0


@dataclass(frozen=True, slots=True)
class Bunch:
    """A set as distinct items, each with the condition that it is present; ``ordered`` if in canonical order."""

    items: tuple[tuple[Scalar, Symbol], ...]
    ordered: bool


@dataclass(frozen=True, slots=True)
class TableSymbol:
    """A map over few possible keys: for each whether it is present, and its value (None: it cannot be present)."""

    key: t.Type
    entries: tuple[tuple[Scalar, Symbol | None], ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """A partial map as distinct keys, each with its presence and value; ``ordered`` if in canonical order of
    the keys."""

    items: tuple[tuple[Scalar, Symbol, Symbol], ...]
    ordered: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    """A sequence: items behind ``length`` have no meaning."""

    length: Number
    items: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Bag:
    """A bag as distinct items with how often each occurs (0: not at all); ``ordered`` if in canonical order."""

    items: tuple[tuple[Number, Symbol], ...]
    ordered: bool


Symbol = Flag | Number | VariantSymbol | RecordSymbol | Maybe | Mask | Bunch | TableSymbol | Pairs | Sequence | Bag
