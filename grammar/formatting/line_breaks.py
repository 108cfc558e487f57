"""Line breaks in expressions, where the language allows a line to continue.

These places are before connectives, after the colon of a quantifier, before ``then`` and ``else``, and inside brackets.
"""

from __future__ import annotations

from collections.abc import Iterable

from assay.grammar.formatting.expressions import (
    CONNECTIVES,
    OPEN,
    POSTFIX,
    argument,
    binding_head,
    display,
    expression,
    junction_part,
    needs_parentheses,
    operand_strength,
    operand_strengths,
    update,
)
from assay.grammar.syntax import (
    BagDisplay,
    Binary,
    Call,
    Expr,
    Filter,
    Fold,
    IfThenElse,
    Image,
    Junction,
    LetIn,
    MapDisplay,
    Match,
    Quantified,
    SeqDisplay,
    SetDisplay,
    Tabulate,
    Unary,
    With,
)

INDENT = "    "


def broken(expr: Expr, room: int, wanted: int = OPEN, may_end_open: bool = True) -> list[str]:
    """The lines of an expression: one if it fits into ``room`` characters, otherwise several."""
    # One line wherever it fits: how the source was broken makes no difference.
    flat = expression(expr, wanted, may_end_open)
    if len(flat) <= room:
        return [flat]
    if needs_parentheses(expr, wanted, may_end_open):
        inner = _bare(expr, room - 2, True)
        # Lines inside stand under the first character behind the parenthesis.
        return _joined("(", [inner[0], *(" " + line for line in inner[1:])], ")")
    return _bare(expr, room, may_end_open)


def _bare(expr: Expr, room: int, may_end_open: bool) -> list[str]:
    match expr:
        case Binary(op):
            return _binary(expr, room, may_end_open) if op in CONNECTIVES else _hanging(expr, room)
        case Junction():
            return _junction(expr, room, may_end_open)
        case Unary(op, operand) if op != "-":
            return _joined(f"{op} ", broken(operand, room - len(op) - 1, operand_strength(operand), may_end_open))
        case Fold():
            return _joined(f"{binding_head(expr)} (", _indented(broken(expr.body, room - len(INDENT))), ")")
        case Quantified() | LetIn():
            return [binding_head(expr), *_indented(broken(expr.body, room - len(INDENT)))]
        case IfThenElse():
            return _choice(expr, room)
        case Call(function, arguments):
            return _bracketed(expression(function, POSTFIX, False) + "(", [argument(a) for a in arguments], ")", room)
        case With(base, updates):
            return _bracketed(expression(base, POSTFIX, False) + " with {", [update(u) for u in updates], "}", room)
        case SetDisplay() | SeqDisplay() | BagDisplay() | MapDisplay() | Match():
            return _bracketed(*display(expr), room)
        case Filter() | Image() | Tabulate():
            return _comprehension(expr, room)
        case _:
            return [expression(expr, OPEN, may_end_open)]


def _choice(expr: IfThenElse, room: int) -> list[str]:
    """A conditional: one line for each condition with its result, or two if that is too long."""
    lines: list[str] = []
    rest: Expr = expr
    while isinstance(rest, IfThenElse):
        word = "else if " if lines else "if "
        together = f"{word}{expression(rest.condition)} then {expression(rest.then)}"
        if len(together) <= room:
            lines.append(together)
        else:
            lines += _joined(word, broken(rest.condition, room - len(word)))
            lines += _joined("then ", broken(rest.then, room - len("then ")))
        rest = rest.otherwise
    return lines + _joined("else ", broken(rest, room - len("else ")))


def _binary(expr: Binary, room: int, may_end_open: bool) -> list[str]:
    ask_left, ask_right = operand_strengths(expr.op)
    open_end = expr.op == "implies" or may_end_open
    left = broken(expr.left, room, ask_left, False)
    return left + _joined(f"{expr.op} ", broken(expr.right, room - len(expr.op) - 1, ask_right, open_end))


def _junction(expr: Junction, room: int, may_end_open: bool) -> list[str]:
    """As many operands on the first line as fit; each other one on lines of its own, which begin with the operator."""
    ask_first, ask = operand_strengths(expr.op)
    # Only the last operand may end open: what follows another one would become a part of it.
    lines, last = broken(expr.parts[0], room, ask_first, False), len(expr.parts) - 1
    for at, part in enumerate(expr.parts[1:], 1):
        beside = f"{lines[0]} {expr.op} {junction_part(expr, at, may_end_open)}"
        if len(lines) == 1 and len(beside) <= room:
            lines = [beside]
        else:
            open_end = may_end_open and at == last
            lines += _joined(f"{expr.op} ", broken(part, room - len(expr.op) - 1, ask, open_end))
    return lines


def _hanging(expr: Binary, room: int) -> list[str]:
    """A comparison or sum that is too long: the operator stays on its line, and the last operand breaks inside its
    brackets. Where it has none the line breaks at the operator, before another operand breaks."""
    ask_left, ask_right = operand_strengths(expr.op)
    left = broken(expr.left, room, ask_left, False)
    right = broken(expr.right, room - len(left[-1]) - len(expr.op) - 2, ask_right, False)
    if len(left) == 1 and len(f"{left[0]} {expr.op} {right[0]}") > room:
        if (at_operator := _at_operator(left[0], expr, room)) is not None:
            return at_operator
        # Both fit on no line together. The left side is made to break, which leaves room behind its last line.
        left = broken(expr.left, len(left[0]) - 1, ask_left, False)
        right = broken(expr.right, room - len(left[-1]) - len(expr.op) - 2, ask_right, False)
    return [*left[:-1], f"{left[-1]} {expr.op} {right[0]}", *right[1:]]


def _at_operator(left: str, expr: Binary, room: int) -> list[str] | None:
    """Two lines with the operator between them, if both fit. No line begins with a minus: that would be a sign."""
    right = expression(expr.right, operand_strengths(expr.op)[1], False)
    lines = [f"{left} -", right] if expr.op == "-" else [left, f"{expr.op} {right}"]
    return lines if max(map(len, lines)) <= room else None


def _bracketed(opener: str, parts: list[str], closer: str, room: int) -> list[str]:
    """The parts together on a line of their own, or one a line if they do not fit."""
    if not parts:
        return [opener + closer]
    together = ", ".join(parts)
    if len(INDENT) + len(together) <= room:
        return [opener, INDENT + together, closer]
    return [opener, *_indented(f"{part}," for part in parts[:-1]), *_indented(parts[-1:]), closer]


def _comprehension(expr: Filter | Image | Tabulate, room: int) -> list[str]:
    """What is said of the elements on a line of its own; what a map has for a key behind the arrow, if it breaks in
    its own brackets, else below."""
    opener, (inside,), closer = display(expr)
    if not isinstance(expr, Tabulate):
        return [opener, INDENT + inside, closer]
    head = opener + inside.removesuffix(expression(expr.value))
    lines = broken(expr.value, room - len(head) - len(closer))
    if len(lines) > 1 and not lines[0].endswith(("(", "[", "{")):
        return [head.rstrip(), *_indented(broken(expr.value, room - len(INDENT))), closer]
    return _joined(head, lines, closer)


def _joined(before: str, lines: list[str], after: str = "") -> list[str]:
    lines = [before + lines[0], *lines[1:]]
    return [*lines[:-1], lines[-1] + after]


def _indented(lines: Iterable[str]) -> list[str]:
    return [INDENT + line for line in lines]
