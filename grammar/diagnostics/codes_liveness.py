"""Codes E85x: temporal properties that are too large to decide."""

from __future__ import annotations

from assay.grammar.diagnostics.code import Code

LIVENESS = (
    Code(
        "E850",
        "temporal property speaks of too much",
        "A quantifier over temporal formulas, a value that is kept until later (a pattern variable used under `eventually`) and an argument of "
        "`enabled` or `occurs` that depends on the state are written out, one part for each value. Give such names a type of few values.",
    ),
    Code(
        "E851",
        "temporal property is too complex",
        "The property's negation becomes a Büchi automaton, which grows with the number of temporal operators that are nested or stand "
        "side by side under `or`, `exists` and `eventually`. What stands side by side under `and` and `forall` is checked part by part: write such "
        "parts as conjuncts, or as properties of their own.",
    ),
)
