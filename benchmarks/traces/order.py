"""Lines dropped, doubled and exchanged, with the answer that the ground truth lets one expect; and how much skew a log needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from assay.grammar.identity_memo import IdentityMemo
from assay.traces.event import Event
from assay.traces.incremental.incremental_recheck import Change
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate

from .recorded import events_of, of_version, retrial, spec, state_writes

STATING = frozenset(
    {"PartitionState", "IsrWritten", "IsrUpdated", "ReplicaRemovedFromIsr", "PartitionListed", "LeaderEpochUpdated"}
)
FARTHEST = 1 << 14


@dataclass(frozen=True, slots=True)
class Misordered:
    """A log with a line dropped, doubled, or exchanged with the next of its file, and what to expect."""

    run: str
    kind: str
    event: Event
    change: Change
    expected: TraceVerdict

    @property
    def is_right(self) -> bool:
        """Whether the answer is the expected one."""
        judgement = retrial(self.run).judge(self.change)
        verdict = TraceVerdict.INCONSISTENT if judgement.rejected else judgement.verdict
        return verdict is self.expected


def misordered(run: str, count: int, seed: int) -> Iterator[Misordered]:
    """So many changes of the lines that state writes, of each kind as many; the same for the same seed."""
    random = Random(f"{run} {seed}")
    slices = retrial(run).parts.slices
    lines = [(name, event) for name, events in slices.items() for event in events if event.kind in STATING]
    logged = Counter((name, event.fields.get("version")) for name, event in lines)
    latest = Counter[str]()
    for write in state_writes()[run]:
        latest[write.partition] = max(latest[write.partition], write.version)
    makers = (_dropped, _doubled, _exchanged)
    for at, (name, event) in enumerate(random.sample(lines, min(count, len(lines)))):
        version = event.fields.get("version")
        alone = logged[name, version] == 1 and version != latest[name]
        kind, change = makers[at % 3](slices[name], event)
        # Without its only line a version is missing between others, so the answer is inconclusive. Of the last version
        # nothing tells that it was there.
        missed = kind == "dropped" and alone
        yield Misordered(run, kind, event, change, TraceVerdict.INCONCLUSIVE if missed else TraceVerdict.CONSISTENT)


def _dropped(_: Sequence[Event], event: Event) -> tuple[str, Change]:
    return "dropped", IdentityMemo([(event, ())])


def _doubled(_: Sequence[Event], event: Event) -> tuple[str, Change]:
    return "doubled", IdentityMemo([(event, (event, replace(event)))])


def _exchanged(events: Sequence[Event], event: Event) -> tuple[str, Change]:
    """The line with the time of the next one of its file that another thread wrote within the skew, or of itself."""
    time = event.record.time or 0
    near = (e for e in events if e is not event and e.record.place.file == event.record.place.file)
    other = next((e for e in near if 0 <= (e.record.time or 0) - time <= 5 and e.kind not in STATING), None)
    if other is None:
        return "exchanged", IdentityMemo([(event, (replace(event),))])
    swapped = replace(other, record=replace(other.record, time=time))
    later = replace(event, record=replace(event.record, time=other.record.time))
    return "exchanged", IdentityMemo([(event, (later,)), (other, (swapped,))])


def shifted(run: str, node: str, milliseconds: int) -> list[Event]:
    """The events of a run, those of a node with clocks that are ahead."""
    return [
        replace(e, record=replace(e.record, time=None if e.record.time is None else e.record.time + milliseconds))
        if e.run.node == node
        else e
        for e in events_of(run)
    ]


def needed_shift(run: str, node: str, skew: int) -> int:
    """The least shift of a node's clock with which a run has no execution within a skew."""
    low, high = 0, FARTHEST
    while high - low > 1:
        middle = (low + high) // 2
        # Bisection: what a shift makes impossible, a larger one is taken to make impossible too.
        low, high = (middle, high) if is_accepted(run, node, middle, skew) else (low, middle)
    return high


def is_accepted(run: str, node: str, milliseconds: int, skew: int) -> bool:
    """Whether a run with a shifted clock has an execution within a skew."""
    options = replace(of_version(run), skew=skew, mismatches=1)
    return validate(spec(), shifted(run, node, milliseconds), options=options).verdict is TraceVerdict.CONSISTENT
