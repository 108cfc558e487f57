"""Every mistake in an expression has its code, and one mistake is reported once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from assay.grammar.diagnostics.codes_expressions import NAMES, TYPES
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text

if TYPE_CHECKING:
    from tests.unit.grammar.elaborate.conftest import World

ROWS = [
    ("nodde == node", "E101", "`nodde`"),
    ("left.ful", "E101", "`ful`"),
    ("coutn(live)", "E101", "`coutn`"),
    ("clash", "E102", "several modules"),
    ("Off", "E102", "Role and Lamp"),
    ("let q = Off: true", "E102", "Role and Lamp"),
    ("elect", "E103", "an action is not a value"),
    ("left", "E103", "a module is not a value"),
    ("majority", "E103", "a function is not a value"),
    ("right.size", "E103", "an array of instances"),
    ("right[node]", "E103", "an instance is not a value"),
    ("left[node].size", "E103", "is not an array"),
    ("elect(node, 1)", "E103", "an action cannot be called"),
    ("live(node)", "E103", "a state variable cannot be called"),
    ("vote.epoch(1)", "E103", "is called"),
    ("live.contains(node)", "E103", "write `x in S`"),
    ("forall node in live: true", "E104", "`node`"),
    ("forall a in live: exists a in live: true", "E104", "`a`"),
    ("let Node = 1: true", "E104", "`Node`"),
    ("{tick for tick in live}", "E104", "`tick`"),
    ("roles[n1] is Active(e) and roles[n2] is Active(e)", "E104", "`e`"),
    ("vote.vouter", "E105", "no field `vouter`"),
    ("digit.x", "E105", "0 .. 9 has no fields"),
    ("ballot.epoch", "E105", "Vote? has no fields"),
    ("vote with {vouter = node}", "E105", "no field"),
    ("broker == b1", "E106", "symmetric set Broker"),
    ("forever(1)", "E107", "`forever` calls itself with the same arguments"),
    ("ping(1)", "E107", "ping -> pong -> ping"),
    ("digit > MaxEpoch", "E110", "size parameter"),
    ("epoch in Epoch", "E110", "`action a(x: T)`"),
    ("limit() > 1", "E110", "inside the function called here"),
    ("old(digit) == digit", "E111", "`old`"),
    ("role is not Active(e)", "E112", "`e`"),
    ("_ == node", "E113", "`_`"),
    ("always flag", "E114", "`always`"),
    ("flag until flag", "E114", "`until`"),
    ("enabled(tick)", "E114", "`enabled`"),
    ("leader in live", "E201", "expected Node, found Node?"),
    ("not digit", "E201", "expected bool, found 0 .. 9"),
    ("digit and flag", "E201", "expected bool, found 0 .. 9"),
    ("if digit then 1 else 2", "E201", "expected bool, found 0 .. 9"),
    ("roles[digit]", "E201", "expected Node, found 0 .. 9"),
    ("log[node]", "E201", "expected int, found Node"),
    ("right[3].size", "E201", "expected Node, found int"),
    ("digit * node", "E201", "expected int, found Node"),
    ("Vote(node, flag, none)", "E201", "expected 0 .. 3, found bool"),
    ("Active(node)", "E201", "expected 0 .. 3, found Node"),
    ("majority(digits)", "E201", "expected set[Node], found set[0 .. 9]"),
    ("times(sack, 3)", "E201", "expected Node, found int"),
    ("none in live", "E201", "expected Node, found none"),
    ("role is some(v)", "E206", "Role has no variant some"),
    ("node == digit", "E202", "compares Node with 0 .. 9"),
    ("node == broker", "E202", "compares Node with Broker"),
    ("role == lamp", "E202", "compares Role with Lamp"),
    ("live == sack", "E202", "compares set[Node] with bag[Node, max 6]"),
    ("roles == owners", "E202", "map[Node, Role]"),
    ("{1, node}", "E202", "int and Node"),
    ("if flag then 1 else node", "E202", "int and Node"),
    ("live + sack", "E202", "written `bag{…}`"),
    ("live + digits", "E202", "set[Node] and set[0 .. 9]"),
    ("count(live) + true", "E202", "int and bool"),
    ("digit < node", "E202", "0 .. 9 with Node"),
    ("{n1 -> 3, 4 -> 5}", "E202", "Node and int"),
    ("flag < flag", "E203", "bool"),
    ("leader < leader", "E203", "Node?"),
    ("flag + flag", "E203", "bool"),
    ("log - log", "E203", "seq"),
    ("digit & digit", "E203", "`&`"),
    ("digit in node", "E203", "found Node"),
    ("node[1]", "E203", "Node has not"),
    ("live with {node -> 1}", "E203", "found set[Node]"),
    ("min(live)", "E203", "found set[Node]"),
    ("first(live)", "E203", "a sequence is wanted"),
    ("without(roles, node)", "E203", "a partial map is wanted"),
    ("count(node)", "E203", "found Node"),
    ("keys(live)", "E203", "a map is wanted"),
    ("values(live)", "E203", "a map is wanted"),
    ("times(live, node)", "E203", "a bag is wanted"),
    ("elements(live)", "E203", "a sequence or bag"),
    ("subsets(log)", "E203", "a set is wanted"),
    ("take(live, 1)", "E203", "a sequence is wanted"),
    ("none", "E204", "`none`"),
    ("let q = {}: true", "E204", "empty"),
    ("none == none", "E204", "neither side"),
    ("{} + {} == {}", "E204", "neither side"),
    ("{} <= {}", "E204", "neither side"),
    ("[b -> Off]", "E204", "keys"),
    ("count([])", "E204", "empty"),
    ("Vote(voter = node)", "E205", "lacks `epoch`, `lead`"),
    ("Vote(node, 1, none, 2)", "E205", "takes 3 arguments"),
    ("Vote(node, 1, voter = node)", "E205", "given twice"),
    ("Active(epoc = 1)", "E205", "no `epoc`"),
    ("{Active}", "E205", "Active(epoch)"),
    ("count(live, live)", "E205", "takes 1, 2 given"),
    ("count(S = live)", "E205", "no names"),
    ("majority()", "E205", "lacks `s`"),
    ("some(1, 2)", "E205", "one value"),
    ("Off(1) == role", "E205", "takes 0 arguments"),
    ("role is Actvie", "E206", "no variant Actvie"),
    ("role is Lit", "E206", "Role has no variant Lit"),
    ("role is Active(a, b)", "E206", "1 name to bind, 2 given"),
    ("leader is Active", "E206", "Node?"),
    ("digit is Active", "E206", "0 .. 9 has no variant"),
    ("leader is some(a, b)", "E206", "2 given"),
    ("leader is none(_)", "E206", "0 names to bind"),
    ("role is Active(7)", "E216", "`7` is not in 0 .. 3"),
    ("role is Active(true)", "E201", "found `true`"),
    ("role is Active(==node)", "E201", "found Node"),
    ("role is not Active(e)", "E112", "`is not` makes no match certain"),
    ("match role {Active(e) -> e, Off -> 0}", "E215", "no case for `Idle`"),
    ("match role {Active(1) -> 1, Off or Idle -> 0}", "E215", "no case for `Active(0)`"),
    ("match role {Active(==digit) -> 1, Off or Idle -> 0}", "E215", "no case for `Active(_)`"),
    ("match leader {some(_) -> 1}", "E215", "no case for `none`"),
    ("match digit {3 -> 1}", "E215", "no case for `0`"),
    ("match role {Active -> 1, Active(2) -> 2, Off or Idle -> 0}", "E216", "no value comes to this case"),
    ("match role {Active -> 1, Off or Idle -> 0, else -> 3}", "E216", "nothing is left for `else`"),
    ("match role {Active(e) or Off -> 1, Idle -> 0}", "E112", "bind nothing"),
    ("match role {Active -> 1, else -> node}", "E202", "the cases have different types"),
    ("broker < broker", "E207", "symmetric set Broker"),
    ("{x for x in subsets(Wide)} == {}", "E210", "go through as many as it takes"),
    ("{x in Huge if x > 2} == {}", "E210", "1,000,000"),
    ("exists x in {y in Huge if y > 2}: true", "E210", "1,000,000"),
    ("exists x in log: true", "E212", "found seq[0 .. 9, max 5]"),
    ("sum(x for x in log) > 0", "E212", "each once; `sum([e for x in s])`"),
    ("log and true", "E201", "write `… != []`"),
    ("live and true", "E201", "write `… != {}`"),
    ("exists x in owners: true", "E212", "found map[Node, 0 .. 9, max 3]"),
    ("[x for x in live]", "E212", "a sequence is wanted"),
    ("[x for x in Broker]", "E212", "a sequence is wanted"),
    ("[x in brokers if true]", "E212", "a sequence is wanted"),
    ("[x for x in log, y in log]", "E212", "one sequence"),
    ("forall b in node: true", "E212", "found Node"),
    ("(digit, node)[2] == 1", "E203", "[0] to [1]"),
    ("(digit, node).left == 1", "E105", "has no fields"),
    ("(digit, node) is (_, _, _)", "E206", "has 2 values, and the pattern 3 parts"),
    ("digit is (_, _)", "E206", "a pattern in parentheses is of a tuple"),
    ("(digit, node) == (node, digit)", "E202", "have no value in common"),
    ("(choose x in live if true) == node", "E217", "the same for all elements"),
    ("(fold n = 0 for x in Broker: n + 1) == 1", "E217", "ordered values"),
    ("bag{x for x in Broker} == {}", "E217", "`bag{… for …}`"),
    ("(fold n = 0 for x in 0 .. count(live): n + 1) == 1", "E217", "give the range fixed ends"),
    ("bag{x in live if x == node} == {}", "E212", "a bag is wanted here"),
    ("(forall x in sack: x == node)", "E212", "`bag{x in b if P}` keeps some"),
    ("count(s + s for s in live) == 1", "E203", "does not apply"),
    ("min(x for x in live) == 1", "E203", "an integer is wanted"),
    ("live == {least(x for x in live)}", "E217", "argument of sum"),
    ("argmin(x + y for x, y in Wide) == 1", "E217", "one set with one name"),
]


@pytest.mark.parametrize(("text", "code", "part"), ROWS)
def test_a_mistake_has_its_code_and_is_reported_once(here: World, text: str, code: str, part: str) -> None:
    here.expression(text)
    assert here.codes == [code], here.messages
    assert part in here.messages


PERMITTED = [
    ("digit > 1", {"state": False}, "E108"),
    ("secret > 1", {"ghost": False}, "E109"),
    ("peek() > 1", {"ghost": False}, "E109"),
    ("exists e in Epoch: e > 1", {"size": True}, "E211"),
    ("exists e in 0 .. MaxEpoch: e > 1", {"size": True}, "E211"),
    ("{e in Epoch if e > 1} == {}", {"size": True}, "E211"),
    ("[e in Epoch -> 1] == {}", {"size": True}, "E211"),
    ("old(old(digit)) == 1", {"old": True}, "E111"),
    ("old(digit, digit) == 1", {"old": True}, "E205"),
    ("count({x in live if always flag}) > 1", {"temporal": True}, "E114"),
    ("(always flag) == flag", {"temporal": True}, "E114"),
    ("if always flag then flag else flag", {"temporal": True}, "E114"),
    ("enabled(flag)", {"temporal": True}, "E103"),
    ("enabled(elect(1, 1))", {"temporal": True}, "E201"),
    ("enabled(elect(node))", {"temporal": True}, "E205"),
    ("enabled(tick, tick)", {"temporal": True}, "E205"),
]


@pytest.mark.parametrize(("text", "permissions", "code"), PERMITTED)
def test_what_a_place_does_not_allow_has_its_code(
    here: World, text: str, permissions: dict[str, bool], code: str
) -> None:
    here.allowing(**permissions).expression(text)
    assert here.codes == [code], here.messages


TYPE_ROWS = [
    ("3 .. 1", "E208"),
    ("0 .. count(live)", "E108"),
    ("0 .. 10 // 0", "E209"),
    ("0 .. node", "E108"),
    ("map[Epoch, Node]", "E211"),
    ("map[Vote, Node]", "E211"),
    ("map[Huge, Node]", "E210"),
    ("set[Node, max 0 - 1]", "E213"),
    ("digit", "E103"),
    ("Nod", "E101"),
    ("left.Sise", "E101"),
    ("seq[Nowhere, max 3]", "E101"),
]


@pytest.mark.parametrize(("text", "code"), TYPE_ROWS)
def test_a_mistake_in_a_type_has_its_code(here: World, text: str, code: str) -> None:
    here.type(text)
    assert here.codes == [code], here.messages


def test_each_code_of_names_and_types_is_met_by_some_test() -> None:
    met = {code for _, code, _ in ROWS} | {code for _, _, code in PERMITTED} | {code for _, code in TYPE_ROWS}
    elsewhere = {"E115", "E214", "E218"}
    assert {code.code for code in (*NAMES, *TYPES)} <= met | elsewhere


ADVICE = [
    ("live + node", "`{x}` is the set whose only element is x"),
    ("node + live", "`{x}` is the set whose only element is x"),
    ("log + digit", "`[x]` is the sequence whose only element is x"),
    ("sack + node", "`bag{x}` is the bag whose only element is x"),
    ("Role.Idle == role", "a variant is written without the name of its enum: `Idle`"),
    ("flag == True", "write `true`"),
    ("Len(log) == 1", "write `count(s)`"),
    ("leader == None", "write `none`"),
    ("[x for x in live]", "makes one of equal values"),
]


@pytest.mark.parametrize(("text", "advice"), ADVICE)
def test_a_mistake_of_a_beginner_comes_with_what_to_write(here: World, text: str, advice: str) -> None:
    here.expression(text)
    assert advice in here.messages


def test_a_start_that_depends_on_another_is_advised_to_be_chosen_first(here: World) -> None:
    here.allowing(state=False, initial=True).expression("digit > 1")
    assert here.codes == ["E108"]
    assert "`pick c in S`, then `digit := c`" in here.messages


def test_an_empty_map_that_must_be_total_is_advised_to_have_all_keys(here: World) -> None:
    here.expression("{}", "map[Node, bool]")
    assert here.codes == ["E201"]
    assert "has a value for every key" in here.messages


def test_no_advice_is_given_where_an_element_would_not_fit_either(here: World) -> None:
    here.expression("live + digit")
    assert "only element" not in here.messages


def test_several_mistakes_in_one_expression_are_all_reported(here: World) -> None:
    here.expression("nowhere == 1 and digit == node and not log and role is Lit and count() > 0")
    assert here.codes == ["E101", "E202", "E201", "E206", "E205"]


def test_a_variable_bound_over_a_mistaken_domain_is_no_second_mistake(here: World) -> None:
    here.expression("forall x in nowhere: x > 1 and x in live and x.f == roles[x]")
    assert here.codes == ["E101"]


def test_a_pattern_variable_of_a_mistaken_pattern_is_no_second_mistake(here: World) -> None:
    here.expression("role is Actvie(e) and e > 1")
    assert here.codes == ["E206"]


def test_a_mistake_in_a_function_is_reported_in_the_function_once(here: World) -> None:
    here.expression("broken(1) + broken(2)")
    assert here.codes == ["E101"]
    assert "functions.assay" in here.messages


def test_what_is_nested_too_deeply_is_an_error_and_no_traceback(here: World) -> None:
    here.expression(" + ".join(["digit"] * 180))
    assert set(here.codes) == {"E017"}


def test_a_misspelt_name_is_answered_with_the_one_that_was_meant(here: World) -> None:
    here.expression("majorty(live)")
    assert "did you mean `majority`?" in here.messages


def test_an_optional_value_is_answered_with_how_to_test_it(here: World) -> None:
    here.expression("leader in live")
    assert "is some(v)" in here.messages


def test_mismatches_inside_a_display_are_reported_at_the_items(here: World) -> None:
    here.expression("{1, 2}", "set[Node]")
    assert [(d.code, d.span.column) for d in here.diagnostics] == [("E201", 2), ("E201", 5)]


@pytest.mark.parametrize(
    ("update", "note"),
    [("b := {n1}", "`bag{x for x in S}`"), ("s := b", "`elements(…)`")],
)
def test_a_collection_of_another_kind_is_met_with_how_to_make_one(update: str, note: str) -> None:
    state = "state:\n    b: bag[N, max 2] = {}\n    s: set[N] = {}\n"
    with pytest.raises(SpecError) as caught:
        load_text(f"module kinds\nparam N: set = 2\n{state}action a:\n    {update}\n")
    assert note in " ".join(each.message for each in caught.value.diagnostics[0].notes)
