"""``prove``: every selected property by IC3, k-induction or Spacer, each invariant confirmed by code that shares
nothing with the gates.

A property counts as proved only if the statements of its certificate are inductive and imply it. Both are asked over
the gates, and in the second encoding. Instead of the second encoding, an exhaustive search of all states may find
nothing. Otherwise the answer is ``unknown``, with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, assert_never

from assay.checker.aig.graph import Gates
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.options import Progress, SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.report import EnginesDisagreeError, Outcome, PropertyResult, Report, State, Statistics
from assay.checker.results.property_results import Answers
from assay.checker.search_interface.finding import DEADLOCK, DEFINED
from assay.checker.symbolic.bounded.bmc import BoundedSearch
from assay.checker.symbolic.bounded.unroll import UnrolledSystem
from assay.checker.symbolic.certificate.bits_to_places import InexpressibleError
from assay.checker.symbolic.certificate.from_cubes import Certificate, conjuncts, statements
from assay.checker.symbolic.certificate.proof import InductionStep, Proofs, assuming, proved, statement_count
from assay.checker.symbolic.encode.initial import Bits
from assay.checker.symbolic.encode.transition_system import SymbolicQuestion, System, encode_kernel
from assay.checker.symbolic.encode.verdict import Cube, Safe, Unsafe
from assay.checker.symbolic.induction.cti import step_shown
from assay.checker.symbolic.induction.ic3 import Ic3
from assay.checker.symbolic.induction.inductive_check import Induction
from assay.checker.symbolic.induction.kinduction import KInduction, NotInductive
from assay.checker.symbolic.induction.mined_invariants import mined_cubes
from assay.checker.symbolic.induction.spacer import Spacer
from assay.checker.symbolic.induction.unreached_bounds import UnreachedBounds
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.checker.symbolic.smt.recheck import SecondOpinion
from assay.grammar import kernel as k
from assay.grammar.current_work import doing
from assay.grammar.diagnostics.diagnostic import NOWHERE

ENGINE = "prove"
# Each from nothing, two of the five strongest properties of `kip320` r3l2m2e2 ran out of a minute. In rounds all five
# take 47 processor seconds (docs/design/choice-of-solvers.md).
ROUNDS = (2.0, 15.0, 120.0)
"""Processor seconds for each property in each round: what one round proves helps in the next."""
OF_BOUND = 15.0
"""Processor seconds to show that no run hits a bound."""
SHORTENING = 10.0
"""Seconds to shorten a counterexample."""
FEW = 40
"""Certificates of more statements are not minimised."""

MANY = 150
"""Certificates of more statements, which nobody reads, are confirmed by a search of all states if that ends."""

Exhaustive = Callable[[SearchOptions], Report]
Method = Literal["ic3", "k-induction", "spacer"]
NAMES: dict[Method, str] = {"ic3": "IC3", "k-induction": "k-induction", "spacer": "Spacer"}
ENGINES: dict[Method, type[Ic3 | KInduction | Spacer]] = {"ic3": Ic3, "k-induction": KInduction, "spacer": Spacer}


def prove(
    kernel: k.Kernel,
    options: SearchOptions | None = None,
    sources: Sources | None = None,
    exhaustive: Exhaustive | None = None,
    by: Method = "ic3",
) -> Proofs:
    """Prove or refute the selected properties. ``exhaustive`` searches all states, to confirm what the second encoding
    cannot express.

    Raises ``SpecError`` for a construct without an encoding. Bounds of the model are part of it, and named in the
    answers.
    """
    chosen = options or SearchOptions()
    with deep_recursion(kernel):
        prover = _Prover(kernel, chosen, sources or {}, exhaustive, by)
        try:
            prover.run()
        except KeyboardInterrupt:
            prover.interrupted = True
    return prover.proofs()


class _Prover:
    def __init__(
        self, kernel: k.Kernel, options: SearchOptions, sources: Sources, exhaustive: Exhaustive | None, by: Method
    ) -> None:
        self.kernel = kernel
        self.options = options
        self.sources = sources
        self.interrupted = False
        self.certificates: dict[str, Certificate] = {}
        self.results: dict[str, PropertyResult] = {}
        self.steps: dict[str, InductionStep] = {}
        self._by = by
        self._exhaustive = exhaustive
        self._start = time.monotonic()
        self._search = BoundedSearch(Model(kernel), options)
        self._system: System = encode_kernel(kernel, options.properties, deadlock=self._search.asks_deadlock)
        self._known: list[Cube] = []
        self._open: dict[str, str] = {}
        """The questions without an answer, with the reason so far."""
        self._by_search: set[str] = set()
        self._proved_questions: list[SymbolicQuestion] = []
        self._unhit: set[str] = set()
        """Bounds that no run hits."""
        self._searched: Report | None = None
        self._doubted: set[str] = set()

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._start

    def _expired(self) -> bool:
        if self.options.interrupted():
            raise KeyboardInterrupt
        over = self.options.over_at(self._start)
        return over is not None and time.monotonic() >= over

    # ------------------------------------------------------------------------------------------------ run

    def run(self) -> None:
        """Check the initial states, then prove property by property, in rounds of growing budgets."""
        self._search.begin()
        found = self._search.watch.found
        if not self._search.initial:
            return  # the answers are those of the search that was begun
        asked = [q for q in self._system.questions if q.name not in found]
        self._open = {q.name: "the time limit was reached before it was tried" for q in asked}
        initial = self._search.store.states[: self._search.initial]
        for number, seconds in enumerate(ROUNDS):
            # With 405 mined pairs of bits ten invariants took 19.5 s instead of 98
            # (docs/design/choice-of-solvers.md).
            if number == 1 and self._open.keys() - self._doubted:
                self._mine(initial)
            for question in asked:
                if question.name in self._open.keys() - self._doubted and not self._expired():
                    self._tell()
                    self._try(question, initial, seconds)
        self._ask_bounds(initial)

    def _ask_bounds(self, initial: Sequence[State]) -> None:
        """Find the bounds that need not be assumed, because no run hits them."""
        if not self._proved_questions or self._expired():
            return
        accepted = self.kernel.accepted_bounds
        if any(question.kind == "reachable" for question in self._proved_questions):
            accepted = frozenset()  # unreachability is conclusive only if no bound cut anything
        asked = self._system.cuts.keys() - self._search.bounds.keys() - accepted
        self._unhit = UnreachedBounds(self._system, initial, self._known, self._search_of_all).of(
            asked, lambda: self._budget(OF_BOUND)
        )

    def _budget(self, seconds: float) -> Callable[[], bool]:
        """A function that tells whether so many processor seconds have passed since now."""
        begun = time.process_time()
        return lambda: self._expired() or time.process_time() - begun > seconds

    def _tell(self) -> None:
        proved = len(self._system.questions) - len(self._open)
        self.options.progress(Progress(1, proved, 0, len(self._open), self._seconds))

    def _mine(self, initial: Sequence[State]) -> None:
        """Mine pairs of bits that never occur together, to help with what the first round left open."""
        rows = [self._system.row(state) for state in initial]
        # Without what is mined, later rounds have less help, and are as right.
        with suppress(OutOfBudgetError):
            self._known = list(dict.fromkeys([*self._known, *mined_cubes(self._system, rows, self._expired)]))

    def _try(self, question: SymbolicQuestion, initial: Sequence[State], seconds: float) -> None:
        doing(f"a proof of `{question.name}` was looked for")
        expired = self._budget(seconds)
        rows = [self._system.row(state) for state in initial]
        try:
            answer = ENGINES[self._by](self._system, rows, question.wanted, self._known, expired).run()
        except OutOfBudgetError as error:
            self._open[question.name] = f"{NAMES[self._by]} found no invariant: {error}"
            return
        match answer:
            case Unsafe():
                self._follow(question, answer)
            case NotInductive():
                self._show(question, answer)
            case Safe():
                # These may help before anyone has confirmed them: a certificate is made of all of them, and confirmed
                # as a whole.
                self._known += answer.cubes
                self._conclude(question, self._certified(question, initial))
            case _:
                assert_never(answer)

    def _show(self, question: SymbolicQuestion, answer: NotInductive) -> None:
        """Keep the counterexample to induction, which decides nothing."""
        of_steps = question.kind == "transition"
        # The last choice is a step only where the property is one of steps.
        states = self._path(answer.first, answer.choices if of_steps else answer.choices[:-1])
        self.steps[question.name] = step_shown(self._search.model, question, states, self.sources)
        length = len(answer.choices) - 1
        self._open[question.name] = f"not {length}-inductive: see the steps below ({answer.why})"

    # ---------------------------------------------------------------------------------------- a violation

    def _follow(self, question: SymbolicQuestion, run: Unsafe) -> None:
        """Replay the run in the reference evaluator, after an attempt to shorten it."""
        states = self._states(run)
        options = replace(
            self.options, max_depth=len(states), timeout=SHORTENING, started=None, progress=lambda _: None
        )
        if question.name == DEFINED:
            options = replace(options, keep_going=True)  # what has no value may be any of the properties
        else:
            options = replace(options, keep_going=False, properties=frozenset({question.name}))
        shorter = BoundedSearch(self._search.model, options)
        shorter.run()
        if question.name not in shorter.watch.found:
            shorter = BoundedSearch(self._search.model, options)
            shorter.begin()
            shorter.judge(states, in_step=question.kind in {"transition", DEADLOCK, DEFINED})
        if question.name not in shorter.watch.found and question.name not in shorter.watch.undefined:
            raise EnginesDisagreeError(f"the gates refute `{question.name}` where the reference does not: {states[-1]}")
        answers = {each.name: each for each in Answers(shorter, self.sources).all()}
        self._open.pop(question.name)
        self.results[question.name] = answers[question.name]

    def _states(self, run: Unsafe) -> list[State]:
        states = self._path(run.first, run.choices[:-1])
        # In the gates a state may stay as it is. A run of the system has no such step.
        return [state for at, state in enumerate(states) if not at or state != states[at - 1]]

    def _path(self, first: Bits, choices: Sequence[Sequence[bool]]) -> list[State]:
        frames = UnrolledSystem(self._system, list(first), Gates())
        for choice in choices:
            frames.choices.append([int(bit) for bit in choice])
            frames.extend()
        return [self._system.values(frame) for frame in frames.frames]

    # ------------------------------------------------------------------------------------------- a proof

    def _certified(self, question: SymbolicQuestion, initial: Sequence[State]) -> str | None:
        """Make the certificate and have it confirmed; the reason if it is not."""
        try:
            # What is asked again are statements, not cubes. They speak of all symmetric elements, so they say more than
            # the cubes.
            conditions = [*self._as_given(question), *statements(self._system, self._known)]
        except InexpressibleError as error:
            return self._confirmed_by_search(question, f"the invariant has no words in the language ({error})")
        induction = Induction(self.kernel, conditions, initial, self._expired)
        try:
            if not induction.implies(range(len(conditions)), question.name) or induction.failure(
                range(len(conditions))
            ):
                return self._confirmed_by_search(question, "the certificate as written is not inductive")
            kept = induction.needed(question.name) if len(conditions) <= FEW else induction.relevant(question.name)
        except OutOfBudgetError as error:
            return self._confirmed_by_search(question, f"the certificate was not checked: {error}")
        finally:
            induction.close()
        certificate = Certificate(conjuncts(conditions[at] for at in kept))
        self.certificates[question.name] = certificate
        if len(kept) > MANY and self._confirmed_by_search(question, "its certificate is long") is None:
            return None
        return self._second_opinion(question, certificate)

    def _as_given(self, question: SymbolicQuestion) -> list[k.Expr]:
        """The first statements of a k-induction's certificate: the property itself, if it is about states, and what is
        proved already."""
        if self._by != "k-induction":
            return []
        own = [p for p in self.kernel.properties if p.name == question.name and p.kind in {"invariant", "lemma"}]
        conditions = [each.condition for prop in own for each in prop.conjuncts]
        return [*conditions, *(each.condition for known in self.certificates.values() for each in known.conjuncts)]

    def _second_opinion(self, question: SymbolicQuestion, certificate: Certificate) -> str | None:
        conditions = [each.condition for each in certificate.conjuncts]
        prop = next((p for p in self.kernel.properties if p.name == question.name), None)
        opinion = SecondOpinion(self.kernel, expired=self._expired)
        if prop is not None:
            doubt = opinion.inductive(conditions) or opinion.implies(conditions, prop)
        elif question.name == DEFINED:
            doubt = opinion.inductive(conditions) or opinion.valued(conditions, self._asked_for_values())
        else:
            return self._confirmed_by_search(question, "the second encoding does not say what has no next step")
        return (
            None if doubt is None else self._confirmed_by_search(question, f"the second encoding has doubts ({doubt})")
        )

    def _asked_for_values(self) -> list[k.Property]:
        """What must be defined in every state or step: the selected properties, and ``terminal`` where deadlocks are
        checked."""
        terminal = k.Property("terminal", "invariant", self.kernel.terminal, None)
        ends = [terminal] if self._search.asks_deadlock and terminal.conjuncts else []
        return [*(p for p in self.kernel.properties if self.options.selects(p.name)), *ends]

    def _confirmed_by_search(self, question: SymbolicQuestion, why: str) -> str | None:
        """Confirm by a search of all states instead; ``why`` if that does not end."""
        report = self._search_of_all()
        if report is None:
            return f"{NAMES[self._by]} found an invariant, but {why}"
        result = next((each for each in report.properties if each.name == question.name), None)
        if report.stopped is not None or result is None or result.outcome is Outcome.UNKNOWN:
            return f"{NAMES[self._by]} found an invariant, but {why}, and a search of all states came to no end"
        # A `reachable` that no state satisfies is violated, and just that was proved.
        if (result.outcome is Outcome.VIOLATED) != (question.kind == "reachable"):
            raise EnginesDisagreeError(f"{NAMES[self._by]} and exhaustive search disagree about `{question.name}`")
        self._by_search.add(question.name)
        return None

    def _search_of_all(self, *, made: bool = True) -> Report | None:
        """The answer of a search of all states, made once, and only if it may be ``made``."""
        if made and self._searched is None and self._exhaustive is not None:
            since = self._start if self.options.started is None else self.options.started
            self._searched = self._exhaustive(replace(self.options, started=since))
        return self._searched

    def _conclude(self, question: SymbolicQuestion, doubt: str | None) -> None:
        if doubt is not None:
            self._open[question.name] = doubt
            self._doubted.add(question.name)  # more time for IC3 would not change it
            return
        self._open.pop(question.name)
        self._proved_questions.append(question)

    def _proved(self, question: SymbolicQuestion) -> PropertyResult:
        span = next((p.span for p in self.kernel.properties if p.name == question.name), NOWHERE)
        # Steps may be cut by some bounds, and others were hit by initial states.
        cuts = (self._system.cuts.keys() - self._unhit) | self._search.bounds.keys()
        assumed = sorted(cuts - self.kernel.accepted_bounds)
        how = "confirmed by a search of all states" if question.name in self._by_search else self._size(question.name)
        if question.kind == "reachable":
            outcome = Outcome.UNKNOWN if cuts else Outcome.VIOLATED
            reason = f"no reachable state satisfies it ({how}{assuming(assumed)})"
            return PropertyResult(question.name, question.kind, outcome, span, reason)
        return proved(question.name, question.kind, span, f"proved, {how}", assumed)

    def _size(self, name: str) -> str:
        count = len(self.certificates[name].conjuncts)
        return f"by {statement_count(count)}, confirmed by a second encoding"

    # -------------------------------------------------------------------------------------------- answers

    def proofs(self) -> Proofs:
        """The answer."""
        self.results |= {question.name: self._proved(question) for question in self._proved_questions}
        first = {each.name: each for each in Answers(self._search, self.sources).all()}
        names = list(first)
        results = tuple(self._result(name, first) for name in names)
        stopped = None if not self._open else f"{len(self._open)} of the properties were not decided"
        statistics = Statistics(seconds=self._seconds)
        report = Report(self.kernel, ENGINE, results, statistics, {}, stopped=stopped, interrupted=self.interrupted)
        shown = tuple(
            (name, self.certificates[name])
            for name in self.certificates
            if name in self.results and name not in self._by_search
        )
        steps = tuple((name, self.steps[name]) for name in names if name in self._open and name in self.steps)
        return Proofs(report, shown, steps)

    def _result(self, name: str, first: dict[str, PropertyResult]) -> PropertyResult:
        if name in self.results:
            return self.results[name]
        if name not in self._open:
            return first[name]
        kind = next((p.kind for p in self.kernel.properties if p.name == name), name)
        span = next((p.span for p in self.kernel.properties if p.name == name), NOWHERE)
        return PropertyResult(name, kind, Outcome.UNKNOWN, span, self._open[name])
