"""Symbolic values: known only when the code runs, part by part.

Each class mirrors a type of the language; its parts are scalars of the code being written. Every number stays inside
its interval, even where an expression is undefined and its result unused: so indexing by it can never leave a table.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Sequence_
from dataclasses import replace

from assay.checker.layout.shape import Shape
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass


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
class SlotCodes:
    """The codes of the first items of a set, ascending among those that are present. ``there`` is when they were, where
    the present ones had no gaps between them. ``of`` is the type of the items. ``read`` gives the symbol of a code in
    words; ``write`` whether a symbol fits the type, and its code, which means something only then."""

    shape: Shape
    of: t.Type
    values: tuple[Scalar, ...]
    there: tuple[Scalar, ...]
    read: Callable[[FunctionBuilder, list[Scalar], Shape], Symbol]
    write: Callable[[FunctionBuilder, Symbol, t.Type, Shape], tuple[Scalar, Scalar]]


@dataclass(frozen=True, slots=True)
class Bunch:
    """A set as distinct items, each with the condition that it is present; ``ordered`` if in canonical order. Items that
    were read from slots keep their ``codes``: they need not be sorted again, and loops can read them."""

    items: tuple[tuple[Scalar, Symbol], ...]
    ordered: bool
    codes: SlotCodes | None = None

    def with_items(self, items: Sequence_[tuple[Scalar, Symbol]], *, ordered: bool) -> Bunch:
        """A set whose first items are these, each perhaps absent, without those that are certainly absent."""
        kept = [at for at, (there, _) in enumerate(items) if there.known != 0]
        codes, known = self.codes, 0 if self.codes is None else len(self.codes.values)
        if codes is not None and len(kept) < len(items):
            here = [at for at in kept if at < known]
            codes = replace(codes, values=tuple(codes.values[at] for at in here), there=())
        return Bunch(tuple(items[at] for at in kept), ordered, codes)


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
