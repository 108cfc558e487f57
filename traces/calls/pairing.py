"""Makes calls of the lines of a log: one line may report a whole call, or one its beginning and another its outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.calls.call import HistoryCall
from assay.traces.calls.instants import MILLISECOND, CallClock
from assay.traces.event import Event, Field
from assay.traces.input.events.times import TimeError
from assay.traces.observe.binding import as_written
from assay.traces.observe.binding_tally import BindingTally, Unread, total_of
from assay.traces.observe.observation import fields_of, rules_by_kind

NO_CALL = "it ends a call that no line begins"
OPEN = "no line ends the call, and its process begins another one"
ENDED = "the call is over already"
BACKWARDS = "it ends before it begins"


@dataclass(slots=True)
class History:
    """The calls of a log in the order of their first lines, and what was not understood. ``by_time``: moments are
    nanoseconds, not positions of lines.
    """

    calls: list[HistoryCall] = field(default_factory=list)
    tally: BindingTally = field(default_factory=BindingTally)
    by_time: bool = False


def history_of(events: Sequence[Event], plan: k.TracePlan) -> History:
    """The calls that the lines of a log report. Lines that no ``call`` is about are calls of one moment."""
    known = [rule for rule in plan.rules if rule.call is not None]
    calls = {rule.event: rule.call for rule in known if rule.call is not None}
    failing = frozenset(rule.event for rule in known if rule.call is not None and rule.call.fails)
    logs = {event.log for event in events if event.kind in rules_by_kind(plan)}
    # In one file the positions of lines are the order, and more exact than their times.
    by_time = len(logs) > 1 or any(call.times is not None for call in calls.values())
    reader = _Pairing(plan, calls, failing, by_time=by_time)
    for at, event in enumerate(events):
        reader.add(at, event)
    return reader.history()


class _Pairing:
    """Reads lines one after the other."""

    def __init__(
        self, plan: k.TracePlan, calls: Mapping[str, k.CallTimes], failing: frozenset[str], *, by_time: bool
    ) -> None:
        self._source, self._calls, self._failing, self._by_time = plan.source, calls, failing, by_time
        self._ordering = plan.ordering
        self._clock = CallClock(plan.source)
        self._found: list[HistoryCall] = []
        self._open: dict[tuple[str, ...], HistoryCall] = {}
        self._ended: set[tuple[str, ...]] = set()
        self._last: dict[tuple[str, ...], Event] = {}
        self._unread: list[BindingTally] = []
        self._more = 0
        self._has_phases = any(source.name == "phase" for source in plan.source.fields)

    def add(self, at: int, event: Event) -> None:
        """Read a line, the ``at``-th of the log."""
        call = self._calls.get(event.kind)
        if call is None:
            self._add_moment(at, event)
        elif call.times is None:
            self._add_part(at, event, call)
        else:
            self._add_whole(event, call.times)

    def history(self) -> History:
        """All calls."""
        order = [each for each in self._found if each.happened]
        return History(order, total_of([BindingTally(used=self._more), *self._unread]), self._by_time)

    def _skip(self, event: Event, reason: str) -> None:
        place, since = event.record.place, event.record.time
        self._unread.append(BindingTally(unmapped=(Unread(event.kind, reason, 1, place, needed=True, since=since),)))

    def _moment(self, at: int, event: Event) -> int | None:
        """When a line was written; None if that is unknown."""
        if not self._by_time:
            return at
        return None if event.record.time is None else event.record.time * MILLISECOND

    def _end(self, at: int, event: Event) -> int | None:
        """When it was written at the latest: a time without a fraction is that of the whole second."""
        moment = self._moment(at, event)
        return moment if moment is None or not self._by_time else moment + (event.record.resolution - 1) * MILLISECOND

    def _add_moment(self, at: int, event: Event) -> None:
        begin, late = self._moment(at, event), self._ordering.commit_before_line
        if begin is not None and self._by_time and late is not None:
            # The line may be written so long after the fact that it reports.
            begin -= late * MILLISECOND
        self._found.append(HistoryCall(event, begin, self._end(at, event), caller=_log_of(event)))

    def _add_whole(self, event: Event, times: tuple[str, str]) -> None:
        """A line that reports a whole call."""
        fields = fields_of(event)
        try:
            begin = self._clock.read(fields.get(times[0]))
        except TimeError as error:
            return self._skip(event, f"its `{times[0]}`, when the call began, {error}")
        phase = self._phase(fields) if self._has_phases else None
        if phase == "":
            return self._skip(event, self._unknown_phase(fields))
        failed = phase == "fail"
        # A call that failed had no effect, unless a rule of the clause says which.
        if failed and event.kind not in self._failing:
            self._more += 1
            return None
        # `info`, as Jepsen has it: the outcome is not known, and the call may take effect at any time or never.
        if fields.get(times[1]) is None or phase in {"info", "invoke"}:
            self._found.append(HistoryCall(event, begin, None, returned=False))
            return None
        try:
            end = self._clock.read(fields[times[1]])
        except TimeError as error:
            return self._skip(event, f"its `{times[1]}`, when the call ended, {error}")
        if end < begin:
            return self._skip(event, f"{BACKWARDS}: `{times[0]}` is later than `{times[1]}`")
        self._found.append(HistoryCall(event, begin, end, caller=self._caller(fields), failed=failed))
        return None

    def _add_part(self, at: int, event: Event, call: k.CallTimes) -> None:
        """A line that reports the beginning or the outcome of a call."""
        fields = fields_of(event)
        caller, phase = self._caller(fields), self._phase(fields)
        if caller is None:
            return self._skip(event, f"it has no `{self._path('process')}`, which says whose call it is")
        if not phase:
            return self._skip(event, self._unknown_phase(fields))
        before, self._last[caller] = self._last.get(caller), event
        if self._by_time and before is not None and _goes_back(before, event):
            return self._skip(event, "its time lies before that of the line before, of the same process")
        if phase == "invoke":
            # A process makes one call at a time, so the outcome of its last one was not logged.
            if caller in self._open:
                self._skip(self._open[caller].event, f"{OPEN}: {event.record.place}")
                self._more -= 1  # it may have had an effect, which is tried
            self._ended.discard(caller)
            self._open[caller] = HistoryCall(event, self._moment(at, event), None, returned=False, caller=caller)
            self._found.append(self._open[caller])
            return None
        return self._add_outcome(at, event, call, caller, phase)

    def _add_outcome(self, at: int, event: Event, call: k.CallTimes, caller: tuple[str, ...], phase: str) -> None:
        begun = self._open.get(caller)
        if begun is None:
            # A log may begin within a call. Its effect counts all the same: later reads may show it.
            if phase == "ok" and caller not in self._ended:
                self._found.append(HistoryCall(event, None, self._end(at, event), caller=caller))
                self._more -= 1  # what it says is compared, and yet the line is reported as not understood
            return self._skip(event, ENDED if caller in self._ended else NO_CALL)
        if begun.event.kind != event.kind:
            return self._skip(event, f"it ends `{event.kind}`, and its process has begun `{begun.event.kind}`")
        # Also where the outcome is `info`: the process is free again, and the call stays one that has not returned.
        del self._open[caller]
        self._ended.add(caller)
        self._more += 1
        if phase == "fail" and event.kind not in self._failing:
            begun.happened = False
            self._more += 1
        elif phase != "info":
            begun.failed = phase == "fail"
            begun.event = _joined(begun.event, event, call)
            begun.end, begun.returned, begun.closing = self._end(at, event), True, event
        return None

    def _path(self, key: str) -> str:
        return self._source.path(key) or key

    def _phase(self, fields: Mapping[str, Field]) -> str:
        """Which part of a call a line reports; empty if it is none of them."""
        said = fields.get("phase")
        words = self._source.phases
        return k.PHASES[words.index(said)] if isinstance(said, str) and said in words else ""

    def _unknown_phase(self, fields: Mapping[str, Field]) -> str:
        if "phase" not in fields:
            return f"it has no `{self._path('phase')}`, which says whether the call begins or ends"
        listed = ", ".join(f"`{word}`" for word in self._source.phases)
        return f"its `{self._path('phase')}` is {as_written(fields.get('phase'))}, none of {listed}"

    @staticmethod
    def _caller(fields: Mapping[str, Field]) -> tuple[str, ...] | None:
        process = fields.get("process")
        if process is None or not isinstance(process, str | int):
            return None
        return (str(fields.get("node", "")), str(process))


def _log_of(event: Event) -> tuple[str, ...]:
    """Who writes one line after the other."""
    return (str(event.run), event.sequence, "lines")


def _goes_back(before: Event, event: Event) -> bool:
    first, last = before.record, event.record
    return first.time is not None and last.time is not None and last.time + last.resolution <= first.time


def _joined(begun: Event, ended: Event, call: k.CallTimes) -> Event:
    """What both lines of a call say together: of a field that both have, what the later one says."""
    first, last = fields_of(begun), fields_of(ended)
    fields = {**{name: value for name, value in first.items() if name not in call.returned}, **last}
    return replace(begun, fields=fields)
