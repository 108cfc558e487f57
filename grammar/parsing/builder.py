"""The base of the tree builders: places, and access to Lark's nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lark import Token, Tree
from lark.visitors import Transformer_NonRecursive

from assay.grammar.diagnostics.diagnostic import Diagnostics, Span
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.syntax import DottedName, Name, Node


@dataclass(frozen=True, slots=True)
class DeclarationOrigin:
    """Where a declaration stands: its file, and the number of lines before it."""

    file: str
    lines_before: int

    def span(self, place: Any) -> Span:
        """The place of a Lark token, or of a node's ``meta``."""
        before = self.lines_before
        return Span(self.file, place.line + before, place.column, place.end_line + before, place.end_column)


class Builder(Transformer_NonRecursive[Token, Any]):
    """Holds the origin and the diagnostics. A subclass has one method for each rule, called from the leaves up."""

    def __init__(self, origin: DeclarationOrigin, diagnostics: Diagnostics) -> None:
        # Tokens stay as they are: a method for each terminal would be called for every token of the text.
        super().__init__(visit_tokens=False)
        self.origin = origin
        self.diagnostics = diagnostics

    def _call_userfunc(self, tree: Tree[Token], new_children: list[Any] | None = None) -> Any:
        """Call the method of the rule with the node's span and its children."""
        children = tree.children if new_children is None else new_children
        # A rule that matched nothing, such as an empty list, has no place.
        span = Span(self.origin.file, 0, 0, 0, 0) if tree.meta.empty else self.origin.span(tree.meta)
        return getattr(self, tree.data)(span, children)

    def name(self, span: Span, children: list[Any]) -> Name:
        """An identifier."""
        return Name(str(children[0]).strip("`"), span=span)

    def path(self, span: Span, children: list[Any]) -> DottedName:
        """A dotted name."""
        return DottedName(tuple(children), span=span)


def nodes(children: Iterable[Any]) -> tuple[Any, ...]:
    """The children that are nodes: neither absent nor tokens."""
    return tuple(child for child in children if isinstance(child, Node))


def texts(children: Iterable[Any]) -> list[str]:
    """The texts of the children that are tokens."""
    return [str(child) for child in children if isinstance(child, Token)]


def flat(groups: Iterable[Any]) -> tuple[Any, ...]:
    """The members of the tuples among the children."""
    return tuple(item for group in groups if isinstance(group, tuple) for item in group)


def string_value(literal: str) -> str:
    """The text inside a string literal; ``\\\\"`` and ``\\\\\\\\`` stand for the quote and the backslash."""
    width = 3 if literal.startswith('"""') else 1
    # Escaped backslashes are set aside first, so that `\\"` is a backslash before a quote. A zero byte is free for
    # that: `spec_text` refuses files that hold one.
    inner = literal[width:-width]
    return inner.replace("\\\\", "\0").replace('\\"', '"').replace("\0", "\\")


def first_string(children: Sequence[Any]) -> str | None:
    """The value of the string literal among the children, if there is one."""
    return next((string_value(text) for text in texts(children) if text.startswith('"')), None)
