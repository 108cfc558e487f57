"""Which line is blamed: the one where something is wrong, not one that happens to be near (docs/design/ranking-of-repairs.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Never

import pytest

from assay.grammar.load import load_text
from assay.traces.explain import mismatch
from assay.traces.log_reader import read_logs
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate

CELL = """module cell
size param Most: int = 3
type N = 0 .. Most
state:
    x: N = 0
action put(v: N):
    when fresh: x == 0
    x := v
trace t:
    from events
    on Put(n: N): put(n)
    order: file; commit before line within 5 ms
"""

STEPS = """module steps
param P: set = {p1, p2}
state:
    st: map[P, 0 .. 3] = [p -> 0]
    mark: map[P, bool] = [p -> false]
action step1(p: P):
    when zero: st[p] == 0
    st[p] := 1
action step2(p: P):
    when one: st[p] == 1
    st[p] := 2
    mark[p] := true
action step3(p: P):
    when begun: st[p] >= 1
    when marked: mark[p]
    st[p] := 3
trace t:
    from events
    on One(node: P): step1(node)
    on Two(node: P): step2(node)
    on Three(node: P): step3(node)
    order: file; commit before line within 5 ms
"""

MESSAGES = """module net
size param Most: int = 3
type N = 0 .. Most
enum Msg: Ping(n: N), Pong(n: N)
state:
    net: set[Msg, max 8] = {}
action send(n: N):
    net := net + {Ping(n)}
action receive(m: Msg):
    when sent: m in net
    net := net - {m}
invariant few: count(net) < 2
trace t:
    from events
    on Send(n: N): send(n)
    on Receive(n: N): receive(Ping(n))
    order: file
"""

VOTES = """module votes
param P: set = {p1, p2}
enum Vote: Unknown, Yes, No
state:
    vote: map[P, Vote] = [p -> Unknown]
    committed: bool = false
action say(p: P, v: Vote):
    when first: vote[p] == Unknown
    vote[p] := v
action commit:
    when all_yes: forall p in P: vote[p] == Yes
    committed := true
action apply:
    when decided: committed
trace t:
    from events
    on Voted(node: P, vote: Vote): say(node, vote)
    on Committed: commit()
    on Applied: apply()
    order: lines
"""


def answer(folder: Path, spec: str, *events: dict[str, object], options: Options = DEFAULT_OPTIONS) -> Validation:
    (folder / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events), encoding="utf-8")
    return validate(load_text(spec), list(read_logs([folder / "log.jsonl"]).events), options=options)


def test_a_right_line_is_not_blamed_for_the_one_that_repeats_it(tmp_path: Path) -> None:
    found = answer(tmp_path, CELL, {"event": "Put", "time": 1000, "n": 1}, {"event": "Put", "time": 2000, "n": 2})
    assert [each.place.line for each in found.violations] == [2]


def test_a_vote_is_blamed_that_a_condition_about_all_voters_refutes_later(tmp_path: Path) -> None:
    votes: list[dict[str, object]] = [
        {"event": "Voted", "node": node, "vote": vote} for node, vote in (("a", "Yes"), ("b", "No"))
    ]
    then: list[dict[str, object]] = [{"event": event, "node": "c"} for event in ("Committed", "Applied", "Applied")]
    (violation,) = answer(tmp_path, VOTES, *votes, *then).violations
    assert (violation.place.line, violation.repair.kind) == (2, "change")
    assert violation.repair.text == "`vote` is Yes instead of No"
    (part,) = violation.blame[0].parts
    assert part.model == (("vote[p]", "No"), ("p", "b"))


def test_a_lost_line_is_named_at_the_end_of_a_log(tmp_path: Path) -> None:
    found = answer(
        tmp_path, STEPS, {"event": "One", "time": 1000, "node": "a"}, {"event": "Three", "time": 9000, "node": "a"}
    )
    (violation,) = found.violations
    assert (violation.repair.kind, violation.place.line) == ("add", 2)
    assert "step2(a)" in violation.repair.text


def test_a_lost_line_is_named_where_a_hidden_step_came_before_it(tmp_path: Path) -> None:
    spec = MESSAGES.replace("trace t:", "trace t:\n    hidden wake; at most 1 between two pinned events").replace(
        "action send(n: N):\n",
        "    awake: bool = false\naction wake:\n    awake := true\naction send(n: N):\n    when up: awake\n",
    )
    found = answer(tmp_path, spec, {"event": "Receive", "n": 2})
    (violation,) = found.violations
    assert (violation.repair.kind, violation.place.line) == ("add", 1)
    assert "send(2)" in violation.repair.text


SLICES = STEPS.replace("    from events\n", "    from events\n    slice P by node\n")
SLICES = SLICES.replace("node: P", "slice: P").replace("(node)", "(slice)")


@pytest.mark.parametrize("spec", [STEPS, SLICES], ids=["a log", "slices"])
def test_only_the_first_mismatch_is_told_where_that_is_asked_for(
    spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unexpected(*_: object) -> Never:
        raise AssertionError

    monkeypatch.setattr(mismatch, "best_repair", unexpected)
    wrong = [{"event": "Three", "time": at, "node": node} for at, node in enumerate("abc", 1000)]
    found = answer(tmp_path, spec, *wrong, options=Options(first=True))
    (violation,) = found.violations
    assert (found.verdict, violation.place.line) == (TraceVerdict.INCONSISTENT, 1)
    assert [part.label for part in violation.blame[0].parts] == ["begun", "marked"]
    assert violation.repair.text == mismatch.NOT_ASKED


def test_only_what_is_false_at_the_line_is_named(tmp_path: Path) -> None:
    found = answer(
        tmp_path, STEPS, {"event": "One", "time": 1000, "node": "a"}, {"event": "Three", "time": 9000, "node": "a"}
    )
    assert [part.label for part in found.violations[0].blame[0].parts] == ["marked"]


def test_a_parameter_with_parts_does_not_hinder_an_explanation(tmp_path: Path) -> None:
    found = answer(tmp_path, MESSAGES, {"event": "Send", "n": 1}, {"event": "Receive", "n": 2})
    assert [(each.place.line, each.action) for each in found.violations] == [(2, "receive")]


def test_a_crash_while_explaining_leaves_the_verdict_and_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise KeyError("gone")

    monkeypatch.setattr(mismatch, "explain_mismatch", crash)
    found = answer(tmp_path, CELL, {"event": "Put", "time": 1000, "n": 1}, {"event": "Put", "time": 2000, "n": 2})
    (violation,) = found.violations
    assert (found.verdict, violation.place.line) == (TraceVerdict.INCONSISTENT, 2)
    assert "explaining this line failed" in violation.repair.text


def test_a_broken_property_is_the_verdict(tmp_path: Path) -> None:
    found = answer(tmp_path, MESSAGES, {"event": "Send", "n": 1}, {"event": "Send", "n": 2})
    assert (found.verdict, [broken.name for broken in found.properties]) == (TraceVerdict.VIOLATED, ["few"])
