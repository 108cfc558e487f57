"""The answer of an engine for inductive invariants: cubes that no reachable state is in, or a run."""

from __future__ import annotations

from assay.grammar.lazy_dataclass import dataclass

Cube = tuple[int, ...]
"""Literals over positions of state bits: position p is p + 1, negative where the bit is 0; sorted by position."""


@dataclass(frozen=True, slots=True)
class Safe:
    """No reachable state is in any of ``cubes``, and none has the wanted literal. ``frames`` is how many frames it
    took."""

    cubes: tuple[Cube, ...]
    frames: int


@dataclass(frozen=True, slots=True)
class Unsafe:
    """A run to a state with the wanted literal. It begins in the initial row ``first``, and each of ``choices`` makes a
    step.

    It need not be the shortest run. The states in between are not kept; replay computes them.
    """

    first: tuple[int, ...]
    choices: tuple[tuple[bool, ...], ...]


def signed(of: dict[int, int], literal: int) -> int:
    """A solver's literal of the bit that a cube's literal is about; ``of`` gives it for each position."""
    return of[literal - 1] if literal > 0 else -of[-literal - 1]
