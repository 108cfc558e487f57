"""A trace clause that is read line by line is the clause that is read whole, with the same places."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.grammar.parsing.parse import Parsed, parse

HEAD = "module m\n\ntrace logs: # of the service\n    from service\n    # two\n\n"
RULES = '    on A(x: 0 .. 3) if x == 1\n        or x == 2:\n        go(x)\n    on B: stay; go(1) # "trace"\n    order: file\n'


def both(text: str) -> tuple[Parsed, Parsed]:
    return parse(text, "m.assay"), parse(text, "m.assay", in_parts=True)


def test_it_is_the_same_clause_with_the_same_places() -> None:
    whole, parts = both(HEAD + RULES)
    assert whole.ok
    assert repr(parts) == repr(whole)  # places take no part in equality


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kafka/cluster", "kafka/kraft/cluster", "systems/etcd_server"])
def test_it_is_the_same_clause_in_bundled_specs(name: str, checkout: Path) -> None:
    whole, parts = both((checkout / "spec" / f"{name}.assay").read_text(encoding="utf-8"))
    assert repr(parts) == repr(whole)


@pytest.mark.parametrize(
    "rule",
    [
        "    on C: stay and\n    on D: stay\n",
        '    note C as c """\n    on D: x\n""": x\n',
        "    on C: 1 +\n",
        "    on C(: stay\n    on D: stay\n",
        "    on C: stay stay\n",
        "   on C: stay\n",
        "    on C\n",
        "    nonsense\n",
    ],
)
def test_a_mistake_is_reported_and_no_other(rule: str) -> None:
    whole, parts = both(HEAD + rule + RULES)
    assert [(each.code, each.span) for each in parts.diagnostics] == [(d.code, d.span) for d in whole.diagnostics]
    assert parts.module == whole.module


def test_a_line_that_goes_on_with_a_word_of_rules_is_read_whole() -> None:
    whole, parts = both(HEAD + "    on C if x ==\n    call: stay\n" + RULES)
    assert whole.ok
    assert parts.module == whole.module


@pytest.mark.parametrize("head", ["trace then:\n", "trace logs extends:\n", "trace logs nonsense:\n"])
def test_a_mistake_in_the_head_is_reported_once(head: str) -> None:
    whole, parts = both(head + RULES)
    assert len(whole.diagnostics) == 1
    assert parts.diagnostics == whole.diagnostics
