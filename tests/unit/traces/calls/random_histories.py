"""Random histories of a register, with lies, failures and calls without an outcome; and an oracle that tries all orders."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun

REGISTER = """\
module register
param Value: set = {v1, v2}
state:
    value: Value? = none
action read(seen: Value?):
    when same: seen == value
action write(new: Value):
    value := some(new)
action cas(old: Value, new: Value, ok: bool):
    when said: ok == (value == some(old))
    if ok:
        value := some(new)
trace history:
    from events:
        event = "f"; phase = "type"; process = "process"
    order: lines
    call read returns (value: Value?): read(value)
    call write(value: Value): write(value)
    call cas(old: Value, new: Value) returns (ok: bool): cas(old, new, ok)
"""


class Line(NamedTuple):
    """A line of a history."""

    f: str
    phase: str
    process: int
    fields: dict[str, Any]


def event(number: int, line: Line) -> Event:
    """The event of a line, the ``number``-th of its file."""
    fields = {"phase": line.phase, "process": line.process, **line.fields}
    record = LogRecord(LogPosition("history", number + 1, number), None, "INFO", "", None, "")
    return Event(line.f, "", fields, record, ProcessRun("", 1))


class _Open:
    def __init__(self, f: str, given: dict[str, Any]) -> None:
        self.f, self.given, self.result, self.done = f, given, dict[str, Any](), False


def random_history(choose: Random, calls: int, processes: int, lies: float) -> list[Line]:
    """A history of a register; with ``lies`` a result is another one now and then."""
    lines: list[Line] = []
    running: dict[int, _Open] = {}
    ids, fresh, begun, value = list(range(processes)), processes, 0, None
    while begun < calls or running:
        process = choose.choice(ids)
        if process not in running and begun < calls:
            begun += 1
            one = running[process] = _Open(*_random_call(choose))
            lines.append(Line(one.f, "invoke", process, one.given))
            if choose.random() < 0.06:
                del running[process]
                lines.append(Line(one.f, "fail", process, one.given))
        elif process in running:
            one = running[process]
            if not one.done and choose.random() < 0.9:
                value, one.done = _effect(one, value), True
                if choose.random() < 0.5:
                    continue
            del running[process]
            if not one.done or choose.random() < 0.1:
                lines.append(Line(one.f, "info", process, one.given))
                ids[ids.index(process)], fresh = fresh, fresh + 1
                continue
            if choose.random() < lies:
                one.result = {name: _lie(choose, told) for name, told in one.result.items()}
            lines.append(Line(one.f, "ok", process, {**one.given, **one.result}))
    return lines


def _random_call(choose: Random) -> tuple[str, dict[str, Any]]:
    one, other = choose.randint(1, 3), choose.randint(1, 3)
    return choose.choice([("read", {}), ("write", {"value": one}), ("cas", {"old": one, "new": other})])


def _effect(one: _Open, value: int | None) -> int | None:
    if one.f == "read":
        one.result = {"value": value}
        return value
    if one.f == "write":
        return int(one.given["value"])
    one.result = {"ok": value == one.given["old"]}
    return int(one.given["new"]) if one.result["ok"] else value


def _lie(choose: Random, told: object) -> object:
    return (not told) if isinstance(told, bool) else choose.choice([None, 1, 2, 3])


class Operation(NamedTuple):
    """A call with the numbers of its lines; ``end`` is None if its outcome is unknown. An ``optional`` one may have had no
    effect, or a late one.
    """

    f: str
    fields: dict[str, Any]
    begin: int
    end: int | None
    optional: bool = False


def operations(lines: list[Line]) -> list[Operation]:
    """The calls of a history, those that failed left out."""
    found: list[Operation] = []
    at: dict[int, int] = {}
    failed: set[int] = set()
    for number, line in enumerate(lines):
        if line.phase == "invoke":
            at[line.process] = len(found)
            found.append(Operation(line.f, line.fields, number, None))
        elif line.phase == "ok":
            found[at[line.process]] = found[at[line.process]]._replace(fields=line.fields, end=number)
        elif line.phase == "fail":
            failed.add(at[line.process])
    return [each for number, each in enumerate(found) if number not in failed]


def is_linearizable(calls: list[Operation], begins: tuple[int | None, ...] = (None,)) -> bool:
    """Whether some order of the calls explains them, from one of the values with which it ``begins``."""
    return any(_continues(calls, frozenset(), value, set()) for value in begins)


def _continues(
    calls: list[Operation], taken: frozenset[int], value: int | None, seen: set[tuple[frozenset[int], int | None]]
) -> bool:
    if (taken, value) in seen:
        return False
    seen.add((taken, value))
    ends = [each.end for at, each in enumerate(calls) if at not in taken and not each.optional and each.end is not None]
    if not ends:
        return True
    return any(
        _continues(calls, taken | {at}, after, seen)
        for at, each in enumerate(calls)
        if at not in taken and each.begin < min(ends)
        for after in _after(each, value)
    )


def _after(call: Operation, value: int | None) -> list[int | None]:
    if call.f == "read":
        return [value] if call.end is None or call.fields["value"] == value else []
    if call.f == "write":
        return [call.fields["value"]]
    matches = call.fields["old"] == value
    return [call.fields["new"] if matches else value] if call.end is None or call.fields["ok"] == matches else []


def reachable(calls: list[Operation]) -> tuple[int | None, ...]:
    """The values to which any calls of these lead."""
    found: list[int | None] = [None]
    for value in found:
        found += {after for each in calls for after in _after(each, value)} - set(found)
    return tuple(found)
