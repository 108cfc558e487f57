"""Logical lines (docs/language.md, section 2) and the blocks that indentation makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from lark import Token
from lark.indenter import Indenter

OPENERS = {"(": ")", "[": "]", "{": "}"}
CLOSERS = {closer: opener for opener, closer in OPENERS.items()}

#: A line that ends in one of these continues on the next line.
_TRAILING_WORDS = (
    "and or not implies until leads_to always eventually in is then else == != < <= > >= + - * // % & .. , -> = :="
)
TRAILING = frozenset(_TRAILING_WORDS.split())
#: A line that begins with one of these continues the line before it; ``else:`` and a lone ``not`` do not. The terminal
#: _JOIN must agree.
_LEADING_WORDS = "and or implies until leads_to then else in is == != < <= > >= + * // % & .."
LEADING = frozenset(_LEADING_WORDS.split())

# Each word owes a colon. `fold` does too, but it is a word of the language only before `name =`: see `feed`.
_BINDING = frozenset(("forall", "exists", "let"))

_TAKES_STATEMENTS = ("_ACTION", "_INIT")
# Their lines are lists or clauses: below `forall x in S:` a deeper line continues the expression.
_WITHOUT_BLOCKS = ("_SHOW", "_VIEW", "_TRACE")
_TAKES_A_VALUE = ("WHEN", "BOUND")
_BEGINS_A_STATEMENT = (*_TAKES_A_VALUE, "_PICK")


class LogicalLine:
    """The state of the logical line read so far; it is fed the text of each token."""

    def __init__(self) -> None:
        self.last = ""
        self.depth = 0
        self.heads: list[tuple[int, bool]] = []  # each quantifier, `let` or `fold` whose colon has not come yet: its
        # depth, and whether nothing but labels and such heads stands before it
        self.before = ""  # the token before the last one; of a closing bracket, the one before its opening bracket
        self.opened: list[str] = []  # for each open bracket, the token before it
        self.inner_colon = False  # the last token is the colon of such an expression
        self.only_heads = True  # nothing else ended in the last colon

    def feed(self, text: str) -> None:
        """Take in the next token of the line."""
        self.inner_colon = text == ":" and bool(self.heads) and self.heads[-1][0] == self.depth
        before = self.last
        if self.inner_colon:
            self.only_heads = self.heads.pop()[1]
        elif text == ":":
            self.only_heads = True
        # A `let` opens no block. Nor does a quantifier in brackets, for no logical line begins inside of them.
        elif text in _BINDING:
            self.heads.append((self.depth, text != "let" and self.depth == 0 and self._begins))
        # In `fold (a, b) = …` too: `_close` has put the token before the bracket into `before`.
        elif text == "=" and self.before == "fold":
            self.heads.append((self.depth, False))
        elif text in OPENERS:
            self.opened.append(before)
            self.depth += 1
        elif text in CLOSERS:
            before = self._close()
        self.before, self.last = before, text

    @property
    def _begins(self) -> bool:
        return self.last in ("", "when", "bound") or (self.last == ":" and self.only_heads)

    def _close(self) -> str:
        """Close a bracket; the token before it was opened."""
        self.depth = max(0, self.depth - 1)
        # A head that lacks its colon ends with its bracket. Else the next colon outside would count as its own.
        while self.heads and self.heads[-1][0] > self.depth:
            self.heads.pop()
        return self.opened.pop() if self.opened else ""

    @property
    def goes_on(self) -> bool:
        """Whether the logical line continues on the next physical line."""
        return self.depth > 0 or self.last in TRAILING or self.inner_colon

    @property
    def may_open_block(self) -> bool:
        """Whether a deeper line below is a block: the line is the head of a quantifier and nothing more."""
        return self.depth == 0 and self.inner_colon and self.only_heads


class LayoutFault(Exception):  # noqa: N818 - it never leaves the parser, which turns it into a diagnostic
    """A line whose indentation matches no enclosing block; carries a token at the place of the indentation."""

    def __init__(self, token: Token) -> None:
        super().__init__(token)
        self.token = token


class Layout(Indenter):
    """Turns line ends into _NL, _INDENT and _DEDENT. _NL and _DEDENT have no width and stand at the end of the last
    token.

    ``process`` keeps its state in local variables, so that one parser serves any number of texts.
    """

    NL_type = "_NL"
    OPEN_PAREN_types: ClassVar = ["_LPAR", "_LSQB", "_LBRACE"]
    CLOSE_PAREN_types: ClassVar = ["_RPAR", "_RSQB", "_RBRACE"]
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    # Lark asks for it. It makes no difference: a tab in the indentation was reported before the parser runs.
    tab_len = 4

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Yield the tokens of a text that begins in the first column."""
        indents = [0]
        line = LogicalLine()
        last: Token | None = None
        first: Token | None = None  # of the logical line
        # In a value `when`, `bound` and `pick` are names (`_as_name`). None: lines are statements. A number: lines that
        # are indented deeper than it are parts of a value.
        values: int | None = -1  # the indentation of a line whose block is a value
        has_blocks = True  # whether a value may be a block
        for token in stream:
            if token.type != self.NL_type:
                if last is None:
                    values = None if token.type in _TAKES_STATEMENTS else -1
                    has_blocks = token.type not in _WITHOUT_BLOCKS
                last = token if values is None else _as_name(token)
                first = first or last
                line.feed(str(last))
                yield last
            # A line end is a token where the logical line ends. Below the colon of a quantifier a line that is deeper
            # is its block, and any other one continues the line.
            elif last is not None and (
                not line.goes_on or (has_blocks and line.may_open_block and _depth(token) > indents[-1])
            ):
                if values is None and first is not None and first.type in _TAKES_A_VALUE:
                    # True of `when x > 0` on one line too. The next line is not deeper then, and the last statement
                    # resets it.
                    values = indents[-1]
                # The state begins anew with each logical line: an open `let` of one line owes no colon in the next.
                line, first = LogicalLine(), None
                yield _at_end(self.NL_type, last)
                yield from self._blocks(indents, token, last)
                values = None if values is not None and indents[-1] <= values else values
        if last is not None:
            yield _at_end(self.NL_type, last)
            yield from (_at_end(self.DEDENT_type, last) for _ in indents[1:])

    def _blocks(self, indents: list[int], newline: Token, last: Token) -> Iterator[Token]:
        depth = _depth(newline)
        if depth > indents[-1]:
            indents.append(depth)
            yield self._indentation(newline, depth)
        while depth < indents[-1]:
            indents.pop()
            yield _at_end(self.DEDENT_type, last)
        if depth != indents[-1]:
            raise LayoutFault(self._indentation(newline, depth))

    def _indentation(self, newline: Token, depth: int) -> Token:
        line, end = newline.end_line, newline.end_pos
        return Token(self.INDENT_type, "", end, line, 1, line, depth + 1, end)


def _as_name(token: Token) -> Token:
    """A token of a block that is a value. No statement begins there, but the parser's tables cannot tell: the line
    after an inner block may begin with whatever follows such a block anywhere."""
    return token.update("NAME") if token.type in _BEGINS_A_STATEMENT else token


def _depth(newline: Token) -> int:
    """How far the line after a line end is indented."""
    return len(newline) - newline.rindex("\n") - 1


def _at_end(kind: str, last: Token) -> Token:
    line, column, position = last.end_line, last.end_column, last.end_pos
    return Token(kind, "", position, line, column, line, column, position)
