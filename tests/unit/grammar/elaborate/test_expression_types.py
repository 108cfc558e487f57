"""Every form of expression has the type that the language reference gives it, printed in the language's notation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.grammar import kernel
from assay.grammar.elaborate.scopes.rewrite import nodes
from assay.grammar.elaborate.scopes.type_relations import type_text

if TYPE_CHECKING:
    from tests.unit.grammar.elaborate.conftest import World

LITERALS = [
    ("3", "int"),
    ("true", "bool"),
    ("n1", "Node"),
    ("-3", "int"),
    ("-digit", "int"),
    ("flag", "bool"),
    ("digit", "0 .. 9"),
    ("borrowed", "bool"),
    ("Fence", "bool"),
    ("N", "4 .. 4"),
    ("Node", "set[Node]"),
    ("Digit", "set[0 .. 9]"),
]

LOGIC = [
    ("flag and not flag or flag implies flag", "bool"),
    ("if flag then digit else 3", "int"),
    ("if flag then digit else digit", "0 .. 9"),
    ("if flag then none else if flag then node else none", "Node?"),
    ("if flag then {} else live", "set[Node]"),
    ("let q = digit + 1: q * 2", "int"),
    ("let q = digit: let r = q: r == q", "bool"),
    ("forall a, b in Node: a != b implies roles[a] != roles[b]", "bool"),
    ("exists a in live, b in live - {a}: leaders[a] == b", "bool"),
    ("exists q in subsets(live): count(q) > 1", "bool"),
]

COMPARISON = [
    ("digit == 3", "bool"),
    ("digit == epoch", "bool"),
    ("leader == node", "bool"),
    ("node == leader", "bool"),
    ("leader == none", "bool"),
    ("none != leader", "bool"),
    ("maybe == digit + 1", "bool"),
    ("Off == role", "bool"),
    ("lamp == Off", "bool"),
    ("role == Active(3)", "bool"),
    ("{} == live", "bool"),
    ("live == {}", "bool"),
    ("owners == {}", "bool"),
    ("sack == {}", "bool"),
    ("log == []", "bool"),
    ("[n -> Off] == roles", "bool"),
    ("owners == {n1 -> 3}", "bool"),
    ("log == [1, 2]", "bool"),
    ("digits == {digit + 1}", "bool"),
    ("broker == broker", "bool"),
    ("node < other", "bool"),
    ("digit <= 2 * digit", "bool"),
    ("live <= Node", "bool"),
    ("sack > bag{node}", "bool"),
    ("node in live", "bool"),
    ("node not in sack", "bool"),
    ("node in owners", "bool"),
    ("11 in log", "bool"),
    ("node in {leader, none}", "bool"),
    ("digit in 0 .. N", "bool"),
    ("Off in {role}", "bool"),
    ("{node} in subsets(live)", "bool"),
]

PATTERNS = [
    ("role is Active", "bool"),
    ("role is Off and lamp is Off", "bool"),
    ("role is Active(_)", "bool"),
    ("role is not Active(_)", "bool"),
    ("role is Active(e) and e > 1", "bool"),
    ("lamp is Lit(n, d) implies n in live and d > 1", "bool"),
    ("leader is some(v) and v in live", "bool"),
    ("leader is none", "bool"),
    ("leader is some", "bool"),
    ("ballot is some(v) and v.lead is some(w) and w == v.voter", "bool"),
]

COLLECTIONS = [
    ("{node, other}", "set[Node]"),
    ("{3, digit}", "set[int]"),
    ("{none, node}", "set[Node?]"),
    ("{digit}", "set[0 .. 9]"),
    ("{{}, live}", "set[set[Node]]"),
    ("[node]", "seq[Node]"),
    ("bag{node, node}", "bag[Node]"),
    ("{x in live if roles[x] is Active}", "set[Node]"),
    ("{x + 1 for x in digits}", "set[int]"),
    ("{roles[x] for x in live}", "set[Role]"),
    ("{e for n in live if roles[n] is Active(e)}", "set[0 .. 3]"),
    ("{x for x, y in live, d in digits if x != y and d > 1}", "set[Node]"),
    ("[x + 1 for x in log if x > 2]", "seq[int]"),
    ("[x in log if x > 3]", "seq[0 .. 9, max 5]"),
    ("[b in Node -> 0]", "map[Node, int]"),
    ("[b in live -> digit]", "map[Node, 0 .. 9, max n]"),
    ("{n1 -> 3}", "map[Node, int, max n]"),
    ("0 .. 3", "set[0 .. 3]"),
    ("0 .. digit", "set[int]"),
    ("live + {node}", "set[Node]"),
    ("live - {node}", "set[Node]"),
    ("sent + {vote}", "set[Vote]"),
    ("sent - {vote}", "set[Vote, max 4]"),
    ("sent & {vote}", "set[Vote, max 4]"),
    ("log + [digit]", "seq[0 .. 9]"),
    ("bag{node} + sack", "bag[Node]"),
    ("sack - bag{node}", "bag[Node, max 6]"),
    ("{} + live", "set[Node]"),
    ("log + []", "seq[0 .. 9]"),
    ("{(if flag then none else node)}", "set[Node?]"),
]

FUNCTIONS = [
    ("count(live) + count(log) + count(sack) + count(owners)", "int"),
    ("times(sack, node)", "int"),
    ("keys(owners)", "set[Node]"),
    ("values(roles)", "set[Role]"),
    ("without(owners, node)", "map[Node, 0 .. 9, max 3]"),
    ("min(digits)", "0 .. 9"),
    ("max(log)", "0 .. 9"),
    ("sum(purse)", "int"),
    ("first(queue)", "Node"),
    ("last(log)", "0 .. 9"),
    ("take(log, 2)", "seq[0 .. 9, max 5]"),
    ("drop(log, digit)", "seq[0 .. 9, max 5]"),
    ("elements(sack)", "set[Node]"),
    ("elements(queue)", "set[Node]"),
    ("subsets(live)", "set[set[Node]]"),
    ("some(digit)", "0 .. 9?"),
    ("majority(live)", "bool"),
    ("next_digit(digit)", "int"),
    ("owner(node)", "Node?"),
    ("owner(n = node)", "Node?"),
    ("known(node) and known(leader) and known(none)", "bool"),
    ("twice(twice(2))", "int"),
    ("majority({})", "bool"),
]

ACCESS = [
    ("vote.epoch", "0 .. 3"),
    ("roles[node]", "Role"),
    ("owners[node]", "0 .. 9"),
    ("log[0]", "0 .. 9"),
    ("vote with {epoch = 2, lead = node}", "Vote"),
    ("owners with {node -> 3}", "map[Node, 0 .. 9, max n]"),
    ("owners with {node -> digit + 1}", "map[Node, int, max n]"),
    ("roles with {node -> Off}", "map[Node, Role]"),
    ("log with {0 -> 5}", "seq[0 .. 9, max 5]"),
    ("Vote(node, 1, node)", "Vote"),
    ("Vote(epoch = epoch + 1, voter = node, lead = none)", "Vote"),
    ("Active(3)", "Role"),
    ("Active(epoch = epoch + 1)", "Role"),
    ("left.full", "bool"),
    ("left.Size", "set[0 .. 9]"),
    ("right[node].size + 1", "int"),
    ("right[first([x in queue if x != node])].full", "bool"),
]

EVERY = [*LITERALS, *LOGIC, *COMPARISON, *PATTERNS, *COLLECTIONS, *FUNCTIONS, *ACCESS]


@pytest.mark.parametrize(("text", "expected"), EVERY)
def test_the_type_of_an_expression_is_the_documented_one(here: World, text: str, expected: str) -> None:
    expr = here.expression(text)
    assert here.messages == ""
    assert type_text(expr.type) == expected
    names = [binder.name for node in nodes(expr) if isinstance(binder := getattr(node, "binder", None), kernel.Local)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("none", "Node?"),
        ("node", "Node?"),
        ("digit + 1", "0 .. 3?"),
        ("some(digit)", "0 .. 3?"),
        ("{}", "set[Node]"),
        ("{}", "bag[Node, max 3]"),
        ("{}", "map[Node, Digit, max 2]"),
        ("{}", "set[Node]?"),
        ("[]", "seq[Node, max 2]"),
        ("bag{}", "bag[Node, max 2]"),
        ("{none}", "set[Node?]"),
        ("{node, other}", "set[Node?]"),
        ("[b -> Off]", "map[Node, Role]"),
        ("[b -> Off]", "map[Node, Lamp]"),
        ("[b -> none]", "map[Node, Node?]"),
        ("[b -> [c -> {}]]", "map[Node, map[Node, set[Digit]]]"),
        ("[b -> 0]", "map[Node, Digit, max 3]"),
        ("[b in Node -> 0]", "map[Node, Digit, max 3]"),
        ("if flag then [b in Node -> 0] else {}", "map[Node, Digit, max 3]"),
        ("Off", "Lamp"),
        ("Off", "Role?"),
        ("if flag then Off else Idle", "Role"),
        ("let q = 1: none", "Node?"),
        ("if flag then none else none", "Node?"),
        ("{Off}", "set[Lamp]"),
        ("{n1 -> none}", "map[Node, Node?, max 2]"),
    ],
)
def test_what_is_open_takes_the_type_that_the_place_wants(here: World, text: str, expected: str) -> None:
    wanted = here.type(expected)
    expr = here.expression(text, expected)
    assert here.messages == ""
    shown, asked = type_text(expr.type), type_text(wanted)
    assert shown.split(", max")[0].rstrip("]?") == asked.split(", max")[0].rstrip("]?")
