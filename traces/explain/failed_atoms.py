"""Why a condition is false: its smallest false parts, each with the values from the log and from the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from assay.checker.interpreter.expressions.traverse import children, descendants
from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.interpreter.values.value_order import sorter
from assay.checker.print_kernel import Sources, expression_text
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.result import FailedPart
from assay.traces.search.transition_system import TraceModel

ELEMENTS_TRIED = 200
"""A `forall` over more elements is not taken apart."""


@dataclass(frozen=True, slots=True)
class AtomValue:
    """A part of a condition with its value."""

    expr: k.Expr
    value: Value


@dataclass(frozen=True, slots=True)
class FailedAtom:
    """A part of a condition that is false or has no value; ``log`` and ``model`` are the values that decide it.

    ``bounds`` are the numbers that it compares: a field that was compared might have had the other one.
    """

    expr: k.Expr
    log: tuple[AtomValue, ...]
    model: tuple[AtomValue, ...]
    undefined: str | None = None
    bounds: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Situation:
    """Where a condition is evaluated: values of binders, which of them come from the log, and the states now and
    before.

    ``fields`` maps the names that functions give to values of the log to the names in the log's rule.
    """

    model: TraceModel
    bound: Mapping[str, Value]
    given: frozenset[str]
    now: int
    before: int | None = None
    fields: Mapping[str, k.Local] = field(default_factory=dict)

    def value(self, expr: k.Expr) -> Value:
        """The value of an expression; raises ``Undefined``."""
        try:
            return self.model.value(expr, self.bound, self.now, self.before)
        # The name of a `pick` is bound to nothing here, so the evaluator looks it up in vain.
        except KeyError:
            raise Undefined("it depends on a choice", expr.span) from None

    def with_local(self, name: str, value: Value) -> Situation:
        """The situation with one more binder."""
        return replace(self, bound={**self.bound, name: value})

    def with_let(self, binder: k.Local, value: k.Expr) -> Situation:
        """The situation with a name for an expression; raises ``Undefined``."""
        inner = self.with_local(binder.name, self.value(value))
        origin = self._origin(value)
        if origin is None:
            return inner
        return replace(inner, given=self.given | {binder.name}, fields={**self.fields, binder.name: origin})

    def _origin(self, expr: k.Expr) -> k.Local | None:
        """The one name from the log of which an expression is made, if there is one."""
        parts = (expr, *descendants(expr))
        names = {part.name: part for part in parts if isinstance(part, k.Local)}
        if len(names) != 1 or not names.keys() <= self.given or any(isinstance(part, k.StateVar) for part in parts):
            return None
        (name, local), *_ = names.items()
        return self.fields.get(name, local)


def failing(condition: k.Expr, here: Situation) -> list[FailedAtom]:
    """The smallest parts of a condition that keep it from being true."""
    try:
        if here.value(condition) is True:
            return []
    except Undefined as undefined:
        # These two are taken apart below all the same: the part without a value says more than the whole.
        if not isinstance(condition, k.Logic | k.LetIn):
            return [_atom(condition, here, undefined.message)]
    match condition:
        case k.Logic(_, "and", parts):
            return [atom for part in parts for atom in failing(part, here)] or [_atom(condition, here)]
        # An implication is false only where its premise is true, so the conclusion is to blame.
        case k.Logic(_, "implies", (_, conclusion)):
            return failing(conclusion, here) or [_atom(condition, here)]
        case k.LetIn(_, binder, value, body):
            try:
                return failing(body, here.with_let(binder, value)) or [_atom(condition, here)]
            except Undefined as undefined:
                return [_atom(value, here, undefined.message)]
        case k.Quantified(_, "forall", binder, domain, body):
            return _failing_for_one(binder, domain, body, here) or [_atom(condition, here)]
        case _:
            return [_atom(condition, here)]


def _failing_for_one(binder: k.Local, domain: k.Expr, body: k.Expr, here: Situation) -> list[FailedAtom]:
    """Why a condition is false for the first element for which it is; nothing if there are too many to look at."""
    try:
        elements = here.value(domain)
    except Undefined:
        return []
    if not isinstance(elements, frozenset) or len(elements) > ELEMENTS_TRIED:
        return []
    # A set iterates by hashes, so without an order each run of the program would show another element.
    ordered = sorter(binder.type)(elements)
    return next((found for each in ordered if (found := failing(body, here.with_local(binder.name, each)))), [])


def _atom(expr: k.Expr, here: Situation, undefined: str | None = None) -> FailedAtom:
    log: dict[k.Expr, Value] = {}
    model: dict[k.Expr, Value] = {}
    for part in _readings(expr):
        try:
            value = here.value(part)
        except Undefined:
            continue
        if isinstance(part, k.Local) and part.name in here.given:
            origin = here.fields.get(part.name, part)
            log.setdefault(origin, here.bound[origin.name])
        else:
            model.setdefault(part, value)
    # Where no place of the state is read as such, the compared sides are shown, as those of two counts.
    if not model and undefined is None:
        model |= {side: here.value(side) for side in _sides(expr) if side not in log}
    bounds = tuple(map(here.value, _sides(expr))) if isinstance(expr, k.Compare) and undefined is None else ()
    return FailedAtom(expr, _logged(log), _logged(model), undefined, bounds)


def _sides(expr: k.Expr) -> Iterator[k.Expr]:
    """The compared expressions other than constants; a comparison inside a quantifier says more if its reads are within
    the binders.
    """
    if isinstance(expr, k.Equal | k.Compare):
        yield from (side for side in (expr.left, expr.right) if not isinstance(side, k.Const))


def _logged(found: Mapping[k.Expr, Value]) -> tuple[AtomValue, ...]:
    return tuple(AtomValue(expr, value) for expr, value in found.items())


def _readings(expr: k.Expr) -> Iterator[k.Expr]:
    """The largest parts that read a place of the state, and the binders."""
    # Of `view[p].epoch` the whole is shown, not `view`, which may have a hundred entries.
    if isinstance(expr, k.Local) or reads_place(expr):
        yield expr
    if not isinstance(expr, k.StateVar):
        for part in children(expr):
            if not (reads_place(expr) and reads_place(part)):
                yield from _readings(part)


def reads_place(expr: k.Expr) -> bool:
    """Whether the expression is one place of the state: a variable, or an entry, a field, or the payload of one."""
    match expr:
        case k.StateVar():
            return True
        case k.Lookup(_, inner, _) | k.ReadField(_, inner, _) | k.Payload(_, inner, _, _) | k.Unwrap(_, inner):
            return reads_place(inner)
        case k.Old(_, inner):
            return reads_place(inner)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class ConditionPrinter:
    """Prints expressions as the spec's author wrote them.

    Values of the set ``unnamed`` are left out: in a slice's model this set has one element, which stands for the slice
    whatever its name.
    """

    sources: Sources
    unnamed: str | None = None

    def part(self, kind: str, label: str, atom: FailedAtom) -> FailedPart:
        """A failed part in words."""
        text = label if isinstance(atom.expr, k.Const) else expression_text(atom.expr, self.sources)
        if atom.undefined is not None:
            text = f"{text} (undefined: {atom.undefined})"
        return FailedPart(kind, label, text, atom.expr.span, self._values(atom.log), self._values(atom.model))

    def _values(self, logged: tuple[AtomValue, ...]) -> tuple[tuple[str, str], ...]:
        reported = (each for each in logged if not self._is_unnamed(each.expr.type))
        return tuple((self.text(each.expr), show_value(each.value, each.expr.type)) for each in reported)

    def _is_unnamed(self, type_: t.Type) -> bool:
        return isinstance(type_, t.AtomType) and type_.sort.name == self.unnamed

    def text(self, expr: k.Expr) -> str:
        """An expression as written."""
        # Names that elaboration had to make unique end in an apostrophe and a number, which the author never wrote.
        return expr.name.partition("'")[0] if isinstance(expr, k.Local) else expression_text(expr, self.sources)
