"""Random histories are decided as by trying all orders, and a window that is shown is a contradiction by itself."""

from __future__ import annotations

import re
from random import Random

import pytest
from tests.stages import rounds
from tests.unit.traces.calls.random_histories import (
    LIST,
    REGISTER,
    SUM,
    Operation,
    SmallObject,
    event,
    is_linearizable,
    operations,
    random_history,
    reachable,
)

from assay.grammar.load import load_text
from assay.traces.calls.decide import decide
from assay.traces.options import DEFAULT_OPTIONS

SHOWN = re.compile(r"history:(\d+)(?: to (\d+))?  ")


@pytest.mark.parametrize("of", [REGISTER, LIST, SUM], ids=["register", "list", "sum"])
@rounds(40, 4_000)
def test_a_history_is_consistent_if_trying_all_orders_finds_one(rounds: int, of: SmallObject) -> None:
    loaded, choose = load_text(of.spec), Random(rounds)
    found = [0, 0]
    for _ in range(rounds):
        lines = random_history(
            choose, choose.randint(2, 9), choose.randint(1, 4), choose.choice([0, 0.1, 0.4, 0.8]), of
        )
        answer = decide(loaded, [event(at, line) for at, line in enumerate(lines)], None, DEFAULT_OPTIONS)
        calls = operations(lines)
        expected = is_linearizable(calls, of=of)
        assert (answer.explained, not answer.violations) == (expected, expected), lines
        assert answer.tally.used == len(lines)
        found[expected] += 1
        for violation in answer.violations:
            assert violation.contradiction is not None
            _check_window(violation.contradiction.calls, calls, of, whatever="whatever" in violation.contradiction.text)
    assert min(found) > rounds // 20  # both answers occur


def _check_window(shown: tuple[str, ...], calls: list[Operation], of: SmallObject, *, whatever: bool) -> None:
    """The calls that are shown contradict each other if all others may or may not have had an effect."""
    begins = {int(found[1]) - 1 for each in shown if (found := SHOWN.match(each)) is not None}
    assert len(begins) == len(shown)
    if whatever and of is not REGISTER:
        return  # their values are too many to list
    values = reachable(calls) if whatever else (of.first,)
    own = [
        each if each.begin in begins else each._replace(optional=True)
        for each in calls
        if not whatever or (each.end or 1e9) > min(begins)
    ]
    assert not is_linearizable(own, values, of)
    for begin in begins:
        fewer = [each._replace(optional=True) if each.begin == begin else each for each in own]
        assert is_linearizable(fewer, values, of), "one of them is not needed"
