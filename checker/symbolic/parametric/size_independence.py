"""Whether a spec means the same for another number of elements: only then does a proof over uninterpreted sorts cover
every size.

A parameter or a range may be computed from the size of a set, and is a plain number in the kernel. So the spec is
elaborated once more with sets of unknown elements, where nothing can be computed from them. It is elaborated once with
one element more, too, and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from assay.grammar import kernel as k
from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.elaborate.modules.module_tree import ModuleFile
from assay.grammar.elaborate.scopes.rewrite import pieces
from assay.grammar.kernel.types import MapType, SetType, Sort
from assay.grammar.load import Loaded, UnusableSpecError, log_kernel

NOT_CONSTANT = {"E209": "a range or capacity", "E314": "the value of a parameter"}
"""What a number is that cannot be computed without the elements, by the code of the error about it."""


def depends_on_size(loaded: Loaded, sorts: Sequence[Sort]) -> list[tuple[str, Span]]:
    """What is computed from the number of elements, and the declarations that differ with one element more, each with
    its place."""
    loaded = replace(loaded, model=loaded.kernel.model)  # the default model counts too
    more = {sort.name: [*sort.elements, _fresh(sort)] for sort in sorts}
    larger = log_kernel(loaded, more, {})
    pairs = zip(_declarations(loaded.kernel), _declarations(larger), strict=True)
    differ = [(what, one.span) for (what, one), (_, other) in pairs if _sizeless(one) != _sizeless(other)]
    # One element more may leave a number as it is, such as `count(Broker) // 4`. So it must not be computed from the
    # elements in any way.
    return differ or _computed(loaded, sorts)


def _computed(loaded: Loaded, sorts: Sequence[Sort]) -> list[tuple[str, Span]]:
    """The constants that are unknown where the elements are, except capacities of sets and maps."""
    try:
        log_kernel(loaded, {sort.name: () for sort in sorts}, {})
    except UnusableSpecError as error:
        left_out = set(_capacities(loaded.tree.top))
        found = [(NOT_CONSTANT[d.code], d.span) for d in error.diagnostics if d.code in NOT_CONSTANT]
        return [(what, span) for what, span in found if span not in left_out]
    return []


def _capacities(module: ModuleFile) -> Iterator[Span]:
    """The places of all capacities of sets and maps in a module and those that it uses."""
    for piece in pieces(module.tree):
        if isinstance(piece, syntax.CollectionType) and piece.kind in {"set", "map"} and piece.capacity is not None:
            yield piece.capacity.span
    for used in module.imports.values():
        yield from _capacities(used)


def _fresh(sort: Sort) -> str:
    name = f"{sort.name.lower()}_more"
    while name in sort.elements:
        name += "_"
    return name


def _declarations(kernel: k.Kernel) -> Iterator[tuple[str, k.Node]]:
    yield from ((f"the variable `{each.name}`", each) for each in kernel.variables)
    yield "the initial state", kernel.init
    yield from ((f"the action `{each.name}`", each) for each in kernel.actions)
    yield from ((f"the property `{each.name}`", each) for each in kernel.properties if each.kind != "reachable")


def _sizeless(part: Any) -> Any:
    """A part without what a proof for any size ignores: elements of symmetric sets, ``bound`` lines, capacities of sets
    and maps."""
    if isinstance(part, Sort):
        return Sort(part.name, (), part.symmetric) if part.symmetric else part
    if isinstance(part, k.Guard) and part.kind == "bound":
        return part.label
    if isinstance(part, SetType | MapType):
        part = replace(part, capacity=None)
    if type(part) is tuple:
        return tuple(map(_sizeless, part))
    if not is_dataclass(part) or isinstance(part, type | Span):
        return part
    return replace(part, **{f.name: _sizeless(getattr(part, f.name)) for f in fields(part) if f.name != "span"})
