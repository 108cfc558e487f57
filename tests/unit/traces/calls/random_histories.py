"""Random histories of small objects, with lies, failures and calls without an outcome; and an oracle that tries all orders."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, NamedTuple

from assay.traces.event import Event, LogPosition, LogRecord, ProcessRun

REGISTER_SPEC = """\
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

LIST_SPEC = """\
module pieces
param Piece: set = {p1, p2}
size param Most: int = 3
state:
    items: seq[Piece, max Most] = []
action read(seen: seq[Piece, max Most]):
    when same: seen == items
action append(item: Piece):
    items := items + [item]
action put(item: Piece):
    items := [item]
action pop:
    items := drop(items, 1)
accept bounds: capacity of items
trace history:
    from events:
        event = "f"; phase = "type"; process = "process"
    order: lines
    call read returns (value: seq[Piece, max Most]): read(value)
    call append(item: Piece): append(item)
    call put(item: Piece): put(item)
    call pop: pop()
"""
SUM_SPEC = """\
module sums
size param Most: int = 3
type Amount = 0 .. Most
state:
    sum: 0 .. 100 = 0
action read(seen: 0 .. 100):
    when same: seen == sum
action add(amount: Amount):
    sum := sum + amount
action clear(amount: Amount):
    sum := amount
trace history:
    from events:
        event = "f"; phase = "type"; process = "process"
    order: lines
    call read returns (value: 0 .. 100): read(value)
    call add(amount: Amount): add(amount)
    call clear(amount: Amount): clear(amount)
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


Given = tuple[str, dict[str, Any]]
"""A call with its arguments."""


class SmallObject(NamedTuple):
    """An object: its spec, its first value, a random call of it, and a random lie about a result. ``effect`` is what a call
    returns and the value after it.
    """

    spec: str
    first: Any
    call: Callable[[Random], Given]
    effect: Callable[[Given, Any], tuple[dict[str, Any], Any]]
    lie: Callable[[Random, Any], Any]


def _register_call(choose: Random) -> Given:
    one, other = choose.randint(1, 3), choose.randint(1, 3)
    return choose.choice([("read", {}), ("write", {"value": one}), ("cas", {"old": one, "new": other})])


def _register_effect(given: Given, value: Any) -> tuple[dict[str, Any], Any]:
    f, fields = given
    if f == "read":
        return {"value": value}, value
    if f == "write":
        return {}, fields["value"]
    matches = fields["old"] == value
    return {"ok": matches}, fields["new"] if matches else value


REGISTER = SmallObject(
    REGISTER_SPEC,
    None,
    _register_call,
    _register_effect,
    lambda choose, said: (not said) if isinstance(said, bool) else choose.choice([None, 1, 2, 3]),
)


def _list_call(choose: Random) -> Given:
    item = choose.randint(1, 3)
    more = [("append", {"item": item}), ("append", {"item": item}), ("put", {"item": item}), ("pop", {})]
    return choose.choice([("read", {}), ("read", {}), ("read", {}), *more])


def _list_effect(given: Given, value: Any) -> tuple[dict[str, Any], Any]:
    match given:
        case "read", _:
            return {"value": value}, value
        case "append", {"item": item}:
            return {}, (*value, item)
        case "put", {"item": item}:
            return {}, (item,)
        case _:
            return {}, value[1:]


LIST = SmallObject(
    LIST_SPEC,
    (),
    _list_call,
    _list_effect,
    lambda choose, said: choose.choice([said[:-1], said[::-1], (*said, choose.randint(1, 3))]),
)


def _sum_call(choose: Random) -> Given:
    return choose.choice(
        [("read", {}), ("add", {"amount": choose.randint(0, 3)}), ("clear", {"amount": choose.randint(0, 2)})]
    )


def _sum_effect(given: Given, value: Any) -> tuple[dict[str, Any], Any]:
    f, fields = given
    if f == "read":
        return {"value": value}, value
    return {}, fields["amount"] + (value if f == "add" else 0)


SUM = SmallObject(SUM_SPEC, 0, _sum_call, _sum_effect, lambda choose, said: max(0, said + choose.choice([-1, 1])))


class _Open:
    def __init__(self, given: Given) -> None:
        self.given, self.result, self.done = given, dict[str, Any](), False


def random_history(choose: Random, calls: int, processes: int, lies: float, of: SmallObject = REGISTER) -> list[Line]:
    """A history of an object; with ``lies`` a result is another one now and then."""
    lines: list[Line] = []
    running: dict[int, _Open] = {}
    ids, fresh, begun, value = list(range(processes)), processes, 0, of.first
    while begun < calls or running:
        process = choose.choice(ids)
        if process not in running and begun < calls:
            begun += 1
            f, fields = of.call(choose)
            running[process] = _Open((f, fields))
            lines.append(Line(f, "invoke", process, fields))
            if choose.random() < 0.06:
                del running[process]
                lines.append(Line(f, "fail", process, fields))
        elif process in running:
            one = running[process]
            f, fields = one.given
            if not one.done and choose.random() < 0.9:
                (one.result, value), one.done = of.effect(one.given, value), True
                if choose.random() < 0.5:
                    continue
            del running[process]
            if not one.done or choose.random() < 0.1:
                lines.append(Line(f, "info", process, fields))
                ids[ids.index(process)], fresh = fresh, fresh + 1
                continue
            if choose.random() < lies:
                one.result = {name: of.lie(choose, said) for name, said in one.result.items()}
            lines.append(Line(f, "ok", process, {**fields, **one.result}))
    return lines


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


def is_linearizable(calls: list[Operation], begins: tuple[Any, ...] | None = None, of: SmallObject = REGISTER) -> bool:
    """Whether some order of the calls explains them, from one of the values with which it ``begins``."""
    return any(
        _continues(calls, frozenset(), value, set(), of) for value in ((of.first,) if begins is None else begins)
    )


def _continues(
    calls: list[Operation], taken: frozenset[int], value: Any, seen: set[tuple[frozenset[int], str]], of: SmallObject
) -> bool:
    if (taken, repr(value)) in seen:
        return False
    seen.add((taken, repr(value)))
    ends = [each.end for at, each in enumerate(calls) if at not in taken and not each.optional and each.end is not None]
    if not ends:
        return True
    return any(
        _continues(calls, taken | {at}, after, seen, of)
        for at, each in enumerate(calls)
        if at not in taken and each.begin < min(ends)
        for after in _after(each, value, of)
    )


def _after(call: Operation, value: Any, of: SmallObject) -> list[Any]:
    result, after = of.effect((call.f, call.fields), value)
    says_so = call.end is None or all(call.fields.get(name) == said for name, said in result.items())
    return [after] if says_so else []


def reachable(calls: list[Operation]) -> tuple[Any, ...]:
    """The values of a register to which any calls of these lead."""
    found: list[Any] = [None]
    for value in found:
        found += {after for each in calls for after in _after(each, value, REGISTER)} - set(found)
    return tuple(found)
