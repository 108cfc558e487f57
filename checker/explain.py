"""Why a condition is false, part by part, and what a step changed.

An explanation descends through the logic of a condition to the parts that decide. Of a false ``and`` that is the first
false part, of a false ``or`` all of them. Of a false ``forall`` it is the first element that falsifies it. A part
without logic is shown with the values of its parts. Everything is evaluated by the reference evaluator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.enumerate_set import searched
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame
from assay.checker.interpreter.expressions.traverse import binders_of, children, descendants, free_locals
from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.interpreter.values.value_order import sorter
from assay.checker.print_kernel import Sources, expression_text
from assay.checker.report import Atomic, Explanation, State
from assay.grammar import kernel as k
from assay.grammar.kernel.node_unions import kind
from assay.grammar.kernel.types import MapType, RecordType, Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

MOST_VALUES = 12
"""How many values are shown beside one part."""
MOST_ELEMENTS = 1_000
"""A set of more is shown by its number."""
LONGEST_VALUE = 1_000
"""Characters of a value beside a part; the whole is in the state."""
LONGEST_NAME = 80
"""Characters of a condition that is named by its text."""


def explain(
    model: Model, conjunct: k.Conjunct | k.Guard, frame: Frame, sources: Sources, *, holds: bool = False
) -> Explanation:
    """Why the condition is false (or true, with ``holds``) in the frame; undefined parts are reported too."""
    explainer = _Explainer(sources)
    undefined = None
    try:
        explainer.descend(conjunct.condition, frame, model.scope, holds=holds)
    except Undefined as reason:
        undefined = reason.message
    return Explanation(
        _name(conjunct, sources), conjunct.span, tuple(explainer.witnesses), tuple(explainer.parts), undefined=undefined
    )


def _name(conjunct: k.Conjunct | k.Guard, sources: Sources) -> str:
    """Its label; for a line without one, whose label is its place, the begin of its text."""
    place = conjunct.span
    if conjunct.label != f"{place.file.rpartition('/')[2]}:{place.line}":
        return conjunct.label
    text = expression_text(conjunct.condition, sources)
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME].rpartition(' ')[0]} …"


@dataclass(slots=True)
class _Explainer:
    sources: Sources
    witnesses: list[tuple[str, str]] = field(default_factory=list)
    parts: list[Atomic] = field(default_factory=list)

    def descend(self, expr: k.Expr, frame: Frame, scope: EvaluationScope, *, holds: bool) -> None:
        """Record why the expression, known to be ``holds``, is so."""
        match expr:
            case k.Not(_, operand):
                self.descend(operand, frame, scope, holds=not holds)
            case k.Logic():
                for part, value in _deciding(expr, frame, scope, holds=holds):
                    self.descend(part, frame, scope, holds=value)
            case k.Quantified() if (expr.kind == "exists") is holds:
                self._witness(expr, frame, scope, holds=holds)
            case k.LetIn(_, binder, value, body):
                # The frame is not restored afterwards: names do not shadow each other, so no other part reads this one.
                frame.locals[binder.name] = scope.meaning(value)(frame)
                self.descend(body, frame, scope, holds=holds)
            case k.IfThenElse(_, condition, then, otherwise):
                test = bool(scope.meaning(condition)(frame))
                self.descend(condition, frame, scope, holds=test)
                self.descend(then if test else otherwise, frame, scope, holds=holds)
            case k.Old(_, operand):
                self.descend(operand, frame, scope.before(), holds=holds)
            case _:
                text = expression_text(expr, self.sources)
                self.parts.append(Atomic(text, expr.span, holds, self._values(expr, frame, scope, text)))

    def _witness(self, expr: k.Quantified, frame: Frame, scope: EvaluationScope, *, holds: bool) -> None:
        body = scope.meaning(expr.body)
        for value in searched(expr.domain, scope)(frame):
            frame.locals[expr.binder.name] = value
            if bool(body(frame)) is holds:
                self.witnesses.append((expr.binder.name, show_value(value, expr.binder.type)))
                self.descend(expr.body, frame, scope, holds=holds)
                return

    def _values(self, expr: k.Expr, frame: Frame, scope: EvaluationScope, whole: str) -> tuple[tuple[str, str], ...]:
        shown: dict[str, str] = {}
        for part, at in _open_parts(expr, scope):
            plain = expression_text(part, self.sources)
            # The text at such a place is the whole pattern, which is no name of the part's value.
            if _is_taken_by_a_pattern(part, plain, self.sources):
                continue
            # One text may stand for the value before and after the step: what is inside an `old` says so by itself.
            text = f"old({plain})" if at.old and not scope.old and not isinstance(part, k.Old) else plain
            if text not in shown and text != whole and len(shown) < MOST_VALUES:
                shown[text] = _shown(part, frame, at)
        return tuple(shown.items())


def _shown(part: k.Expr, frame: Frame, scope: EvaluationScope) -> str:
    try:
        value = scope.meaning(part)(frame)
        if isinstance(value, frozenset) and len(value) > MOST_ELEMENTS:
            return f"{len(value):,} elements"
        text = show_value(value, part.type)
        return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
    except Undefined as undefined:
        return f"undefined: {undefined.message}"


def _deciding(expr: k.Logic, frame: Frame, scope: EvaluationScope, *, holds: bool) -> list[tuple[k.Expr, bool]]:
    """The parts that decide an ``and``, ``or`` or ``implies``, each with its value."""
    if expr.op == "implies":
        # The conclusion is looked at only under a true premise, which protects it.
        premise, conclusion = expr.parts
        if not scope.meaning(premise)(frame):
            return [(premise, False)]
        return [(conclusion, True)] if holds else [(premise, True), (conclusion, False)]
    if holds is (expr.op == "and"):
        return [(part, holds) for part in expr.parts]
    # From the left, as in an evaluation: a part behind the deciding one may be undefined, and is protected by it.
    deciding = next(part for part in expr.parts if bool(scope.meaning(part)(frame)) is holds)
    return [(deciding, holds)]


def _open_parts(expr: k.Expr, scope: EvaluationScope) -> Iterator[tuple[k.Expr, EvaluationScope]]:
    """The parts that have a value here: nothing that is written as its value, and nothing that depends on a binder
    around it. A value before the step is one part: what ``old`` is written around may be the body of a ``def``.
    """
    inner = {name for each in (expr, *descendants(expr)) for name in binders_of(each)}
    # Level by level, because the outermost parts say most, and only `MOST_VALUES` are shown.
    level = [(each, scope) for each in children(expr)]
    while level:
        following = []
        for part, at in level:
            if not _is_literal(part) and inner.isdisjoint(free_locals(part)):
                yield part, at
            before = isinstance(part, k.Old)
            inside = part.operand if isinstance(part, k.Old) else part
            following += [(each, at.before() if before else at) for each in children(inside)]
        level = following


_LITERALS = (
    k.Const
    | k.TypeDomain
    | k.Checked
    | k.MakeSome
    | k.MakeSet
    | k.MakeSeq
    | k.MakeBag
    | k.MakeMap
    | k.MakeRecord
    | k.MakeVariant
    | k.Endpoint  # of nothing: where a recursion would come back to arguments that it had before
)


def _is_taken_by_a_pattern(part: k.Expr, text: str, sources: Sources) -> bool:
    """Whether a pattern takes the part out of a value and gives it no name: its place is that of the pattern."""
    if not isinstance(part, k.Payload | k.Unwrap | k.ReadField) or text.strip("`").isidentifier():
        return False
    (whole,) = children(part)
    begins, found = expression_text(whole, sources).lstrip("("), text.lstrip("(")
    return not (found.startswith(begins) and found[len(begins) :].lstrip(") ").startswith((".", "[")))


def _is_literal(part: k.Expr) -> bool:
    """Whether the part is written as its value: a constant, a variant such as ``Idle``, a set of constants."""
    return all(isinstance(each, _LITERALS) for each in (part, *descendants(part)))


Change = tuple[str, str, str]
"""A place, its value before, and its value after, as printed; a key that is not there is shown as ``absent``."""


def what_changed(before: State, after: State, kernel: k.Kernel) -> list[Change]:
    """The places that differ between two states, down to entries of maps and fields of records."""
    changes: list[Change] = []
    for variable, old, new in zip(kernel.variables, before, after, strict=True):
        changes += _changes(variable.name, old, new, variable.type)
    return changes


def _changes(place: str, old: Value, new: Value, of: Type) -> Iterator[Change]:
    if old == new:
        return
    match kind(of):
        case MapType(key, image) if isinstance(old, dict) and isinstance(new, dict):
            for entry in sorter(key)(old.keys() | new.keys()):
                inner = f"{place}[{show_value(entry, key)}]"
                if entry in old and entry in new:
                    yield from _changes(inner, old[entry], new[entry], image)
                else:
                    yield inner, _or_absent(old, entry, image), _or_absent(new, entry, image)
        # A tuple has no names for its fields: it is shown as a whole.
        case RecordType(name, fields) if name:
            for index, part in enumerate(fields):
                yield from _changes(f"{place}.{part.name}", _field(old, index), _field(new, index), part.type)
        case _:
            yield place, show_value(old, of), show_value(new, of)


def _or_absent(table: dict[Value, Value], key: Value, of: Type) -> str:
    return show_value(table[key], of) if key in table else "absent"


def _field(record: Value, index: int) -> Value:
    assert isinstance(record, tuple)
    value: Value = record[0][index]
    return value
