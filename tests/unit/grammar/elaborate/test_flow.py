"""Pattern variables and known presence are in scope exactly where the match is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.elaborate.expressions.dispatch import elaborate_condition
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.rewrite import bound_names, nodes
from assay.grammar.kernel.types import BOOL

if TYPE_CHECKING:
    from tests.unit.grammar.elaborate.conftest import World

VISIBLE = [
    "role is Active(e) and e > 1",
    "role is Active(e) implies e > 1",
    "flag and role is Active(e) and flag and e > 1",
    "(role is Active(e) and flag) implies e > 1",
    "if role is Active(e) then e > 1 else flag",
    "if flag and role is Active(e) then e > 1 else flag",
    "role is Active(e) and lamp is Lit(n, d) and d > e and n in live",
    "role is Active(e) and (flag or e > 1)",
    "role is Active(e) implies not (e > 1)",
    "role is Active(e) and (flag implies e > 1)",
    "role is Active(e) and (exists x in live: e > 1)",
    "(role is Active(e) and e > 1) or (role is Active(e) and e < 1)",
    "(role is Active(e) implies e > 1) and (role is Active(e) implies e < 3)",
    "{e for n in live if roles[n] is Active(e)} == {}",
    "forall n in live: roles[n] is Active(e) implies e > 1",
    "not (not (role is Active(e) and e > 1))",
]

HIDDEN = [
    "role is Active(e) or e > 1",
    "(role is Active(e) or flag) and e > 1",
    "not (role is Active(e)) and e > 1",
    "not (role is not Active) and role is Active(e) or e > 1",
    "not (not (role is Active(e))) and e > 1",
    "(role is Active(e) implies flag) and e > 1",
    "(flag implies role is Active(e)) and e > 1",
    "(if role is Active(e) then flag else e > 1)",
    "(if flag then role is Active(e) else flag) and e > 1",
    "(exists n in live: roles[n] is Active(e)) and e > 1",
    "(let q = 1: role is Active(e)) and e > 1",
    "{e for n in live if roles[n] is Active(e) or flag} == {}",
    "e > 1 and role is Active(e)",
    "(role is Active(e)) == true and e > 1",
]


@pytest.mark.parametrize("text", VISIBLE)
def test_a_pattern_variable_is_visible_where_the_match_is_certain(here: World, text: str) -> None:
    here.expression(text)
    assert here.messages == ""


@pytest.mark.parametrize("text", HIDDEN)
def test_a_pattern_variable_is_unknown_where_the_match_is_not_certain(here: World, text: str) -> None:
    here.expression(text)
    assert here.codes == ["E101"], here.messages


PRESENT = [
    "leader != none and leader in live",
    "none != leader and leader in live",
    "leader != none implies leader in live",
    "if leader != none then leader in live else flag",
    "if leader == none then flag else leader in live",
    "if none == leader then flag else leader in live",
    "not (leader == none) and leader in live",
    "not (leader == none) implies leader in live",
    "not (leader is none) and leader in live",
    "leader is some(v) and leader in live and v == leader",
    "leader is some(_) and leader in live",
    "leader is some and leader in live",
    "leader is not none and leader in live",
    "leader == none or leader in live",
    "flag or leader == none or leader in live",
    "leader is none or leader in live",
    "not (leader != none) or leader in live",
    "leader is not some(_) or leader in live",
    "not (leader == none or flag) and leader in live",
    "not (leader != none and flag) or leader in live",
    "if leader == none or flag then flag else leader in live",
    "leaders[node] != none and leaders[node] in live",
    "forall n in live: leaders[n] != none implies leaders[n] in live",
    "ballot != none and ballot.lead != none and ballot.lead in live",
    "ballot is some(v) and v.lead != none implies v.lead in live",
    "leader != none and leader != none and leader is some(v) and v in live",
    "leader != none and match leader {some(v) -> v in live, none -> false}",
    "leader != none and leader == node",
    "leader != none and (leader == none or flag)",
    "leader != none and known(leader)",
    "leader != none and leader in {n for n in live if n == leader}",
    "{leader for n in live if leader != none} <= live",
]

PERHAPS_ABSENT = [
    "leader in live",
    "(leader != none or flag) and leader in live",
    "leader == none and leader in live",
    "leader != none or leader in live",
    "(leader == none or flag) and leader in live",
    "(leader == none and flag) or leader in live",
    "leader in live or leader == none",
    "leader == none implies leader in live",
    "not (leader != none) and leader in live",
    "if leader == none then leader in live else flag",
    "if leader != none then flag else leader in live",
    "(leader != none implies flag) and leader in live",
    "(flag implies leader != none) and leader in live",
    "leaders[n1] != none and leaders[n2] in live",
    "not (leader == none and flag) and leader in live",
    "(forall n in live: leader != none) and leader in live",
    "leader is not some(_) and leader in live",
    "leader == node and leader in live",
    "(leader != none) == flag and leader in live",
    "known(leader) and leader in live",
]


@pytest.mark.parametrize("text", PRESENT)
def test_a_value_that_is_known_to_be_present_has_its_plain_type(here: World, text: str) -> None:
    here.expression(text)
    assert here.messages == ""


@pytest.mark.parametrize("text", PERHAPS_ABSENT)
def test_a_value_that_may_be_absent_keeps_its_optional_type(here: World, text: str) -> None:
    here.expression(text)
    assert here.codes == ["E201"], here.messages


def test_known_presence_does_not_hold_before_the_step(here: World) -> None:
    here.allowing(old=True).expression("leader != none implies old(leader) in live")
    assert here.codes == ["E201"]


def test_presence_before_the_step_is_known_of_the_old_value(here: World) -> None:
    expr = here.allowing(old=True).expression("old(leader) != none implies old(leader) in live")
    assert here.messages == ""
    assert any(isinstance(node, kernel.Unwrap) and isinstance(node.operand, kernel.Old) for node in nodes(expr))


def test_a_pattern_variable_keeps_its_value_inside_old(here: World) -> None:
    expr = here.allowing(old=True).expression("role is Active(e) implies old(epoch < e)")
    assert here.messages == ""
    assert isinstance(expr, kernel.Logic)
    fixed = expr.parts[1]
    assert isinstance(fixed, kernel.LetIn)
    assert isinstance(fixed.value, kernel.Payload)
    assert isinstance(fixed.body, kernel.Old)
    assert not any(isinstance(node, kernel.Payload) for node in nodes(fixed.body))


def test_a_pattern_variable_keeps_its_value_under_a_temporal_operator(here: World) -> None:
    expr = here.allowing(temporal=True).expression("role is Active(e) implies eventually epoch > e")
    assert here.messages == ""
    assert isinstance(expr, kernel.Logic)
    fixed = expr.parts[1]
    assert isinstance(fixed, kernel.LetIn)
    assert isinstance(fixed.body, kernel.Temporal)


def test_an_unused_pattern_variable_leaves_no_trace_in_another_moment(here: World) -> None:
    expr = here.allowing(temporal=True).expression("role is Active(e) and e > 1 implies eventually flag")
    assert isinstance(expr, kernel.Logic)
    assert isinstance(expr.parts[1], kernel.Temporal)


def test_presence_is_forgotten_under_a_temporal_operator(here: World) -> None:
    here.allowing(temporal=True).expression("leader != none implies always leader in live")
    assert here.codes == ["E201"]


def test_both_scopes_of_a_condition_are_given_to_what_follows(here: World) -> None:
    diagnostics = Diagnostics()
    found = elaborate_condition(here.syntax("role is Active(e) and leader != none"), here.scope, diagnostics, Fresh())
    assert found.expr.type == BOOL
    assert "e" in found.when_true.locals
    assert "e" not in found.when_false.locals
    assert len(found.when_true.narrowed) == 1
    assert not found.when_false.narrowed


def test_each_copy_of_a_matched_expression_binds_its_own_names(here: World) -> None:
    text = "leaders[first([x in queue if x != node])] is some(v) and v in live and v == node"
    expr = here.expression(text)
    assert here.messages == ""
    binders = [node.binder.name for node in nodes(expr) if isinstance(node, kernel.Filter)]
    assert len(binders) == len(set(binders)) == 3
    assert set(binders) == bound_names(expr)
