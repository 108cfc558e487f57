"""IC3 over the bits of a state: an inductive invariant found clause by clause, or a run that shows there is none.

A frame F_k holds clauses that every state reachable in at most k steps satisfies. The frames are kept as one list of
cubes by level; a cube of level k is excluded from F_1 … F_k. References: Bradley, "SAT-based model checking without
unrolling", 2011; Eén, Mishchenko, Brayton, "Efficient implementation of property directed reachability", 2011.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

from assay.checker.aig.graph import Gates
from assay.checker.symbolic.encode.initial import is_initial
from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube, Safe, Unsafe, signed
from assay.checker.symbolic.induction.lifting import Lifting
from assay.checker.symbolic.sat.incremental import GateSolver
from assay.grammar.lazy_dataclass import dataclass

RETIRED = 3000
"""How many retired activation literals a solver may hold before it is replaced."""
FEW = 16
"""Up to this many initial states are compared one by one, which is faster than asking a solver."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """A cube to exclude, because ``choice`` leads from it into ``towards`` (None: it has the wanted literal)."""

    cube: Cube
    choice: tuple[bool, ...]
    towards: Obligation | None


class Ic3:
    """One run. ``known`` is an inductive set of cubes known to be unreachable, which help from the start."""

    def __init__(
        self,
        system: System,
        initial: Sequence[Sequence[int]],
        wanted: int,
        known: Sequence[Cube] = (),
        expired: Callable[[], bool] = lambda: False,
    ) -> None:
        self.system = system
        self.positions = system.cone(wanted)
        self._wanted = wanted
        self._known = tuple(known)
        self._expired = expired
        self._rows = [tuple(row) for row in initial]
        self._initial = sorted({tuple(row[at] for at in self.positions) for row in initial})
        few = len(self._initial) <= FEW
        self._few = [frozenset(self._signed(first)) for first in self._initial] if few else None
        self.levels: list[list[Cube]] = [[]]
        self._order = count()
        self._make_solvers()

    # ------------------------------------------------------------------------------------------- solvers

    def _make_solvers(self) -> None:
        system = self.system
        self._main = GateSolver(system.gates, self._expired)
        self._now = {at: self._main.literal(system.state[at]) for at in self.positions}
        self._next = {at: self._main.literal(system.after[at]) for at in self.positions}
        self._choice = [self._main.literal(each) for each in system.choice]
        self._bad = self._main.literal(self._wanted)
        bits = [system.state[at] for at in self.positions]
        self._is_first = self._main.literal(is_initial(system.gates, bits, self._initial))
        for part in self._canonical():
            self._main.add([self._main.literal(part)])
        for cube in self._known:  # a known cube may mention bits outside the cone, which are inputs to this run
            self._main.add(self._main.literal(system.state[abs(each) - 1] ^ (each > 0)) for each in cube)
        self._act = [self._main.fresh() for _ in self.levels]
        for level, cubes in enumerate(self.levels):
            for cube in cubes:
                self._main.add([-self._act[level], *(-self._here(literal) for literal in cube)])
        self._retired = 0
        gates = Gates()
        bits = gates.inputs(len(self.positions))
        self._begin = GateSolver(gates, self._expired)
        self._begin.add([self._begin.literal(is_initial(gates, bits, self._initial))])
        self._at_begin = {at: self._begin.literal(bit) for at, bit in zip(self.positions, bits, strict=True)}
        self._lift = Lifting(system, self.positions, self._wanted, self._expired)

    def _canonical(self) -> Iterator[int]:
        """What rows of states satisfy, restricted to the bits in the cone of influence; other bits cannot matter for
        these."""
        gates, mine = self.system.gates, {self.system.state[at] >> 1 for at in self.positions}
        for part in gates.parts(self.system.canonical):
            if not mine.isdisjoint(gates.cone([part])):
                yield part

    def close(self) -> None:
        """Free the solvers."""
        self._main.close()
        self._begin.close()
        self._lift.close()

    def _renew(self) -> None:
        if self._retired > RETIRED:
            self.close()
            self._make_solvers()

    def _here(self, literal: int) -> int:
        at = self._now[abs(literal) - 1]
        return at if literal > 0 else -at

    def _there(self, literal: int) -> int:
        at = self._next[abs(literal) - 1]
        return at if literal > 0 else -at

    def _frame(self, level: int) -> list[int]:
        """The assumptions that activate the clauses of a frame."""
        # A cube stored at a level is excluded from that frame and from all below it, so a frame needs the clauses of
        # its level and of all above.
        return self._act[level:] if level else [self._is_first]

    # ------------------------------------------------------------------------------------------------ run

    def run(self) -> Safe | Unsafe:
        """Search until either answer is known. Raises ``OutOfBudgetError``."""
        try:
            return self._run()
        finally:
            self.close()

    def _run(self) -> Safe | Unsafe:
        first = self._bad_beginning()
        if first is not None:
            return first
        while True:
            self.levels.append([])
            self._act.append(self._main.fresh())
            top = len(self.levels) - 1
            while (bad := self._bad_state(top)) is not None:
                reached = self._block(bad, top)
                if reached is not None:
                    return self._run_of(reached)
            invariant = self._push(top)
            if invariant is not None:
                return Safe(invariant, top)

    def _bad_beginning(self) -> Unsafe | None:
        for row in self._rows:
            here = [self._here(p + 1 if row[p] else -p - 1) for p in self.positions]
            if self._main.solve([*here, self._bad]):
                return Unsafe(row, (tuple(self._main.values(self._choice)),))
        return None

    def _run_of(self, reached: Obligation) -> Unsafe:
        """The run that begins in an initial state of an obligation's cube."""
        first = next(row for row in self._rows if all(row[abs(p) - 1] == (p > 0) for p in reached.cube))
        choices: list[tuple[bool, ...]] = []
        at: Obligation | None = reached
        while at is not None:
            choices.append(at.choice)
            at = at.towards
        return Unsafe(first, tuple(choices))

    def _bad_state(self, top: int) -> Obligation | None:
        """A cube of states of the top frame with the wanted literal."""
        if not self._main.solve([*self._frame(top), self._bad]):
            return None
        state, choice = self._state()
        return Obligation(self._lift.that_is_wanted(state, choice), choice, None)

    def _state(self) -> tuple[Cube, tuple[bool, ...]]:
        values = self._main.values([*self._now.values(), *self._choice])
        end = len(self.positions)
        return self._signed(values[:end]), tuple(values[end:])

    def _signed(self, bits: Sequence[int]) -> Cube:
        return tuple(at + 1 if bit else -at - 1 for at, bit in zip(self.positions, bits, strict=True))

    # ------------------------------------------------------------------------------------------- blocking

    def _block(self, bad: Obligation, top: int) -> Obligation | None:
        """Exclude a cube from the top frame, and first all cubes that lead to it; else return the obligation that
        contains an initial state."""
        queue = [(top, next(self._order), bad)]
        while queue:
            level, _, wanted = heapq.heappop(queue)
            cube = wanted.cube
            if level == 0 or self._meets_initial(cube):
                return wanted
            if self._is_excluded(cube, level):
                continue
            before = self._predecessor(wanted, level)
            if before is not None:
                # The predecessor has to be excluded first. The obligation itself goes back, since it may have other
                # predecessors.
                heapq.heappush(queue, (level - 1, next(self._order), before))
                heapq.heappush(queue, (level, next(self._order), wanted))
                continue
            smaller = self._generalised(self._reduced(cube), level)
            while level < top and self._relatively_inductive(smaller, level + 1) is not None:
                level += 1
            self._exclude(smaller, level)
            if level < top:
                # Bad states are bad at every level: asking for it again one level up finds deeper counterexamples early
                # (Bradley 2011).
                heapq.heappush(queue, (level + 1, next(self._order), wanted))
            self._renew()
        return None

    def _meets_initial(self, cube: Iterable[int]) -> bool:
        if self._few is not None:
            return any(map(frozenset(cube).issubset, self._few))
        return self._begin.solve([signed(self._at_begin, literal) for literal in cube])

    def _is_excluded(self, cube: Cube, level: int) -> bool:
        # A cube inside of an excluded one needs no question to the solver.
        members = set(cube)
        if any(members.issuperset(other) for cubes in self.levels[level:] for other in cubes):
            return True
        return not self._main.solve([*self._frame(level), *(self._here(literal) for literal in cube)])

    def _ask_relative(self, cube: Cube, level: int) -> tuple[bool, dict[int, int]]:
        """Whether a state of the frame before ``level`` and outside the cube leads into it."""
        act = self._main.fresh()
        # The clause holds for this question alone: afterwards `-act` retires it. Solvers with many retired clauses are
        # made anew.
        self._main.add([-act, *(-self._here(literal) for literal in cube)])
        names = {self._there(literal): literal for literal in cube}
        answer = self._main.solve([act, *self._frame(level - 1), *names])
        self._retired += 1
        self._used = act
        return answer, names

    def _predecessor(self, wanted: Obligation, level: int) -> Obligation | None:
        cube = wanted.cube
        answer, names = self._ask_relative(cube, level)
        if not answer:
            self._core = {names[each] for each in self._main.core() if each in names}
            self._main.add([-self._used])
            return None
        state, choice = self._state()
        self._main.add([-self._used])
        return Obligation(self._lift.that_leads_into(cube, state, choice), choice, wanted)

    def _relatively_inductive(self, cube: Cube, level: int) -> Cube | None:
        """The part of the cube that the refutation used, if no state of the frame before leads into the cube."""
        answer, names = self._ask_relative(cube, level)
        core = None if answer else {names[each] for each in self._main.core() if each in names}
        self._main.add([-self._used])
        return None if core is None else self._outside_initial(cube, core)

    def _reduced(self, cube: Cube) -> Cube:
        """What the last refutation used of a cube, plus enough literals to exclude the initial states."""
        return self._outside_initial(cube, self._core)

    def _outside_initial(self, cube: Cube, core: set[int]) -> Cube:
        kept = tuple(literal for literal in cube if literal in core)
        for literal in cube:
            # A cube that contains an initial state may not be excluded, however small the refutation is.
            if not self._meets_initial(kept):
                break
            if literal not in core:
                core = core | {literal}
                kept = tuple(each for each in cube if each in core)
        return kept

    def _generalised(self, cube: Cube, level: int) -> Cube:
        """Drop literals one by one, as long as the rest can be excluded."""
        tried: set[int] = set()
        while True:
            literal = next((each for each in cube if each not in tried), None)
            if literal is None or len(cube) == 1:
                return cube
            # A literal that could not be dropped is not tried again, though a cube that is smaller by now might allow
            # it: that rarely pays.
            tried.add(literal)
            rest = tuple(each for each in cube if each != literal)
            if not self._meets_initial(rest):
                smaller = self._relatively_inductive(rest, level)
                if smaller is not None:
                    cube = smaller

    def _exclude(self, cube: Cube, level: int) -> None:
        members = set(cube)
        # What is inside of the new cube is excluded by it. The clauses of such cubes stay in the solver, and do no harm.
        for lower in range(1, level + 1):
            self.levels[lower] = [other for other in self.levels[lower] if not members.issubset(other)]
        self.levels[level].append(cube)
        self._main.add([-self._act[level], *(-self._here(literal) for literal in cube)])

    # -------------------------------------------------------------------------------------------- pushing

    def _push(self, top: int) -> tuple[Cube, ...] | None:
        """Move cubes to the next level where that frame excludes them too. If a level becomes empty, what is above it
        is inductive."""
        for level in range(1, top):
            for cube in list(self.levels[level]):
                if not self._main.solve([*self._frame(level), *(self._there(literal) for literal in cube)]):
                    self.levels[level].remove(cube)
                    self._exclude(cube, level + 1)
            if not self.levels[level]:
                return tuple(cube for cubes in self.levels[level + 1 :] for cube in cubes)
        return None
