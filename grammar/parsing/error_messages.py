"""Error messages: what is wrong, in the user's words, at the token where the parser stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from itertools import pairwise
from typing import NamedTuple

from lark import Token

from assay.grammar.diagnostics.suggest import did_you_mean, either
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.parsing.logical_lines import TRAILING
from assay.grammar.parsing.other_languages import (
    form_elsewhere,
    in_pattern,
    instead_of,
    instead_of_if,
    is_operator_elsewhere,
)


class TextRange(NamedTuple):
    """A range of a declaration's text; lines count from its first line."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Fault:
    """The token at which the parser stopped, the tokens before it, and the terminals that could have stood there."""

    token: Token
    before: tuple[Token, ...]
    accepted: frozenset[str]

    @property
    def line(self) -> tuple[Token, ...]:
        """The tokens of the same logical line before the offending one."""
        for index in range(len(self.before), 0, -1):
            if self.before[index - 1].type in LAYOUT:
                return self.before[index:]
        return self.before

    @property
    def begins_line(self) -> bool:
        """Whether the offending token is the first one of its physical line."""
        return not self.before or (self.before[-1].line or 0) < (self.token.line or 0)

    @property
    def line_number(self) -> int:
        """The number of the physical line in which the faulty logical line begins."""
        return int((*self.line, self.token)[0].line)  # type: ignore[arg-type]

    @property
    def place(self) -> TextRange:
        """The place of the offending token."""
        return _place(self.token)

    @property
    def after_last(self) -> TextRange:
        """The empty place after the last good token."""
        last = self.before[-1] if self.before else self.token
        return TextRange(last.end_line, last.end_column, last.end_line, last.end_column)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ParseHint:
    """A diagnostic before it has its final place."""

    code: str
    place: TextRange
    message: str
    notes: tuple[str, ...] = field(default=())


_ENDS = ("_NL", "$END", "_DEDENT")
_LINES = "a line here is a guard (`when …`), a choice (`pick …`, `let …`), an update (`x := …`), an `if` or a `for`"
_LINES_OF_DEF = "lines that make one value follow a colon in place of `=`: `def f(x: T): U:`"
_NO_BLOCK = "the line before it, which opens no block"
_JOINT = "actions that happen in one step are joined in a declaration: `action both = one & two`"
LAYOUT = frozenset(("_NL", "_INDENT", "_DEDENT"))
COMPARISONS = frozenset(("EQ", "NE", "LT", "LE", "GT", "GE"))
_CONNECTIVES_WORDS = "and or implies until leads_to in is then else elif"
_CONNECTIVES = frozenset(_CONNECTIVES_WORDS.split())
_BEGINNINGS = "when bound let pick if elif else for refuse expect from on ignore hidden order ghost action"
_STATEMENT_WORDS = tuple(_BEGINNINGS.split())

_NAMES = {
    "NAME": "a name",
    "INT": "a number",
    "STRING": "a string in double quotes",
    "_NL": "the end of the line",
    "_INDENT": "an indented block",
    "_DEDENT": "the end of the block",
    "$END": "the end of the declaration",
    "EQ": "`==`",
    "NE": "`!=`",
    "LT": "`<`",
    "LE": "`<=`",
    "GT": "`>`",
    "GE": "`>=`",
    "_ASSIGN": "`:=`",
    "_EQUALS": "`=`",
    "_COLON": "`:`",
    "_ARROW": "`->`",
    "DOTS": "`..`",
    "_DOT": "`.`",
    "_COMMA": "`,`",
    "_SEMICOLON": "`;`",
    "_QUESTION": "`?`",
    "_LPAR": "`(`",
    "_RPAR": "`)`",
    "_LSQB": "`[`",
    "_RSQB": "`]`",
    "_LBRACE": "`{`",
    "_RBRACE": "`}`",
    "_UNDERSCORE": "`_`",
    "AMPERSAND": "`&`",
}
_OPERAND_WORDS = "NAME INT TRUE FALSE NONE _UNDERSCORE _LPAR _LSQB _LBRACE BAG NOT MINUS FORALL EXISTS _LET _IF _MATCH _CHOOSE _FOLD FOLDING ALWAYS EVENTUALLY"
_OPERAND = frozenset(_OPERAND_WORDS.split())
_OPERATOR_WORDS = (
    "AND OR IMPLIES UNTIL LEADS_TO IN _IS NOT PLUS MINUS STAR FLOORDIV PERCENT AMPERSAND DOTS _DOT _LSQB _LPAR "
    "_WITH _QUESTION"
)
_OPERATOR = COMPARISONS | frozenset(_OPERATOR_WORDS.split())
_TYPE = frozenset(("SET", "MAP", "SEQ", "BAG"))


def explain(fault: Fault) -> ParseHint:
    """The diagnostic for a fault: the first special case that applies, or what was found and what was expected."""
    for case in _CASES:
        finding = case(fault)
        if finding is not None:
            return finding
    return _general(fault)


# ------------------------------------------------------------------------------------------------ special cases


def _layout(fault: Fault) -> ParseHint | None:
    place = fault.place
    if not fault.accepted:
        return ParseHint("E009", place, "this line is indented to a depth at which no block is")
    if fault.token.type == "_INDENT":
        return _after_several_lines(fault) or ParseHint("E009", place, f"this line is indented more than {_NO_BLOCK}")
    if "_INDENT" in fault.accepted and len(fault.accepted) == 1:
        return ParseHint("E010", fault.after_last, "an indented block is expected after this line")
    return None


def _after_several_lines(fault: Fault) -> ParseHint | None:
    """A second condition below one that was continued, where the user may take the first for a block."""
    tokens = fault.before[:-1]
    begun = max((n for n, token in enumerate(tokens, start=1) if token.type in LAYOUT), default=0)
    above = tokens[begun:]
    if not above or above[0].line == above[-1].line or any(token.type == "_ASSIGN" for token in above):
        return None
    notes = ["two conditions are joined with `and`"]
    heads = [str(token) for token in above[1:] if token.type in ("FORALL", "EXISTS")]
    if heads:
        notes.append(f"`{heads[-1]}` opens a block where it begins a line; elsewhere its `:` is followed by one value")
    return ParseHint("E009", fault.place, f"this line is indented more than the beginning of {_NO_BLOCK}", tuple(notes))


def _sign(fault: Fault) -> ParseHint | None:
    """One of ``=``, ``:=``, ``==`` in place of another."""
    unfinished = _unfinished(fault)
    if unfinished is not None:
        return unfinished
    found, wanted = fault.token.type, fault.accepted
    if found in ("EQ", "_EQUALS") and "_ASSIGN" in wanted:
        return ParseHint("E003", fault.place, f"`{fault.token}` where `:=` is meant: an action assigns with `:=`")
    if found in ("EQ", "_ASSIGN") and "_EQUALS" in wanted:
        return ParseHint("E005", fault.place, f"`{fault.token}` where `=` is meant")
    if found in ("_ASSIGN", "_EQUALS") and "EQ" in wanted:
        return ParseHint("E004", fault.place, f"`{fault.token}` where `==` is meant: two values are compared with `==`")
    return None


def _unfinished(fault: Fault) -> ParseHint | None:
    """``:=`` in a line that continues the line before it, because that one ends in an operator."""
    above = [token for token in fault.line if token.line != fault.token.line]
    if fault.token.type != "_ASSIGN" or not above or str(above[-1]) not in TRAILING:
        return None
    last = above[-1]
    return ParseHint("E001", _place(last), f"the line ends in `{last}`, but the next line does not complete it")


def _arrow(fault: Fault) -> ParseHint | None:
    if fault.token.type == "_ARROW" and "IMPLIES" in fault.accepted:
        note = "`->` stands in maps: `[b -> e]` and `{k -> v}`"
        return ParseHint("E006", fault.place, "`->` between two conditions; write `implies`", (note,))
    return None


def _chained(fault: Fault) -> ParseHint | None:
    # Where a number could stand, the comparison lacks its left side, and does not chain.
    if fault.token.type not in COMPARISONS or not fault.accepted & {"AND", "_RPAR", "_NL"} or "INT" in fault.accepted:
        return None
    for token in reversed(fault.line):
        if token.type in ("AND", "OR", "NOT", "IMPLIES", "_COMMA", "_LPAR", "_LBRACE", "_LSQB"):
            return None
        if token.type in COMPARISONS:
            note = f"write the two comparisons apart: `a {token} b and b {fault.token} c`"
            return ParseHint("E014", fault.place, "comparisons do not chain", (note,))
    return None


def _reserved(fault: Fault) -> ParseHint | None:
    word = str(fault.token)
    is_word = word.isidentifier() and fault.token.type not in ("NAME", "_UNDERSCORE")
    if not is_word:
        return None
    if word in _CONNECTIVES and fault.begins_line:
        return _keyword(word, fault)  # nothing stands before it that it could connect
    if "NAME" not in fault.accepted:
        return None
    if len(fault.accepted) == 1 or (word in _CONNECTIVES and "INT" not in fault.accepted):
        return _keyword(word, fault)
    if word in _CONNECTIVES or (fault.accepted & {"INT", "_NL"} and word in ("not", "for", "with")):
        return None
    if "INT" in fault.accepted:
        return _no_operand(word, fault)
    return _keyword(word, fault)


def _keyword(word: str, fault: Fault) -> ParseHint:
    return ParseHint(
        "E013", fault.place, f"`{word}` is a keyword and cannot be a name", (f"in backticks it can: `` `{word}` ``",)
    )


def _no_operand(word: str, fault: Fault) -> ParseHint | None:
    """A word with which an expression or a type may begin, at a place where it needs parentheses."""
    if word in ("if", "forall", "exists", "let", "not", "always", "eventually"):
        note = f"put parentheses around it: `({word} …)`"
        return ParseHint(
            "E001", fault.place, f"an expression that begins with `{word}` cannot stand bare here", (note,)
        )
    return _keyword(word, fault)


def _type_as_value(fault: Fault) -> ParseHint | None:
    """``map[K, V]`` or ``seq[T, max 3]`` where an expression is expected."""
    if fault.token.type not in ("_COMMA", "DOTS"):
        return None
    for word, bracket in pairwise(fault.line):
        if word.type == "NAME" and str(word) in ("set", "map", "seq", "bag") and bracket.type == "_LSQB":
            note = f"give the type a name, as in `type T = {word}[…]`; that name is the set of its values"
            return ParseHint("E001", _place(word), f"`{word}` begins a type, where an expression is expected", (note,))
    return None


def _misspelt(fault: Fault) -> ParseHint | None:
    """A line that begins with two names, the first of which resembles a keyword."""
    line = fault.line
    if len(line) != 1 or line[0].type != "NAME" or fault.token.type in ("_ASSIGN", "_EQUALS", "EQ", "_COLON"):
        return None
    meant = did_you_mean(str(line[0]), _STATEMENT_WORDS)
    if meant is None:
        return None
    return ParseHint("E001", _place(line[0]), f"`{line[0]}` does not begin a line here", (f"did you mean `{meant}`?",))


def _statement(fault: Fault) -> ParseHint | None:
    """A line of an action that begins with a name and assigns nothing."""
    line = fault.line
    if "_ASSIGN" not in fault.accepted or not line or line[0].type != "NAME":
        return None
    first = _place(line[0])
    if len(line) == 1 and fault.token.type in ("NAME", "INT", "_COLON"):
        advice = (form_elsewhere(str(line[0])) or _LINES,)
        return ParseHint("E001", first, f"`{line[0]}` does not begin a line here", advice)
    if fault.token.type in _ENDS and str(line[-1]) == ")":
        return ParseHint("E001", first, "this is a call, and no line of an action", (_LINES, _JOINT))
    return None


def _else(fault: Fault) -> ParseHint | None:
    if str(fault.token) != "else":
        return None
    note = "a further condition is `elif c:`, and `else:` ends in a colon"
    return ParseHint("E001", fault.place, "this `else` belongs to no `if`", (note,))


def _elif(fault: Fault) -> ParseHint | None:
    """``if c then a elif d then b else e``."""
    if str(fault.token) != "elif" or "then" not in map(str, fault.line):
        return None
    note = "in an expression write `else if … then …`; `elif` is for blocks"
    return replace(_general(fault), notes=(note,))


def _operator(fault: Fault) -> ParseHint | None:
    """A word between two values that is an operator in another language, or ``a if c else b``."""
    if not fault.accepted & {"PLUS", "AND"}:
        return None
    word = str(fault.token)
    if fault.token.type == "NAME" and is_operator_elsewhere(word):
        return ParseHint("E006", fault.place, instead_of(word))
    if word == "if":
        return replace(_general(fault), notes=(instead_of_if(fault.line),))
    return None


def _choose(fault: Fault) -> ParseHint | None:
    """``choose x in S: P``."""
    if fault.token.type != "_COLON" or "_IF" not in fault.accepted or "choose" not in map(str, fault.line):
        return None
    return replace(_general(fault), notes=("the condition stands behind `if`: `choose x in S if P`",))


def _range_of_int(fault: Fault) -> ParseHint | None:
    """``int 0 .. 3`` where a type is meant."""
    if fault.token.type not in ("INT", "_LPAR", "_LSQB") or str((fault.line or ("",))[-1]) != "int":
        return None
    return replace(_general(fault), notes=("a range of integers is a type by itself: `0 .. 3`",))


_AFTER_A_FORM = frozenset(("NAME", "_LPAR", "_LBRACE", "_LSQB", "INT", "NOT", "FORALL", "EXISTS", "TRUE", "FALSE"))
_MAP = "a map is written `[x in S -> e]` over a set, `{k -> v, l -> w}` key by key"


def _set_by_colon(fault: Fault) -> ParseHint | None:
    """``{x in S: P}``, ``{e: x in S}``, or the map ``{k: e for k in S}``."""
    if fault.token.type != "_COLON" or not {"_FOR", "_RBRACE"} <= fault.accepted:
        return None
    parts = "`{x in S if P}` is a part of S, `{e for x in S}` has the values of e"
    return replace(_general(fault), notes=(parts,) if "in" in map(str, fault.line) else (parts, _MAP))


def _map_by_for(fault: Fault) -> ParseHint | None:
    """``{k -> e for k in S}``."""
    inside = [token.type for token in fault.line]
    if str(fault.token) != "for" or "_ARROW" not in inside or "_RBRACE" not in fault.accepted:
        return None
    return replace(_general(fault), notes=(_MAP,))


def _form_elsewhere(fault: Fault) -> ParseHint | None:
    """``CHOOSE x \\in S: P`` or ``CASE c -> e``: a word that begins an expression in another language."""
    before = fault.line[-1:]
    if not before or before[0].type != "NAME" or fault.token.type not in _AFTER_A_FORM:
        return None
    known = form_elsewhere(str(before[0]))
    return (
        None if known is None else ParseHint("E001", _place(before[0]), f"`{before[0]}` begins no expression", (known,))
    )


def _block_after_equals(fault: Fault) -> ParseHint | None:
    """``= match x:`` or ``:= if c:``, whose cases or branches follow as a block."""
    if fault.token.type != "_COLON":
        return None
    for before, word in pairwise(fault.line):
        if before.type in ("_EQUALS", "_ASSIGN") and word.type in ("_MATCH", "_IF"):
            head = fault.line[0]
            if head.type == "_DEF":
                note = _LINES_OF_DEF
            elif before.type == "_ASSIGN":
                note = f"assign inside of each branch: `{word} …:`, and below it `{head} := …`"
            else:
                value = "if c then a else b" if word.type == "_IF" else "match x {A(n) -> n, else -> 0}"
                note = f"as a value on one line: `{value}`"
            return ParseHint("E001", fault.place, f"no block may follow `{before} {word} …`", (note,))
    return None


def _documented_def(fault: Fault) -> ParseHint | None:
    if fault.token.type != "STRING" or not fault.before or fault.before[0].type != "_DEF":
        return None
    return replace(_general(fault), notes=("a `def` has no documentation string; write a comment: `# …`",))


def _second_let(fault: Fault) -> ParseHint | None:
    if str(fault.token) != "," or "_COLON" not in fault.accepted or "let" not in map(str, fault.line):
        return None
    return replace(_general(fault), notes=("each name has its own: `let a = e: let b = f: …`",))


def _slice(fault: Fault) -> ParseHint | None:
    if "_BY" not in fault.accepted or not fault.line or str(fault.line[0]) != "slice":
        return None
    return replace(_general(fault), notes=("a set comes first, whose elements the slices are: `slice Order by order`",))


def _ignore(fault: Fault) -> ParseHint | None:
    if "STRING" not in fault.accepted or not fault.line or str(fault.line[0]) != "ignore":
        return None
    return replace(_general(fault), notes=('a reason comes last: `ignore Heartbeat "says nothing of payments"`',))


def _colon(fault: Fault) -> ParseHint | None:
    if "_COLON" not in fault.accepted:
        return None
    if fault.token.type in ("_NL", "_INDENT", "$END") or len(fault.accepted) == 1:
        return ParseHint("E007", fault.after_last, "a `:` is missing here", _let_in_expression(fault))
    return None


def _let_in_expression(fault: Fault) -> tuple[str, ...]:
    """What to note where a `let` within an expression lacks its colon, as a `let` line of a block does."""
    line = fault.line
    if not any(word.type == "_LET" and before.type in ("_EQUALS", "_ASSIGN") for before, word in pairwise(line)):
        return ()
    within = "within an expression, what a `let` is for follows a colon: `let x = e: …`"
    if line[0].type != "_DEF":
        return (within,)
    return (within, _LINES_OF_DEF)


# The order matters. `_else` and `_elif` come before `_reserved`, to which both words are keywords in place of a name.
# `_colon` is last, for a colon could stand almost anywhere.
_CASES: tuple[Callable[[Fault], ParseHint | None], ...] = (
    _layout,
    _sign,
    _arrow,
    _chained,
    _else,
    _elif,
    _reserved,
    _type_as_value,
    _misspelt,
    _statement,
    _form_elsewhere,
    _choose,
    _range_of_int,
    _set_by_colon,
    _map_by_for,
    _operator,
    _block_after_equals,
    _documented_def,
    _second_let,
    _slice,
    _ignore,
    _colon,
)


# -------------------------------------------------------------------------------------------------- general case


def _general(fault: Fault) -> ParseHint:
    ends = fault.token.type in _ENDS
    place = fault.after_last if ends else fault.place
    message = f"{_found(fault.token)}, but {describe(fault.accepted)} is expected"
    return ParseHint("E001", place, message, in_pattern(str(fault.token), fault.accepted))


def _found(token: Token) -> str:
    match token.type:
        case "_NL":
            return "the line ends here"
        case "_DEDENT":
            return "the block ends here"
        case "$END":
            return "the declaration ends here"
        case "STRING":
            return "found a string"
        case "NAME":
            return f"found the name `{token}`"
        case "INT":
            return f"found the number `{token}`"
        case _:
            return f"found `{token}`"


def describe(accepted: frozenset[str]) -> str:
    """What is expected, in the user's words, from the most general to single words."""
    rest = set(accepted)
    words: list[str] = []
    for group, typical, phrase in (
        (_OPERAND | _TYPE, {"NAME", "SET"}, "a type"),
        (_OPERAND, {"NAME", "INT"}, "an expression"),
        (_OPERATOR, {"AND", "PLUS"}, "an operator"),
        (_OPERATOR, {"PLUS", "STAR"}, "an operator"),
    ):
        if typical <= rest:
            rest -= group
            words.append(phrase)
    if "_NL" in rest:
        rest -= {"_NL", "$END"}
        words.append("the end of the line")
    words += sorted(_terminal(name) for name in rest)
    return either(words)


def _terminal(name: str) -> str:
    return _NAMES.get(name) or f"`{name.lstrip('_').lower()}`"


def _place(token: Token) -> TextRange:
    return TextRange(token.line, token.column, token.end_line, token.end_column)  # type: ignore[arg-type]
