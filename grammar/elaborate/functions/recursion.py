"""How deep a function may call itself: as often as its arguments can differ.

A function of the same arguments has the same value, so a recursion that comes to arguments that it had before does not
end. Where the arguments have few values, so many levels are written out, and what lies deeper is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Note
from assay.grammar.elaborate.expressions.type_expressions import type_in
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.rewrite import pieces
from assay.grammar.elaborate.types.cardinality import cardinality
from assay.grammar.kernel.types import RangeType, SeqType, SetType, Type

MOST_LEVELS = 64
"""The most levels that are written out."""


def deepest(function: syntax.Def, home: Context, *, direct: bool, circle: str = "") -> int | None:
    """How many calls of the function may be inside one another; None after an error.

    ``direct``: all of them are calls that stand in its own body, which tell what becomes smaller. ``circle`` names the
    functions that call each other otherwise.
    """
    calls = [*calls_of_itself(function)] if direct else []
    name = function.name.text
    itself = f"`{name}` calls itself{f' ({circle})' if circle else ''}"
    plain = [(at, p) for at, p in enumerate(function.parameters) if not isinstance(p.type, syntax.FunctionType)]
    # A row of calls that all differ is no longer than there are arguments. So a deeper call repeats one: it has no end.
    most = prod(_values(at, function, type_in(p.type, home), calls, home) for at, p in plain)
    # One parameter that steps down is enough by itself.
    most = min([most, *(n for at, p in plain if (n := _steps_down(at, function, type_in(p.type, home), calls, home)))])
    if function.result is None:
        _refused(function, home, f"{itself}, so the type of its result must be written: `def {name}(…): T`")
    elif most == 1:
        _refused(function, home, f"{itself} with the same arguments again, so it does not end")
    elif not 0 < most <= MOST_LEVELS:
        _refused(
            function, home, f"{itself}, and its parameters do not show that it ends within {MOST_LEVELS} levels",
            "let one of few values decide: `n: 0 .. 5` and `n - 1`, a set that shrinks or grows, `drop(s, 1)`",
            "or go through the elements with `fold total = 0 for x in s: …`, or with `sum`, `min`, `max` of `e for x in S`",
            *(["where functions call each other all their parameters count: make one function of them"] if circle else []),
        )  # fmt: skip
    else:
        return most
    return None


def _refused(function: syntax.Def, home: Context, message: str, *advice: str) -> None:
    first = next(calls_of_itself(function), None)
    notes = () if first is None else (Note("it is called here", first.span),)
    home.error("E107", function.name.span, message, *notes, *advice)


def calls_of_itself(function: syntax.Def) -> Iterator[syntax.Call]:
    """The calls of a function in its own body."""
    for each in pieces(function.body):
        if isinstance(each, syntax.Call) and each.function == syntax.Ref(function.name):
            yield each


def without_end(of: Type, call: syntax.Call) -> kernel.Expr:
    """The value of a call that is deeper than any recursion that ends: undefined."""
    # The only element of no set: every engine knows this as undefined.
    nothing = kernel.MakeSet(SetType(of), (), span=call.span)
    return kernel.Endpoint(of, "only", nothing, span=call.span)


# ------------------------------------------------------------------------------------------ values of one parameter


def _values(at: int, function: syntax.Def, type_: Type, calls: list[syntax.Call], home: Context) -> int:
    """How many values a parameter may have one after the other, without coming back to one that it had."""
    name = function.parameters[at].name.text
    found = [_argument(at, name, call) for call in calls]
    given = [each for each in found if each is not None]
    # Of functions that call each other no calls are known. One that lacks the argument is reported elsewhere.
    if not given or len(given) < len(found):
        return cardinality(type_)
    lets = _Lets(function)
    known = not any(home.scope.find(each) for each in ("drop", "take"))  # the functions of the language
    if all(isinstance(each, syntax.Ref) and each.name.text == name for each in given):
        return 1
    # A set that only shrinks has each size once at most. `s - {x}` may be `s` itself, but then the call repeats one.
    if isinstance(type_, SetType) and any(all(lets.is_(way, each, name) for each in given) for way in (_less, _more)):
        return cardinality(type_.item) + 1
    if (
        isinstance(type_, SeqType)
        and type_.capacity is not None
        and known
        and all(lets.is_(_rest, x, name) for x in given)
    ):
        return type_.capacity + 1
    return cardinality(type_)


def _steps_down(at: int, function: syntax.Def, type_: Type, calls: list[syntax.Call], home: Context) -> int | None:
    """How many values a parameter may have if each call steps on from the one it had; the others may be anything then."""
    name = function.parameters[at].name.text
    given = [_argument(at, name, call) for call in calls]
    for way in (_number_less, _number_more, _shorter):
        if given and all(each is not None and way(each, name, home) for each in given):
            # A step beyond the range is undefined, since arguments of a recursion are checked (`calls`).
            if isinstance(type_, RangeType):
                return cardinality(type_) if way is not _shorter else None
            return type_.capacity + 1 if isinstance(type_, SeqType) and type_.capacity and way is _shorter else None
    return None


def _number_less(expr: syntax.Expr, name: str, _: Context) -> bool:
    return _steps(expr, "-", name)


def _number_more(expr: syntax.Expr, name: str, _: Context) -> bool:
    return _steps(expr, "+", name)


def _steps(expr: syntax.Expr, op: str, name: str) -> bool:
    match expr:
        case syntax.Binary(found, syntax.Ref(syntax.Name(left)), syntax.IntLit(by)):
            return found == op and left == name and by > 0
        case _:
            return False


def _shorter(expr: syntax.Expr, name: str, home: Context) -> bool:
    match expr:
        case syntax.Call(
            syntax.Ref(syntax.Name("drop")),
            (syntax.Arg(None, syntax.Ref(syntax.Name(left))), syntax.Arg(None, syntax.IntLit(by))),
        ):
            return left == name and by > 0 and not home.scope.find("drop")
        case _:
            return False


def _argument(at: int, name: str, call: syntax.Call) -> syntax.Expr | None:
    for place, argument in enumerate(call.arguments):
        if argument.name.text == name if argument.name is not None else place == at:
            return argument.value
    return None


Way = Callable[[syntax.Expr], list[syntax.Expr] | None]
"""Of which expressions it suffices that one, for each of the lists, is the parameter or made of it in the same way."""


class _Lets:
    """What the names that ``let`` binds in a function stand for."""

    def __init__(self, function: syntax.Def) -> None:
        self.values: dict[str, list[syntax.Expr]] = {}
        for each in pieces(function.body):
            if isinstance(each, syntax.LetIn | syntax.LetLine) and isinstance(each.name, syntax.Name):
                self.values.setdefault(each.name.text, []).append(each.value)

    def is_(self, way: Way, expr: syntax.Expr, name: str, around: frozenset[str] = frozenset()) -> bool:
        """Whether an expression is the parameter, or made of it in one way; ``around`` are names that it stands for."""
        if isinstance(expr, syntax.Ref):
            text = expr.name.text
            # Two branches may each name the same two values, in turn. No value is made of itself, so each chain ends.
            if text == name or text in around:
                return True
            values = self.values.get(text, [])
            return bool(values) and all(self.is_(way, each, name, around | {text}) for each in values)
        if isinstance(expr, syntax.IfThenElse):
            return self.is_(way, expr.then, name, around) and self.is_(way, expr.otherwise, name, around)
        return any(self.is_(way, each, name, around) for each in way(expr) or ())


def _less(expr: syntax.Expr) -> list[syntax.Expr] | None:
    match expr:
        case syntax.Binary("-", left, _):
            return [left]
        case syntax.Binary("&", left, right):
            return [left, right]
        case syntax.Filter():
            return [expr.domain]
        case _:
            return None


def _more(expr: syntax.Expr) -> list[syntax.Expr] | None:
    return [expr.left, expr.right] if isinstance(expr, syntax.Binary) and expr.op == "+" else None


def _rest(expr: syntax.Expr) -> list[syntax.Expr] | None:
    match expr:
        case syntax.Call(syntax.Ref(syntax.Name("drop" | "take")), (syntax.Arg(None, sequence), _)):
            return [sequence]
        case syntax.Filter():
            return [expr.domain]
        case _:
            return None
