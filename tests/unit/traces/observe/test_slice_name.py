"""Names from a log are ordered by their numbers, whatever a damaged line holds."""

from __future__ import annotations

import json
from pathlib import Path

import assay
from assay.traces.observe.slice_name import by_number, keys_of

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


SEATS = """\
module seats
param Seat: set = {s}
state:
    sold: map[Seat, bool] = [s -> false]
action sell(s: Seat):
    when free: not sold[s]
    sold[s] := true
trace log:
    from events
    slice Seat by theatre, seat
    on Sold(slice: Seat): sell(slice)
    order: file
"""


def test_slices_whose_parts_read_alike_when_joined_are_two(tmp_path: Path) -> None:
    spec, log = tmp_path / "seats.assay", tmp_path / "log.jsonl"
    spec.write_text(SEATS)
    sold = [("a", "b-c"), ("a", "b-c"), ("a-b", "c")]
    log.write_text("".join(json.dumps({"event": "Sold", "theatre": one, "seat": other}) + "\n" for one, other in sold))
    found = assay.validate(log, spec)
    # The slice of one line once took the place of the other, in which a seat is sold twice.
    assert found.verdict.value == "inconsistent"
    assert keys_of([("a", "b-c"), ("a-b", "c"), ("x-y", "0")]) == {
        ("a", "b-c"): "a, b-c",
        ("a-b", "c"): "a-b, c",
        ("x-y", "0"): "x-y-0",
    }
