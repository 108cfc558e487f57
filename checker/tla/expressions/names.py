"""Names of the language as names of TLA+: kept where possible, changed where two would clash.

TLA+ has one name space: a variable, an operator, a constant and every bound name in whose scope they are must all
differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from assay.checker.tla.expressions.operators import OPERATORS

WORDS = frozenset(
    """
    ACTION ASSUME ASSUMPTION AXIOM BOOLEAN BY CASE CHOOSE CONSTANT CONSTANTS COROLLARY DEF DEFINE DEFS DOMAIN ELSE ENABLED EXCEPT EXTENDS FALSE
    HAVE HIDE IF IN INSTANCE LAMBDA LEMMA LET LOCAL MODULE NEW OBVIOUS OMITTED ONLY OTHER PICK PROOF PROPOSITION PROVE QED RECURSIVE
    STATE STRING SUBSET SUFFICES TAKE TEMPORAL THEN THEOREM TRUE UNCHANGED UNION USE VARIABLE VARIABLES WITH WITNESS
    """.split()  # noqa: SIM905 - a table of words reads best as words
)
"""The reserved words of TLA+."""

STANDARD_OPERATORS = frozenset(
    """
    Nat Int Real Infinity Cardinality IsFiniteSet Seq Len Append Head Tail SubSeq SelectSeq Print PrintT Assert JavaTime TLCGet TLCSet
    Permutations SortSeq RandomElement Any ToString TLCEval
    """.split()  # noqa: SIM905
)
"""What the standard modules define that may be extended."""

OWN = ("Init", "Next", "Spec", "TypeOK", "Stay", "Fairness", "View", "vars", "none")
WATCHING = (
    "Begin",
    "Watch",
    "Moment",
    "Fulfilled",
    "Watched",
    "watched",
    "clock",
    "Abstract",
    "Image",
    "Mapped",
    "Refines",
)
"""Names that the exporter gives, the latter in modules beside that of the system."""


class TlaNames:
    """The global names of a module. The same thing always gets the same name."""

    def __init__(self) -> None:
        # All operators, whether used or not: which ones are is known only when everything is written.
        self._taken = {*WORDS, *STANDARD_OPERATORS, *OWN, *WATCHING, *(operator.name for operator in OPERATORS)}
        self._given: dict[tuple[str, str], str] = {}

    def give(self, kind: str, key: str, *wishes: str) -> None:
        """Name something of this kind: the first of the wishes (or else its key) that is free, or the first with a
        number appended."""
        if (kind, key) not in self._given:
            known = fresh([clean(each) for each in wishes or (key,)], self._taken)
            self._given[kind, key] = known
            self._taken.add(known)

    def of(self, kind: str, key: str) -> str:
        """The name that was given; raises KeyError."""
        return self._given[kind, key]

    def local(self, name: str, around: Iterable[str]) -> str:
        """A name for something bound, different from all global names and from those around it."""
        # The kernel numbers equal names with a prime, which means the next state in TLA+.
        return fresh([clean(name.partition("'")[0])], self._taken | set(around))


def clean(name: str) -> str:
    """The name with every character replaced that TLA+ does not allow."""
    text = re.sub(r"[^A-Za-z0-9_]", "_", name)
    # `WF_v` and `SF_v` are the fairness operators of TLA+, so no identifier may begin like them.
    if text[:3] in {"WF_", "SF_"} or not re.search("[A-Za-z]", text) or text[0].isdigit():
        text = f"n{text}"
    return text


def fresh(candidates: list[str], taken: Iterable[str]) -> str:
    """The first candidate that is not taken, or the first one with a number."""
    used = set(taken)
    for candidate in candidates:
        if candidate not in used:
            return candidate
    number = 2
    # From 2 on: the name without a number is the first.
    while f"{candidates[0]}_{number}" in used:
        number += 1
    return f"{candidates[0]}_{number}"
