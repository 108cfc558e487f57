"""The causal order of the lines of a log, from vector clocks and from messages (docs/design/causal-order.md).

The lines of one node's run in one file are in order. A line comes after all that its clock knows, and one that receives
a message after the line that sends it. Both are kept in one form: how far each log has to be read before the line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import CausalPast, LogPosition, Notice, ProcessRun
from assay.traces.input.events.decoder import JsonEvent

ORDER_UNKNOWN = "causal order"
"""The kind of notice about lines of which it is not known what came before them."""

NO_OWN_ENTRY = "the vector clock has no entry for its own node"
GOES_BACK = "the vector clock's entry for its own node is lower than in the line before"
NO_SEND = "the message that it receives is sent by no line"
SENT_TWICE = "the message that it sends is sent by an earlier line, too, and orders nothing"
IN_A_CIRCLE = "what it says came before it comes after it"

Log = Sequence[tuple[JsonEvent, ProcessRun]]
Needs = dict[int, int]
"""Of each log, how many of its lines come before a line."""


@dataclass(slots=True)
class _Known:
    """The entries that the clocks of a log's lines have for their own node, with the places of the lines."""

    entries: list[int]
    positions: list[int]

    def read(self, entry: int, *, shared: bool) -> int:
        """How many lines come before one that knows so many events of the node.

        Several lines may have one entry, if the node counts only what it sends and receives: of these the first is
        known. If lines of another log have it too (``shared``), it is not known which is the first.
        """
        at = bisect_left(self.entries, entry)
        if at < len(self.entries) and self.entries[at] == entry and not shared:
            at += 1
        return self.positions[at - 1] + 1 if at else 0


def causal_pasts(logs: Sequence[Log]) -> tuple[list[list[CausalPast]], list[Notice]]:
    """What came before each line of each log, and notices about lines of which that is not known."""
    causes = _Causes(logs)
    return causes.pasts(), causes.notices()


class _Causes:
    def __init__(self, logs: Sequence[Log]) -> None:
        self._logs = logs
        self._wrong: dict[str, tuple[int, LogPosition, str, int | None]] = {}
        self._nodes = [str(log[0][1].node) for log in logs]
        self._needs: list[list[Needs]] = [[{} for _ in log] for log in logs]
        self._add_runs()
        self._add_clocks()
        self._add_messages()

    def notices(self) -> list[Notice]:
        """A notice for each kind of doubt."""
        return [
            Notice(ORDER_UNKNOWN, place, f"{count:,} {'line' if count == 1 else 'lines'}: {text}{more}", since)
            for text, (count, place, more, since) in self._wrong.items()
        ]

    def _doubt(self, text: str, event: JsonEvent, more: str = "") -> None:
        new = 0, event.record.place, more and f" ({more})", event.record.time
        count, *first = self._wrong.get(text, new)
        self._wrong[text] = (count + 1, *first)  # type: ignore[assignment]

    def _add_runs(self) -> None:
        """A run of a node begins when the one before it has ended."""
        for at, log in enumerate(self._logs):
            run = log[0][1]
            for other, before in enumerate(self._logs):
                if before[0][1].node == run.node and before[0][1].number < run.number:
                    # On its first line alone: needs only grow along a log, so all later lines have it too.
                    self._needs[at][0][other] = len(before)

    def _add_clocks(self) -> None:
        known = [self._own_entries(at) for at in range(len(self._logs))]
        logs_of = defaultdict[str, list[int]](list)
        for at, node in enumerate(self._nodes):
            logs_of[node].append(at)
        # Entries that lines of two logs of one node have: which of these is meant is not known.
        several = {
            node: {
                entry for entry, count in Counter(e for at in own for e in set(known[at].entries)).items() if count > 1
            }
            for node, own in logs_of.items()
        }
        for at, log in enumerate(self._logs):
            stamped = set(known[at].positions)
            for position in sorted(stamped):
                for node, entry in (log[position][0].stamp.clock or {}).items():  # type: ignore[union-attr]
                    # A node counts the line itself in its own entry, so of its own lines only those with lower entries
                    # came before.
                    own = node == self._nodes[at]
                    for other in logs_of.get(node, ()):
                        count = known[other].read(entry, shared=own or entry in several[node])
                        self._require(at, position, other, count)

    def _own_entries(self, at: int) -> _Known:
        """The entries of a log's lines for their own node, without those that contradict the lines before."""
        found, node = _Known([], []), self._nodes[at]
        for position, (event, _) in enumerate(self._logs[at]):
            clock = None if event.stamp is None else event.stamp.clock
            if clock is None:
                continue
            entry = clock.get(node)
            if entry is None:
                self._doubt(NO_OWN_ENTRY, event, f"`{node}`; it has {', '.join(f'`{each}`' for each in [*clock][:5])}")
            # Entries must not fall, because `read` searches them by halves.
            elif found.entries and entry < found.entries[-1]:
                self._doubt(GOES_BACK, event, f"{entry} after {found.entries[-1]}")
            else:
                found.entries.append(entry)
                found.positions.append(position)
        return found

    def _require(self, at: int, position: int, other: int, count: int) -> None:
        """A line comes after the first ``count`` lines of a log."""
        if count and not (at == other and count <= position):
            needs = self._needs[at][position]
            needs[other] = max(count, needs.get(other, 0))

    def _add_messages(self) -> None:
        sent: dict[str, tuple[int, int] | None] = {}
        for at, position, event in self._lines():
            for message in () if event.stamp is None else event.stamp.sends:
                # Of two sends either could be meant, and a wrong one would forbid orders that are possible. So it
                # orders nothing.
                if message in sent:
                    self._doubt(SENT_TWICE, event, f"`{message}`")
                sent[message] = None if message in sent else (at, position)
        for at, position, event in self._lines():
            for message in () if event.stamp is None else event.stamp.receives:
                if message not in sent:
                    self._doubt(NO_SEND, event, f"`{message}`")
                elif (source := sent[message]) is not None:
                    self._require(at, position, source[0], source[1] + 1)

    def _lines(self) -> Iterator[tuple[int, int, JsonEvent]]:
        for at, log in enumerate(self._logs):
            for position, (event, _) in enumerate(log):
                yield at, position, event

    def pasts(self) -> list[list[CausalPast]]:
        """What came before each line; the rank of a line is its place in one order that all of this allows."""
        found: list[list[CausalPast]] = [[] for _ in self._logs]
        last: list[tuple[tuple[int, int], ...]] = [()] * len(self._logs)
        for rank, (at, position) in enumerate(self._in_order()):
            needs = self._needs[at][position]
            if needs:
                # What came before a line came before all later lines of its log, too, so needs only grow along a log.
                # Lines without needs of their own share the tuple of the line before: it is made for few lines.
                merged = dict(last[at])
                for other, count in needs.items():
                    merged[other] = max(count, merged.get(other, 0))
                last[at] = tuple(merged.items())
            found[at].append(CausalPast(at, position, last[at], rank))
        return found

    def _in_order(self) -> Iterator[tuple[int, int]]:
        """All lines in an order that is allowed, near that of their times. A line in a circle says nothing."""
        read = [0] * len(self._logs)
        ready: list[tuple[int, int]] = []
        waiting = defaultdict[int, list[int]](list)  # by the log that has to be read further
        latest = [0] * len(self._logs)

        def offer(at: int) -> None:
            if read[at] == len(self._logs[at]):
                return
            lacking = self._lacking(at, read)
            if lacking is not None:
                waiting[lacking].append(at)
                return
            # By the latest time so far in its log. With its own time a clock that was set back would draw all lines
            # after it before those of other logs.
            latest[at] = max(latest[at], self._logs[at][read[at]][0].record.time or 0)
            heappush(ready, (latest[at], at))

        for at in range(len(self._logs)):
            offer(at)
        while True:
            while ready:
                _, at = heappop(ready)
                yield at, read[at]
                read[at] += 1
                freed = waiting.pop(at, [])
                for each in (at, *freed):
                    offer(each)
            if not waiting:
                return
            at = self._break_circle(waiting, read)
            offer(at)

    def _lacking(self, at: int, read: Sequence[int]) -> int | None:
        """A log that has to be read further before the next line of a log."""
        needs = self._needs[at][read[at]]
        return next((other for other, count in needs.items() if read[other] < count), None)

    def _break_circle(self, waiting: dict[int, list[int]], read: Sequence[int]) -> int:
        """The log of a line that waits for itself; what the line says came before it is dropped."""
        # Nothing is ready, so each log with unread lines waits for another such log. To follow them must end in a
        # circle.
        passed: list[int] = []
        at = next(iter(waiting.values()))[0]
        while at not in passed:
            passed.append(at)
            lacking = self._lacking(at, read)
            assert lacking is not None
            at = lacking
        circle = passed[passed.index(at) :]
        event = self._logs[at][read[at]][0]
        others = [str(self._logs[each][read[each]][0].record.place) for each in circle if each != at]
        self._doubt(IN_A_CIRCLE, event, f"with {', '.join(others)}" if others else "")
        lacking = self._lacking(at, read)
        assert lacking is not None
        waiting[lacking].remove(at)
        if not waiting[lacking]:
            del waiting[lacking]
        self._needs[at][read[at]] = {}
        return at
