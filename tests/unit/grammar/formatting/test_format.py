"""The formatter: canonical texts stay as they are, other texts become canonical."""

from __future__ import annotations

import inspect
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from assay.grammar import syntax
from assay.grammar.formatting.format import WIDTH, format_expression, format_module
from assay.grammar.parsing.parse import parse, parse_expression

GOLDENS = Path(__file__).parents[1] / "goldens"
CANONICAL = (GOLDENS / "canonical.assay").read_text(encoding="utf-8")
EXPRESSIONS = (GOLDENS / "expressions.txt").read_text(encoding="utf-8").splitlines()


def formatted(text: str) -> str:
    parsed = parse(text, "spec.assay")
    assert parsed.diagnostics == ()
    return format_module(parsed.module)


def test_a_canonical_text_stays_as_it_is() -> None:
    assert formatted(CANONICAL) == CANONICAL


def nodes_in(value: object) -> set[type]:
    if isinstance(value, tuple):
        return set().union(*map(nodes_in, value))
    if not is_dataclass(value):
        return set()
    return {type(value)}.union(*(nodes_in(getattr(value, field.name)) for field in fields(value)))


def test_the_canonical_text_has_every_node_of_the_language() -> None:
    concrete = {
        cls
        for _, cls in inspect.getmembers(syntax, inspect.isclass)
        if is_dataclass(cls) and not cls.__subclasses__() and cls is not syntax.Comment
    }
    assert concrete - nodes_in(parse(CANONICAL, "spec.assay").module) == set()


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_canonical_expression_stays_as_it_is(text: str) -> None:
    expression = parse_expression(text, "spec.assay").expression
    assert expression is not None
    assert format_expression(expression) == text


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("((a))", "a"),
        ("(a and b) and c", "a and b and c"),
        ("a and (b and c)", "a and (b and c)"),
        ("a or (b and c)", "a or (b and c)"),
        ("((a and b)) or c", "(a and b) or c"),
        ("a or b and c", "a or b and c"),
        ("(a and b) and c or d", "a and b and c or d"),
        ("x or ((a and b) and c)", "x or (a and b and c)"),
        ("a implies (b and c)", "a implies b and c"),
        ("a implies (b implies c)", "a implies b implies c"),
        ("(a implies b) implies c", "(a implies b) implies c"),
        ("(a * b) + c", "a * b + c"),
        ("a - (b - c)", "a - (b - c)"),
        ("a and (forall x in S: P)", "a and forall x in S: P"),
        ("(forall x in S: P) and a", "(forall x in S: P) and a"),
        ("not a == b", "not (a == b)"),
        ("not (not a)", "not not a"),
        ("{ a,b , }", "{a, b}"),
        ("f( a ,b=c )", "f(a, b = c)"),
        ("[b->3]", "[b -> 3]"),
        ("(x).f", "x.f"),
        ("(-x).f", "(-x).f"),
        ("-(-x)", "--x"),
        ("x == (if a then b else c)", "x == (if a then b else c)"),
    ],
)
def test_only_the_needed_parentheses_stay(written: str, printed: str) -> None:
    expression = parse_expression(written, "spec.assay").expression
    assert expression is not None
    assert format_expression(expression) == printed


def test_no_line_is_wider_than_allowed_where_it_can_be_broken() -> None:
    names = [f"condition_number_{n}" for n in range(40)]
    text = formatted(
        f"invariant a: {' and '.join(names)}\n"
        f"next: {', '.join(names)}\n"
        f"action b:\n    x := forall y in S: ({' or '.join(names)}) implies f({', '.join(names)})\n"
    )
    assert max(map(len, text.splitlines())) <= WIDTH
    assert len(text.splitlines()) > 20


def test_blank_lines_of_the_author_stay_and_come_singly() -> None:
    assert formatted(
        "state:\n    x: bool = true\n\n\n\n    y: bool = true\nparam N: int\nparam M: int\n\nparam K: int\n"
    ) == ("state:\n    x: bool = true\n\n    y: bool = true\n\nparam N: int\nparam M: int\n\nparam K: int\n")


def test_a_licence_at_the_top_stays_above_the_documentation() -> None:
    text = '# Licence\n# more\n\n"""Doc."""\nmodule m\n'
    assert formatted(text) == text


def test_a_comment_inside_a_joined_expression_moves_before_it() -> None:
    assert formatted("invariant a: x and  # left\n    y  # right\n") == "# left\ninvariant a: x and y  # right\n"


def test_a_comment_at_the_end_of_a_block_stays_in_it() -> None:
    text = "action a:\n    if x:\n        y := 1\n        # still in the branch\n    # in the action\n\n# outside\nparam N: int\n"
    assert formatted(text) == text


def test_an_empty_module_is_an_empty_text() -> None:
    assert formatted("") == ""
    assert formatted("# alone") == "# alone\n"


def test_parts_in_brackets_fill_a_line_to_its_last_column() -> None:
    longest = []
    for letters in range(1, 60):
        items = ", ".join([*(f"element_number_{number}" for number in range(10, 14)), "e" * letters])
        text = f"module m\n\ninvariant few: some_function_of_many_arguments({items}) == another_function({items})\n"
        lines = format_module(parse(text, "m.assay").module).splitlines()
        longest.append(max(map(len, lines)))
    assert max(longest) == WIDTH


def test_a_long_sum_breaks_at_its_operator_before_it_breaks_inside_an_operand() -> None:
    first, last = f"held({', '.join(['an_argument'] * 7)}, l{'o' * 9}ng)", "{r for r in S}"
    assert len(f"    x == {first}") == WIDTH - 2
    assert formatted(f"invariant i: x == {first} + {last}\n") == f"invariant i:\n    x == {first}\n    + {last}\n"
    less = formatted(f"invariant i: x == {first} - {last}\n")
    assert less == f"invariant i:\n    x == {first} -\n    {last}\n"
    assert formatted(less) == less


@pytest.mark.parametrize("operator", ["or", "and", "implies"])
@pytest.mark.parametrize("middle", ["if is_open then s else t", "forall s in some_set_of_things: s > 1"])
def test_a_middle_operand_keeps_the_brackets_that_end_it_where_lines_break(operator: str, middle: str) -> None:
    long = "a_name_of_forty_letters_that_is_not_short"
    text = f"invariant i: {long} == {long} {operator} ({middle}) {operator} {long}\n"
    assert f"({middle})" in formatted(text)
    assert parse(formatted(text), "spec.assay").module == parse(text, "spec.assay").module


def test_a_comprehension_breaks_inside_its_brackets() -> None:
    long = "a_name_of_forty_letters_that_is_not_short"
    assert formatted(f"invariant i: {long} == {{x in {long} if {long}(x)}}\n") == (
        f"invariant i:\n    {long} == {{\n        x in {long} if {long}(x)\n    }}\n"
    )
    assert formatted(f"invariant i: m == [p -> match {long}[p] {{A -> {long}, else -> {long}}}]\n") == (
        f"invariant i:\n    m == [p -> match {long}[p] {{\n        A -> {long}, else -> {long}\n    }}]\n"
    )
    assert formatted(f"invariant i: m == [p -> if {long} then {long} else {long}]\n") == (
        f"invariant i:\n    m == [p ->\n        if {long} then {long}\n        else {long}\n    ]\n"
    )


@pytest.mark.parametrize(("last", "widths"), [("n" * 24, [120]), ("n" * 25, [29, 29, 29, 29, 33])])
def test_what_fits_a_line_exactly_is_not_broken_further(last: str, widths: list[int]) -> None:
    arguments = ", ".join(["a" * 20] * 4 + [last])
    lines = formatted(f"module m\ninvariant i: collected({arguments})\n").splitlines()
    assert [len(each) for each in lines[lines.index("    collected(") + 1 : -1]] == widths


@pytest.mark.parametrize(
    "text",
    [
        "invariant a:\n    match x:\n        1: true\n        else: false\n    {}: y == 3\n",
        "def a():\n    if x: 1\n    else: 2\n    {}(2) > 3\n",
        "action a:\n    when ok:\n        if x: y\n        {}:\n            let z = 3\n            z\n    pick y in S\n",
        "refines m with:\n    action a = `any` or any or `stutter` or stutter or stutter(1) or any.x or {}\n",
        "trace t:\n    from events\n    on a: {} or b\n    on b: observe.now() then observe\n    on c: {}[1]; observe\n",
    ],
)
@pytest.mark.parametrize("word", ["pick", "when", "bound", "observe"])
def test_words_of_statements_are_names_where_no_statement_may_stand(text: str, word: str) -> None:
    assert formatted(text.format(word, word)) == text.format(word, word)


def test_what_follows_the_colon_of_a_fold_or_of_a_fold_in_a_let_may_stand_on_the_next_line() -> None:
    text = "def a(S: set[int]) =\n    let x = fold {} = 0 for b in S:\n        c + b:\n        x\n"
    printed = "def a(S: set[int]) = let x = fold {} = 0 for b in S: c + b: x\n"
    for name in ("c", "(c, _)"):
        assert formatted(text.format(name)) == printed.format(name)


def test_a_quantifier_goes_on_below_where_no_block_may_stand() -> None:
    text = 'trace t:\n    measure a "x":\n        forall x in S:\n            x\n    order: file\n'
    assert formatted(text) == 'trace t:\n    measure a "x": forall x in S: x\n    order: file\n'
    assert formatted("show:\n    forall x in S:\n        x\n    y\n") == "show: forall x in S: x, y\n"
