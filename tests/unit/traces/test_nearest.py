"""What a mismatch is blamed on if several actions, or several picks, have equally many guards in the way. It is the one
nearest to what the lines say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.grammar.load import load_text
from assay.traces.result import LogViolation, TraceVerdict
from assay.traces.validate import validate

TILL = """\
module till

param Till: set = {t}
param Clerk: set = {c, d}
size param Max: int = 5

type Count = 0 .. Max
record Account: sum: Count, version: Count

state:
    open: bool = false
    account: map[Till, Account?] = [t -> none]
    receipts: map[Till, map[Count, Account, max Max + 1]] = [t -> {}]
    on_duty: set[Clerk] = {c in Clerk if true}
    strangers: set[Clerk] = {}

action unlock:
    open := true

action make(t: Till):
    when new: account[t] == none
    account[t] := Account(1, 0)
    receipts[t] := {0 -> Account(1, 0)}

action add(t: Till, by: Clerk):
    when made: account[t] is some(a)
    when unlocked: open
    when duty: by in on_duty
    when little: a.sum < 2
    when even: a.version < 1
    bound versions: a.version < Max and a.sum < Max
    account[t] := Account(a.sum + 1, a.version + 1)
    receipts[t] := receipts[t] with {a.version + 1 -> Account(a.sum + 1, a.version + 1)}

action add_by_stranger(t: Till, by: Clerk):
    "Observed in logs alone."
    when made: account[t] is some(a)
    when strange: by in strangers
    bound untold: false
    account[t] := Account(a.sum + 1, a.version + 1)

action correct(t: Till, to: Count):
    when made: account[t] is some(a)
    pick known in keys(receipts[t])
    let old = receipts[t][known]
    when current: known == a.version
    when smaller: to < old.sum
    bound versions: a.version < Max
    account[t] := Account(to, a.version + 1)
    receipts[t] := receipts[t] with {a.version + 1 -> Account(to, a.version + 1)}

next: unlock, make, add, add_by_stranger, correct

trace log:
    from toy
    slice Till by number
    on Unlocked: unlock
    on Made(slice: Till, version: Count) at version: make(slice) then account[slice] is some(a) and a.version == version
    on Added(slice: Till, by: Clerk, sum: Count, version: Count) at version:
        add(slice, by) or add_by_stranger(slice, by)
        then account[slice] is some(a) and a.sum == sum and a.version == version
    on Corrected(slice: Till, to: Count, version: Count) at version:
        correct(slice, to)
        then account[slice] is some(a) and a.version == version
    on Seen(slice: Till, sum: Count, version: Count) at version:
        observe account[slice] is some(a) and a.sum == sum and a.version == version
    numbered make, add, correct
    order: file; skew 0 ms
"""

Line = Callable[..., Any]


@pytest.fixture
def till(line: Line) -> Callable[..., tuple[Any, ...]]:
    """The lines of a till that is made and to which one is added, and then some."""

    def make(*more: tuple[str, dict[str, Any]]) -> tuple[Any, ...]:
        told: list[tuple[str, dict[str, Any]]] = [
            ("Made", {"version": 0}),
            ("Added", {"by": "c", "sum": 2, "version": 1}),
            ("Seen", {"sum": 2, "version": 1}),
            *more,
        ]
        return (
            line("n1", 1, 0, "Unlocked"),
            *(line("n1", at, at, kind, number=1, **fields) for at, (kind, fields) in enumerate(told, 2)),
        )

    return make


def mismatch(events: tuple[Any, ...], spec: str = TILL) -> LogViolation:
    found = validate(load_text(spec), events)
    assert found.verdict is TraceVerdict.INCONSISTENT
    (violation,) = found.violations
    return violation


def labels(violation: LogViolation) -> list[str]:
    return [part.label for part in violation.blame[0].parts]


def test_an_action_of_logs_alone_that_this_is_not_explains_nothing(till: Any) -> None:
    """By number of guards the stranger, of whom there is none, would be nearer than the clerk."""
    found = mismatch(till(("Added", {"by": "d", "sum": 3, "version": 2}), ("Seen", {"sum": 3, "version": 2})))
    assert (found.action, labels(found)) == ("add", ["little", "even"])


def test_of_ways_with_as_many_guards_the_later_is_nearer(till: Any) -> None:
    """The first receipt says more than what it was corrected to, but is not current; the second is current, and says less."""
    lower = TILL.replace("account[t] := Account(1, 0)", "account[t] := Account(3, 0)").replace(
        "{0 -> Account(1, 0)}", "{0 -> Account(3, 0)}"
    )
    lines = (
        ("Corrected", {"to": 1, "version": 1}),
        ("Seen", {"sum": 1, "version": 1}),
        ("Corrected", {"to": 2, "version": 2}),
        ("Seen", {"sum": 2, "version": 2}),
    )
    first, made, *_ = till()
    found = mismatch((first, made, *till(*lines)[4:]), lower)
    assert (found.action, labels(found)) == ("correct", ["smaller"])


def test_a_line_that_names_another_action_than_the_others_tell_of_is_told_why_not(till: Any) -> None:
    """All other lines tell of a correction; that one was added too is wrong, though the sum and the version are as it says."""
    lines = (
        ("Corrected", {"to": 1, "version": 2}),
        ("Added", {"by": "c", "sum": 1, "version": 2}),
        ("Seen", {"sum": 1, "version": 2}),
    )
    found = mismatch(till(*lines))
    assert found.place.line == 6
    assert (found.action, labels(found)) == ("add", ["little", "even"])
