"""What expressions become in the kernel: conversions, checks of ranges, calls, unique names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.elaborate.expressions.dispatch import (
    action_reference,
    as_place,
    check_definition,
    context,
    elaborate_domain,
    elaborate_expression,
)
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.rewrite import nodes
from assay.grammar.elaborate.scopes.scope import FunctionEntity, ValueEntity
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.kernel.types import INT, RangeType, SetType, Type

if TYPE_CHECKING:
    from tests.unit.grammar.elaborate.conftest import World


def argument(here: World, text: str, expected: Type) -> kernel.Expr:
    """An expression as a value that is passed on."""
    made = context(here.scope, here.diagnostics, Fresh()).attempt(here.syntax(text), expected)
    return convert(made, expected, here.diagnostics, put=True)


def count(expr: kernel.Node, kind: type[kernel.Node]) -> int:
    return sum(isinstance(node, kind) for node in nodes(expr))


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        ("Active(epoch)", 0),
        ("Active(3)", 0),
        ("Active(4)", 1),
        ("Active(epoch + 1)", 1),
        ("Active(digit)", 1),
        ("Lit(node, epoch)", 0),
        ("Vote(node, epoch + 1, node)", 1),
        ("vote with {epoch = epoch + 1}", 1),
        ("vote with {epoch = epoch}", 0),
        ("maybe == digit + 1", 0),
        ("digit + 1 in digits", 0),
        ("{digit + 1} == digits", 0),
        ("next_digit(digit + 1) == 3", 0),
        ("owners with {node -> digit + 1}", 0),
        ("roles with {node -> Active(epoch + 1)}", 1),
        ("digits - {digit + 1}", 0),
    ],
)
def test_ranges_are_checked_only_where_a_value_becomes_part_of_another(here: World, text: str, checks: int) -> None:
    expr = here.expression(text)
    assert here.messages == ""
    assert count(expr, kernel.Checked) == checks


@pytest.mark.parametrize(("text", "checks"), [("digit", 0), ("3", 0), ("10", 1), ("digit + 1", 1), ("-1", 1)])
def test_an_argument_is_checked_unless_it_lies_in_the_range(here: World, text: str, checks: int) -> None:
    expr = argument(here, text, RangeType(0, 9))
    assert count(expr, kernel.Checked) == checks
    assert expr.type == RangeType(0, 9)


def test_a_set_of_integers_is_checked_as_a_whole(here: World) -> None:
    expr = argument(here, "{x + 1 for x in digits}", SetType(RangeType(0, 9)))
    assert isinstance(expr, kernel.Checked)


def test_what_is_stored_is_left_for_the_assignment_to_check(here: World) -> None:
    expr = here.expression("digit + 1", "Digit")
    assert isinstance(expr, kernel.Arithmetic)


def test_a_plain_value_becomes_present_where_an_optional_one_is_wanted(here: World) -> None:
    expr = here.expression("leader == node")
    assert isinstance(expr, kernel.Equal)
    assert isinstance(expr.right, kernel.MakeSome)
    expr = here.expression("digit + 1", "Digit?")
    assert isinstance(expr, kernel.MakeSome)
    assert isinstance(expr.operand, kernel.Checked)


def test_a_value_that_was_shown_to_be_present_is_passed_on_as_it_is(here: World) -> None:
    expr = here.expression("leader != none and leader == leaders[node]")
    assert isinstance(expr, kernel.Logic)
    equal = expr.parts[1]
    assert isinstance(equal, kernel.Equal)
    assert isinstance(equal.left, kernel.StateVar)


def test_none_and_empty_displays_have_their_final_type(here: World) -> None:
    expr = here.expression(
        "leader == none and live == {} and owners == {} and sack == {} and if flag then leader == none else {none} == {leader}"
    )
    assert here.messages == ""
    assert count(expr, kernel.MakeMap) == count(expr, kernel.MakeBag) == 1
    assert all("Unknown" not in repr(node) for node in nodes(expr))


def test_nested_connectives_become_one_list_of_parts(here: World) -> None:
    expr = here.expression("flag and digit > 1 and (node in live and epoch < 2)")
    assert isinstance(expr, kernel.Logic)
    assert len(expr.parts) == 4


def test_implication_leans_to_the_right(here: World) -> None:
    expr = here.expression("flag implies digit > 1 implies epoch > 1")
    assert isinstance(expr, kernel.Logic)
    assert isinstance(expr.parts[1], kernel.Logic)


def test_each_binder_has_a_name_of_its_own(here: World) -> None:
    expr = here.expression(
        "(forall x in live: x == node) and (exists x, y in live: x != y) and majority(live) and majority({})"
    )
    names = [node.binder.name for node in nodes(expr) if isinstance(node, kernel.Quantified | kernel.LetIn)]
    assert sorted(names) == ["s", "s'2", "x", "x'2", "y"]


def test_a_call_binds_each_argument_around_the_body(here: World) -> None:
    expr = here.expression("twice(digit + 1)")
    assert isinstance(expr, kernel.LetIn)
    assert isinstance(expr.value, kernel.Arithmetic)
    assert isinstance(expr.body, kernel.Arithmetic)
    assert expr.binder.type == INT


def test_a_parameter_has_its_declared_type_only_where_the_argument_surely_has_it(here: World) -> None:
    inside, outside = here.expression("next_digit(epoch)"), here.expression("next_digit(digit + 1)")
    assert isinstance(inside, kernel.LetIn)
    assert isinstance(outside, kernel.LetIn)
    assert inside.binder.type == RangeType(0, 9)
    assert outside.binder.type == INT


def test_a_variable_named_like_a_built_in_function_does_not_hide_it(here: World) -> None:
    scope = here.scope.bind("count", ValueEntity(kernel.Const(INT, 3), Span("x", 1, 1, 1, 2)))
    expr = elaborate_expression(here.syntax("count(live) + count"), scope, here.diagnostics, Fresh())
    assert here.messages == ""
    assert isinstance(expr, kernel.Arithmetic)
    assert isinstance(expr.left, kernel.Count)
    assert isinstance(expr.right, kernel.Const)


def test_a_greater_set_is_a_subset_with_its_sides_exchanged(here: World) -> None:
    expr = here.expression("live > {node}")
    assert isinstance(expr, kernel.Subset)
    assert expr.strict
    assert isinstance(expr.left, kernel.MakeSet)


def test_an_instance_of_an_array_is_read_at_its_index(here: World) -> None:
    expr = here.expression("right[node].size")
    assert isinstance(expr, kernel.Lookup)
    assert expr.key == here.expression("node")


def test_actions_in_formulas_carry_index_arguments_and_open_arguments(here: World) -> None:
    expr = here.allowing(temporal=True).expression(
        "enabled(elect(node, _)) and occurs(right[node].send(3)) and occurs(right[other].send) and occurs(tick)"
    )
    assert here.messages == ""
    atoms = (
        [node for node in expr.parts if isinstance(node, kernel.ActionAtom)] if isinstance(expr, kernel.Logic) else []
    )
    assert [atom.action for atom in atoms] == ["elect", "right.send", "right.send", "tick"]
    assert [None if atom.arguments is None else len(atom.arguments) for atom in atoms] == [2, 2, 2, None]
    assert atoms[0].arguments is not None
    assert atoms[0].arguments[1] is None


def test_an_action_is_referred_to_with_checked_arguments(here: World) -> None:
    found = action_reference(here.syntax("elect(d = digit + 1, n = n1)"), here.scope, here.diagnostics, Fresh())
    assert found is not None
    assert found.arguments is not None
    assert isinstance(found.arguments[0], kernel.Const)
    assert isinstance(found.arguments[1], kernel.Checked)


def test_elements_of_symmetric_sets_are_named_where_that_is_allowed(here: World) -> None:
    expr = here.allowing(name_symmetric=True).expression("broker == b1")
    assert here.messages == ""
    assert isinstance(expr, kernel.Equal)


def test_a_place_is_a_variable_with_the_way_to_a_part_of_it(here: World) -> None:
    whole = as_place(here.syntax("digit"), here.scope, here.diagnostics, Fresh())
    entry = as_place(here.syntax("owners[node]"), here.scope, here.diagnostics, Fresh())
    field = as_place(here.syntax("vote.epoch"), here.scope, here.diagnostics, Fresh())
    element = as_place(here.syntax("log[digit + 1]"), here.scope, here.diagnostics, Fresh())
    assert here.messages == ""
    assert whole is not None and entry is not None and field is not None and element is not None  # noqa: PT018
    assert (whole.path, whole.type) == ((), RangeType(0, 9))
    assert isinstance(entry.path[0], kernel.AtKey)
    assert field.path == (kernel.AtField(1),)
    assert element.type == RangeType(0, 9)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("node", None),
        ("Fence", "E407"),
        ("left.size", "E406"),
        ("borrowed", "E406"),
        ("nodde", "E101"),
        ("digit[1]", "E203"),
        ("vote.nothing", "E105"),
        ("leader.x", "E105"),
        ("roles[digit]", "E201"),
        ("count(live)", "E021"),
    ],
)
def test_what_cannot_be_assigned_to_has_its_code(here: World, text: str, code: str | None) -> None:
    found = as_place(here.syntax(text), here.scope, here.diagnostics, Fresh())
    assert here.codes == ([] if code is None else [code])
    assert (found is None) == (code is not None)


def test_a_domain_comes_with_the_type_of_its_elements(here: World) -> None:
    domain, item = elaborate_domain(here.syntax("digits - {1}"), here.scope, here.diagnostics, Fresh())
    assert isinstance(domain, kernel.Combine)
    assert item == RangeType(0, 9)


def test_a_function_that_nobody_calls_is_checked_too(here: World) -> None:
    broken = here.scope.own["broken"]
    assert isinstance(broken, FunctionEntity)
    check_definition(broken, here.diagnostics)
    assert here.codes == ["E101"]


def test_a_function_without_mistakes_passes_its_check(here: World) -> None:
    for name in ("majority", "next_digit", "owner", "twice", "known", "peek", "limit"):
        function = here.scope.own[name]
        assert isinstance(function, FunctionEntity)
        check_definition(function, here.diagnostics)
    assert here.messages == ""
