"""Words and operators of other languages, TLA+ and Quint above all, with their counterparts here, for error
messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lark import Token

_OPERATORS = {
    "&&": "`and`",
    "/\\": "`and`",
    "||": "`or`",
    "|": "`or`; sets are `{x in S if P}` and `{e for x in S}`, and variants of an enum are separated by `,`",
    "\\/": "`or`",
    "!": "`not`",
    "~": "`not`",
    "=>": "`implies`, or `>=` for a comparison",
    "==>": "`implies`",
    "<=>": "`==`",
    "<>": "`!=`, or `eventually` in a property",
    "[]<>": "`always eventually`",
    "<>[]": "`eventually always`",
    "~>": "`leads_to`",
    "/=": "`!=`",
    "=<": "`<=`",
    "===": "`==`",
    "!==": "`!=`",
    "/": "`//`, which rounds down",
    "**": "a product",
    "+=": "`x := x + …`",
    "-=": "`x := x - …`",
    "++": "`x := x + 1`",
    "|->": "`[k -> e]` for a map, `Record(field = e)` for a record",
    "<<": "`(a, b)` for a tuple, `[a, b]` for a sequence",
    "EXCEPT !": "`m with {k -> e}`, or `m[k] := e` in an action",
    "\\": "`-`, the difference of two sets",
    "∧": "`and`",
    "∨": "`or`",
    "¬": "`not`",
    "⇒": "`implies`",
    "⇔": "`==`",
    "≡": "`==`",
    "≠": "`!=`",
    "≤": "`<=`",
    "≥": "`>=`",
    "∀": "`forall`",
    "∃": "`exists`",
    "∈": "`in`",
    "∉": "`not in`",
    "∪": "`+`",
    "∩": "`&`",
    "⊆": "`<=`",
    "□": "`always`",
    "◇": "`eventually`",
}

# Operators that are words, in TLA+ with a backslash before them.
_WORDS = {
    "A": "`forall`",
    "E": "`exists`; an action takes an element by `pick x in S`",
    "in": "`in`",
    "notin": "`not in`",
    "cup": "`+`",
    "union": "`+`",
    "cap": "`&`",
    "intersect": "`&`",
    "subseteq": "`<=`",
    "subset": "`<`",
    "land": "`and`",
    "lor": "`or`",
    "lnot": "`not`",
    "neg": "`not`",
    "leq": "`<=`",
    "geq": "`>=`",
    "div": "`//`",
    "o": "`+`, which joins sequences",
    "X": "`(A, B)` as a type, `{(a, b) for a in S, b in T}` as a set",
    "times": "`(A, B)` as a type, `{(a, b) for a in S, b in T}` as a set",
    "*": "`#` before a comment",
    "mod": "`%`",
    "xor": "`!=`",
    "iff": "`==`",
    "intersection": "`&`",
    "setminus": "`-`",
    "diff": "`-`",
    "exclude": "`-`",
}

# Names of types, values and functions that every spec of another language uses. What is called so in the spec itself is not unknown.
_NAMES = {
    "True": "`true`",
    "TRUE": "`true`",
    "False": "`false`",
    "FALSE": "`false`",
    "None": "`none`",
    "null": "`none`",
    "nil": "`none`",
    "NULL": "`none`",
    "BOOLEAN": "`bool`",
    "Bool": "`bool`",
    "boolean": "`bool`",
    "Int": "a range such as `0 .. 10`, or `int` for a parameter",
    "Nat": "a range such as `0 .. 10`, or `int` for a parameter",
    "nat": "a range such as `0 .. 10`, or `int` for a parameter",
    "byte": "a range such as `0 .. 255`",
    "str": "an `enum`, or a set parameter",
    "string": "an `enum`, or a set parameter",
    "String": "an `enum`, or a set parameter",
    "STRING": "an `enum`, or a set parameter",
    "Set": "`set[T]`",
    "set": "`{a, b}` for a set; a type as a set of values has a name: `type T = set[…]`",
    "map": "`[k -> e]` for a map; a type as a set of values has a name: `type T = map[…]`",
    "seq": "`[a, b]` for a sequence; a type as a set of values has a name: `type T = seq[…]`",
    "Seq": "`seq[T, max n]`",
    "List": "`seq[T, max n]`",
    "list": "`seq[T, max n]`",
    "len": "`count(s)`",
    "Len": "`count(s)`",
    "length": "`count(s)`",
    "size": "`count(s)`",
    "card": "`count(s)`",
    "Cardinality": "`count(s)`",
    "append": "`s + [x]`",
    "Append": "`s + [x]`",
    "push": "`s + [x]`",
    "concat": "`s + t`",
    "head": "`first(s)`",
    "Head": "`first(s)`",
    "tail": "`drop(s, 1)`",
    "Tail": "`drop(s, 1)`",
    "SubSeq": "`take(drop(s, i), n)`",
    "range": "`a .. b`",
    "domain": "`keys(m)`",
    "dom": "`keys(m)`",
    "powerset": "`subsets(S)`",
    "SUBSET": "`subsets(S)`",
    "UNION": "`{x for s in S, x in s}`",
    "DOMAIN": "`keys(m)`",
    "ENABLED": "`enabled(a)`",
    "all": "`forall x in S: e`, or `all(e for x in S)`",
    "any": "`exists x in S: e`, or `any(e for x in S)`",
    "reduce": "`fold total = 0 for x in s: total + x`",
    "foldl": "`fold total = 0 for x in s: total + x`",
    "FoldSeq": "`fold total = 0 for x in s: total + x`",
    "FoldSet": "`sum(e for x in S)`, or `fold total = 0 for x in s: total + x` over a sequence",
    "FoldFunction": "`sum(m[k] for k in keys(m))`",
}

# What other languages call on a value, as in `S.contains(x)`.
_METHODS = {
    "contains": "`x in S`",
    "has": "`x in S`",
    "notin": "`x not in S`",
    "get": "`m[k]`",
    "set": "`m with {k -> e}`, or `m[k] := e` in an action",
    "put": "`m with {k -> e}`, or `m[k] := e` in an action",
    "setBy": "`m with {k -> f(m[k])}`",
    "add": "`S + {x}`",
    "remove": "`S - {x}`, or `without(m, k)`",
    "subseteq": "`S <= T`",
    "filter": "`{x in S if P}`",
    "select": "`[x in s if P]`",
    "map": "`{e for x in S}`",
    "mapBy": "`[x in S -> e]`",
    "forall": "`forall x in S: P`",
    "exists": "`exists x in S: P`",
    "fold": "`fold total = 0 for x in s: total + x`",
    "oneOf": "`pick x in S` in an action",
    "nth": "`s[i]`",
    "slice": "`take(drop(s, i), n)`",
    "to": "`a .. b`",
    "keys": "`keys(m)`",
    "values": "`values(m)`",
    "indices": "`0 .. count(s) - 1`",
    "is_empty": "`S == {}`",
    "isEmpty": "`S == {}`",
}

_CHOICE = "write `choose x in S if P` for the only such element; in an action `pick x in {y in S if P}` takes any"
_CASES = "write `match x {A(n) -> e, else -> f}` for cases by pattern, `if c then a else b` for cases by condition"
_FORMS = {
    "choose": _CHOICE,
    "CHOOSE": _CHOICE,
    "case": _CASES,
    "CASE": _CASES,
    "switch": _CASES,
    "LET": "write `let x = e: body`, or `let x = e` as a line of a block",
    "IF": "write `if c then a else b`",
    "SUBSET": "write `subsets(S)`",
    "UNION": "write `{x for s in S, x in s}`",
    "DOMAIN": "write `keys(m)`",
    "LAMBDA": "write a `def`, and pass its name, or a call of it with `_` for what is left open: `newer(_, epoch)`",
    "RECURSIVE": "write `fold total = 0 for x in s: …` over a sequence, or `sum(e for x in S)`; a `def` may call itself without being announced",
    "ENABLED": "write `enabled(a)`",
    "UNCHANGED": "leave it out: what an action does not assign stays as it is",
}

# Longest first, for an alternation takes the first that fits: `|->` begins with `|`.
# `EXCEPT !` and `\` stand in the pattern below, with what may follow them.
_SIGNS = "|".join(
    re.escape(sign) for sign in sorted(_OPERATORS, key=len, reverse=True) if sign not in ("!", "/", "EXCEPT !", "\\")
)

# The pattern of these operators. `!` and `/` begin operators of the language too.
FOREIGN = rf"EXCEPT\s*!|{_SIGNS}|!(?!=)|/(?!/)|\\(?:[A-Za-z]+|\*)?"

PRIMED = (
    "a variable gets its value after the step by `x := …`; what is not assigned stays",
    "in a `transition`, `x` is the value after the step and `old(x)` the one before",
)


def instead_of(written: str) -> str:
    """The advice for an operator of another language: ``written`` is what `FOREIGN` matched."""
    if written.startswith("EXCEPT"):
        written = "EXCEPT !"
    known = _OPERATORS.get(written) or _WORDS.get(written.removeprefix("\\"))
    refused = f"`{written}` is not an operator"
    return refused if known is None else f"{refused}; write {known}"


def is_operator_elsewhere(word: str) -> bool:
    """Whether the word is an infix operator in another language."""
    # `A`, `E`, `o` and `X` are names of many a spec. Only a backslash before them makes them operators.
    return word in _WORDS and len(word) > 1


def instead_of_if(line: Sequence[Token]) -> str:
    """What to write for an ``if`` behind an expression, given the tokens before it in the line.

    It may be of ``a if c else b``, of ``pick x in S if P``, or of ``forall x in S if P``.
    """
    if line and str(line[0]) == "pick":
        return "what is picked fulfils a condition in `pick x in {x in S if P}`"
    binder = next((each for each in reversed(line) if each.type in ("FORALL", "EXISTS", "_COLON")), None)
    if binder is None or binder.type == "_COLON":
        return "a conditional value is written `if c then a else b`"
    return (
        "a condition on the elements belongs to what is said of them: `forall x in S: c implies P`, "
        "`exists x in S: c and P`"
    )


def form_elsewhere(word: str) -> str | None:
    """What to write for an expression of another language that begins with the word."""
    return _FORMS.get(word)


_CALCULATES = frozenset(("+", "-", "*", "//", "%", "&", ".."))


def in_pattern(token: str, accepted: frozenset[str]) -> tuple[str, ...]:
    """What to note of a token that no pattern goes on with, by what could have stood there."""
    if token == "_" and "_ELSE" in accepted:
        return ("the case for all that is left is `else`",)
    if token == "if" and accepted in ({"OR", "_COLON"}, {"OR", "_ARROW"}):
        return ("a case has no condition; its value may be an `if`",)
    after_number, after_name = {"_COMMA", "_RPAR"}, {"_COMMA", "_RPAR", "_DOT", "_LPAR"}
    if token in _CALCULATES and accepted in (after_number, after_name):
        return ("a pattern compares with the value of an expression by `==`: `Vote(b, ==n + 1)`",)
    if token == "=" and accepted == after_name:
        return ("the parts of a pattern are told by their places: `Vote(b, _)`",)
    return ()


def method_elsewhere(name: str) -> str | None:
    """What to write for a function of another language that is called on a value, or with the value as its argument."""
    if name in _METHODS:
        return _METHODS[name]
    return _WORDS[name] if name in _WORDS and len(name) > 1 else _NAMES.get(name)


def known_elsewhere(name: str) -> str | None:
    """The counterpart of a name that other languages have; None if there is none."""
    fair = {
        "WF_": "`fair` behind the parameters of the action",
        "SF_": "`strong fair` behind the parameters of the action",
    }
    return _NAMES.get(name) or fair.get(name[:3])
