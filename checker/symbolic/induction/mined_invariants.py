"""Candidate invariants over bits, mined from samples: pairs of bits that no sampled state has together.

The samples are parallel random walks over the gates; a literal's values in all walks are the bits of one integer. What
no sample shows is a guess. Houdini keeps the guesses that are inductive together, and IC3 starts with them as known.
References: Flanagan, Leino, "Houdini, an annotation assistant for ESC/Java", 2001; Mishchenko, Case, Brayton, Jang,
"Scalable and scalably-verifiable sequential synthesis", 2008 (invariants from simulation).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.checker.symbolic.encode.initial import Bits
from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube
from assay.checker.symbolic.sat.incremental import GateSolver

WALKS = 2048
"""The number of parallel walks."""
STEPS = 40
"""The length of the walks."""


def mined_cubes(system: System, initial: Sequence[Bits], expired: Callable[[], bool] = lambda: False) -> list[Cube]:
    """Cubes of one or two bits that no reachable state is in, inductive together. The result is the same in every run.

    Raises ``OutOfBudgetError`` at ``expired``.
    """
    states = np.unique(np.concatenate([np.array(initial, dtype=np.uint8), *sampled(system, initial)]), axis=0)
    return _Houdini(system, guesses(states), expired).kept()


def sampled(system: System, initial: Sequence[Bits]) -> Iterator[NDArray[np.uint8]]:
    """The states of ``WALKS`` random walks after one step, after two, and so on: a row of bits for each walk."""
    random = np.random.default_rng(0)
    rows = np.array([initial[at % len(initial)] for at in range(WALKS)], dtype=np.uint8)
    for _ in range(STEPS):
        rows = _stepped(system, rows, random)
        yield rows


def hit_by_walks(system: System, initial: Sequence[Bits], literals: Sequence[int]) -> list[bool]:
    """For each condition whether it holds in an initial state, or in one that a random walk visits."""
    begun = np.array([initial[at % len(initial)] for at in range(WALKS)], dtype=np.uint8)
    found = [False] * len(literals)
    for rows in (begun, *sampled(system, initial)):
        values = system.gates.evaluate(literals, _given(system.state, rows))
        found = [known or bool(value & _ALL) for known, value in zip(found, values, strict=True)]
        if all(found):
            break
    return found


def _stepped(system: System, rows: NDArray[np.uint8], random: np.random.Generator) -> NDArray[np.uint8]:
    """Every walk makes one of the steps enabled in its state, and stays if there is none."""
    given = _given(system.state, rows)
    enabled = _rows(system.gates.evaluate([g.enabled for g in system.ground], given))
    # The greatest of random weights is an equal choice among what is enabled. The number after the last ground action
    # belongs to none, and the state stays.
    staying = np.full((WALKS, 1), 1e-9)  # chosen only where there is nothing else
    chosen = np.argmax(np.concatenate([enabled * random.uniform(0.1, 1.0, enabled.shape), staying], axis=1), axis=1)
    numbers = (chosen[:, None] >> np.arange(len(system.choice)) & 1).astype(np.uint8)
    return _rows(system.gates.evaluate(system.after, given | _given(system.choice, numbers)))


def _given(inputs: Sequence[int], rows: NDArray[np.uint8]) -> dict[int, int]:
    """For each input its values in all walks, as the bits of an integer."""
    packed = np.packbits(rows.T, axis=1, bitorder="little")
    return {
        literal >> 1: int.from_bytes(each.tobytes(), "little") for literal, each in zip(inputs, packed, strict=True)
    }


def _rows(columns: Sequence[int]) -> NDArray[np.uint8]:
    """The inverse: a row of bits for each walk."""
    packed = b"".join((each & _ALL).to_bytes(WALKS // 8, "little") for each in columns)
    flags = np.unpackbits(np.frombuffer(packed, dtype=np.uint8).reshape(len(columns), -1), axis=1, bitorder="little")
    return np.ascontiguousarray(flags.T)


_ALL = (1 << WALKS) - 1


def guesses(states: NDArray[np.uint8]) -> list[Cube]:
    """The bits that no row has, and the pairs of bits that occur but in no row together: literals as in ``Cube``."""
    width = states.shape[1]
    truth = np.concatenate([states, 1 - states], axis=1).astype(np.float32)
    together = truth.T @ truth  # exact in 32-bit floats, because there are far fewer than 2**24 rows

    def literal(column: int) -> int:
        return column + 1 if column < width else -(column - width) - 1

    never = np.diag(together) == 0
    singles: list[Cube] = [(literal(int(at)),) for at in np.flatnonzero(never)]
    apart = np.argwhere(np.triu(together == 0, 1) & ~never[:, None] & ~never[None, :])
    # A bit and its own negation are never together, which says nothing.
    pairs = (sorted((literal(int(a)), literal(int(b))), key=abs) for a, b in apart if b - a != width)
    return singles + [(one, other) for one, other in pairs]


class _Houdini:
    """Guesses; those that a step from a state with all of them does not preserve are removed."""

    def __init__(self, system: System, cubes: Sequence[Cube], expired: Callable[[], bool]) -> None:
        self._solver = GateSolver(system.gates, expired)
        self._after = [self._solver.literal(each) for each in system.after]
        self._solver.add([self._solver.literal(system.canonical)])
        now = [self._solver.literal(each) for each in system.state]
        self._excluded = {cube: self._solver.fresh() for cube in cubes}
        self._entered = {cube: self._solver.fresh() for cube in cubes}
        for cube in cubes:
            self._solver.add([-self._excluded[cube], *(-_signed(now, each) for each in cube)])
            for each in cube:
                self._solver.add([-self._entered[cube], _signed(self._after, each)])

    def kept(self) -> list[Cube]:
        """The guesses that are inductive together; raises ``OutOfBudgetError``."""
        alive = list(self._excluded)
        some = self._solver.fresh()
        self._solver.add([-some, *(self._entered[cube] for cube in alive)])
        try:
            while alive and self._solver.solve([some, *(self._excluded[cube] for cube in alive)]):
                after = self._solver.values(self._after)
                # All guesses that this one step breaks go at once, and are not asked for again.
                for cube in [cube for cube in alive if all(after[abs(p) - 1] == (p > 0) for p in cube)]:
                    alive.remove(cube)
                    self._solver.add([-self._entered[cube]])
        finally:
            self._solver.close()
        return alive


def _signed(literals: Sequence[int], literal: int) -> int:
    return literals[literal - 1] if literal > 0 else -literals[-literal - 1]
