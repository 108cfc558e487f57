"""Whether a spec says the same for another number of elements: only then does a proof over uninterpreted sorts speak of every size.

A parameter or a range may be computed from the size of a set, and is a plain number in the kernel. So the kernel is made once more with one
element more, and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from assay.grammar import kernel as k
from assay.grammar.diagnostics import Span
from assay.grammar.kernel_types import MapType, SetType, Sort
from assay.grammar.load import Loaded, log_kernel


def depends_on_size(loaded: Loaded, sorts: Sequence[Sort]) -> list[tuple[str, Span]]:
    """The declarations that say something else when each of the sets has one more element, with their places."""
    more = {sort.name: [*sort.elements, _fresh(sort)] for sort in sorts}
    larger = log_kernel(loaded, more, {})
    pairs = zip(_declarations(loaded.kernel), _declarations(larger), strict=True)
    return [(what, one.span) for (what, one), (_, other) in pairs if _sizeless(one) != _sizeless(other)]


def _fresh(sort: Sort) -> str:
    name = f"{sort.name.lower()}_more"
    while name in sort.elements:
        name += "_"
    return name


def _declarations(kernel: k.Kernel) -> Iterator[tuple[str, k.Node]]:
    yield from ((f"the variable `{each.name}`", each) for each in kernel.variables)
    yield "the initial states", kernel.init
    yield from ((f"the action `{each.name}`", each) for each in kernel.actions)
    yield from ((f"the property `{each.name}`", each) for each in kernel.properties if each.kind != "reachable")


def _sizeless(part: Any) -> Any:
    """The same without what a proof for any size leaves out: elements of symmetric sets, ``bound`` lines, capacities of sets and maps."""
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
