"""After a finding each further line that contradicts the rules is one of its own, and no other is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.grammar.load import load_text
from assay.traces.log_reader import ReadOptions, read_logs
from assay.traces.observe.model_size import source_of
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.result import LogViolation
from assay.traces.scoped_validate import validate_in_scope

LIMITER = """module limiter
param Client: set = {{a, b}}
state:
    tokens: map[Client, 0 .. 3] = [c -> 3]
    strikes: map[Client, 0 .. 3] = [c -> 0]
    blocked: map[Client, bool] = [c -> false]
action refill(c: Client):
    when not_full: tokens[c] < 3
    tokens[c] := tokens[c] + 1
action allow(c: Client):
    when free: not blocked[c]
    when has_token: tokens[c] > 0
    tokens[c] := tokens[c] - 1
    strikes[c] := 0
action deny(c: Client):
    when free: not blocked[c]
    when empty: tokens[c] == 0
    when not_yet: strikes[c] < 3
    strikes[c] := strikes[c] + 1
action block(c: Client):
    when three: strikes[c] == 3
    blocked[c] := true
    strikes[c] := 0
action unblock(c: Client):
    when is_blocked: blocked[c]
    blocked[c] := false
action look(c: Client):
    when free: not blocked[c]
action reject(c: Client):
    when is_blocked: blocked[c]
trace log:
    from events
    slice Client by client
    on Blocked(client: Client): block(client)
    on Rejected(client: Client): reject(client)
    on Seen(client: Client): look(client)
    on Allowed(client: Client, number: int): allow(client) then tokens[client] == number
    on Denied(client: Client, number: int): deny(client) then strikes[client] == number
    {hidden}
    order: lines
"""

UNTIL_REJECTED: list[tuple[str, int | None]] = [
    *[("Allowed", left) for left in (2, 1, 0)],
    *[("Denied", strikes) for strikes in (1, 2, 3)],
    *[("Rejected", None)] * 3,  # no line says that the client was blocked
]


def findings(folder: Path, hidden: str, *lines: tuple[str, int | None]) -> list[LogViolation]:
    log = folder / "log.jsonl"
    fields = [
        {"event": name, "client": "acme", "number": number, "time": 1000 * at}
        for at, (name, number) in enumerate(lines)
    ]
    written = [{key: value for key, value in each.items() if value is not None} for each in fields]
    log.write_text("".join(json.dumps(each) + "\n" for each in written), encoding="utf-8")
    loaded = load_text(LIMITER.format(hidden=hidden))
    reading = read_logs([log], ReadOptions(source=source_of(loaded, None)))
    return list(validate_in_scope(loaded, reading, DEFAULT_OPTIONS).violations)


@pytest.mark.parametrize("hidden", ["", "hidden unblock; at most 1 between two pinned events"])
def test_equal_lines_between_others_are_compared_too(tmp_path: Path, hidden: str) -> None:
    found = findings(tmp_path, hidden, *[("Seen", None), ("Rejected", None)] * 3, ("Seen", None))
    assert [each.place.line for each in found] == [2, 4, 6]


def test_a_repair_may_need_as_many_hidden_steps_as_the_clause_allows(tmp_path: Path) -> None:
    lines = [*UNTIL_REJECTED, *UNTIL_REJECTED, ("Allowed", 2)]
    found = findings(tmp_path, "hidden refill, unblock; at most 4 between two pinned events", *lines)
    assert [each.place.line for each in found] == [7, 16]


def test_a_repair_names_the_element_that_the_log_names(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, "", *UNTIL_REJECTED)
    assert found.repair is not None
    assert "`block(acme)`" in found.repair.text
