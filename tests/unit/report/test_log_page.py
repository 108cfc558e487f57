"""The page about logs says of a mismatch what the text says."""

from __future__ import annotations

from html import unescape
from pathlib import Path

from assay.api.log_answers import validate

STORE = """\
module store
param Key: set = {k1}
param Value: set = {v1, v2}
state:
    value: map[Key, Value?] = [k -> none]
action read(k: Key, seen: Value?):
    when same: seen == value[k]
action write(k: Key, new: Value):
    value[k] := some(new)
trace log:
    from events:
        event = "f"; phase = "type"; process = "process"
    order: lines
    call read(key: Key) returns (value: Value?): read(key, value)
    call write(key: Key, value: Value): write(key, value)
"""
CALLS = (("write", "invoke", "a"), ("write", "ok", "a"), ("read", "invoke", "a"), ("read", "ok", "b"))


def test_a_call_that_no_order_explains_is_shown_with_what_it_contradicts(tmp_path: Path) -> None:
    (tmp_path / "store.assay").write_text(STORE)
    lines = [f'{{"f": "{f}", "type": "{type_}", "process": 0, "key": "x", "value": "{of}"}}' for f, type_, of in CALLS]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    answer = validate(tmp_path / "log.jsonl", tmp_path / "store.assay")
    (mismatch,) = answer.mismatches
    assert mismatch.contradiction is not None
    page = unescape(answer.html("calls"))
    assert [text for text in (mismatch.contradiction.text, *mismatch.contradiction.calls) if text not in page] == []
