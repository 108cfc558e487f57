"""The obstacles of an instance, for one combination of picks after the other."""

from __future__ import annotations

from itertools import islice

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.cancellation import heeding
from assay.grammar.load import load_text

MANY = """\
state:
    chosen: set[0 .. 19] = {}

action choose_some:
    pick s in subsets({x in 0 .. 19 if x >= 0})
    when more: count(s) > 20
    chosen := s
"""


def test_only_the_combinations_that_are_asked_for_are_looked_at() -> None:
    def heed() -> None:
        raise AssertionError("a million subsets are gone through")

    model = Model(load_text(MANY).kernel)
    (first,) = model.init.outcomes()
    assert isinstance(first, Successor)
    with heeding(heed):
        found = list(islice(model.actions["choose_some"].false_guards(first.state, ()), 3))
    assert [[guard.label for guard in each] for each in found] == [["more"]] * 3
