"""The automaton of a formula accepts exactly the words that satisfy it."""

from __future__ import annotations

from random import Random

import networkx as nx
import pytest
from tests.unit.checker.liveness.words import Word, holds, random_formula, random_word

from assay.checker.liveness.buchi import Automaton, automaton
from assay.checker.liveness.nnf import (
    FALSE,
    TRUE,
    Formula,
    Literal,
    always,
    conjunction,
    conjuncts,
    eventually,
    negation,
)
from assay.grammar.diagnostics.diagnostic import NOWHERE, SpecError

P, Q = Literal(0, True), Literal(1, True)


def accepts(found: Automaton, word: Word) -> bool:
    """Whether some run of the automaton over the word takes transitions of every acceptance set for ever."""
    graph: nx.MultiDiGraph[tuple[int, int]] = nx.MultiDiGraph()
    graph.add_node((0, 0))
    for at, moment in enumerate(word.moments):
        for q, ways in enumerate(found.ways):
            for way in ways:
                if all((each.letter in moment) is each.positive for each in way.literals):
                    graph.add_edge((at, q), (word.after(at), way.target), sets=way.accepting)
    reached = {(0, 0)} | nx.descendants(graph, (0, 0))
    for component in nx.strongly_connected_components(graph.subgraph(reached)):
        met = [ways["sets"] for _, _, ways in graph.subgraph(component).edges(data=True)]
        if met and frozenset[int]().union(*met) >= set(range(found.sets)):
            return True
    return False


@pytest.mark.parametrize("seed", range(6))
def test_an_automaton_accepts_the_words_that_satisfy_its_formula(seed: int) -> None:
    random = Random(seed)
    said = []
    for _ in range(60):
        formula = random_formula(random, 3, random.randint(1, 3))
        found = automaton(formula, NOWHERE)
        for _ in range(8):
            word = random_word(random, 3)
            said.append(holds(formula, word, 0))
            assert accepts(found, word) is said[-1], (formula, word)
    assert 50 < sum(said) < len(said) - 50


def test_a_formula_and_its_negation_are_never_both_true() -> None:
    random = Random(7)
    for _ in range(200):
        formula, word = random_formula(random, 3, 3), random_word(random, 3)
        assert holds(negation(formula), word, 0) is not holds(formula, word, 0)


def test_conjuncts_together_say_what_the_formula_says() -> None:
    random = Random(8)
    for _ in range(200):
        parts = [random_formula(random, 3, 2) for _ in range(3)]
        formula, word = always(conjunction([parts[0], always(conjunction(parts[1:]))])), random_word(random, 3)
        assert all(holds(each, word, 0) for each in conjuncts(formula)) is holds(formula, word, 0)


@pytest.mark.parametrize(
    ("formula", "states"),
    [
        (TRUE, 2),
        (FALSE, 1),
        (eventually(P), 2),
        (always(P), 1),
        (always(eventually(P)), 2),
        (eventually(always(P)), 2),
        (negation(always(eventually(Q))), 2),
    ],
)
def test_automata_of_common_formulas_are_small(formula: Formula, states: int) -> None:
    assert len(automaton(formula, NOWHERE).ways) <= states


def test_a_formula_that_would_need_too_many_states_is_refused() -> None:
    parts = [eventually(conjunction([Literal(at, True), eventually(Literal(at + 20, True))])) for at in range(12)]
    with pytest.raises(SpecError, match="E851"):
        automaton(conjunction(parts), NOWHERE)
