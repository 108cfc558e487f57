"""The parser: what it accepts, where things stand, and that no text makes it fail."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import lark
import pytest

from assay.grammar import syntax as s
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.diagnostics.render import render
from assay.grammar.formatting.expressions import expression
from assay.grammar.parsing.logical_lines import Layout
from assay.grammar.parsing.parse import parse, parse_expression

CANONICAL = Path(__file__).parents[1] / "goldens" / "canonical.assay"
DOCUMENTED = re.compile(r"^```assay\n(.*?)^```", re.MULTILINE | re.DOTALL)


def module_of(text: str) -> s.Module:
    parsed = parse(text, "spec.assay")
    assert parsed.ok, render(parsed.diagnostics, {"spec.assay": text})
    return parsed.module


def expression_of(text: str) -> s.Expr:
    parsed = parse_expression(text, "spec.assay")
    assert parsed.expression is not None, parsed.diagnostics
    return parsed.expression


@pytest.mark.slow
def test_the_grammar_has_no_conflicts(checkout: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = (checkout / "grammar" / "assay.lark").read_text(encoding="utf-8")
    with caplog.at_level(logging.DEBUG, logger=lark.logger.name):
        lark.Lark(text, parser="lalr", start=["chunk", "lone_expression"], postlex=Layout(), debug=True)
    assert [record.message for record in caplog.records if "conflict" in record.message.lower()] == []


def test_every_example_of_the_language_reference_parses(checkout: Path) -> None:
    examples = DOCUMENTED.findall((checkout / "docs" / "language.md").read_text(encoding="utf-8"))
    assert len(examples) >= 1
    for example in examples:
        assert module_of(example).declarations


def test_places_count_from_one_and_end_exclusively() -> None:
    module = module_of("module m\n\n# comment\ninvariant a:\n    first: (x + 1) * y\n        == 3\n")
    conjunct = module.declarations[0].conjuncts[0]  # type: ignore[attr-defined]
    assert module.declarations[0].span == Span("spec.assay", 4, 1, 6, 13)
    assert conjunct.label.span == Span("spec.assay", 5, 5, 5, 10)
    assert conjunct.condition.span == Span("spec.assay", 5, 12, 6, 13)
    assert conjunct.condition.left.span == Span("spec.assay", 5, 12, 5, 23)
    assert conjunct.condition.left.left.span == Span("spec.assay", 5, 13, 5, 18)


@pytest.mark.parametrize(
    "change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t.rstrip("\n")]
)
def test_line_ends_and_byte_order_marks_do_not_matter(change) -> None:  # type: ignore[no-untyped-def]
    text = CANONICAL.read_text(encoding="utf-8")
    assert module_of(change(text)) == module_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "a and\nb or c",
        "a\nand b or c",
        "(a and b\n  or c)",
        "a  # why\n\n   # because\n  and b\n# again\n or c",
        "a and b or\n\n c",
    ],
)
def test_a_line_goes_on_where_the_reference_says(text: str) -> None:
    assert expression_of(text) == expression_of("a and b or c")


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("forall x in S:\n  P(x)", "forall x in S: P(x)"),
        ("let q =\n 3:\n q == x", "let q = 3: q == x"),
        ("if a\nthen b\nelse c", "if a then b else c"),
        ("if a then\n b else\n c", "if a then b else c"),
        ("f(\n a,\n\n # last\n b)", "f(a, b)"),
        ("x not in\n S", "x not in S"),
        ("x\n not in S", "x not in S"),
        ("x\n is Active(e,\n f)", "x is Active(e, f)"),
    ],
)
def test_expressions_over_several_lines(broken: str, whole: str) -> None:
    assert expression_of(broken) == expression_of(whole)


def test_a_label_may_stand_on_the_line_before_its_condition() -> None:
    long = (
        "action a:\n    when live:\n        x == 3\n\ninvariant b:\n    label:\n        forall y in S:\n            y\n"
    )
    assert module_of(long) == module_of("action a:\n    when live: x == 3\ninvariant b:\n    label: forall y in S: y\n")


def test_an_else_with_a_colon_belongs_to_the_statement() -> None:
    module = module_of(
        "action a:\n    if x:\n        y := if p\n            then 1\n            else 2\n    else:\n        y := 3\n"
    )
    branch = module.declarations[0].body[0]  # type: ignore[attr-defined]
    assert len(branch.otherwise) == 1


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("a implies b implies c", "a implies (b implies c)"),
        ("a or b and not c == d", "a or (b and (not (c == d)))"),
        ("a leads_to b or c implies d", "(a leads_to (b or c)) implies d"),
        ("always a and b", "(always a) and b"),
        ("a and forall x in S: b implies c", "a and (forall x in S: (b implies c))"),
        ("not exists x in S: a and b", "not (exists x in S: (a and b))"),
        ("a - b - c * d % e", "(a - b) - ((c * d) % e)"),
        ("-a + b", "(-a) + b"),
        ("a .. b + 1 == S", "(a .. (b + 1)) == S"),
        ("r with {x = 1}.y", "(r with {x = 1}).y"),
        ("x in S & T", "x in (S & T)"),
        ("if a then b else c implies d", "if a then b else (c implies d)"),
    ],
)
def test_operators_bind_as_the_reference_says(text: str, grouped: str) -> None:
    assert expression_of(text) == expression_of(grouped)


@pytest.mark.parametrize(
    "name", ["android", "ifx", "order", "file", "events", "max", "by", "size", "two", "inside", "trueish"]
)
def test_words_that_merely_look_like_keywords_are_names(name: str) -> None:
    assert expression_of(f"{name} + 1") == s.Binary("+", s.Ref(s.Name(name)), s.IntLit(1))
    assert module_of(f"action {name}({name}: {name}):\n    {name} := {name}({name} = {name})").declarations


def test_a_mistake_costs_only_its_declaration() -> None:
    parsed = parse("state:\n    x: 0 ..\naction a:\n    x := 1\ninvariant b x\n", "spec.assay")
    assert [d.code for d in parsed.diagnostics] == ["E001", "E007"]
    assert [type(d) for d in parsed.module.declarations] == [s.Action]
    assert {"x", "state", "b"} <= parsed.broken


def test_five_mistakes_in_five_declarations_are_all_reported() -> None:
    text = "use 3\nstate:\n    x = 3\naction a\n    x := 1\ninvariant b: (x\ntype T := 0 .. 3\n"
    assert [d.code for d in parse(text, "spec.assay").diagnostics] == ["E001", "E007", "E007", "E011", "E005"]


@pytest.mark.parametrize("empty", ["", "\n\n", "# only a comment", "   ", "\ufeff"])
def test_an_empty_text_is_an_empty_module(empty: str) -> None:
    parsed = parse(empty, "spec.assay")
    assert parsed.ok
    assert parsed.module.declarations == ()


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "x" + ")" * 10_000,
        "not " * 2_000 + "x",
        "x" + " + x" * 2_000,
        "x" + ".f" * 2_000,
        "if a then b else " * 1_000 + "c",
        "forall x in S: " * 1_000 + "x",
    ],
)
def test_deep_nesting_is_a_finding_and_not_a_crash(text: str) -> None:
    assert [d.code for d in parse_expression(text, "spec.assay").diagnostics] == ["E017"]


@pytest.mark.parametrize("op", ["and", "or"])
def test_a_long_list_of_conditions_is_not_deep(op: str) -> None:
    text = f" {op} ".join(["x == 1"] * 1_000)
    found = expression_of(text)
    assert isinstance(found, s.Junction)
    assert len(found.parts) == 1_000
    assert expression_of(expression(found)) == found


def test_a_list_inside_a_list_of_the_other_kind_is_its_own() -> None:
    assert expression_of("a and b or c and d or e") == expression_of("((a and b) or (c and d)) or e")
    assert expression_of("a and (b and c)") != expression_of("a and b and c")


@pytest.mark.parametrize("text", ["", "   ", "x y", "(x", "x)", "&&", '"a"', "a\nb", "action a:"])
def test_what_is_not_one_expression_is_reported(text: str) -> None:
    parsed = parse_expression(text, "spec.assay")
    assert parsed.expression is None
    assert parsed.diagnostics


def test_documentation_is_freed_of_indentation_and_escapes() -> None:
    module = module_of('"""A "b" \\\\ \\"""."""\naction a:\n    """First.\n\n      Second.\n    """\n    x := 1\n')
    assert module.doc == 'A "b" \\ """.'
    assert module.declarations[0].doc == "First.\n\nSecond."  # type: ignore[attr-defined]


def test_comments_are_kept_with_their_places() -> None:
    text = "# one\nstate:  # two\n    # three\n    x: bool = true\n# four"
    assert [(c.text, c.line, c.own_line, c.column) for c in module_of(text).comments] == [
        ("# one", 1, True, 1),
        ("# two", 2, False, 9),
        ("# three", 3, True, 5),
        ("# four", 5, True, 1),
    ]
