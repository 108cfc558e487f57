"""Symmetry breaking in bounded search: interchangeable elements are first used in their order.

Of runs that differ by a permutation, one is left. The argument is in docs/design/symmetry-breaking.md. It needs strict
quantifiers over such sorts (docs/design/symmetry-reduction.md), and that nothing is undefined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from assay.checker.aig.graph import FALSE
from assay.checker.report import State
from assay.checker.symbolic.bounded.unroll import UnrolledSystem
from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symmetry.permute import permuted
from assay.checker.symmetry.soundness import obstacles
from assay.checker.symmetry_group import Group, Permutation
from assay.grammar import kernel as k
from assay.grammar.kernel.types import Sort


def interchangeable(kernel: k.Kernel, properties: Sequence[k.Property], initial: Iterable[State]) -> frozenset[str]:
    """The sorts whose elements neither the system, nor the properties, nor any initial state tells apart."""
    states = list(initial)
    return frozenset(
        sort.name
        for sort in kernel.sorts
        if len(sort.elements) > 1
        and not any(obstacles(kernel, sort, properties))
        and all(_is_fixed(kernel, state, by) for by in _exchanges(sort) for state in states)
    )


def _exchanges(sort: Sort) -> Iterator[Permutation]:
    for _, at in Group((sort,)).exchanges:
        places = list(range(len(sort.elements)))
        places[at], places[at + 1] = at + 1, at
        yield {sort.name: tuple(places)}


def _is_fixed(kernel: k.Kernel, state: State, by: Permutation) -> bool:
    return all(permuted(value, v.type, by) == value for v, value in zip(kernel.variables, state, strict=True))


class FirstUse:
    """The constraint on runs of an unrolled system; ``sorts`` are interchangeable."""

    def __init__(self, system: System, unrolling: UnrolledSystem, sorts: frozenset[str]) -> None:
        self._system = system
        self._unrolling = unrolling
        self._sizes = {sort.name: len(sort.elements) for sort in system.kernel.sorts if sort.name in sorts}
        self._used = {name: [FALSE] * size for name, size in self._sizes.items()}

    def clauses(self, frame: int) -> list[list[int]]:
        """Clauses (of the unrolling's literals) for the step from a frame. Call it once for each frame, in
        their order."""
        fires = self._unrolling.at(frame, self._system.fires)
        found = [
            [fire ^ 1, *earlier]
            for fire, ground in zip(fires, self._system.ground, strict=True)
            if fire != FALSE
            for earlier in self._needed(ground.uses)
        ]
        self._note(fires)
        return found

    def _needed(self, uses: Sequence[tuple[str, int | None]]) -> Iterator[tuple[int, int]]:
        """For each element that an instance uses out of order: what must have been used before, itself or its
        predecessor."""
        named: dict[str, set[int]] = {name: set() for name in self._sizes}
        for sort, at in uses:
            if sort not in named:
                continue
            if at is None:
                del named[sort]  # the element depends on the state, so nothing is required of this sort from here on
                continue
            # Elements that this instance names before count as used: `a(b1, b2)` may be the first step of all.
            if at and not named[sort] & {at, at - 1}:
                yield self._used[sort][at], self._used[sort][at - 1]
            named[sort].add(at)

    def _note(self, fires: Sequence[int]) -> None:
        gates = self._unrolling.gates
        for sort, used in self._used.items():
            for at, before in enumerate(used):
                # An element that depends on the state may be any, so then all of its sort count as used.
                now = (
                    fire
                    for fire, ground in zip(fires, self._system.ground, strict=True)
                    if (sort, at) in ground.uses or (sort, None) in ground.uses
                )
                used[at] = gates.either(before, gates.any_of(now))
