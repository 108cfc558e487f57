"""The initial states as gates."""

from __future__ import annotations

from collections.abc import Sequence

from assay.checker.aig.graph import FALSE, TRUE, Gates
from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import State

Bits = tuple[int, ...]


def initial_states(model: Model) -> tuple[dict[State, Successor], list[Cut], list[Stuck]]:
    """The initial states by the reference evaluator, each with the first picks that make it, and what was cut or
    undefined among them.

    Raises ``SpecError`` if they are too many to list.
    """
    states: dict[State, Successor] = {}
    cuts: list[Cut] = []
    stuck: list[Stuck] = []
    for outcome in model.init.outcomes():
        match outcome:
            case Successor():
                states.setdefault(outcome.state, outcome)
            case Cut():
                cuts.append(outcome)
            case Stuck():
                stuck.append(outcome)
    return states, cuts, stuck


def is_initial(gates: Gates, state: Sequence[int], rows: Sequence[Bits]) -> int:
    """The literal that says whether the bits ``state`` are one of the rows: a decision tree with shared subtrees."""
    return _tree(gates, state, sorted(set(rows)), 0, {})


def _tree(gates: Gates, state: Sequence[int], rows: Sequence[Bits], at: int, made: dict[tuple[Bits, ...], int]) -> int:
    if not rows:
        return FALSE
    if at == len(state):
        return TRUE
    key = tuple(row[at:] for row in rows)
    if key not in made:
        zeros, ones = [r for r in rows if not r[at]], [r for r in rows if r[at]]
        no, yes = (_tree(gates, state, part, at + 1, made) for part in (zeros, ones))
        made[key] = gates.choose(state[at], yes, no)
    return made[key]
