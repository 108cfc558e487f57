"""Names from a log are ordered by their numbers, whatever a damaged line holds."""

from __future__ import annotations

import json
from pathlib import Path

import assay
from assay.traces.observe.slice_name import by_number

SPEC = """\
module guests
param Guest: set = {g}
state:
    seen: set[Guest] = {}
action come(g: Guest):
    seen := seen + {g}
trace log:
    from events
    on Come(g: Guest): come(g)
    order: file; skew 0 ms
"""
LONG = "9" * 5_000


def test_numbers_are_ordered_by_value_and_come_after_what_is_none() -> None:
    mixed = ["1" + LONG, "10", "2", "²", "01", LONG, "0", "", "09", "1", "a"]
    assert sorted(mixed, key=by_number) == ["", "a", "²", "0", "01", "1", "2", "09", "10", LONG, "1" + LONG]


def test_a_name_with_any_figures_is_an_element(tmp_path: Path) -> None:
    spec, log = tmp_path / "guests.assay", tmp_path / "log.jsonl"
    spec.write_text(SPEC)
    events = [{"event": "Come", "time": at, "node": "n", "g": name} for at, name in enumerate(("²", f"g{LONG}"))]
    log.write_text("".join(json.dumps(each) + "\n" for each in events))
    assert assay.validate(log, spec).verdict.value == "consistent"
