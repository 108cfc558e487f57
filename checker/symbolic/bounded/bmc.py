"""Bounded search: is there a run of k steps to a state that decides a property? A SAT solver is asked for k = 0, 1, 2,
…

Levels, stops and answers are as in the breadth-first search. What is found at a level could not be found at an earlier
one, so a counterexample is as short as can be. Each is rebuilt step by step by the reference evaluator, and judged
there. Reference: Biere, Cimatti, Clarke, Zhu, "Symbolic model checking without BDDs", 1999.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from assay.checker.aig.graph import Gates
from assay.checker.explicit.engine_search import EngineSearch
from assay.checker.interpreter.actions.outcome import Cut, Picks, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.cancellation import heeding
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.liveness.check import note_no_value
from assay.checker.liveness.confirm import Counterexample, Decisions, WithoutValue
from assay.checker.liveness.plan import Plan
from assay.checker.liveness.plan import plan as temporal_plan
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.report import EnginesDisagreeError, Report, State, Step, Trace
from assay.checker.report_assembly import reference_decisions, report_of, scenarios
from assay.checker.results.property_results import Answers
from assay.checker.search_interface.finding import DEFINED
from assay.checker.search_interface.link import Link
from assay.checker.search_interface.protocols import Stopped
from assay.checker.symbolic.bounded.found_paths import FoundPaths
from assay.checker.symbolic.bounded.lasso_search import Lassos
from assay.checker.symbolic.bounded.symmetry_breaking import FirstUse, interchangeable
from assay.checker.symbolic.bounded.unroll import UnrolledSystem
from assay.checker.symbolic.encode.initial import Bits, is_initial
from assay.checker.symbolic.encode.transition_system import SymbolicQuestion, encode_kernel
from assay.checker.symbolic.sat.subprocess_solver import ChildSolver, NoAnswerError
from assay.checker.symbolic.sat.tseitin import Clause, Clauses
from assay.grammar.current_work import answering
from assay.grammar.kernel import Kernel, Property

ENGINE = "bmc"
DEFAULT_LEVELS = 20
"""How many levels are searched if nobody says how many."""
STATE_KINDS = {"invariant", "lemma", "reachable"}


class OrderMattersError(Exception):
    """Something is undefined, so that permutations of elements do not keep the meaning."""


def check(kernel: Kernel, options: SearchOptions | None = None, sources: Sources | None = None) -> Report:
    """Search up to ``max_depth`` levels (20 if it is None) and answer about every selected property as the other engines do.

    With ``max_states`` the first levels are listed until there are so many states, and the solver goes on from the last of them.

    What is not decided by then is ``unknown``: a bounded search proves nothing. Raises ``SpecError`` for a construct without encoding.
    """
    chosen, texts = options or SearchOptions(), sources or {}
    with deep_recursion(kernel):
        model = Model(kernel)
        plan = temporal_plan(model, chosen)
        search = BoundedSearch(model, chosen, plan)
        search.run()
        answering()
        results = [*Answers(search, texts, _decisions(search, texts)).all(), *scenarios(search, texts)]
    return report_of(search, ENGINE, results)


def _decisions(search: BoundedSearch, sources: Sources) -> Decisions:
    """The decisions about temporal properties: on the graph of all states if they were listed, else what runs show."""
    if search.plan is None:
        return {}
    # All states were listed after all, so that the graph decides, and not only the runs that were asked about.
    if search.stopped is None:
        return reference_decisions(search, search.store, search.plan, sources)
    return search.temporal


class BoundedSearch(EngineSearch):
    """A search whose store holds only the states of the first levels and the paths that were found.

    ``breaks`` are the sorts whose elements are used in their order only (docs/design/symmetry-breaking.md). That is
    sound as long as nothing is undefined: where something is, all levels are looked at anew without.
    """

    refines = False

    def __init__(self, model: Model, options: SearchOptions, plan: Plan | None = None) -> None:
        super().__init__(model, options)
        self.paths = FoundPaths()
        self.plan = plan
        self.temporal: Decisions = {}
        self._lassos: Lassos | None = None
        self.breaks: frozenset[str] = frozenset()
        self._limit = options.max_depth or DEFAULT_LEVELS

    @property
    def store(self) -> FoundPaths:
        """The states that are known by name."""
        return self.paths

    def trace(self, number: int, *more: Step) -> Trace:
        """A run to a state, and further steps after it."""
        return self.paths.trace(number, *more)

    def _explore(self) -> None:
        self.begin()
        self._search_levels()
        self._tell()

    def begin(self) -> None:
        """Look at the initial states, and go no further."""
        self._list_instances()
        with heeding(self._heed_limits):
            for initial in self._evaluate_initial():
                if initial.state not in self.paths:
                    self._see_initial(initial.state, initial.picks)
        self.initial = len(self.paths)
        self.depth = 1 if self.initial else 0

    def list_levels(self) -> list[State]:
        """List the first levels until there are ``max_states``, ask no solver, and say which states were found."""
        self._until_ended(self._list_first)
        return self.paths.states

    def _list_first(self) -> None:
        self.begin()
        self._listed()

    def _see_initial(self, state: State, picks: Picks) -> None:
        number = self.paths.add_initial(state, picks)
        self.watch.confirm_state(number, state)
        self.watch.confirm_abstract_start(number, state)

    def _see(self, before: int, link: Link, state: State) -> int:
        number = self.paths.add_step(before, link, state)
        self.watch.confirm_state(number, state)
        return number

    def _search_levels(self) -> None:
        starts = self._listed()
        if not starts:
            return
        if self.plan is None:
            self._search_from(starts)
            return
        initial = self.paths.states[: self.initial]
        with Lassos(self.model, self.plan, initial, self.limits.deadline, self.options.interrupted) as self._lassos:
            self.temporal = self._lassos.decisions
            self._search_from(starts)

    def _search_from(self, starts: Sequence[State]) -> None:
        level = self.depth
        self.breaks = interchangeable(self.model.kernel, self._asked(), starts)
        if self.breaks:
            # The search begins anew without breaking symmetry, and finds what it found before at the same levels.
            with suppress(OrderMattersError):
                self._search(starts)
        self.breaks, self.depth = frozenset(), level
        self._search(starts)

    def _listed(self) -> list[State]:
        """The states from which the solver goes on: the initial ones, or the last level before ``max_states`` are listed; none if all are."""
        first, end = 0, len(self.paths)
        # Whole levels only: the solver goes on from a level, and what lies before it is known to be harmless.
        while first < end < (self.options.max_states or 0):
            self._end_between_levels()
            for number in range(first, end):
                self._heed_limits()
                self._expand(number)
            first, end = end, len(self.paths)
            if first < end:
                self.depth += 1
        return self.paths.states[first:end]

    def _expand(self, number: int) -> None:
        """Take every step from a listed state, and look at what it leads to."""
        state, alive = self.paths.states[number], False
        for action, arguments, outcome in outcomes(self.model, state):
            alive = True
            match outcome:
                case Successor(picks, after):
                    self._take(number, Link(action, arguments, picks), after)
                case Cut(_, label):
                    self.bounds[label] += 1
                case Stuck():
                    self.watch.note_stuck(number, action, arguments, outcome)
        if not alive and self.asks_deadlock:
            self.watch.confirm_deadlock(number, state)

    def _take(self, number: int, link: Link, after: State) -> None:
        state, name = self.paths.states[number], link.action.node.name
        self.generated += 1
        self.taken[name] += 1
        if self.watch.asks_steps:
            self.watch.confirm_step(number, state, link.step(after))
        if self.watch.refinements:
            self.watch.confirm_abstract_step(number, state, link.step(after))
        if after not in self.paths:
            self.fresh[name] += 1
            self._see(number, link, after)

    def _asked(self) -> list[Property]:
        kinds = {*STATE_KINDS, "transition"}
        return [p for p in self.model.kernel.properties if p.kind in kinds and self.options.selects(p.name)]

    def _search(self, starts: Sequence[State]) -> None:
        """Look at one level after the other, until ``Stopped`` says why no further."""
        # Quantifiers over sorts whose symmetry is broken are strict (docs/design/symmetry-breaking.md).
        self._system = encode_kernel(
            self.model.kernel, self.options.properties, self.breaks, deadlock=self.asks_deadlock
        )
        self._gates = Gates()
        self._clauses = Clauses(self._gates)
        self._new: list[Clause] = []
        unrolling = self._unrolling([self._system.row(state) for state in starts])
        with ChildSolver(self.limits.deadline, self.options.interrupted) as solver:
            try:
                self._deepen(unrolling, solver)
            except NoAnswerError as error:
                raise Stopped(f"{error} in level {self.depth}{self._assumed()}") from None
            except UnsupportedError as error:
                raise Stopped(f"level {self.depth} takes {error.what}{self._assumed()}") from None

    def _unrolling(self, rows: Sequence[Bits]) -> UnrolledSystem:
        # The constants of a single initial state run forward through the first frames, whose gates they simplify.
        if len(rows) == 1:
            return UnrolledSystem(self._system, rows[0], self._gates)
        bits = self._gates.inputs(len(self._system.state))
        self._require([is_initial(self._gates, bits, rows)])
        return UnrolledSystem(self._system, bits, self._gates)

    def _require(self, clause: Sequence[int]) -> None:
        """Look only at runs that satisfy a clause of literals of the unrolling."""
        self._new.append([self._clauses.literal(each) for each in clause])

    def _deepen(self, unrolling: UnrolledSystem, solver: ChildSolver) -> None:
        first_use = FirstUse(self._system, unrolling, self.breaks)
        while True:
            if self.breaks:
                self._refuse_undefined_here(unrolling, solver)
            frame = len(unrolling.frames) - 1
            if frame > 0:  # the states of the first one were looked at one by one
                self._ask(unrolling, solver, in_step=False)
            if self._lassos is not None and self._may_look_for_lassos:
                self._look_for_lassos(self._lassos)
            self._tell()
            self._decide_to_end()
            self._ask(unrolling, solver, in_step=True)
            for clause in first_use.clauses(frame):
                self._require(clause)
            self._require(unrolling.at(frame, self._system.fires))  # who stays has been looked at before
            unrolling.extend()
            self.depth += 1

    @property
    def _may_look_for_lassos(self) -> bool:
        """Whether all steps have a meaning, as far as is known: that a property has no value does not touch the others."""
        finding = self.watch.found.get(DEFINED)
        return finding is None or finding in self.watch.undefined.values()

    def _look_for_lassos(self, lassos: Lassos) -> None:
        """Decide what is decided by runs through as many states as levels were looked at that come back to one of them."""
        lassos.look(self.depth)
        for name, states in lassos.paths.items():
            decision = lassos.decisions[name]
            if isinstance(decision, WithoutValue) and name not in self.watch.undefined:
                self.judge(states, in_step=False)
                note_no_value(self, name, replace(decision, state=self.paths.number(states[-1])))

    @property
    def violated(self) -> set[str]:
        """Temporal properties may be violated too."""
        refuted = {name for name, each in self.temporal.items() if isinstance(each, Counterexample)}
        return super().violated | refuted

    def _refuse_undefined_here(self, unrolling: UnrolledSystem, solver: ChildSolver) -> None:
        wanted = unrolling.at(len(unrolling.frames) - 1, [self._system.question(DEFINED).wanted])
        if self._solve(solver, wanted[0]) is not None:
            raise OrderMattersError

    def _decide_to_end(self) -> None:
        self._end_if_violated()
        if self.depth >= self._limit:
            raise Stopped(f"the limit of {self._limit:,} levels was reached{self._assumed()}")
        is_open = self._lassos is not None and self._may_look_for_lassos and self._lassos.open
        if not is_open and not self._open(in_step=False) and not self._open(in_step=True):
            raise Stopped("nothing was left to look for")

    def _assumed(self) -> str:
        labels = sorted(self._system.cuts.keys() - self.model.kernel.accepted_bounds)
        return f" (bounds assumed: {', '.join(f'`{label}`' for label in labels)})" if labels else ""

    def _open(self, *, in_step: bool) -> list[SymbolicQuestion]:
        """What is still to be looked for in a state, or (``in_step``) in what can be done in it."""
        return [
            q
            for q in self._system.questions
            if (q.kind not in STATE_KINDS) == in_step
            and q.name not in self.watch.found
            and q.name not in self.watch.undefined
        ]

    def _ask(self, unrolling: UnrolledSystem, solver: ChildSolver, *, in_step: bool) -> None:
        """Find everything that is decided at the last frame."""
        frame = len(unrolling.frames) - 1
        # A run may decide several properties. Those that stay open are asked for until no run decides any.
        while asked := self._open(in_step=in_step):
            if self.options.interrupted():
                raise KeyboardInterrupt
            # All open questions in one, because each costs the solver a whole search.
            literals = unrolling.at(frame, [q.wanted for q in asked])
            model = self._solve(solver, self._gates.any_of(literals))
            if model is None:
                return
            states = self._states(unrolling, model)
            self.judge(states, in_step=in_step)
            # A run that decides nothing would be found again for ever.
            if asked == self._open(in_step=in_step):
                raise EnginesDisagreeError(
                    f"the gates decide a property in a state where the reference does not: {states[-1]}"
                )

    def _solve(self, solver: ChildSolver, wanted: int) -> set[int] | None:
        literal = self._clauses.literal(wanted)
        # Only what is new goes to the solver, which keeps all that it had before and has learnt of it.
        clauses, self._new = [*self._clauses.take(), *self._new], []
        return solver.solve(clauses, [literal])

    def _states(self, unrolling: UnrolledSystem, model: set[int]) -> list[State]:
        """The states of a run, from the values that the solver gave the inputs."""
        known = self._clauses.variables
        rows = unrolling.rows(lambda inputs: [known.get(each >> 1, 0) in model for each in inputs])
        return [self._system.values(row) for row in rows]

    def judge(self, states: Sequence[State], *, in_step: bool) -> None:
        """Follow the run in the reference evaluator, which says what is decided at its end."""
        parent = self._number(states[0])
        if parent is None:
            raise EnginesDisagreeError(f"the gates begin in a state that is not initial: {states[0]}")
        for after in states[1:]:
            before = self.paths.states[parent]
            # In the gates a state may stay as it is, and then no step was made.
            number = parent if after == before else self._number(after)
            if number is None:
                number = self._see(parent, self._link(before, after), after)
            parent = number
        if in_step:
            self._look_at_steps(parent, self.paths.states[parent])

    def _number(self, state: State) -> int | None:
        return self.paths.number(state) if state in self.paths else None

    def _link(self, before: State, after: State) -> Link:
        for action, arguments, outcome in outcomes(self.model, before):
            # Of several steps between two states any will do: a property sees states alone.
            if isinstance(outcome, Successor) and outcome.state == after:
                return Link(action, arguments, outcome.picks)
        raise EnginesDisagreeError(f"the gates make a step that the reference evaluator does not: {before} to {after}")

    def _look_at_steps(self, number: int, state: State) -> None:
        alive = False
        for action, arguments, outcome in outcomes(self.model, state):
            alive = True
            if isinstance(outcome, Stuck):
                self.watch.note_stuck(number, action, arguments, outcome)
            elif isinstance(outcome, Successor) and self.watch.asks_steps:
                self.watch.confirm_step(number, state, Link(action, arguments, outcome.picks).step(outcome.state))
        if not alive and self.asks_deadlock:
            self.watch.confirm_deadlock(number, state)
