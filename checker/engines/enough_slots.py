"""Sets without a capacity that have too many possible elements for a bit each: they are searched in slots.

A set of messages may have thousands of possible elements, while each state has a few. Such a variable gets a
capacity that the spec does not give it. As long as no step exceeds that, the search is the one without it. The first
step that does ends the search, which begins again with twice the slots (docs/design/sets-in-slots.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TypeVar

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.options import SearchOptions
from assay.checker.report import Report
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel.types import MapType, SetType, Type

FEWEST_SLOTS = 32
MOST_SLOTS = 128
"""More slots would make rows and code so long that the reference engine is as fast."""
MANY = 512
"""A set of fewer possible elements has a bit for each, whatever they are."""

T = TypeVar("T")
Search = Callable[[k.Kernel, SearchOptions], Report | None]


def search_in_slots(kernel: k.Kernel, options: SearchOptions, search: Search) -> Report | None:
    """The report of a search of the kernel with enough slots in its large sets.

    None if it has none, if there would be too many slots, or if ``search`` finds that it cannot be compiled.
    """
    large = {each.name: each.type for each in kernel.variables if _slotted(each.type, MOST_SLOTS) != each.type}
    # The abstract side of a refinement is compared with this one, and its sets have no slots.
    if not large or kernel.refinements:
        return None
    labels = frozenset(f"capacity of {name}" for name in large)
    # The clock goes on while the search begins again.
    begun = time.monotonic() if options.started is None else options.started
    chosen = replace(options, started=begun, never_cut=labels)
    for slots in _doubled(FEWEST_SLOTS, MOST_SLOTS):
        types = {name: _slotted(type_, slots) for name, type_ in large.items()}
        report = search(_InSlots(types).of(kernel), chosen)
        if report is None:
            return None
        if not any(report.bounds.get(label) for label in labels):
            return replace(report, kernel=kernel)
    return None


def _slotted(type_: Type, slots: int) -> Type:
    """The type with a capacity for a large set without one, also where each key of a map has such a set."""
    match type_:
        case SetType(item, None) if cardinality(item) > MANY:
            return SetType(item, slots)
        case MapType(value=value):
            # One of several sets has fewer elements than the only one.
            return replace(type_, value=_slotted(value, max(1, slots // 4)))
        case _:
            return type_


def _place(type_: Type, path: Sequence[k.AtKey | k.AtField]) -> Type | None:
    """The type of a place in a variable; None inside of what has no slots."""
    for each in path:
        if not isinstance(type_, MapType) or not isinstance(each, k.AtKey):
            return None
        type_ = type_.value
    return type_


def _doubled(first: int, last: int) -> Iterator[int]:
    while first <= last:
        yield first
        first *= 2


class _InSlots:
    """Copies of nodes in which some variables have other types."""

    def __init__(self, types: Mapping[str, Type]) -> None:
        self._types = types
        # By identity, so that what is shared stays shared.
        self._made = IdentityMemo[object, object]()

    def of(self, node: T) -> T:
        """The same with the other types; the node itself where none of them occurs."""
        if not isinstance(node, tuple | k.Node):
            return node
        make = self._tuple if isinstance(node, tuple) else self._node
        return self._made.get_or_make(node, make)  # type: ignore[arg-type, return-value]

    def _tuple(self, items: tuple[object, ...]) -> tuple[object, ...]:
        made = tuple(map(self.of, items))
        return made if any(a is not b for a, b in zip(made, items, strict=True)) else items

    def _node(self, node: k.Node) -> k.Node:
        changed: dict[str, object] = {}
        for each in fields(node):
            before = getattr(node, each.name)
            after = self.of(before)
            if after is not before:
                changed[each.name] = after
        match node:
            case k.Variable(name) | k.StateVar(name=name) if name in self._types:
                changed["type"] = self._types[name]
            case k.Assign(variable=name, path=path) if name in self._types:
                changed["type"] = _place(self._types[name], path) or node.type
            case _:
                pass
        return replace(node, **changed) if changed else node  # type: ignore[arg-type]
