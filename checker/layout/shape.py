"""Shapes: how the values of each type are laid out in bits.

Every type has a width; a value is one number of that many bits, its *code*. In a composite code the first component has
the most significant bits, so that codes compare as values do (except for sets and maps). Unused bits are zero: the
payload bits of another variant, the item of ``none``, the slots behind the length. Hence equal values have equal codes.
"""

from __future__ import annotations

from typing import Literal

from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass

SlotKind = Literal["set", "bag", "seq", "map"]


@dataclass(frozen=True, slots=True)
class BitRange:
    """A component, and the offset of its lowest bit from the lowest bit of the whole."""

    shift: int
    shape: Shape


@dataclass(frozen=True, slots=True)
class FlagShape:
    """A boolean in one bit."""

    width: int = 1


@dataclass(frozen=True, slots=True)
class NumberShape:
    """An integer of ``low .. high``, as its distance from ``low``."""

    width: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class AtomShape:
    """An element of a set parameter, as its position."""

    width: int
    sort: t.Sort


@dataclass(frozen=True, slots=True)
class EnumShape:
    """The variant's position above its payload. All variants share the payload bits, each aligned to the top."""

    width: int
    tag: BitRange
    variants: tuple[t.VariantType, ...]
    payloads: tuple[tuple[BitRange, ...], ...]


@dataclass(frozen=True, slots=True)
class RecordShape:
    """Fields side by side."""

    width: int
    fields: tuple[BitRange, ...]


@dataclass(frozen=True, slots=True)
class OptionShape:
    """A presence bit above the value."""

    width: int
    item: BitRange


@dataclass(frozen=True, slots=True)
class MaskShape:
    """A set over few possible elements: a bit for each, in canonical order from bit 0."""

    width: int
    item: t.Type
    capacity: int | None


@dataclass(frozen=True, slots=True)
class TableShape:
    """A map over few possible keys: the values side by side; in a partial map each below a presence bit."""

    width: int
    key: t.Type
    value: Shape
    partial: bool
    capacity: int | None
    stride: int


@dataclass(frozen=True, slots=True)
class CountsShape:
    """A bag over few possible elements: how often each occurs."""

    width: int
    item: t.Type
    capacity: int
    stride: int


@dataclass(frozen=True, slots=True)
class SlotsShape:
    """A length above ``capacity`` slots, filled from the first one: sets, bags and maps in the order of their codes."""

    width: int
    kind: SlotKind
    capacity: int
    length: BitRange
    stride: int
    item: Shape
    value: Shape | None
    of: t.Type
    """The type of the items; of the keys of a map."""

    def shift(self, slot: int) -> int:
        """The offset of a slot's lowest bit. The first slot is the most significant."""
        return (self.capacity - 1 - slot) * self.stride


Shape = (
    FlagShape
    | NumberShape
    | AtomShape
    | EnumShape
    | RecordShape
    | OptionShape
    | MaskShape
    | TableShape
    | CountsShape
    | SlotsShape
)
