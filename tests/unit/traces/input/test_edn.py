"""Histories and logs of Jepsen are read as they are."""

from __future__ import annotations

from decimal import Decimal

import pytest

from assay.traces.event import LogPosition
from assay.traces.input.events.decoder import EventDecoder, NoEventError
from assay.traces.input.events.edn import edn_value, is_jepsen, jepsen_object


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{:process 0, :type :invoke, :f :append, :key "0"}', {"process": 0, "type": "invoke", "f": "append", "key": "0"}),
        ("#jepsen.history.Op{:index 3 :value [[:r 1 nil] [:append 2 #{1}]]}", {"index": 3, "value": [["r", 1, None], ["append", 2, [1]]]}),
        ("{:a 1.5, :b -3N, :c +7, :d 2e3}", {"a": Decimal("1.5"), "b": -3, "c": 7, "d": Decimal("2e3")}),
        (r'{:a "x\"y\n" :b \a :c \newline :d (1 2) :e #_ 4 true}', {"a": 'x"y\n', "b": "a", "c": "\n", "d": [1, 2], "e": True}),
        ('{:time #inst "2020-01-01" ; a comment\n}', {"time": "2020-01-01"}),
        ("{1 2, nil 3}", {"1": 2, "null": 3}),
    ],
)  # fmt: skip
def test_edn_is_read_as_json_would_be(text: str, value: object) -> None:
    assert edn_value(text) == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{:a", "only the beginning"),
        ("{:a 1 :b}", "a key without a value"),
        ("{:a [1}", "`[` is closed by `}`"),
        ("{:a 1}}", "`}` closes nothing"),
        ("{:a 1 :a 2}", "the key `a` twice"),
        ('{:a "1}', "no EDN from column"),
        ("{:a " + "[" * 100, "nested in more than"),
        ("{:a #tag}", "closes nothing"),
    ],
)
def test_what_is_no_edn_says_why(text: str, said: str) -> None:
    with pytest.raises(NoEventError) as raised:
        EventDecoder().events(text.encode(), LogPosition("history.edn", 1, 0))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b"INFO  jepsen.util - 2\t:invoke\t:write\t4", {"process": 2, "type": "invoke", "f": "write", "value": 4}),
        (b"3 :invoke :read nil", {"process": 3, "type": "invoke", "f": "read", "value": None}),
        (
            b"2020-01-01 00:00:00,123{GMT}\tINFO\t[jepsen worker 0] jepsen.util: 0\t:ok\t:cas\t[1 2]",
            {"process": 0, "type": "ok", "f": "cas", "value": [1, 2]},
        ),
        (
            b":nemesis\t:info\t:start\tnil\t:timed-out",
            {"process": "nemesis", "type": "info", "f": "start", "value": None, "error": "timed-out"},
        ),
    ],
)
def test_lines_of_the_log_of_jepsen_are_operations(line: bytes, value: object) -> None:
    assert is_jepsen(line)
    assert jepsen_object(line) == value


@pytest.mark.parametrize("line", [b'{"f": "read"}', b"INFO  jepsen.core - Everything looks good!", b"", b"{}"])
def test_other_lines_are_none_of_jepsen(line: bytes) -> None:
    assert not is_jepsen(line)
