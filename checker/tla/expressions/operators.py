"""Operators that the standard modules of TLA+ lack. Only those that a module uses are written into it.

They stand before the declarations of the module, so that the names of their parameters cannot clash with those of its
variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator: its definition, and the operators and standard modules that the definition needs."""

    name: str
    text: str
    needs: tuple[str, ...] = ()


# In the order in which they may stand in a module: each after those that it needs.
OPERATORS: tuple[Operator, ...] = (
    Operator("Holds", "\\* p as one question, of whose parts TLC makes no ways to take a step\nHolds(p) == p = TRUE"),
    Operator("Range", "Range(f) == {f[x] : x \\in DOMAIN f}"),
    Operator(
        "Fold",
        "\\* op applied to base and one element of S after the other\n"
        "Fold(op(_, _), base, S) ==\n"
        "    LET go[rest \\in SUBSET S] ==\n"
        "            IF rest = {} THEN base ELSE LET x == CHOOSE y \\in rest : TRUE IN op(go[rest \\ {x}], x)\n"
        "    IN  go[S]",
    ),
    Operator("Min", "Min(S) == CHOOSE x \\in S : \\A y \\in S : x <= y"),
    Operator("Max", "Max(S) == CHOOSE x \\in S : \\A y \\in S : x >= y"),
    Operator(
        "TheOnly",
        "\\* the only element of S; TLC stops where there is none or another one\n"
        'TheOnly(S) ==\n    CHOOSE x \\in S : IF S = {x} THEN TRUE ELSE Assert(FALSE, <<"not one element", S>>)',
        ("TLC",),
    ),
    Operator("SumOfSet", "SumOfSet(S) == Fold(LAMBDA total, x : total + x, 0, S)", ("Fold",)),
    Operator("SumOfRange", "SumOfRange(f) == Fold(LAMBDA total, i : total + f[i], 0, DOMAIN f)", ("Fold",)),
    Operator("SumOfBag", "SumOfBag(b) == Fold(LAMBDA total, x : total + x * b[x], 0, DOMAIN b)", ("Fold",)),
    Operator("FloorDiv", "FloorDiv(a, b) == IF b > 0 THEN a \\div b ELSE (-a) \\div (-b)"),
    Operator("FloorMod", "FloorMod(a, b) == a - (b * FloorDiv(a, b))", ("FloorDiv",)),
    Operator(
        "Checked",
        "\\* v, which is a value of T; TLC stops where it is not\n"
        'Checked(v, T) == IF v \\in T THEN v ELSE IF Assert(FALSE, <<"out of range", v>>) THEN v ELSE v',
        ("TLC",),
    ),
    Operator(
        "CheckedIf",
        "\\* v, of which ok says that it is a value of its type\n"
        'CheckedIf(v, ok(_)) == IF ok(v) THEN v ELSE IF Assert(FALSE, <<"out of range", v>>) THEN v ELSE v',
        ("TLC",),
    ),
    Operator(
        "Apart",
        "\\* whether no place in W, numbers and loop variables aside, is another one or inside of it\n"
        "Apart(W) ==\n"
        "    \\A u, w \\in W :\n"
        "        \\/ u = w\n"
        "        \\/ LET n == IF Len(u[3]) < Len(w[3]) THEN Len(u[3]) ELSE Len(w[3]) IN\n"
        "               SubSeq(u[3], 1, n) # SubSeq(w[3], 1, n)",
        ("Sequences",),
    ),
    Operator(
        "UpTo",
        "\\* the subsets of S with at most n elements\n"
        "RECURSIVE UpTo(_, _)\n"
        "UpTo(S, n) == IF n = 0 THEN {{}} ELSE LET fewer == UpTo(S, n - 1) IN fewer \\cup {s \\cup {x} : s \\in fewer, x \\in S}",
    ),
    Operator("MapsOver", "\\* the functions from one of the sets in D to S\nMapsOver(D, S) == UNION {[K -> S] : K \\in D}"),
    Operator("SeqsUpTo", "\\* the sequences of at most m elements of S\nSeqsUpTo(S, m) == UNION {[1..n -> S] : n \\in 0..m}"),
    Operator("EmptyMap", "EmptyMap == [x \\in {} |-> x]"),
    Operator("Put", "Put(m, k, v) == [x \\in DOMAIN m \\cup {k} |-> IF x = k THEN v ELSE m[x]]"),
    Operator("Without", "Without(m, k) == [x \\in DOMAIN m \\ {k} |-> m[x]]"),
    Operator(
        "Take",
        'Take(s, n) == IF n < 0 /\\ Assert(FALSE, <<"take", n>>) THEN s ELSE SubSeq(s, 1, IF n < Len(s) THEN n ELSE Len(s))',
        ("Sequences", "TLC"),
    ),
    Operator(
        "Drop",
        'Drop(s, n) == IF n < 0 /\\ Assert(FALSE, <<"drop", n>>) THEN s ELSE SubSeq(s, n + 1, Len(s))',
        ("Sequences", "TLC"),
    ),
    Operator("Last", "Last(s) == s[Len(s)]", ("Sequences",)),
    Operator("MapSeq", "MapSeq(s, f(_)) == [i \\in DOMAIN s |-> f(s[i])]"),
    Operator("BagOf", "BagOf(s) == [x \\in Range(s) |-> Cardinality({i \\in DOMAIN s : s[i] = x})]", ("Range", "FiniteSets")),
    Operator("Copies", "Copies(b, x) == IF x \\in DOMAIN b THEN b[x] ELSE 0"),
    Operator("BagFilter", "BagFilter(b, Test(_)) == [x \\in {y \\in DOMAIN b : Test(y)} |-> b[x]]"),
    Operator("BagSize", "BagSize(b) == Fold(LAMBDA total, x : total + b[x], 0, DOMAIN b)", ("Fold",)),
    Operator("BagsWithin", "BagsWithin(S, n) == {b \\in S : BagSize(b) <= n}", ("BagSize",)),
    Operator(
        "BagSum",
        "\\* the two are elements of a set, so that TLC evaluates each once, in a sum of sums too\n"
        "BagSum(a, b) ==\n"
        "    CHOOSE sum \\in {[x \\in DOMAIN p[1] \\cup DOMAIN p[2] |-> Copies(p[1], x) + Copies(p[2], x)] : p \\in {<<a, b>>}} : TRUE",
        ("Copies",),
    ),
    Operator(
        "BagMinus",
        "BagMinus(a, b) == [x \\in {y \\in DOMAIN a : a[y] > Copies(b, y)} |-> a[x] - Copies(b, x)]",
        ("Copies",),
    ),
    Operator("BagMeet", "BagMeet(a, b) == [x \\in DOMAIN a \\cap DOMAIN b |-> IF a[x] < b[x] THEN a[x] ELSE b[x]]"),
    Operator("BagWithin", "BagWithin(a, b) == \\A x \\in DOMAIN a : a[x] <= Copies(b, x)", ("Copies",)),
)  # fmt: skip

BY_NAME = {operator.name: operator for operator in OPERATORS}

STANDARD = {
    "Integers": (),
    "FiniteSets": ("Cardinality",),
    "Sequences": ("Head", "Len", "SelectSeq", "SubSeq", "Seq", "\\o"),
    "TLC": ("Assert", ":>", "@@"),
}
"""The standard modules that may be extended, with those of their operators that are written by the exporter."""


def mentions(text: str, operator: str) -> bool:
    """Whether a text uses an operator or a standard module's sign."""
    # Not `\b`: signs such as `@@` have no word boundary.
    return bool(re.search(rf"(?<!\w){re.escape(operator)}(?!\w)", text))


def closure(used: Iterable[str]) -> tuple[list[Operator], list[str]]:
    """The operators to define, in order, and the standard modules to extend, so that these operators can be used."""
    wanted: set[str] = set()
    todo = list(used)
    while todo:
        name = todo.pop()
        # An operator may be needed on several ways.
        if name not in wanted:
            wanted.add(name)
            todo.extend(BY_NAME[name].needs if name in BY_NAME else ())
    modules = [
        module for module, names in STANDARD.items() if module == "Integers" or module in wanted or wanted & set(names)
    ]
    return [operator for operator in OPERATORS if operator.name in wanted], modules
