r"""TLA+ formulas as text with precedence and with places where it may be broken into lines.

TLA+ orders its operators only partially (``\cup`` and ``\`` may not be mixed, for instance). So parentheses are written
wherever two different operators meet, except where nobody could misread them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from assay.grammar.lazy_dataclass import dataclass

WIDTH = 100
"""Lines are broken to stay below this many columns where the formula has a place to break."""

# From the weakest to the strongest; where TLA+ itself has no order, parentheses follow from `infix`.
LOOSE, IMPLIES, JUNCTION, PREFIX, COMPARE, MERGE, PAIR, SET, RANGE, SUM, PRODUCT, TIGHT = range(12)


@dataclass(frozen=True, slots=True)
class FormulaJunction:
    """A conjunction or disjunction, which may be written as a list with one item per line."""

    op: str
    items: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Headed:
    """``head body``: a quantifier or a ``LET``."""

    head: str
    body: Formula


@dataclass(frozen=True, slots=True)
class Branch:
    """``IF … THEN … ELSE …``."""

    condition: Formula
    then: Formula
    otherwise: Formula


@dataclass(frozen=True, slots=True)
class Implication:
    """``premise => conclusion``."""

    premise: Formula
    conclusion: Formula


@dataclass(frozen=True, slots=True)
class Enclosed:
    """``before body after``: a formula in brackets, or behind an operator."""

    before: str
    body: Formula
    after: str


@dataclass(frozen=True, slots=True)
class FormulaList:
    """Items between brackets, with commas; as many on a line as fit."""

    before: str
    items: tuple[str, ...]
    after: str


Shape = FormulaJunction | Headed | Branch | Implication | Enclosed | FormulaList


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula on one line. ``level`` is its precedence, ``shape`` how it may be broken, ``note`` a comment
    beside it."""

    text: str
    level: int = TIGHT
    shape: Shape | None = None
    note: str | None = None

    def within(self, level: int) -> str:
        """The text, in parentheses if it binds more weakly than ``level``."""
        return self.text if self.level >= level else f"({self.text})"

    def noted(self, note: str) -> Formula:
        """The same formula with a comment; it is then never put on one line with others."""
        return replace(self, note=note)


def infix(left: Formula, op: str, right: Formula, level: int, inside: int = TIGHT) -> Formula:
    """``left op right`` whose operands bind at least as strongly as ``inside``."""
    return Formula(f"{left.within(inside)} {op} {right.within(inside)}", level)


def compare(left: Formula, op: str, right: Formula) -> Formula:
    """A comparison or membership."""
    made = infix(left, op, right, COMPARE, MERGE)
    before, after = (
        (f"{left.within(MERGE)} {op} ", "") if right.level >= MERGE else (f"{left.within(MERGE)} {op} (", ")")
    )
    return replace(made, shape=Enclosed(before, right, after))


def enclosed(before: str, body: Formula, after: str, level: int = TIGHT) -> Formula:
    """``before body after``."""
    return Formula(f"{before}{body.text}{after}", level, Enclosed(before, body, after))


def row(before: str, items: Iterable[str], after: str, level: int = TIGHT) -> Formula:
    """``before`` and the items with commas and ``after``."""
    listed_items = tuple(items)
    return Formula(f"{before}{', '.join(listed_items)}{after}", level, FormulaList(before, listed_items, after))


def apply(name: str, arguments: Sequence[Formula]) -> Formula:
    """``name(a, b)``, or the name alone if there are no arguments."""
    return Formula(f"{name}({listed(arguments)})" if arguments else name)


def listed(items: Iterable[Formula]) -> str:
    """The texts, separated by commas."""
    return ", ".join(item.text for item in items)


def junction(op: str, items: Sequence[Formula]) -> Formula:
    r"""``/\`` or ``\/`` of the items. One item is itself; no items give the neutral value, which is dropped among
    others."""
    neutral = "TRUE" if op == "/\\" else "FALSE"
    # An item with a comment stays: it is a guard of the spec, which a reader looks for.
    kept = [item for item in items if item.text != neutral or item.note is not None]
    if len(kept) < 2:
        return kept[0] if kept else Formula(neutral)
    # Comparisons need no parentheses here: everybody reads them right.
    text = f" {op} ".join(item.within(PREFIX) for item in kept)
    return Formula(text, JUNCTION, FormulaJunction(op, tuple(kept)))


def conjunction(items: Sequence[Formula]) -> Formula:
    """All of the items."""
    return junction("/\\", items)


def disjunction(items: Sequence[Formula]) -> Formula:
    """Some of the items."""
    return junction("\\/", items)


def headed(head: str, body: Formula) -> Formula:
    """``head body``, extending as far to the right as it can."""
    return Formula(f"{head} {body.text}", LOOSE, Headed(head, body))


def let(name: str, value: Formula, body: Formula) -> Formula:
    """``LET name == value IN body``."""
    return headed(f"LET {name} == {value.text} IN", body)


def quantified(sign: str, name: str, domain: Formula, body: Formula) -> Formula:
    r"""``\A name \in domain : body``; adjacent quantifiers are written as one."""
    inner = body.shape
    # A comment belongs to the inner quantifier alone, which then stays on a line of its own.
    if isinstance(inner, Headed) and inner.head.startswith(sign) and body.note is None:
        rest = inner.head.removeprefix(sign).lstrip()
        # In `\A x \in S, y \in T` the set T is outside the scope of x: one that mentions x stays apart.
        if not re.search(rf"\b{name}\b", rest):
            same = re.match(rf"[\w, ]+ \\in {re.escape(domain.text)}(, \w| :$)", rest)
            return headed(f"{sign} {name}, {rest}" if same else f"{sign} {name} \\in {domain.text}, {rest}", inner.body)
    return headed(f"{sign} {name} \\in {domain.text} :", body)


def branch(condition: Formula, then: Formula, otherwise: Formula) -> Formula:
    """``IF condition THEN then ELSE otherwise``."""
    text = f"IF {condition.text} THEN {then.text} ELSE {otherwise.text}"
    return Formula(text, LOOSE, Branch(condition, then, otherwise))


def implication(premise: Formula, conclusion: Formula) -> Formula:
    """``premise => conclusion``."""
    # A switch of the model that is on.
    if premise.text == "TRUE":
        return conclusion
    text = f"{premise.within(JUNCTION)} => {conclusion.within(JUNCTION)}"
    return Formula(text, IMPLIES, Implication(premise, conclusion))


def negation(operand: Formula) -> Formula:
    """``~operand``."""
    if operand.text in {"TRUE", "FALSE"}:
        return Formula("FALSE" if operand.text == "TRUE" else "TRUE")
    return enclosed("~", operand, "", PREFIX) if operand.level >= TIGHT else enclosed("~(", operand, ")", PREFIX)


def lines(formula: Formula, width: int = WIDTH) -> list[str]:
    """The formula on one line if it fits and has no comment inside, otherwise on several."""
    # A comment ends its line, so a formula with one inside cannot be on one line.
    if formula.shape is None or (len(formula.text) <= width and not _has_note(formula)):
        return [formula.text]
    shape = formula.shape
    match shape:
        case FormulaJunction(op, items):
            return [line for item in items for line in _item(op, item, width)]
        case Headed(head, body):
            return [head, *_indented("    ", lines(body, width - 4))]
        case Branch(condition, then, otherwise):
            return [
                *_led("IF ", lines(condition, width - 3)),
                *_led("THEN ", lines(then, width - 5)),
                *_led("ELSE ", lines(otherwise, width - 5)),
            ]
        case Implication(premise, conclusion):
            return [*_closed(premise, width), *_led("=> ", _closed(conclusion, width - 3))]
        case Enclosed():
            return _enclosed_lines(shape, width)
        case FormulaList():
            return _row_lines(shape, width)
        case _:
            assert_never(shape)


def _enclosed_lines(shape: Enclosed, width: int) -> list[str]:
    """The body beside what precedes it where that is short, else below it."""
    # Beside a long head, a body of several lines would leave no room at the right.
    if len(shape.before) <= 12 or len(lines(shape.body, width - len(shape.before))) == 1:
        made = _led(shape.before, lines(shape.body, width - len(shape.before)))
    else:
        made = [shape.before.rstrip(), *_indented("    ", lines(shape.body, width - 4))]
    return _ended(made, shape.after)


def _ended(made: list[str], end: str) -> list[str]:
    """The lines with a suffix, on a line of its own where it would become part of a comment."""
    return [*made, f" {end}"] if end and "\\*" in made[-1] else [*made[:-1], f"{made[-1]}{end}"]


def _row_lines(shape: FormulaList, width: int) -> list[str]:
    made = textwrap.wrap(
        ", ".join(shape.items), max(width - len(shape.before) - len(shape.after), 20), break_long_words=False
    )
    made = _led(shape.before, made or [""])
    return [*made[:-1], f"{made[-1]}{shape.after}"]


def _item(op: str, item: Formula, width: int) -> list[str]:
    made = _led(f"{op} ", lines(item, width - 3))
    if item.note is None:
        return made
    if len(made) == 1 and len(made[0]) + len(item.note) + 5 <= width:
        return [f"{made[0]}  \\* {item.note}"]
    # Above, where there is no room behind: inside a list a line may begin anywhere right of the sign.
    return [f"\\* {item.note}", *made]


def _closed(formula: Formula, width: int) -> list[str]:
    """Lines after which a line may begin with an operator: parentheses are added to what is broken or binds
    too weakly."""
    made = lines(formula, width - 1)
    if len(made) == 1:
        return [formula.within(JUNCTION)]
    return _ended(_led("(", made), ")")


def _led(lead: str, made: list[str]) -> list[str]:
    return [f"{lead}{made[0]}", *_indented(" " * len(lead), made[1:])]


def _indented(indent: str, made: list[str]) -> list[str]:
    return [f"{indent}{line}" for line in made]


def _has_note(formula: Formula) -> bool:
    """Whether a comment stands somewhere inside the formula."""
    return any(inner.note is not None or _has_note(inner) for inner in _inside(formula.shape))


def _inside(shape: Shape | None) -> tuple[Formula, ...]:
    match shape:
        case None:
            return ()
        case FormulaJunction(_, items):
            return items
        case Headed(_, body):
            return (body,)
        case Branch(condition, then, otherwise):
            return (condition, then, otherwise)
        case Implication(premise, conclusion):
            return (premise, conclusion)
        case Enclosed(_, body):
            return (body,)
        case FormulaList():
            return ()
        case other:
            assert_never(other)
