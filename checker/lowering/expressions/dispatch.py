"""The lowering of expressions: the state of the translation, and the dispatch over kernel nodes.

An expression becomes a symbol; the conditions under which it is undefined are added to ``undefined``. Nothing is
skipped at run time. Both sides of an ``and`` are computed, but an undefined right side counts only where the left one
is true. So the code has few branches, and still means what evaluation from left to right means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, assert_never

from assay.checker.layout.row import RowLayout
from assay.checker.lowering.expressions.loops import UNROLLED, UnrollBudget
from assay.checker.lowering.expressions.pack_unpack import RowWords
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar
from assay.checker.lowering.llvm.unsupported import TooLongError, UnsupportedError
from assay.checker.lowering.symbols.ranking import literal
from assay.checker.lowering.symbols.symbol import Bag, Bunch, Flag, Mask, Number, Sequence, Symbol
from assay.grammar import kernel as k
from assay.grammar.elaborate.scopes.type_relations import type_text
from assay.grammar.kernel.node_unions import AnyExpr, expression

T = TypeVar("T")


class StateSymbols:
    """The variables of a state, each read on first use."""

    def __init__(self, row: RowWords, layout: RowLayout, variables: tuple[k.Variable, ...]) -> None:
        self.row = row
        self._places = {v.name: place for v, place in zip(variables, layout.places, strict=True)}
        self._variables = {v.name: v for v in variables}
        # One symbol a variable: `Packer` and `exceeds` know what a step left unchanged by the identity of its symbol.
        self._known: dict[str, Symbol] = {}

    def read(self, name: str) -> Symbol:
        """The symbol of a variable."""
        if name not in self._known:
            place = self._places[name]
            try:
                self._known[name] = self.row.load(place.shape, place.shift)
            except TooLongError:  # who wrote the function tries again with more loops
                raise
            except UnsupportedError as error:
                node = self._variables[name]
                what = f"the variable `{name}: {type_text(node.type)}`: it holds {error.what}"
                raise UnsupportedError(what, node.span, *error.remedies) from None
        return self._known[name]


class Lowering:
    """The translation of the expressions of one function. ``now`` is None where no state may be read (``init``).

    ``strict`` names sorts as in ``interpreter.expressions.frame.EvaluationScope``.
    """

    def __init__(
        self,
        code: FunctionBuilder,
        now: StateSymbols | None,
        before: StateSymbols | None = None,
        unrolling: UnrollBudget = UNROLLED,
        strict: frozenset[str] = frozenset(),
    ) -> None:
        self.code = code
        self.strict = strict
        self.unrolling = unrolling
        self.now = now
        self.before = before
        self.bound: dict[str, Symbol] = {}
        self.undefined: list[Scalar] = []

    def fail_if(self, condition: Scalar) -> None:
        """Record that the expression being translated is undefined under this condition."""
        # A condition that is known to be false is none: most expressions are defined whatever the state is.
        if condition.known != 0:
            self.undefined.append(condition)

    def apart(self, make: Callable[[], T]) -> tuple[T, Scalar]:
        """What ``make`` translates, with the condition under which it is undefined, which is returned and
        not recorded."""
        # By replacing the list, so that everything below `make` records there without knowing of it.
        outer, self.undefined = self.undefined, []
        try:
            result = make()
            return result, self.code.any_of(self.undefined)
        finally:
            self.undefined = outer

    def under(self, reached: Scalar, make: Callable[[], T]) -> T:
        """What ``make`` translates; that it is undefined counts only where ``reached``."""
        result, undefined = self.apart(make)
        self.fail_if(self.code.both(reached, undefined))
        return result

    def flag(self, expr: k.Expr) -> Scalar:
        """A condition."""
        symbol = self.lower(expr)
        assert isinstance(symbol, Flag)
        return symbol.value

    def number(self, expr: k.Expr) -> Number:
        """An integer."""
        symbol = self.lower(expr)
        assert isinstance(symbol, Number)
        return symbol

    def set(self, expr: k.Expr) -> Mask | Bunch:
        """A set."""
        symbol = self.lower(expr)
        assert isinstance(symbol, Mask | Bunch)
        return symbol

    def sequence(self, expr: k.Expr) -> Sequence:
        """A sequence."""
        symbol = self.lower(expr)
        assert isinstance(symbol, Sequence)
        return symbol

    def bag(self, expr: k.Expr) -> Bag:
        """A bag."""
        symbol = self.lower(expr)
        assert isinstance(symbol, Bag)
        return symbol

    def lower(self, expr: k.Expr) -> Symbol:
        """The symbol of an expression. Raises ``UnsupportedError`` with its place for what cannot be compiled."""
        self.code.visit()
        if isinstance(expr, k.Local):  # every second expression; below it would be asked twice what it is
            return self.bound[expr.name]
        try:
            return (_HOW.get(type(expr)) or _how(expression(expr)))(expr, self)
        except UnsupportedError as error:
            raise error.at(expr.span) from None

    def simple(self, node: k.Const | k.StateVar | k.Local | k.TypeDomain | k.Old | k.IfThenElse | k.LetIn) -> Symbol:
        """The symbol of a leaf, or of what chooses, names or looks back."""
        match node:
            case k.Const(type_, value):
                return literal(value, type_)
            case k.StateVar(_, name):
                if self.now is None:
                    raise UnsupportedError("state where there is none", node.span)
                return self.now.read(name)
            case k.Local(_, name):
                return self.bound[name]
            case k.TypeDomain():
                from assay.checker.lowering.expressions.binder_elements import whole_type  # noqa: PLC0415 - likewise

                return whole_type(node)
            case k.Old(_, operand):
                return self._old(operand)
            case k.IfThenElse():
                return self._if(node)
            case k.LetIn(_, binder, value, body):
                self.bound[binder.name] = self.lower(value)
                return self.lower(body)
            case _:
                assert_never(node)

    def _old(self, operand: k.Expr) -> Symbol:
        # Not a new `Lowering`: binders and the record of what is undefined are shared with the outside.
        now, self.now = self.now, self.before
        try:
            return self.lower(operand)
        finally:
            self.now = now

    def _if(self, node: k.IfThenElse) -> Symbol:
        from assay.checker.lowering.symbols.merge import choose  # noqa: PLC0415 - likewise

        test = self.flag(node.condition)
        if test.known is not None:
            # The other branch is not translated; in this model it may be too large to compile.
            return self.lower(node.then if test.known else node.otherwise)
        # Both sides are computed, so that there is no branch; what is undefined counts on the taken side alone.
        yes = self.under(test, lambda: self.lower(node.then))
        no = self.under(self.code.invert(test), lambda: self.lower(node.otherwise))
        return choose(self.code, test, yes, no)


How = Callable[[Any, Lowering], Symbol]

_HOW: dict[type, How] = {}
"""What translates nodes of each class that was met: looking through all patterns takes longer than most translations."""


# Modules are imported in it because they lower operands through the class above, which must exist first.
def _how(node: AnyExpr) -> How:
    _HOW[type(node)] = how = _found(node)
    return how


def _found(node: AnyExpr) -> How:
    match node:
        case k.Const() | k.StateVar() | k.Local() | k.TypeDomain() | k.Old() | k.IfThenElse() | k.LetIn():
            return lambda each, lowering: lowering.simple(each)
        case (
            k.Not() | k.Logic() | k.Equal() | k.Compare() | k.Quantified()
            | k.Member() | k.Subset() | k.IsVariant() | k.IsSome()
        ):  # fmt: skip
            from assay.checker.lowering.expressions.conditions import condition  # noqa: PLC0415

            return lambda each, lowering: Flag(condition(each, lowering))
        case k.Negate() | k.Arithmetic() | k.Count() | k.Times() | k.Aggregate():
            from assay.checker.lowering.expressions.integers import integer  # noqa: PLC0415

            return integer
        case (
            k.Checked() | k.MakeSome() | k.MakeSet() | k.MakeSeq() | k.MakeBag()
            | k.MakeMap() | k.MakeRecord() | k.MakeVariant()
        ):  # fmt: skip
            from assay.checker.lowering.expressions.constructors import making  # noqa: PLC0415

            return making
        case (
            k.Filter() | k.Image() | k.Tabulate() | k.Interval() | k.Combine()
            | k.Subsets() | k.Keys() | k.Values() | k.Elements() | k.Slice()
        ):  # fmt: skip
            from assay.checker.lowering.expressions.collections import collection  # noqa: PLC0415

            return collection
        case (
            k.Lookup() | k.Endpoint() | k.ReadField() | k.Payload() | k.Unwrap()
            | k.UpdateEntry() | k.UpdateField() | k.Without()
        ):  # fmt: skip
            from assay.checker.lowering.expressions.access import access  # noqa: PLC0415

            return access
        case k.Temporal() | k.ActionAtom():
            raise UnsupportedError("temporal operators", node.span)
        case _:
            assert_never(node)
