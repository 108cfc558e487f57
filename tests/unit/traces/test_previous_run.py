"""The run of a node before an event's own is a field that rules may name: who starts again has ended before."""

from __future__ import annotations

import json
from pathlib import Path

from assay.grammar.load import load_text
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

SPEC = """\
module small

param Process: set = {a}

state:
    up: set[Process] = {}

action start(p: Process):
    when p not in up
    up := up + {p}

action end(p: Process):
    when p in up
    up := up - {p}

trace log:
    from toy
    RULE
    on Started(run: Process): start(run)
    on Alone(run: Process): observe up == {run}
    order: file
"""

ENDS = "on Started(previous_run: Process): end(previous_run)"


def verdict(folder: Path, rule: str) -> TraceVerdict:
    lines = [("Started", 1), ("Alone", 1), ("Started", 2), ("Alone", 2), ("Started", 3), ("Alone", 3)]
    texts = [
        json.dumps({"event": kind, "node": "a", "run": run, "time": at}) for at, (kind, run) in enumerate(lines, 1)
    ]
    (folder / "events.jsonl").write_text("\n".join(texts) + "\n")
    spec = load_text(SPEC.replace("    RULE\n", f"    {rule}\n" if rule else ""))
    return validate(spec, list(read_logs([folder]).events)).verdict


def test_a_rule_may_name_the_run_before(tmp_path: Path) -> None:
    assert verdict(tmp_path, "") is TraceVerdict.INCONSISTENT
    assert verdict(tmp_path, ENDS) is TraceVerdict.CONSISTENT


def test_a_first_run_has_none_before_it(tmp_path: Path) -> None:
    assert verdict(tmp_path, "on Alone(previous_run: Process): observe previous_run in up") is TraceVerdict.INCONSISTENT
    assert verdict(tmp_path, f"{ENDS}\n    on Alone(previous_run: Process): observe not (previous_run in up)") is (
        TraceVerdict.CONSISTENT
    )


def test_runs_are_counted_in_a_file_that_holds_those_of_all_nodes(tmp_path: Path) -> None:
    spec = load_text(
        SPEC.replace("    RULE\n", "").replace("from toy", "from events").replace("order: file", "order: lines")
    )
    events = [{"event": "Started", "node": node, "run": run} for node, run in (("n", 1), ("m#2", 1), ("n", 3))]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events))
    reading = read_logs([tmp_path], ReadOptions(source=source_of(spec, None)))
    assert {node.name: node.runs for node in reading.nodes} == {"n": 3, "m#2": 1}
