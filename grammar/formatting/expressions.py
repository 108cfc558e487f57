"""Expressions and types on one line, with no more parentheses than needed, or than make `and` beside `or` readable."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from assay.grammar.syntax import (
    Arg,
    Attr,
    BagDisplay,
    Binary,
    Binder,
    BoolLit,
    Bound,
    Call,
    CasePattern,
    Choose,
    CollectionType,
    Expr,
    Field,
    FieldUpdate,
    Filter,
    Fold,
    Folding,
    FunctionType,
    IfThenElse,
    Image,
    Index,
    IntLit,
    Is,
    Junction,
    LetIn,
    LiteralPattern,
    MapDisplay,
    MapEntry,
    Match,
    Name,
    NamedType,
    NoneLit,
    OptionType,
    Pattern,
    Quantified,
    RangeType,
    Ref,
    SamePattern,
    SeqDisplay,
    SetDisplay,
    SubPattern,
    Tabulate,
    Tuple,
    TuplePattern,
    TupleType,
    TypeExpr,
    Unary,
    Wildcard,
    With,
)

# How strongly a form binds; a form in a place that asks for more is put in parentheses.
OPEN, IMPLIES, TEMPORAL, OR, AND, NOT, COMPARISON, RANGE, SUM, TERM, FACTOR, POSTFIX, ATOM = range(13)

_STRENGTH = {
    "implies": IMPLIES,
    "until": TEMPORAL,
    "leads_to": TEMPORAL,
    "or": OR,
    "and": AND,
    "..": RANGE,
    "+": SUM,
    "-": SUM,
    "*": TERM,
    "//": TERM,
    "%": TERM,
    "&": TERM,
}
#: Operators whose right operand may end in a quantifier, a `let` or an `if`.
CONNECTIVES = frozenset(("implies", "until", "leads_to", "or", "and"))


def strength(expr: Expr) -> int:
    """The precedence of the outermost operator of an expression."""
    match expr:
        case Quantified() | LetIn() | IfThenElse() | Choose() | Fold():
            return OPEN
        case Binary(op) | Junction(op):
            return _STRENGTH.get(op, COMPARISON)
        case Is():
            return COMPARISON
        case Unary(op):
            return FACTOR if op == "-" else NOT
        case Attr() | Index() | Call() | Folding() | With():
            return POSTFIX
        case _:
            return ATOM


def operand_strengths(op: str) -> tuple[int, int]:
    """The precedences that the operator requires of its operands; ``implies`` groups to the right, sums and terms to
    the left."""
    own = _STRENGTH.get(op, COMPARISON)
    if op == "implies":
        return own + 1, own
    if op in ("or", "and", "+", "-", "*", "//", "%", "&"):
        return own, own + 1
    # Comparisons, `..`, `until` and `leads_to` do not chain.
    return own + 1, own + 1


def operand_strength(operand: Expr) -> int:
    """The precedence that a prefix word requires of its operand. A comparison could go without parentheses, but is
    easier to read with them."""
    return RANGE if strength(operand) == COMPARISON else NOT


def needs_parentheses(expr: Expr, wanted: int, may_end_open: bool) -> bool:
    """Whether an expression needs parentheses in a place that requires the precedence ``wanted``.

    ``may_end_open``: the place is the rightmost of its surroundings, so that a quantifier, which extends to the end,
    may stand there. An ``and`` beside ``or`` keeps those that a reader was given, although it binds more strongly.
    """
    own = strength(expr)
    if own == AND and wanted in (OR, AND) and isinstance(expr, Junction) and expr.grouped:
        return True
    # A form such as `forall` takes all that follows. So what follows it counts, and not how strongly it binds.
    return not may_end_open if own == OPEN else own < wanted


def expression(expr: Expr, wanted: int = OPEN, may_end_open: bool = True) -> str:
    """The expression on one line, in parentheses if its place requires them."""
    # In parentheses any form may end open, for the bracket ends it.
    if needs_parentheses(expr, wanted, may_end_open):
        return f"({_bare(expr, True)})"
    return _bare(expr, may_end_open)


def _bare(expr: Expr, may_end_open: bool) -> str:
    match expr:
        case IntLit(value):
            return str(value)
        case BoolLit(value):
            return "true" if value else "false"
        case NoneLit():
            return "none"
        case Wildcard():
            return "_"
        case Ref(name):
            return name.shown
        case Attr(base, name):
            return f"{expression(base, POSTFIX, False)}.{name.shown}"
        case Index(Ref(Name("bag")), key):  # without backticks it begins a type
            return f"`bag`[{expression(key)}]"
        case Index(base, key):
            return f"{expression(base, POSTFIX, False)}[{expression(key)}]"
        case Call(function, arguments):
            return f"{expression(function, POSTFIX, False)}({_commas(argument(a) for a in arguments)})"
        case With(base, updates):
            return f"{expression(base, POSTFIX, False)} with {{{_commas(update(u) for u in updates)}}}"
        case Unary(op, operand):
            if op == "-":
                return f"-{expression(operand, FACTOR, False)}"
            return f"{op} {expression(operand, operand_strength(operand), may_end_open)}"
        case Binary(op, left, right):
            ask_left, ask_right = operand_strengths(op)
            # Nothing binds less than `implies`: it stands in parentheses, or nothing follows its right side.
            open_end = op == "implies" or (may_end_open and op in CONNECTIVES)
            return f"{expression(left, ask_left, False)} {op} {expression(right, ask_right, open_end)}"
        case Junction(op, conditions):
            return f" {op} ".join(junction_part(expr, at, may_end_open) for at in range(len(conditions)))
        case Is(subject, pattern_, negated):
            return f"{expression(subject, RANGE, False)} is {'not ' if negated else ''}{pattern(pattern_)}"
        case IfThenElse(condition, then, otherwise):
            return f"if {expression(condition)} then {expression(then)} else {expression(otherwise)}"
        case Choose(name, domain, condition):
            return f"choose {bound(name)} in {expression(domain, RANGE, False)}{_chosen(condition)}"
        case Folding(function, element, binders_, condition):
            inside = f"{expression(element)} for {binders(binders_)}{_chosen(condition)}"
            return f"{expression(function, POSTFIX, False)}({inside})"
        case Quantified() | LetIn() | Fold():
            return f"{binding_head(expr)} {expression(expr.body)}"
        case (
            SetDisplay() | SeqDisplay() | BagDisplay() | MapDisplay() | Tuple() | Filter() | Image()
            | Tabulate() | Match()
        ):  # fmt: skip
            opener, parts, closer = display(expr)
            return f"{opener}{_commas(parts)}{closer}"
        case _:
            raise AssertionError(expr)


def junction_part(expr: Junction, at: int, may_end_open: bool) -> str:
    """An operand of a junction on one line; only the last may end in something that extends to the end."""
    asked = operand_strengths(expr.op)[min(at, 1)]
    return expression(expr.parts[at], asked, may_end_open and at == len(expr.parts) - 1)


Display = SetDisplay | SeqDisplay | BagDisplay | MapDisplay | Tuple | Filter | Image | Tabulate | Match


def display(expr: Display) -> tuple[str, list[str], str]:
    """The brackets of a display or comprehension and the parts between its commas."""
    match expr:
        case SetDisplay(items):
            return "{", [expression(i) for i in items], "}"
        case SeqDisplay(items):
            return "[", [expression(i) for i in items], "]"
        case BagDisplay(items):
            return "bag{", [expression(i) for i in items], "}"
        case Tuple(items):
            return "(", [expression(i) for i in items], ")"
        case MapDisplay(entries):
            return "{", [entry(e) for e in entries], "}"
        case Filter(kind, name, domain, condition):
            opener, closer = _brackets(kind)
            return opener, [f"{bound(name)} in {expression(domain, RANGE, False)} if {expression(condition)}"], closer
        case Image(kind, element, binders_, condition):
            opener, closer = _brackets(kind)
            return opener, [f"{expression(element)} for {binders(binders_)}{_chosen(condition)}"], closer
        case Tabulate(name, domain, value):
            ranging = "" if domain is None else f" in {expression(domain, RANGE, False)}"
            return "[", [f"{bound(name)}{ranging} -> {expression(value)}"], "]"
        case Match(subject, cases, otherwise):
            parts = [f"{case_patterns(case.patterns)} -> {expression(case.value)}" for case in cases]
            rest = [] if otherwise is None else [f"else -> {expression(otherwise)}"]
            return f"match {match_subject(subject)} {{", [*parts, *rest], "}"
        case _:
            assert_never(expr)


def _brackets(kind: str) -> tuple[str, str]:
    return {"set": ("{", "}"), "seq": ("[", "]"), "bag": ("bag{", "}")}[kind]


def _chosen(condition: Expr | None) -> str:
    return "" if condition is None else f" if {expression(condition)}"


def binding_head(expr: Quantified | LetIn | Fold) -> str:
    """The part of a quantifier, ``let`` or ``fold`` up to its colon."""
    match expr:
        case Fold(name, start, item, domain):
            over = f"{bound(item)} in {expression(domain, RANGE, False)}"
            return f"fold {bound(name)} = {expression(start)} for {over}:"
        case Quantified(kind, binders_):
            return f"{kind} {binders(binders_)}:"
        case LetIn(name, value):
            return f"let {bound(name)} = {expression(value)}:"
        case _:
            assert_never(expr)


def pattern(node: CasePattern) -> str:
    """A pattern after ``is`` or of a case."""
    match node:
        case Pattern(variant, parts):
            # The keyword and no name, so it has no backticks.
            name = "none" if str(variant) == "none" else variant.shown
            return name if parts is None else f"{name}({_commas(map(_part, parts))})"
        case TuplePattern():
            return bound(node)
        case SamePattern(value):
            return f"=={expression(value, RANGE, False)}"
        case LiteralPattern(value):
            return str(value).lower()
        case _:
            assert_never(node)


def _part(node: SubPattern) -> str:
    if node is None:
        return "_"
    return node.shown if isinstance(node, Name) else pattern(node)


def match_subject(subject: Expr) -> str:
    """What follows the word ``match``: it begins like a name, a number or a bracket, so that the word is no name. It
    does not end in ``bag``, which would begin a display with the brace behind it."""
    text = expression(subject, RANGE, False)
    begins_like_a_value = text[0].isalnum() or text[0] in "_(`"
    # In `refuse match by free` it is a name, so before a variable called `by` it would be one as well.
    return text if begins_like_a_value and not re.search(r"^by\b|\bbag$", text) else f"({text})"


def case_patterns(nodes: Iterable[CasePattern]) -> str:
    """The patterns of a case."""
    return " or ".join(map(pattern, nodes))


def case_line(nodes: Iterable[CasePattern]) -> str:
    """The patterns of a case with a line of its own, which does not begin with an operator: that would continue the
    line before it."""
    first, *others = map(pattern, nodes)
    return " or ".join([f"({first})" if first.startswith("==") else first, *others])


def binder(node: Binder) -> str:
    """``a, b in S``."""
    return f"{_commas(map(bound, node.names))} in {expression(node.domain, RANGE, False)}"


def bound(node: Bound) -> str:
    """A name, or a tuple of patterns."""
    return node.shown if isinstance(node, Name) else f"({_commas(map(_part, node.parts))})"


def binders(nodes: Iterable[Binder]) -> str:
    """Binders with commas between them."""
    return _commas(map(binder, nodes))


def names(nodes: Iterable[Name]) -> str:
    """Names with commas between them."""
    return _commas(n.shown for n in nodes)


def argument(node: Arg) -> str:
    """An argument, with its name if it has one."""
    return expression(node.value) if node.name is None else f"{node.name.shown} = {expression(node.value)}"


def entry(node: MapEntry) -> str:
    """``key -> value``."""
    return f"{expression(node.key)} -> {expression(node.value)}"


def update(node: FieldUpdate | MapEntry) -> str:
    """One change inside ``with { }``."""
    return entry(node) if isinstance(node, MapEntry) else f"{node.name.shown} = {expression(node.value)}"


def field(node: Field) -> str:
    """``name: Type``."""
    return f"{node.name.shown}: {type_text(node.type)}"


def fields(nodes: Iterable[Field]) -> str:
    """Fields with commas between them."""
    return _commas(map(field, nodes))


COLLECTIONS = ("set", "seq", "map")
"""Words that begin the type of a collection; as names of types they stand in backticks."""


def type_text(node: TypeExpr) -> str:
    """A type as written."""
    match node:
        case NamedType(path):
            # Only at its beginning would the parser take such a word for a keyword: behind a dot it is a name.
            first, *rest = path.parts
            return ".".join([f"`{first.text}`" if first.text in COLLECTIONS else first.shown, *(x.shown for x in rest)])
        case RangeType(low, high):
            return f"{_first_of_type(expression(low, SUM, False))} .. {expression(high, SUM, False)}"
        case OptionType(item):
            return f"({type_text(item)})?" if isinstance(item, RangeType) else f"{type_text(item)}?"
        case FunctionType(parameters, result):
            return f"def({_commas(map(type_text, parameters))}): {type_text(result)}"
        case TupleType(items):
            return f"({_commas(map(type_text, items))})"
        case CollectionType(kind, items, capacity):
            limit = "" if capacity is None else f", max {expression(capacity, SUM, False)}"
            return f"{kind}[{_commas(map(type_text, items))}{limit}]"
        case _:
            raise AssertionError(node)


def _first_of_type(text: str) -> str:
    """The text of an expression with which a type begins: no word in it begins a type of its own."""
    return re.sub(rf"^(\(*)({'|'.join(COLLECTIONS)})\b", r"\1`\2`", text)


def _commas(parts: Iterable[str]) -> str:
    return ", ".join(parts)
