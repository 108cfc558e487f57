"""Lines that contradict each other are found however many others lie between them, in a log that begins anywhere."""

from __future__ import annotations

import json
from pathlib import Path

from assay.grammar.load import load_text
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate

SPEC = """\
module tickets

param Process: set = {a, b}
param Ticket: set = {t1, t2}

state:
    owner: map[Ticket, Process?] = [t -> none]
    worked: map[Process, bool] = [p -> false]

action draw(p: Process, t: Ticket):
    when free: owner[t] == none
    owner[t] := p

action work(p: Process):
    worked[p] := not worked[p]

transition kept: forall t in Ticket: old(owner[t]) != none implies owner[t] == old(owner[t])

trace log:
    from toy
    begins anywhere
    on Drawn(node: Process, ticket: Ticket): draw(node, ticket)
    on Worked(node: Process): work(node)
    order: file; commit before line within 1 ms; skew 1 ms
"""

MANY = 60
"""More lines than are asked about around a failed one."""


def answer(folder: Path, second: str) -> Validation:
    work: list[tuple[str, str, dict[str, str]]] = [("Worked", "a", {}) for _ in range(MANY)]
    said = [("Drawn", "a", {"ticket": "t1"}), *work, ("Drawn", "b", {"ticket": second})]
    lines = [{"event": kind, "node": node, "time": 10 * at, **fields} for at, (kind, node, fields) in enumerate(said)]
    (folder / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    loaded = load_text(SPEC)
    return validate(loaded, read_logs([str(folder)]).events)


def test_a_value_that_two_were_given_is_found_far_apart(tmp_path: Path) -> None:
    found = answer(tmp_path, "t1")
    assert found.verdict is TraceVerdict.INCONSISTENT
    contradiction = found.violations[0].contradiction
    assert contradiction is not None
    assert [each.record.place.line for each in contradiction.events] == [1, MANY + 2]
    assert "transition kept" in contradiction.rules


def test_two_values_contradict_nothing(tmp_path: Path) -> None:
    assert answer(tmp_path, "t2").verdict is TraceVerdict.CONSISTENT
