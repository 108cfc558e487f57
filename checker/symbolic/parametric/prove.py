"""``assay prove --any Set``: invariants for every number of elements, found on a small model and checked by Z3 for all
sizes at once.

The elements are those of an uninterpreted sort. ``bound`` lines and capacities of sets and maps are no guards here, and
a range whose end is a size parameter has no end. So there are more steps than in any model of the spec, and a proof
holds for each model. Sequences are as long as in the model, which is reported as an assumed bound. What is not proved
is unknown. The statements that prove a property are also checked over the gates of the small model, which share no code
with this encoding.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.expressions.traverse import variables_of
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult, Report, State, Statistics
from assay.checker.report_assembly import refuse_unknown_names
from assay.checker.search_interface.finding import DEFINED
from assay.checker.symbolic.bounded.bmc import BoundedSearch
from assay.checker.symbolic.certificate.candidates import Templates, nearby, written
from assay.checker.symbolic.certificate.from_cubes import Certificate, conjuncts
from assay.checker.symbolic.certificate.proof import Proofs, proved, statement_count
from assay.checker.symbolic.encode.initial import initial_states
from assay.checker.symbolic.induction.inductive_check import Induction
from assay.checker.symbolic.parametric.size_independence import depends_on_size
from assay.checker.symbolic.prove import prove
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.checker.symbolic.smt.recheck import Doubt, SecondOpinion
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.elaborate.scopes.type_relations import mentions
from assay.grammar.kernel.types import SeqType, Sort
from assay.grammar.load import Loaded

NO_PROOF = "E826"
ENGINE = "prove for any size"
ASKED = {"invariant", "lemma", "transition"}
"""The kinds of properties that can be proved for any size."""
SAMPLE = 3000
"""How many reachable states of the small model a candidate must hold in."""
NUMBERS = "numbers of elements are known by laws alone: a part has no more, one more element is one more, two majorities share an element"
"""The note on a proof that depends on numbers of elements of open size."""
OF_THE_MODEL = 30.0
"""Seconds to prove a property in the model of this size."""
INFERENCE = "inference"
"""Where the doubt is that statements are inductive, which others may dispel."""
RLIMIT = 20_000_000
"""Z3's measure of work for each question here. Candidates that need more are dropped."""


def prove_any(loaded: Loaded, sets: Sequence[str], options: SearchOptions | None = None) -> Proofs:
    """Prove the selected invariants and transition properties for any number (one or more) of elements of the named
    sets.

    Raises ``SpecError`` if a name is no symmetric set of the spec, or if the spec depends on the number of elements. So
    it does if a selected property does not exist.
    """
    chosen = options or SearchOptions()
    refuse_unknown_names(loaded.kernel, chosen)
    _refuse_dependence(loaded, _open_sorts(loaded.kernel, sets))
    return prove_every_size(loaded.kernel, sets, chosen)


def prove_every_size(kernel: k.Kernel, sets: Sequence[str], chosen: SearchOptions) -> Proofs:
    """The proofs about a kernel in which nothing but the elements themselves depends on the size of the sets."""
    begun, sorts = time.monotonic(), _open_sorts(kernel, sets)
    with deep_recursion(kernel):
        prover = _AnyProver(kernel, frozenset(sort.name for sort in sorts), chosen, begun)
        asked = [prop for prop in kernel.properties if chosen.selects(prop.name)]
        results = [prover.result(prop) for prop in asked]
        defined = prover.defined(asked)
    report = Report(kernel, ENGINE, (defined, *results), Statistics(seconds=time.monotonic() - begun))
    assumptions = (*_assumptions(kernel, sets), *([NUMBERS] if prover.asks_numbers else []))
    return Proofs(report, tuple(prover.certificates.items()), assumptions=assumptions)


def _refuse_dependence(loaded: Loaded, sorts: Sequence[Sort]) -> None:
    """Raise ``SpecError`` for what is computed from the number of elements: a proof for any size would treat it as a
    constant."""
    found = depends_on_size(loaded, sorts)
    if found:
        note = Note("a number in it is computed from the number of elements, and stands in the model as a constant")
        names = ", ".join(sort.name for sort in sorts)
        raise SpecError(
            Diagnostic(NO_PROOF, span, f"{what} depends on the size of {names}", (note,)) for what, span in found
        )


def _open_sorts(kernel: k.Kernel, sets: Sequence[str]) -> list[Sort]:
    symmetric = {sort.name: sort for sort in kernel.sorts if sort.symmetric}
    wrong = [name for name in sets if name not in symmetric]
    if wrong:
        note = Note(f"its symmetric sets are: {', '.join(sorted(symmetric)) or 'none'}")
        what = f"`{wrong[0]}` is not a symmetric set of `{kernel.name}`, and so has a fixed size"
        raise SpecError([Diagnostic(NO_PROOF, kernel.span, what, (note,))])
    return [symmetric[name] for name in dict.fromkeys(sets)]


def _assumptions(kernel: k.Kernel, sets: Sequence[str]) -> tuple[str, ...]:
    labels = {g.label for a in kernel.actions for g in a.body if isinstance(g, k.Guard) and g.kind == "bound"}
    conditions = [f"any number of elements of {', '.join(sets)}; the other sets are those of the model"]
    conditions.append("numbers of size parameters are unbounded; capacities of sets and maps are not enforced")
    if labels:
        conditions.append(f"bounds are no guards: {', '.join(f'`{label}`' for label in sorted(labels))}")
    return tuple(conditions)


def _assumed_lengths(kernel: k.Kernel) -> list[str]:
    """The bounds that stay assumed: the maximal lengths of sequences in the state and in arguments of actions."""
    stored = [f"capacity of {each.name}" for each in kernel.variables if mentions(each.type, SeqType)]
    given = [
        f"capacity of {each.binder.name} in {action.name}"
        for action in map(kernel.action, kernel.next)
        for each in action.parameters
        if mentions(each.binder.type, SeqType)
    ]
    return [label for label in (*stored, *given) if label not in kernel.accepted_bounds]


class _AnyProver:
    def __init__(self, kernel: k.Kernel, sorts: frozenset[str], options: SearchOptions, begun: float) -> None:
        self.kernel = kernel
        self.certificates: dict[str, Certificate] = {}
        self._model = Model(kernel)
        self._opinion = SecondOpinion(kernel, sorts, RLIMIT, self._expired)
        self._options = options
        self._begun = begun
        self._sample: list[State] = []
        self._lemmas = [c.condition for p in kernel.properties if p.kind == "lemma" for c in p.conjuncts]

    @property
    def asks_numbers(self) -> bool:
        """Whether the number of elements of something of open size was asked for."""
        return self._opinion.asks_numbers

    def result(self, prop: k.Property) -> PropertyResult:
        """The answer about one property."""
        reason: str | None
        if prop.kind not in ASKED:
            reason = f"a {prop.kind} property is not asked for any size"
        else:
            try:
                reason = self._why_not(prop)
            except OutOfBudgetError as error:
                reason = str(error)
        if reason is None:
            how = f"proved for any size, by {statement_count(len(self.certificates[prop.name].conjuncts))}"
            return proved(prop.name, prop.kind, prop.span, how, _assumed_lengths(self.kernel))
        return PropertyResult(prop.name, prop.kind, Outcome.UNKNOWN, prop.span, reason)

    def defined(self, asked: Sequence[k.Property]) -> PropertyResult:
        """The answer about definedness: of initial states, steps and the selected properties."""
        try:
            why = self._why_not_defined([prop for prop in asked if prop.kind in ASKED])
        except OutOfBudgetError as error:
            why = str(error)
        if why is not None:
            return PropertyResult(DEFINED, DEFINED, Outcome.UNKNOWN, NOWHERE, why)
        how = f"proved for any size, by {statement_count(len(self.certificates[DEFINED].conjuncts))}"
        return proved(DEFINED, DEFINED, NOWHERE, how, _assumed_lengths(self.kernel))

    def _why_not_defined(self, properties: Sequence[k.Property]) -> str | None:
        """Search statements that prove definedness; the reason if there are none."""
        doubt: Doubt | None = None
        for candidates in self._help_with_values():
            kept = self._houdini(candidates, 0)
            if isinstance(kept, Doubt):
                doubt = doubt or kept
                if not candidates:
                    break  # a step has no form for every size
                continue
            doubt = self._opinion.valued(kept, properties)
            if doubt is None:
                return self._conclude(
                    DEFINED, self._fewer(kept, lambda conditions: self._opinion.valued(conditions, properties))
                )
            if not doubt.is_answered:
                break  # more statements would not change it
        return str(doubt)

    def _help_with_values(self) -> Iterator[list[k.Expr]]:
        """Candidates to try: none; what other proofs needed; the spec's own statements; statements about all
        variables."""
        yield []
        known = dict.fromkeys(c.condition for each in self.certificates.values() for c in each.conjuncts)
        yield list(known)
        logged = [c.condition for p in self.kernel.properties if p.kind in {"invariant", "lemma"} for c in p.conjuncts]
        known |= dict.fromkeys(each for each in logged if self._holds_in_sample(each))
        yield list(known)
        yield list(known | dict.fromkeys(self._mined(frozenset(each.name for each in self.kernel.variables))))

    def _expired(self) -> bool:
        if self._options.interrupted():
            raise KeyboardInterrupt
        over = self._options.over_at(self._begun)
        return over is not None and time.monotonic() >= over

    def _why_not(self, prop: k.Property) -> str | None:
        # A transition property is implied by inductive statements, and is none itself.
        own = [c.condition for c in prop.conjuncts] if prop.kind != "transition" else []
        # The model of this size is an instance of every size: a counterexample in it ends the question.
        if not all(self._holds_in_sample(each) for each in own):
            return "it does not hold in the model of this size: `assay check` shows how"
        why: str | None = None
        for candidates in self._attempts(prop):
            conditions = [*own, *(each for each in candidates if each not in own)]
            kept = self._houdini(conditions, len(own))
            if isinstance(kept, Doubt):
                why = str(kept)
                if not candidates and kept.where != INFERENCE:
                    return why  # the steps or the property have no form for every size, and no candidate gives them one
                continue
            doubt = self._opinion.implies(kept, prop)
            if doubt is None:
                needed = self._needed(kept, prop)
                doubt = self._opinion.implies(needed, prop)
                return self._conclude(prop.name, needed) if doubt is None else str(doubt)
            why = f"what was inferred does not imply it ({doubt})"
        return why or "no inductive statements were found"

    def _attempts(self, prop: k.Property) -> Iterator[list[k.Expr]]:
        """Candidates to try together: none; lemmas; statements about nearby variables, then about farther ones; the
        spec's other statements; what proves the property in the model."""
        names = frozenset().union(*(variables_of(c.condition) for c in prop.conjuncts))
        near = nearby(self.kernel, names)
        far = near.union(*(variables_of(g.condition) for g in self._guards_near(near)))
        # Few candidates first: each further one makes every question to Z3 dearer.
        lemmas = self._true_lemmas()
        yield []
        if lemmas:
            yield lemmas
        # Here variables that are assigned to those of the property count, and below also what guards of such actions
        # read.
        yield [*lemmas, *self._mined(near)]
        if far != near:
            yield [*lemmas, *self._mined(far)]
        logged = self._others(prop)
        if logged:
            yield [*lemmas, *logged]
            yield [*lemmas, *logged, *self._mined(near)]
        certified = self._certified_in_the_model(prop)
        if certified:
            yield [*lemmas, *certified]

    def _certified_in_the_model(self, prop: k.Property) -> list[k.Expr]:
        """What proves the property in the model of this size: its statements quantify over the elements."""
        left = self._options.over_at(self._begun)
        seconds = OF_THE_MODEL if left is None else min(OF_THE_MODEL, left - time.monotonic())
        if seconds <= 0:
            return []
        limits = replace(self._options, properties=frozenset({prop.name}), timeout=seconds, started=None)
        proofs = prove(self.kernel, replace(limits, check_deadlock=False))
        found = [c.condition for name, each in proofs.certificates if name == prop.name for c in each.conjuncts]
        return [each for each in found if self._holds_in_sample(each)]

    def _guards_near(self, names: frozenset[str]) -> list[k.Guard]:
        """The guards of the actions that write one of the variables."""
        actions = [self.kernel.action(name) for name in self.kernel.next if written(self.kernel, name) & names]
        return [g for action in actions for g in action.body if isinstance(g, k.Guard)]

    def _others(self, prop: k.Property) -> list[k.Expr]:
        """The other invariants of the spec, which may be inductive only together."""
        others = [each for each in self.kernel.properties if each.kind == "invariant" and each is not prop]
        return [c.condition for each in others for c in each.conjuncts if self._holds_in_sample(c.condition)]

    def _true_lemmas(self) -> list[k.Expr]:
        return [each for each in self._lemmas if self._holds_in_sample(each)]

    def _mined(self, names: frozenset[str]) -> list[k.Expr]:
        variables = [v for v in self.kernel.variables if v.name in names]
        guesses = dict.fromkeys(Templates(variables).candidates())
        return [each for each in guesses if self._holds_in_sample(each)]

    # ------------------------------------------------------------------------------------------- the sample

    def _states(self) -> list[State]:
        if not self._sample:
            # The sample only throws candidates out, so the first levels do.
            limits = SearchOptions(max_states=SAMPLE, check_deadlock=False, properties=frozenset(), keep_going=True)
            self._sample = BoundedSearch(self._model, limits).list_levels()
        return self._sample

    def _holds_in_sample(self, statement: k.Expr) -> bool:
        meaning = self._model.meaning(statement)
        try:
            return all(meaning(Frame(state)) for state in self._states())
        except Undefined:
            return False

    # ------------------------------------------------------------------------------------------- inference

    def _houdini(self, statements: list[k.Expr], needed: int) -> list[k.Expr] | Doubt:
        """Remove what some step does not preserve until the rest is inductive; the first ``needed`` must stay."""
        while True:
            if self._expired():
                raise OutOfBudgetError("the time limit was reached")
            # All that one counterexample breaks is removed at once. What stays is the largest inductive subset
            # (Flanagan and Leino 2001).
            failed = self._opinion.failing(statements)
            if isinstance(failed, Doubt):
                return failed
            if not failed:
                return statements
            # The property itself comes first in the list, and must stay.
            if min(failed) < needed:
                return Doubt(INFERENCE, min(failed), "it is not inductive with what was found to help")
            statements = [each for at, each in enumerate(statements) if at not in failed]

    def _needed(self, statements: list[k.Expr], prop: k.Property) -> list[k.Expr]:
        """The statements without those that can be left out; the last ones are tried first."""
        kept = [statements[at] for at in self._opinion.relevant(statements, prop)]
        if self._opinion.implies(kept, prop) or self._opinion.inductive(kept):
            return statements  # the refutations of fewer statements took too much work
        return self._fewer(kept, lambda conditions: self._opinion.implies(conditions, prop))

    def _fewer(self, kept: list[k.Expr], doubt: Callable[[list[k.Expr]], Doubt | None]) -> list[k.Expr]:
        """Inductive statements, none of which can be left out without a doubt; of a time limit half of what is left is
        for that."""
        now, end = time.monotonic(), self._options.over_at(self._begun)
        for each in list(reversed(kept)):
            if each in kept and not self._expired() and (end is None or time.monotonic() < (now + end) / 2):
                fewer = self._houdini([other for other in kept if other is not each], 0)
                if not isinstance(fewer, Doubt) and doubt(fewer) is None:
                    kept = fewer
        return kept

    def _conclude(self, name: str, statements: list[k.Expr]) -> str | None:
        """Confirm over the gates of the small model; the reason why it is not proved if they disagree."""
        doubt = self._opinion.inductive(statements)
        if doubt is not None:
            return str(doubt)
        initial, _, _ = initial_states(self._model)
        of_asked = tuple(each for each in self.kernel.properties if self._options.selects(each.name))
        kernel = replace(self.kernel, properties=of_asked)  # what is not asked need not have a value
        induction = Induction(kernel, statements, list(initial), self._expired)
        try:
            everything = range(len(statements))
            if not induction.implies(everything, name) or induction.failure(everything) is not None:
                return "Z3 says so, but the gates of the model do not agree that it is inductive"
        finally:
            induction.close()
        self.certificates[name] = Certificate(conjuncts(statements))
        return None
