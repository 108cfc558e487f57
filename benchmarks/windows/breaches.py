"""Breaches: each is put into a copy of a healthy recording, and marks the lines that together show it.

A breach draws among all its places in the recording, and says whether there is one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from .cases import Case, make
from .parts import Span
from .recordings import Entry, Files, Recording, base

Breach = Callable[[Recording, random.Random], bool]

ELECTED = re.compile(r"(?:Epoch incremented to|[Ii]ncremented epoch to|elected with epoch) (\d+)")
ZK_VERSION = re.compile(r"(epoch zk version is now) \d+")
QUORUM = re.compile(r"Completed transition to Leader(?:State)?\(.*?\bepoch=(\d+)")
STARTS = re.compile(r"(?P<role>Leader|Follower) (?P<p>[\w.]+-\d+) .*?starts at leader epoch (?P<e>\d+)\b")
OLD_STARTS = re.compile(r"\[Partition (?P<p>[\w.]+-\d+) broker=(?P<b>\d+)\] \S+ starts at Leader Epoch (?P<e>\d+)\b")
PREVIOUS = re.compile(r"[Pp]revious [Ll]eader [Ee]poch was:? (-?\d+)")
ID = re.compile(r"\bid=(\d+)\]")
ISR = re.compile(r"ISR \[([\d,]+)\]")
STATE = re.compile(
    r"partition (?P<p>[\w.]+-\d+) .*?LeaderAndIsr\(leader=(?P<l>\d+), leaderEpoch=(?P<e>\d+), isr=List\((?P<isr>[\d, ]+)\)"
)
CONTROLLER = re.compile(r"from controller (\d+) epoch (\d+)")
OBEYED = re.compile(r"as part of the become|eceived LeaderAndIsr request")
# `deleted brokers` is of a controller in ZooKeeper mode, the others are of KRaft's. So it is with BACK.
GONE = re.compile(
    r"deleted brokers: (\d+)(?:,|$| )|Fencing broker (\d+) because"
    r"|registration for broker (\d+):.*fenced=1\b|broker (\d+) has been fenced"
)
BACK = re.compile(
    r"Newly added brokers: ([\d,]+)|from broker (\d+) to unfence has been granted|registration for broker (\d+):.*fenced=-1"
)
GROWN = re.compile(r"Expanding ISR .*?from (?P<a>[\d,]+) to (?P<b>[\d,]+)|ISR updated to (?P<c>[\d,]+)")
OF_PARTITION = re.compile(r"[Pp]artition \[?([\w.]+)[-,](\d+)\]? (?:on broker |broker=)(\d+)")
SESSION = re.compile(r"Session establishment complete on server .*?(?:session id|sessionid) = (0x[0-9a-f]+)")
REGISTERED = re.compile(
    r"Registered broker \d+ at path .*?czxid \(broker epoch\): (?P<z>\d+)|Successfully registered broker \d+ with broker epoch (?P<k>\d+)"
)
FOLLOWS = re.compile(r"Completed transition to Follower(?:State)?\(.*?\bepoch=(?P<e>\d+), leader(?:Id)?=(?P<l>\d+)")
LONGEST = 60_000
"""Milliseconds after a broker's return in which the ISR that it came back to is looked for."""
NEAR = 20_000
"""Milliseconds between two requests that are taken for neighbours."""


def mark(*entries: Entry) -> bool:
    """Number the lines that show the breach."""
    for number, entry in enumerate(entries):
        entry.mark = number
    return True


def in_place(entry: Entry, old: re.Match[str], group: int | str, new: str) -> None:
    """Replace what a group of a match found."""
    entry.text = entry.text[: old.start(group)] + new + entry.text[old.end(group) :]


def epoch_repeated(recording: Recording, rng: random.Random) -> bool:
    """Two nodes say that they were elected with one epoch."""
    places = []
    for pattern in (ELECTED, QUORUM):
        said = [(node, each, found) for node, _, each in recording.in_time() if (found := pattern.search(each.text))]
        places += [(a, b) for a, b in pairwise(said) if a[0] != b[0] and int(a[2][1]) < int(b[2][1])]
    if not places:
        return False
    (_, first, before), (_, second, after) = rng.choice(places)
    in_place(second, after, 1, before[1])
    # Kafka raises the epoch and the version of its znode together. With one of them alone the line would contradict
    # itself.
    second.text = ZK_VERSION.sub(rf"\g<1> {before[1]}", second.text)
    return mark(first, second)


def leader_outside_isr(recording: Recording, rng: random.Random) -> bool:
    """The leader, and the controller if it says so, say an ISR in which the leader is not."""
    said = {
        (found["p"], found["e"], found["l"]): (each, found)
        for _, _, each in recording.in_time()
        if (found := STATE.search(each.text))
    }
    places = []
    for _, _, each in recording.in_time():
        starts, isr, own = STARTS.search(each.text), ISR.search(each.text), ID.search(each.text)
        if not (starts and isr and own) or starts["role"] != "Leader" or own[1] not in isr[1].split(","):
            continue
        by_controller = said.get((starts["p"], starts["e"], own[1]))
        others = [member for member in isr[1].split(",") if member != own[1]]
        if others and (by_controller or not said):
            places.append((each, isr, own[1], others, by_controller))
    if not places:
        return False
    entry, isr, own_id, others, by_controller = rng.choice(places)
    in_place(entry, isr, 1, ",".join(others))
    if by_controller is None:
        return mark(entry)
    written, found = by_controller
    left = ", ".join(member for member in found["isr"].split(", ") if member != own_id)
    in_place(written, found, "isr", left or others[0])
    return mark(written, entry)


def two_leaders(recording: Recording, rng: random.Random) -> bool:
    """Two brokers say that they lead a partition in one leader epoch."""
    leaders: dict[tuple[str, str], Entry] = {}
    starting = [(each, found) for _, _, each in recording.in_time() if (found := STARTS.search(each.text))]
    for each, found in starting:
        if found["role"] == "Leader":
            leaders.setdefault((found["p"], found["e"]), each)
    places = []
    for each, found in starting:
        own, first = ID.search(each.text), leaders.get((found["p"], found["e"]))
        if found["role"] == "Follower" and own and first:
            isr, theirs = ISR.search(first.text), ID.search(first.text)
            if isr and theirs and theirs[1] != own[1] and own[1] in isr[1].split(","):
                places.append((first, each, own[1]))
    if not places:
        return False
    first, second, own_id = rng.choice(places)
    stamp, text = second.text[: second.text.index("]") + 1], first.text[first.text.index("]") + 1 :]
    second.text = stamp + ID.sub(f"id={own_id}]", text, count=1)
    return mark(first, second)


class _Growth(NamedTuple):
    """A broker that was gone from ``gone`` to ``back`` (milliseconds), and a leader's line that takes it in again."""

    gone: Entry
    back: int
    node: str
    name: str
    entry: Entry


def _growths(recording: Recording) -> Iterator[_Growth]:
    lines = recording.in_time()
    for _, _, gone in lines:
        found = GONE.search(gone.text)
        if not found:
            continue
        dead = next(each for each in found.groups() if each)
        returns = (e.moment for _, _, e in lines if e.moment > gone.moment and _names(BACK.search(e.text), dead))
        back = next(returns, None)
        # `isr_of_dead` needs room: it puts a line from 1.5 s after the one moment to 0.5 s before the other.
        if back is None or back - gone.moment < 3000:
            continue
        for node, name, entry in lines:
            if back <= entry.moment <= back + LONGEST and _takes_in(entry.text, dead):
                yield _Growth(gone, back, node, name, entry)


def _names(found: re.Match[str] | None, broker: str) -> bool:
    return found is not None and broker in ",".join(filter(None, found.groups())).split(",")


def _takes_in(text: str, broker: str) -> bool:
    """Whether another broker's line says that the ISR has grown by this one."""
    found = GROWN.search(text)
    if not found or f"broker={broker}" in text or f"broker {broker}" in text:
        return False
    return broker in (found["b"] or found["c"]).split(",") and broker not in (found["a"] or "").split(",")


def isr_of_dead(recording: Recording, rng: random.Random) -> bool:
    """A leader takes a broker into the ISR while the controller holds it dead."""
    places = list(_growths(recording))
    if not places:
        return False
    chosen = rng.choice(places)
    entries = recording.nodes[chosen.node][chosen.name]
    moved = _with_outcome(entries, chosen.entry)
    when = int(rng.uniform(chosen.gone.moment + 1500, chosen.back - 500))
    for each in moved:
        entries.remove(each)
    place = next((at for at, each in enumerate(entries) if each.moment > when), len(entries))
    for offset, each in enumerate(moved):
        each.time = when + offset
        stamp = datetime.fromtimestamp(each.time / 1000, UTC)
        rest = each.text[each.text.index("]") + 1 :]
        each.text = f"[{stamp:%Y-%m-%d %H:%M:%S},{each.time % 1000:03d}]{rest}"
        entries.insert(place + offset, each)
    return mark(chosen.gone, *moved)


def _with_outcome(entries: list[Entry], entry: Entry) -> list[Entry]:
    """A line about an ISR that grows, with the next one in which the same broker says that it was written."""
    partition = OF_PARTITION.search(entry.text)
    if partition is None or "ISR updated" in entry.text:
        return [entry]
    at = entries.index(entry)
    later = (e for e in entries[at + 1 : at + 40] if partition[0] in e.text and "ISR updated" in e.text)
    return [entry, *([found] if (found := next(later, None)) else [])]


def leader_epoch_back(recording: Recording, rng: random.Random) -> bool:
    """A broker begins a leader epoch that is older than the one it was in, by its own line."""
    places = []
    for files in recording.nodes.values():
        last: dict[str, tuple[Entry, int]] = {}
        kinds = ("state-change.log", "server.log")
        for entry in (each for name, entries in files.items() if base(name) in kinds for each in entries):
            found = STARTS.search(entry.text) or OLD_STARTS.search(entry.text)
            if not found:
                continue
            before, told = last.get(found["p"]), PREVIOUS.search(entry.text)
            if before and told and int(told[1]) == before[1] >= 1 and int(found["e"]) > before[1]:
                places.append((before[0], entry, found, before[1] - 1))
            last[found["p"]] = (entry, int(found["e"]))
    if not places:
        return False
    first, second, found, epoch = rng.choice(places)
    in_place(second, found, "e", str(epoch))
    return mark(first, second)


def older_controller(recording: Recording, rng: random.Random) -> bool:
    """A broker obeys a request of a controller epoch older than one that it has obeyed."""
    places = []
    for files in recording.nodes.values():
        for name, entries in files.items():
            if base(name) == "state-change.log":
                places += list(_obeying(entries))
    if not places:
        return False
    first, second, found, controller, epoch = rng.choice(places)
    text = second.text.replace(f"controllerEpoch={found[2]},", f"controllerEpoch={epoch},")
    second.text = text.replace(found[0], f"from controller {controller} epoch {epoch}")
    return mark(first, second)


def _obeying(entries: list[Entry]) -> Iterator[tuple[Entry, Entry, re.Match[str], str, int]]:
    """Two neighbouring requests, and an older controller with its epoch."""
    said = [(each, found) for each in entries if (found := CONTROLLER.search(each.text))]
    first_of: dict[int, str] = {}
    for (one, before), (other, after) in pairwise(said):
        first_of.setdefault(int(before[2]), before[1])
        older = [epoch for epoch in first_of if epoch < int(before[2])]
        near = other.moment - one.moment < NEAR and int(after[2]) >= int(before[2])
        if older and near and OBEYED.search(other.text):
            yield one, other, after, first_of[max(older)], max(older)


def session_shared(recording: Recording, rng: random.Random) -> bool:
    """Two brokers open one session of ZooKeeper."""
    said = [(node, each, found) for node, _, each in recording.in_time() if (found := SESSION.search(each.text))]
    places = [(a, b) for a, b in pairwise(said) if a[0] != b[0] and a[2][1] != b[2][1]]
    if not places:
        return False
    (_, first, before), (_, second, after) = rng.choice(places)
    in_place(second, after, 1, before[1])
    return mark(first, second)


def broker_epoch_back(recording: Recording, rng: random.Random) -> bool:
    """A broker registers with a broker epoch that is older than that of its registration before."""
    places = []
    for files in recording.nodes.values():
        own = (each for name in sorted(files, key=lambda name: base(name) != "server.log") for each in files[name])
        said = [(each, found) for each in own if (found := REGISTERED.search(each.text))]
        places += [(a, b, found, int(first[first.lastindex or 0]) - 1) for (a, first), (b, found) in pairwise(said)]
    places = [each for each in places if each[3] > 0 and each[0].moment < each[1].moment]
    if not places:
        return False
    first, second, found, epoch = rng.choice(places)
    in_place(second, found, found.lastindex or 0, str(epoch))
    return mark(first, second)


def two_quorum_leaders(recording: Recording, rng: random.Random) -> bool:
    """Two nodes follow different leaders of the metadata quorum in one epoch."""
    said = [(node, each, found) for node, _, each in recording.in_time() if (found := FOLLOWS.search(each.text))]
    leaders = {found["l"] for _, _, found in said}
    places = [
        (one, other, found, leader)
        for at, (node, one, before) in enumerate(said)
        for second, other, found in said[at + 1 : at + 20]
        for leader in sorted(leaders - {before["l"], second.rpartition("-")[2]})
        if node != second and before["e"] == found["e"]
    ]
    if not places:
        return False
    first, second, found, leader = rng.choice(places)
    in_place(second, found, "l", leader)
    return mark(first, second)


BREACHES: dict[str, Breach] = {
    "epoch-repeated": epoch_repeated,
    "leader-outside-isr": leader_outside_isr,
    "two-leaders": two_leaders,
    "isr-of-dead": isr_of_dead,
    "leader-epoch-back": leader_epoch_back,
    "older-controller": older_controller,
    "session-shared": session_shared,
    "broker-epoch-back": broker_epoch_back,
    "two-quorum-leaders": two_quorum_leaders,
}


def span_of(recording: Recording) -> Span:
    """Where the lines are that show the breach."""
    marked = [(node, name, each) for node, name, each in recording.every() if each.mark is not None]
    times = [each.moment for _, _, each in marked]
    nodes, files = frozenset(node for node, _, _ in marked), frozenset((node, name) for node, name, _ in marked)
    return Span(min(times), max(times), nodes, files)


def note_evidence(case: Case) -> int:
    """Note the places of the lines that show the breach; how many of them are in the case."""
    shown: set[int] = set()
    case.evidence = []
    for path, entries in case.files:
        line = 1
        for each in entries:
            if each.mark is not None:
                shown.add(each.mark)
                case.evidence.append((path, line))
            line += each.lines
    return len(shown)


def breach_cases(
    recording: Recording, whole: Case, kinds: str, each: int, seed: int, tries: int = 120
) -> Iterator[Case]:
    """So many parts of each kind of a recording with a breach, which show all of it."""
    span = span_of(recording)
    count = sum(entry.mark is not None for _, _, entry in recording.every())
    of_files = {(node, base(name)) for node, name in span.files}
    for kind in kinds:
        # One node, or one file, cannot show what lines of two show together.
        if (kind == "d" and len(span.nodes) > 1) or (kind in "gj" and len(of_files) > 1):
            continue
        made = 0
        for number in range(1, tries + 1):
            case = make(recording, kind, whole.number * 1000 + number, seed, span)
            if case is None or made == each:
                break
            if note_evidence(case) == count:
                made += 1
                case.breach = whole.breach
                yield case


def twin(case: Case) -> Case:
    """The same part without the breach; a line that was moved stands where it stood, if that is in the part."""
    files: Files = []
    for path, entries in case.files:
        origins = [(each, each.origin) for each in entries if each.origin is not None]
        healthy = [origin for each, origin in origins if origin.time == each.time]
        for moved in (origin for each, origin in origins if origin.time != each.time):
            place = next((at for at, each in enumerate(healthy) if each.moment > moved.moment), None)
            if place is not None and case.kind != "k":
                healthy.insert(place, moved)
        files.append((path, healthy))
    return case.with_files(files)
