"""The tree builder for blocks with a value, ``match`` and patterns."""

# ruff: noqa: D102, ARG002 - a method is described by the grammar rule of its name, and all have one signature

from __future__ import annotations

from typing import Any, Literal

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.parsing.builder import Builder, nodes, texts
from assay.grammar.syntax import (
    ActionCase,
    ActionLine,
    ActionMatch,
    BlockIf,
    BlockQuantified,
    BlockValue,
    CasePattern,
    Conjunct,
    DottedName,
    Expr,
    Guard,
    LetLine,
    LiteralPattern,
    Match,
    MatchCase,
    Name,
    Pattern,
    Quantified,
    SamePattern,
    SubPattern,
    TuplePattern,
)


class BlockBuilder(Builder):
    """One method for each rule of the grammar of blocks and patterns."""

    # -------------------------------------------------------------------------------------------- patterns

    def tuple_pattern(self, span: Span, children: list[Any]) -> TuplePattern:
        return TuplePattern(tuple(map(_part, children)), span=span)

    def plain_pattern(self, span: Span, children: list[Any]) -> Pattern:
        variant, *parts = children
        if parts == [None]:
            return Pattern(variant, None, span=span)
        return Pattern(variant, tuple(map(_part, parts)), span=span)

    def none_path(self, span: Span, children: list[Any]) -> DottedName:
        return DottedName((Name("none", span=span),), span=span)

    def no_binder(self, span: Span, children: list[Any]) -> str:
        return "_"

    def same_pattern(self, span: Span, children: list[Any]) -> SamePattern:
        return SamePattern(children[-1], span=span)

    def int_pattern(self, span: Span, children: list[Any]) -> LiteralPattern:
        minus, number = children
        return LiteralPattern(int(number) if minus is None else -int(number), span=span)

    def bool_pattern(self, span: Span, children: list[Any]) -> LiteralPattern:
        return LiteralPattern(children[0] == "true", span=span)

    def case_patterns(self, span: Span, children: list[Any]) -> tuple[CasePattern, ...]:
        return nodes(children)

    # ---------------------------------------------------------------------------------------------- blocks

    def block(self, span: Span, children: list[Any]) -> Expr:
        return self._value(tuple(children), span)

    def _value(self, lines: tuple[LetLine | Conjunct, ...], span: Span) -> Expr:
        # The grammar takes any line at the end of a block, so that the mistake is reported in these words.
        if isinstance(lines[-1], LetLine):
            self.diagnostics.error("E025", lines[-1].span, "a block ends in its value, and here it ends in a `let`")
        match lines:
            case (Conjunct(None, value),):
                return value
            case _:
                return BlockValue(lines, span=span)

    def let_line(self, span: Span, children: list[Any]) -> LetLine:
        return LetLine(children[0], children[1], span=span)

    def conjunct(self, span: Span, children: list[Any]) -> Conjunct:
        return Conjunct(children[0], children[1], span=span)

    def block_conjunct(self, span: Span, children: list[Any]) -> Conjunct:
        return Conjunct(children[0], children[1], span=span)

    def block_if(self, span: Span, children: list[Any]) -> Expr:
        condition, then, *others, else_place, otherwise = children
        branches = ((condition, then), *others)
        self.check_branches(branches)
        return BlockIf(branches, otherwise, else_place=else_place or NOWHERE, span=span)

    def block_elif(self, span: Span, children: list[Any]) -> tuple[Expr, Expr]:
        return children[0], children[1]

    def block_quantified(self, span: Span, children: list[Any]) -> Expr:
        kind: Literal["forall", "exists"] = "forall" if children[0] == "forall" else "exists"
        _, binders, body = children
        # A block of one line without a label is its expression (`_value`). Such a quantifier is one that fits on a
        # line, and the formatter prints it as such.
        if isinstance(body, BlockValue | BlockIf | BlockQuantified) or (isinstance(body, Match) and body.block):
            return BlockQuantified(kind, binders, body, span=span)
        return Quantified(kind, binders, body, span=span)

    def check_branches(self, branches: tuple[tuple[Expr, Any], ...]) -> None:
        """Each `elif` stands inside the `else` of the branch before it, and later passes recurse."""
        if len(branches) > MAX_BRANCHES:
            place = branches[MAX_BRANCHES][0].span
            self.diagnostics.error("E017", place, f"an `if` has at most {MAX_BRANCHES} branches")

    # ----------------------------------------------------------------------------------------------- match

    def match(self, span: Span, children: list[Any]) -> Expr:
        subject, *cases = children
        # Of `else` there is the value alone (`inline_case`).
        wild = [at for at, case in enumerate(cases) if not isinstance(case, MatchCase)]
        if wild and wild[0] != len(cases) - 1:
            self.diagnostics.error("E025", cases[wild[0]].span, "`else` is the last case of a `match`")
        otherwise = cases[wild[0]] if wild else None
        return Match(subject, tuple(c for c in cases if isinstance(c, MatchCase)), otherwise, False, span=span)

    def inline_case(self, span: Span, children: list[Any]) -> MatchCase | Expr:
        patterns, value = children
        return MatchCase(patterns, value, span=span) if isinstance(patterns, tuple) else value

    def block_match(self, span: Span, children: list[Any]) -> Expr:
        subject, *cases, else_place, otherwise = children
        return Match(subject, tuple(cases), otherwise, True, else_place=else_place or NOWHERE, span=span)

    def block_case(self, span: Span, children: list[Any]) -> MatchCase:
        return MatchCase(children[0], children[1], span=span)

    def action_match(self, span: Span, children: list[Any]) -> ActionLine:
        subject, *cases, else_place, otherwise = children
        return ActionMatch(subject, tuple(cases), otherwise, else_place=else_place or NOWHERE, span=span)

    def action_case(self, span: Span, children: list[Any]) -> ActionCase:
        return ActionCase(children[0], children[1], span=span)

    def block_guard(self, span: Span, children: list[Any]) -> ActionLine:
        label, condition = children[1:]
        return Guard("when" if "when" in texts(children) else "bound", label, condition, span=span)


MAX_BRANCHES = 100


def _part(part: Any) -> SubPattern:
    """The part of a pattern; a plain name without parentheses is a ``Name``."""
    match part:
        case "_":
            return None
        # `n` alone may bind a name or be a variant without fields. Only elaboration, which knows the type, can tell.
        case Pattern(DottedName((Name(text) as name,)), None) if text != "none":
            return name
        case _:
            found: SubPattern = part
            return found
