"""Of lines that repeat what all slices share, the first and the last of a stretch are compared; nothing else is left out."""

from __future__ import annotations

from collections.abc import Callable

from assay.grammar import kernel as k
from assay.grammar.load import Loaded
from assay.traces.binding import bind
from assay.traces.events import Event
from assay.traces.plan import sized_kernel
from assay.traces.restatement import is_repeatable, without_restatements


def left(loaded: Loaded, events: list[Event]) -> list[int]:
    """The lines that are compared."""
    kernel, plan = sized_kernel(loaded, events, len(events), None)
    seen = bind(plan, events, lambda rule, values: True).observations
    kept = without_restatements(kernel, seen, lambda each: each.event.run)
    assert [each for each in seen if each in kept] == kept
    return [each.event.record.place.line for each in kept]


def test_the_ends_of_a_stretch_are_kept(election: Callable[..., Loaded], line: Callable[..., Event]) -> None:
    said: list[tuple[str, dict[str, int]]] = [
        ("Joined", {}),
        *[("Leading", {"number": 0})] * 4,
        ("Elected", {"number": 1}),
        *[("Leading", {"number": 1})] * 3,
    ]
    events = [line("n1", number, 100 + number, kind, **fields) for number, (kind, fields) in enumerate(said, 1)]
    assert left(election(), events) == [1, 2, 5, 6, 7, 9]


def test_an_action_that_writes_something_else_each_time_is_always_compared(election: Callable[..., Loaded]) -> None:
    kernel = election().kernel
    rules: dict[str, k.TraceRule] = {rule.event: rule for rule in kernel.traces[0].rules}
    assert is_repeatable(kernel, rules["Leading"])
    assert not any(is_repeatable(kernel, rules[kind]) for kind in ("Joined", "Elected", "Left"))


def test_two_equal_lines_are_both_compared(election: Callable[..., Loaded], line: Callable[..., Event]) -> None:
    events = [line("n1", number, 100, "Leading", number=0) for number in (1, 2)]
    assert left(election(), events) == [1, 2]
