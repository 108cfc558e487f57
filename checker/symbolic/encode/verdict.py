"""What an engine that looks for inductive invariants answers: sets of states that none of the reachable ones is in, or a run."""

from __future__ import annotations

from dataclasses import dataclass

Cube = tuple[int, ...]
"""Literals over positions of state bits: position p is p + 1, negative where the bit is 0; sorted by position."""


@dataclass(frozen=True, slots=True)
class Safe:
    """No reachable state is in any of ``cubes``, and none has the wanted literal. ``frames`` is how many it took."""

    cubes: tuple[Cube, ...]
    frames: int


@dataclass(frozen=True, slots=True)
class Unsafe:
    """A run to a state with the wanted literal: the bits of its states at the positions asked for are not kept, only how it goes.

    It begins in the initial row ``first``, and each of ``choices`` makes a step. It need not be the shortest run.
    """

    first: tuple[int, ...]
    choices: tuple[tuple[bool, ...], ...]


def signed(of: dict[int, int], literal: int) -> int:
    """A solver's literal of the bit that a literal of a cube speaks of; ``of`` gives it for each position."""
    return of[literal - 1] if literal > 0 else -of[-literal - 1]
