"""The repair of a time is the nearest one that fits, not one with another first digit."""

from __future__ import annotations

import json
from pathlib import Path

import assay

SPEC = """module limiter
param Client: set = {a}
param BlockFor: int = 2
size param Latest: int = 3
type Time = 0 .. Latest
state:
    since: map[Client, Time?] = [c -> none]
action go(c: Client, t: Time):
    when over: since[c] is some(s) implies t >= s + BlockFor
    since[c] := some(t)
trace log:
    from events:
        field t = "time" rounded
    on Go(client: Client, t: Time): go(client, t)
    order: file
"""


def test_a_time_that_is_too_early_is_repaired_by_the_first_that_is_not(tmp_path: Path) -> None:
    (tmp_path / "limiter.assay").write_text(SPEC, encoding="utf-8")
    times = (1_790_000_000_011, 1_790_000_000_031, 1_790_000_900_000)
    lines = (json.dumps({"event": "Go", "time": time, "client": "x"}) for time in times)
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    limiter = assay.load(str(tmp_path / "limiter.assay"), settings={"BlockFor": 5_237})
    [mismatch] = assay.validate(tmp_path / "log.jsonl", limiter).mismatches
    assert mismatch.repair is not None
    assert (mismatch.repair.field, mismatch.repair.new) == ("t", "1790000005248")
