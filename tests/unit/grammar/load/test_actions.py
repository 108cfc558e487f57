"""Actions: guards see what those before them made certain; each place is assigned once; ghosts stay unread; labels are unique."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.checker.reference.bfs import Search
from assay.grammar import kernel
from assay.grammar.kernel.types import RangeType, SetType
from assay.grammar.load import UnusableSpecError, load_text

KernelOf = Callable[..., kernel.Kernel]
ErrorsOf = Callable[..., list[str]]
CodesOf = Callable[..., list[str]]
SearchOf = Callable[[kernel.Kernel], Search]

STATE = """module top
param Broker: set = 3
enum Role: Idle, Active(epoch: 0 .. 3)
record Pair: left: 0 .. 3, right: 0 .. 3
state:
    x: 0 .. 3 = 0
    up: set[Broker] = {}
    role: map[Broker, Role] = [b -> Idle]
    pair: Pair = Pair(0, 0)
    pairs: map[Broker, Pair] = [b -> Pair(0, 0)]
    ghost seen: 0 .. 3 = 0
"""


def body(codes_of: CodesOf, *lines: str) -> list[str]:
    """The codes of an action with these lines."""
    return codes_of(STATE + "action a(b: Broker, c: Broker):\n" + "".join(f"    {line}\n" for line in lines))


@pytest.mark.parametrize(
    "lines",
    [
        ("x := 1", "x := 2"),
        ("role[b] := Idle", "role := [q -> Idle]"),
        ("role := [q -> Idle]", "role[b] := Idle"),
        ("role[b] := Idle", "role[b] := Active(1)"),
        ("pair.left := 1", "pair.left := 2"),
        ("pairs[b].left := 1", "pairs[b] := Pair(0, 1)"),
        ("if b in up:", "    x := 1", "x := 2"),
        ("if b in up:", "    x := 1", "    x := 2"),
        ("if b in up:", "    role[b] := Idle", "else:", "    x := 1", "x := 2"),
        ("if b in up:", "    role[b] := Idle", "else:", "    x := 1", "    x := 2"),
        ("for q in up:", "    x := 1"),
    ],
)
def test_a_place_assigned_twice_is_reported(codes_of: CodesOf, lines: tuple[str, ...]) -> None:
    assert body(codes_of, *lines) == ["E404"]


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        (("when enabled(circle)", "x := 1"), ["E114"]),
        (("x := if enabled(circle) then 1 else 0",), ["E114"]),
        (("if enabled(circle):", "    seen := 1", "    x := 1"), ["E114"]),
        (("seen := if enabled(plain) then 1 else 0",), []),
        (("if enabled(plain):", "    seen := 1", "x := 2"), []),
        (("seen := if enabled(asking) then 1 else 0",), ["E415"]),
        (("seen := if enabled(circle) then 1 else 0",), ["E415"]),
    ],
)
def test_ghosts_alone_may_depend_on_what_is_enabled(
    codes_of: CodesOf, lines: tuple[str, ...], codes: list[str]
) -> None:
    others = "action circle:\n    seen := if enabled(asking) then 1 else 0\naction plain:\n    x := 0\naction asking:\n"
    assert codes_of(STATE + others + "".join(f"    {line}\n" for line in lines)) == codes


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (("when new(x) == 2", "x := 1"), "E111"),
        (("x := new(x)",), "E414"),
        (("x := new(pair.left)", "pair.left := 1"), "E414"),
        (("pair.left := 1", "x := new(pair.left)", "pair.right := 1"), "E414"),
        (("pair.left := 1", "pairs[b].left := new(pair.left - x)", "x := 1"), "E414"),
        (("for q in Broker:", "    role[q] := if new(role[b]) == Idle then Idle else Idle"), "E414"),
        (
            ("for q in Broker:", "    role[q] := Idle", "    pairs[q].left := if new(role[b]) == Idle then 0 else 1"),
            "E414",
        ),
        (("x := 1", "pair.left := new(x, x)"), "E205"),
        (("x := 1", "pair.left := new(new(x))"), "E111"),
        (("x := 1", "pair.left := new(seen)"), "E109"),
    ],
)
def test_a_next_value_that_no_line_above_says_is_reported(codes_of: CodesOf, lines: tuple[str, ...], code: str) -> None:
    assert body(codes_of, *lines)[:1] == [code]


@pytest.mark.parametrize(
    "lines",
    [
        ("if b in up:", "    x := 1", "elif c in up:", "    x := 2", "else:", "    x := 3"),
        ("role[b] := Idle", "role[c] := Active(1)"),
        ("pair.left := 1", "pair.right := 2"),
        ("pairs[b].left := 1", "pairs[b].right := 2", "pairs[c].left := 3"),
        ("for q in up:", "    role[q] := Idle"),
        ("if b in up:", "    for q in up:", "        pairs[q].left := 1", "else:", "    pairs := [q -> Pair(1, 1)]"),
    ],
)
def test_different_places_and_exclusive_branches_may_be_assigned(codes_of: CodesOf, lines: tuple[str, ...]) -> None:
    assert body(codes_of, *lines) == []


@pytest.mark.parametrize(
    "lines",
    [
        ("x := 1", "when b in up"),
        ("x := 1", "pick d in up"),
        ("if b in up:", "    when c in up"),
        ("for q in up:", "    pick d in up"),
    ],
)
def test_guards_and_picks_stand_before_the_updates(codes_of: CodesOf, lines: tuple[str, ...]) -> None:
    assert body(codes_of, *lines)[:1] == ["E405"]


def test_what_a_pick_in_the_wrong_place_binds_is_known_afterwards(codes_of: CodesOf) -> None:
    assert body(codes_of, "if b in up:", "    pick d in up", "    role[d] := Idle") == ["E405"]
    assert body(codes_of, "for q in up:", "    pick d in up", "    when role[d] is Idle", "    role[q] := role[d]") == [
        "E405",
        "E405",
    ]


def test_where_a_pick_stands_in_a_loop_another_form_is_named() -> None:
    with pytest.raises(UnusableSpecError, match="picked at once: `pick c in Choice`"):
        load_text(
            "state:\n    s: map[bool, bool]\ninit:\n    for m in bool:\n        pick v in bool\n        s[m] := v\n"
        )


@pytest.mark.parametrize(
    ("line", "code"),
    [("b := c", "E407"), ("Broker := up", "E407"), ("Idle := x", "E407"), ("y := 1", "E101"), ("x := b", "E201")],
)
def test_only_variables_are_assigned(codes_of: CodesOf, line: str, code: str) -> None:
    assert body(codes_of, line)[:1] == [code]


@pytest.mark.parametrize("value", ["none", "{}", "[]"])
def test_an_unknown_name_is_the_one_mistake_of_its_assignment(codes_of: CodesOf, value: str) -> None:
    assert body(codes_of, f"y := {value}") == ["E101"]


@pytest.mark.parametrize("line", ["x = 1", "x == 1"])
def test_the_wrong_sign_of_assignment_is_reported(codes_of: CodesOf, line: str) -> None:
    assert body(codes_of, line) == ["E003"]


def test_a_variable_of_a_used_module_is_not_assigned(codes_of: CodesOf) -> None:
    used = "module used\nstate:\n    y: bool = true\n"
    for target in ("y", "used.y"):
        assert codes_of(f"module top\nuse used\naction a:\n    {target} := false\n", modules={"used": used}) == ["E406"]


@pytest.mark.parametrize(
    "lines",
    [
        ("when seen == 0", "x := 1"),
        ("bound seen < 3", "x := 1"),
        ("x := seen",),
        ("role[b] := Active(seen)",),
        ("let s = seen", "x := s"),
        ("pick v in 0 .. seen", "x := v"),
        ("if seen == 0:", "    x := 1"),
    ],
)
def test_ghosts_are_read_by_nothing_that_matters(codes_of: CodesOf, lines: tuple[str, ...]) -> None:
    assert body(codes_of, *lines)[:1] == ["E109"]


@pytest.mark.parametrize(
    "lines", [("seen := x",), ("seen := if seen < 3 then seen + 1 else seen",), ("if seen < 3:", "    seen := 3")]
)
def test_ghosts_are_written_and_read_for_ghosts(codes_of: CodesOf, lines: tuple[str, ...]) -> None:
    assert body(codes_of, *lines) == []


def test_ghosts_are_read_by_properties(codes_of: CodesOf) -> None:
    assert codes_of(STATE + "invariant i: seen <= 3\n") == []


def test_a_label_is_given_once_in_an_action(codes_of: CodesOf) -> None:
    assert body(codes_of, "when live: b in up", "bound live: x < 3") == ["E403"]
    text = STATE + "action one:\n    when live: x == 0\naction two:\n    when live: x == 1\n"
    assert codes_of(text) == []


def test_lines_without_label_are_called_after_their_place(kernel_of: KernelOf) -> None:
    made = kernel_of(STATE + "action a:\n    when x == 0\n    x := 1\n", file="specs/top.assay").action("a")
    guard, assign = made.body
    assert isinstance(guard, kernel.Guard)
    assert isinstance(assign, kernel.Assign)
    assert (guard.label, assign.label) == ("top.assay:13", "top.assay:14")


def test_what_a_guard_matches_is_in_scope_in_all_later_lines(codes_of: CodesOf) -> None:
    lines = ("when role[b] is Active(e)", "when e > 0", "bound e < 3", "let f = e", "x := f", "role[b] := Active(e)")
    assert body(codes_of, *lines) == []


def test_a_value_known_to_be_present_is_matched_as_optional_or_as_present_in_all_cases(codes_of: CodesOf) -> None:
    text = "enum Role: Idle, Active(n: 0 .. 3)\nstate:\n    r: Role? = none\n    x: 0 .. 3 = 0\naction a:\n    when r != none\n"
    optional = "    match r:\n        some(Active(n)): x := n\n        some(_): x := 1\n        none: x := 0\n"
    assert codes_of(text + optional) == []
    assert codes_of(text + "    match r:\n        Active(n): x := n\n        Idle: x := 1\n") == []
    assert codes_of(text + "    match r:\n        some(Active(n)): x := n\n        Idle: x := 1\n") == ["E206"]


def test_variants_may_be_called_as_the_patterns_of_optional_values(codes_of: CodesOf) -> None:
    text = "enum E: `none`, some(n: 0 .. 3)\nstate:\n    e: E = some(2)\n    x: 0 .. 3 = 0\naction a:\n"
    assert codes_of(text + "    when e is some(n)\n    x := n\n    e := `none`\n") == []
    assert codes_of(text + "    match e:\n        some(n): x := n\n        `none`: x := 1\n") == []
    assert codes_of(text + "    match e:\n        some(n): x := n\n") == ["E215"]


def test_what_an_if_matches_is_in_scope_in_its_branch_alone(codes_of: CodesOf) -> None:
    assert body(codes_of, "if role[b] is Active(e):", "    x := e", "else:", "    x := 0") == []
    assert body(codes_of, "if role[b] is Active(e):", "    x := 0", "else:", "    x := e") == ["E101"]


@pytest.mark.parametrize("lines", [("let b = 1", "x := b"), ("pick x in up",), ("for c in up:", "    role[c] := Idle")])
def test_names_do_not_hide_each_other(codes_of: CodesOf, lines: tuple[str, ...]) -> None:
    assert "E104" in body(codes_of, *lines)


def test_parameters_range_over_types_and_constant_sets(kernel_of: KernelOf) -> None:
    made = kernel_of(STATE + "action a(n: 0 .. 2, m in {1, 3}):\n    x := n\n").action("a")
    first, second = made.parameters
    assert first.domain == kernel.TypeDomain(SetType(RangeType(0, 2)), RangeType(0, 2))
    assert isinstance(second.domain, kernel.MakeSet)


@pytest.mark.parametrize(
    ("parameter", "code"),
    [
        ("n: int", "E401"),
        ("n in up", "E108"),
        ("n in x", "E212"),
        ("n: 0 .. 100000000", "E210"),
        ("n: Nothing", "E101"),
    ],
)
def test_parameters_range_over_nothing_else(codes_of: CodesOf, parameter: str, code: str) -> None:
    assert code in codes_of(STATE + f"action a({parameter}):\n    x := 1\n")


def test_a_parameter_over_state_is_told_to_be_picked() -> None:
    text = STATE + "action a(m in {b in up if b in up}):\n    x := 1\n"
    with pytest.raises(UnusableSpecError) as error:
        load_text(text)
    found = next(each for each in error.value.diagnostics if each.code == "E108")
    assert "reads the state variable `up`" in found.message
    assert [note.message for note in found.notes] == ["choose in the action instead: `pick m in …`"]


def test_size_parameters_occur_in_bounds_and_nowhere_else_in_an_action(codes_of: CodesOf) -> None:
    text = "module top\nsize param N: int = 3\nstate:\n    x: 0 .. N = 0\naction a:\n    {} x < N\n    x := x + 1\n"
    assert codes_of(text.format("bound")) == []
    assert codes_of(text.format("when")) == ["E110"]


@pytest.mark.parametrize(("head", "fairness"), [("fair", (False, ())), ("strong fair per b", (True, ("b",)))])
def test_fairness_is_kept(kernel_of: KernelOf, head: str, fairness: tuple[bool, tuple[str, ...]]) -> None:
    found = kernel_of(STATE + f"action a(b: Broker) {head}:\n    x := 1\n").action("a").fairness
    assert found is not None
    assert (found.strong, found.per) == fairness


@pytest.mark.parametrize("per", ["q", "b, b"])
def test_fairness_names_parameters_once(codes_of: CodesOf, per: str) -> None:
    assert codes_of(STATE + f"action a(b: Broker) fair per {per}:\n    x := 1\n") == ["E408"]


def test_picks_and_branches_do_what_they_say(kernel_of: KernelOf, search: SearchOf) -> None:
    text = (
        STATE
        + "action a(b: Broker):\n    when x == 0\n    pick v, w in {1, 2}\n    if v == w:\n        x := v\n    else:\n        x := 3\n"
    )
    assert len(search(kernel_of(text)).store) == 4


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        ("when not enabled(up(a))", "in a guard, ask what the other action waits for"),
        ("when new(x) == 2", "guards come first: bind with `let`"),
        ("when exists g in [Node -> Floor]: g[a] == x", "the set of all maps is the name of their type"),
        ("pick n in Node if n != a", "what is picked fulfils a condition in"),
    ],
)
def test_what_stands_elsewhere_in_tla_is_advised(lines: str, advice: str) -> None:
    text = (
        "param Node: set = {a, b}\ntype Floor = 1 .. 3\nstate:\n    x: Floor = 1\n"
        f"action up(n: Node):\n    x := 2\naction go:\n    {lines}\n    x := 1\n"
    )
    with pytest.raises(UnusableSpecError) as raised:
        load_text(text)
    assert any(note.message.startswith(advice) for found in raised.value.diagnostics for note in found.notes)
