"""Kernel expressions of temporal properties as formulas over letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.enumerate_set import listing
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.traverse import descendants, locals_of, variables_of
from assay.checker.interpreter.values.domains import domain
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.liveness.event_values import FairnessEvent
from assay.checker.liveness.nnf import (
    Enabled,
    Formula,
    Letter,
    Literal,
    Occurs,
    StateCondition,
    Truth,
    Until,
    always,
    conjunction,
    disjunction,
    eventually,
    negation,
)
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, Note, SpecError
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel.types import BOOL, SetType
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

TOO_LARGE = "E850"
MOST_LETTERS = 4096
"""The most letters of all temporal properties together."""

Bound = dict[str, tuple[k.Local, Value]]
"""The values of the names bound around an expression."""


@dataclass(slots=True)
class Letters:
    """The letters of formulas, numbered in the order in which they were first met."""

    numbers: dict[Letter, int] = field(default_factory=dict)

    def number(self, letter: Letter, node: k.Expr) -> int:
        """The number of a letter. Raises ``SpecError`` (E850) if there are too many."""
        if letter not in self.numbers and len(self.numbers) >= MOST_LETTERS:
            message = f"the temporal properties speak of more than {MOST_LETTERS:,} different conditions and events"
            note = Note("a quantifier or a value that is kept until later stands for one part for each of its values")
            raise SpecError([Diagnostic(TOO_LARGE, node.span, message, (note,))])
        return self.numbers.setdefault(letter, len(self.numbers))


def is_temporal(expr: k.Expr) -> bool:
    """Whether the expression depends on more than one state."""
    return any(isinstance(each, k.Temporal | k.ActionAtom) for each in (expr, *descendants(expr)))


@dataclass(frozen=True, slots=True)
class Translation:
    """Translates the conjuncts of one property.

    ``premises`` collects what stands before ``leads_to``, and before ``implies`` with a temporal conclusion. Its keys
    are identities in the kernel. Its values are the expression, and a formula for each value of the names bound around
    it.
    """

    model: Model
    letters: Letters
    premises: IdentityMemo[k.Expr, list[Formula]] = field(default_factory=IdentityMemo)

    def formula(self, expr: k.Expr, bound: Bound) -> Formula:
        """The formula of an expression. Raises ``SpecError`` if a quantifier ranges over too much."""
        if not is_temporal(expr):
            return self._condition(expr, bound)
        match expr:
            case k.Not(_, operand):
                return negation(self.formula(operand, bound))
            case k.Logic(_, "and", parts):
                return conjunction([self.formula(part, bound) for part in parts])
            case k.Logic(_, "or", parts):
                return disjunction([self.formula(part, bound) for part in parts])
            case k.Logic(_, _, (premise, conclusion)):
                return disjunction([negation(self._premise(premise, bound)), self.formula(conclusion, bound)])
            case k.Quantified(_, kind, binder, over, body):
                joined, guard = (conjunction, "implies") if kind == "forall" else (disjunction, "and")
                return joined(self._each(binder, over, body, guard, bound))
            case k.LetIn(_, binder, value, body):
                return self._kept(binder, value, lambda inner: self.formula(body, inner), bound)
            case k.IfThenElse(_, condition, then, otherwise):
                test = self.formula(condition, bound)
                chosen = [conjunction([test, self.formula(then, bound)])]
                return disjunction([*chosen, conjunction([negation(test), self.formula(otherwise, bound)])])
            case k.Temporal(_, "leads_to", (premise, conclusion)):
                later = eventually(self.formula(conclusion, bound))
                return always(disjunction([negation(self._premise(premise, bound)), later]))
            case k.Temporal(_, op, operands):
                return _in_time(op, [self.formula(operand, bound) for operand in operands])
            case k.ActionAtom():
                return self._event(expr, bound)
            case _:
                raise AssertionError(f"{expr.span}: a temporal formula inside {type(expr).__name__}")

    def _premise(self, expr: k.Expr, bound: Bound) -> Formula:
        made = self.formula(expr, bound)
        self.premises.setdefault(expr, []).append(made)
        return made

    # --------------------------------------------------------------------------------------------- conditions

    def _condition(self, expr: k.Expr, bound: Bound) -> Formula:
        """The condition with the values of its names substituted; a constant if it reads no state."""
        closed = expr
        mentioned = {expr.name} if isinstance(expr, k.Local) else locals_of(expr)
        for name in sorted(mentioned & bound.keys()):
            binder, value = bound[name]
            closed = k.LetIn(BOOL, binder, k.Const(binder.type, value, span=expr.span), closed, span=expr.span)
        if not variables_of(closed):
            try:
                return Truth(bool(self.model.meaning(closed)(Frame(()))))
            except Undefined:
                pass  # undefined in every state: the first state in which it is evaluated shows that
        return Literal(self.letters.number(StateCondition(closed), expr), True)

    # --------------------------------------------------------------------------------------- parts for values

    def _each(self, binder: k.Local, over: k.Expr, body: k.Expr, guard: str, bound: Bound) -> Iterable[Formula]:
        """The body for each element. If the set depends on the state: for each possible element, under the condition
        that it is in the set."""
        constant = not variables_of(over)
        for value in self._elements(over, bound) if constant else self._candidates(over):
            inner = {**bound, binder.name: (binder, value)}
            part = self.formula(body, inner)
            if constant:
                yield part
                continue
            inside = self._condition(k.Member(BOOL, binder, over, False, span=over.span), inner)
            yield conjunction([inside, part]) if guard == "and" else disjunction([negation(inside), part])

    def _elements(self, over: k.Expr, bound: Bound) -> Sequence[Value]:
        frame = Frame((), (), {name: value for name, (_, value) in bound.items()})
        return listing(over, self.model.scope)(frame)

    def _candidates(self, over: k.Expr) -> Sequence[Value]:
        assert isinstance(over.type, SetType), f"{over.span}: a temporal quantifier over {over.type}"
        return domain(over.type.item, over.span)

    def _kept(self, binder: k.Local, value: k.Expr, body: Callable[[Bound], Formula], bound: Bound) -> Formula:
        """The body with the present value of an expression: one operand for each possible value."""
        if not variables_of(value):
            frame = Frame((), (), {name: known for name, (_, known) in bound.items()})
            return body({**bound, binder.name: (binder, self.model.meaning(value)(frame))})
        ways = []
        # The value is kept until later, and the automaton has no variables: one operand for each value that it may
        # have.
        for each in domain(binder.type, value.span):
            is_it = k.Equal(BOOL, value, k.Const(binder.type, each, span=value.span), False, span=value.span)
            ways.append(conjunction([self._condition(is_it, bound), body({**bound, binder.name: (binder, each)})]))
        return disjunction(ways)

    # ------------------------------------------------------------------------------------------------- events

    def _event(self, atom: k.ActionAtom, bound: Bound) -> Formula:
        given = [] if atom.arguments is None else list(atom.arguments)
        return self._with_arguments(atom, list(enumerate(given)), (), bound)

    def _with_arguments(
        self,
        atom: k.ActionAtom,
        rest: Sequence[tuple[int, k.Expr | None]],
        fixed: tuple[tuple[int, Value], ...],
        bound: Bound,
    ) -> Formula:
        if not rest:
            event = FairnessEvent(atom.action, fixed)
            letter = Enabled(event) if atom.op == "enabled" else Occurs(event)
            return Literal(self.letters.number(letter, atom), True)
        (at, argument), *others = rest
        if argument is None:
            return self._with_arguments(atom, others, fixed, bound)
        binder = k.Local(argument.type, f"argument {at}", span=argument.span)

        def known(inner: Bound) -> Formula:
            return self._with_arguments(atom, others, (*fixed, (at, inner[binder.name][1])), bound)

        return self._kept(binder, argument, known, bound)


def _in_time(op: str, parts: Sequence[Formula]) -> Formula:
    match op:
        case "always":
            return always(parts[0])
        case "eventually":
            return eventually(parts[0])
        case _:
            # `f until true` holds at once, and `f until false` never: no automaton state is needed.
            return parts[1] if isinstance(parts[1], Truth) else Until(parts[0], parts[1])
