"""Slices of whose writes several lines of several nodes tell: the answer is what going through all orders of the lines says."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from random import Random
from types import MappingProxyType
from typing import NamedTuple

import pytest
from tests.stages import rounds

from assay.grammar.load import load_text
from assay.traces.event import Event, Field, LogPosition, LogRecord, ProcessRun
from assay.traces.options import Options
from assay.traces.result import TraceVerdict, Validation
from assay.traces.validate import validate

from .test_slices_apart import NODES, STORE

SPEC = (
    STORE.partition("trace log:")[0]
    + """\
action forget(k: Key):
    when owned: owner[k] is some(n)
    owner[k] := none

trace log:
    from events
    slice Key by key
    on Turned: turn
    on Written(key: Key, v: Count, node: Node) at v - 1: write(key, node) then version[key] == v
    on Applied(key: Key, v: Count, by: Node) at v - 1: write(key, by)
    on Kept(key: Key, v: Count, by: Node) at v - 1: observe owner[key] == some(by)
    on Read(key: Key, v: Count): observe version[key] == v
    on Owner(key: Key, by: Node): observe owner[key] == some(by)
    on Gone(key: Key): observe owner[key] == none
    hidden forget; at most 2 between two pinned events
    order: file; commit before line within 4 ms; skew 2 ms
"""
)
BOUND = "commit before line within 4 ms; "
TURNING = SPEC.replace("hidden forget; at most 2", "hidden forget, turn; at most 4")
NUMBERED = SPEC.replace("    hidden", "    numbered write\n    hidden")
GAPS = NUMBERED.replace(
    "    numbered", "    on gap(key: Key, v: Count, node: Node): found(key, v, node)\n    numbered"
).replace(
    "trace log:",
    """action found(k: Key, v: Count, n: Node):
    version[k] := v
    owner[k] := some(n)

next: turn, write, forget

trace log:""",
)
SKEW = 2
LOGS = 80


FIELDS = {
    "Turned": (),
    "Written": ("key", "v"),
    "Read": ("key", "v"),
    "Owner": ("key", "by"),
    "Gone": ("key",),
    "Open": ("key",),
}
"""The fields that lines of a kind have; others have all."""


@dataclass(frozen=True)
class Line:
    """A line: when and where it was written, and what it says."""

    time: int
    node: str
    kind: str
    key: str = ""
    v: int = 0
    by: str = ""

    @property
    def fields(self) -> dict[str, Field]:
        """The fields that a line of its kind has."""
        every: dict[str, Field] = {"key": self.key, "v": self.v, "by": self.by}
        return {name: every[name] for name in FIELDS.get(self.kind, tuple(every))}


def of_ledger(random: Random) -> list[Line]:
    """What nodes write into a ledger and read there, and what they apply and keep of others' writes. Some lines are
    wrong: they report what is not so, come too late or too early, or write while it is closed.
    """
    time, is_open, versions, owners, logged = 1_000, False, Counter[str](), dict[str, str](), list[Line]()
    wrong = random.random() < 0.4
    for _ in range(random.randint(3, 7)):
        time += random.choice((0, 1, 2, 9, 30))
        node, key, what = random.choice(NODES), random.choice("aab"), random.random()
        if what < 0.2 or not logged:
            is_open = not is_open
            logged.append(Line(time, node, "Turned"))
        elif what < 0.65:
            if is_open or (wrong and random.random() < 0.3):
                versions[key] += 1
                owners[key] = node
                logged += _of_write(random, Line(time, node, "Written", key, versions[key], node), wrong=wrong)
        elif what < 0.75:
            logged.append(Line(time, node, "Read", key, versions[key] + (wrong and random.random() < 0.3)))
        elif what < 0.9:
            if key in owners or (wrong and random.random() < 0.3):
                logged.append(Line(time, node, "Owner", key, by=owners.get(key, "n1")))
        else:
            if random.random() < 0.8:
                owners.pop(key, None)
            logged.append(Line(time, node, "Gone", key))
    ahead = {node: random.choice((0, 1)) for node in NODES}
    written: list[Line] = []
    last = dict.fromkeys(NODES, 0)
    for each in sorted(logged, key=lambda line: line.time):
        last[each.node] = max(last[each.node], each.time + ahead[each.node] + random.choice((0, 0, 1)))
        written.append(Line(last[each.node], each.node, each.kind, each.key, each.v, each.by))
    return written


def _of_write(random: Random, line: Line, *, wrong: bool) -> Iterator[Line]:
    """The lines that tell of one write."""
    if random.random() < 0.8:
        yield line
    else:
        yield Line(line.time + random.choice((0, 1, 2)), random.choice(NODES), "Applied", line.key, line.v, line.by)
    for kind, chance in (("Applied", 0.4), ("Kept", 0.4)):
        if random.random() < chance:
            late = random.choice((0, 1, 2) if kind == "Applied" and not wrong else (0, 1, 2, 9, 40))
            by = random.choice(NODES) if wrong and random.random() < 0.2 else line.by
            yield Line(line.time + late, random.choice(NODES), kind, line.key, line.v, by)


def as_events(lines: list[Line]) -> list[Event]:
    """The lines as events."""
    events: list[Event] = []
    for at, line in enumerate(lines):
        record = LogRecord(LogPosition(f"{line.node}.log", at, 0), line.time, "INFO", "ledger", None, line.kind)
        run = ProcessRun(line.node, 1)
        events.append(Event(line.kind, line.kind, MappingProxyType(line.fields), record, run))
    return events


class Known(NamedTuple):
    """What is so at some point of an order: whether the ledger is open, and of each key the version and who wrote it."""

    open: bool
    keys: tuple[tuple[str, int, str], ...]

    def of(self, key: str) -> tuple[int, str]:
        """The version of a key, and who wrote it."""
        return next(((v, by) for name, v, by in self.keys if name == key), (0, ""))


def has_an_order(lines: list[Line], delay: float, *, turns: bool = False) -> bool:
    """Whether some order of what the lines report explains them all, by trying each. What is kept may be forgotten unseen, and the ledger closed where it ``turns``."""
    items: dict[object, list[int]] = defaultdict(list)
    for at, line in enumerate(lines):
        items[at if line.kind in ("Turned", "Read", "Owner", "Gone") else (line.key, line.v)].append(at)
    owner = {at: item for item, own in items.items() for at in own}
    before: dict[object, set[object]] = {item: set() for item in items}
    for at, one in enumerate(lines):
        for to, other in enumerate(lines):
            is_repeated = any(
                each.node == other.node and owner[number] == owner[to] for number, each in enumerate(lines[:to])
            )
            if is_repeated or other.kind == "Kept":  # however late it is
                continue
            in_file = at < to and one.node == other.node and owner[at] != owner[to]
            if in_file or one.time + (0 if one.node == other.node else SKEW) < other.time - delay:
                before[owner[to]].add(owner[at])
    for item in items:
        if isinstance(item, tuple):
            before[item] |= {
                other for other in items if isinstance(other, tuple) and other[0] == item[0] and other[1] < item[1]
            }
    seen: set[tuple[frozenset[object], Known]] = set()

    def go_on(done: frozenset[object], known: Known) -> bool:
        if len(done) == len(items):
            return True
        if (done, known) in seen:
            return False
        seen.add((done, known))
        for item, own in items.items():
            if item not in done and before[item] <= done:
                after = _after([lines[at] for at in own], known._replace(open=turns or known.open))
                if after is not None and go_on(done | {item}, after):
                    return True
        return False

    return go_on(frozenset(), Known(open=False, keys=()))


def _after(lines: list[Line], known: Known) -> Known | None:
    """What is so after what these lines report together; None if it cannot be."""
    first = lines[0]
    version, by = known.of(first.key)
    match first.kind:
        case "Turned":
            return known._replace(open=not known.open)
        case "Read":
            return known if version == first.v else None
        case "Owner":
            return known if by == first.by else None
        case "Gone":
            return _with(known, first.key, version, "")
        case _:
            allowed = known.open and first.v == version + 1 and len({line.by for line in lines}) == 1
            return _with(known, first.key, first.v, first.by) if allowed else None


def _with(known: Known, key: str, version: int, by: str) -> Known:
    others = tuple(each for each in known.keys if each[0] != key)
    return known._replace(keys=tuple(sorted((*others, (key, version, by)))))


CASES = pytest.mark.parametrize(
    ("text", "delay"),
    [(SPEC, 4), (SPEC.replace(BOUND, ""), inf), (TURNING, 4), (NUMBERED.replace(BOUND, ""), inf)],
    ids=["bounded", "unbounded", "turning", "numbered"],
)


@pytest.mark.everyday(2)
@rounds(4, LOGS)
@CASES
def test_the_answer_is_that_of_all_orders(text: str, delay: float, rounds: int) -> None:
    spec, seen = load_text(text), Counter[TraceVerdict]()
    for seed in range(rounds):
        lines = of_ledger(Random(seed))
        explained = has_an_order(lines, delay, turns=text is TURNING)
        expected = TraceVerdict.CONSISTENT if explained else TraceVerdict.INCONSISTENT
        assert validate(spec, as_events(lines)).verdict is expected, seed
        seen[expected] += 1
    assert rounds < LOGS or min(seen[TraceVerdict.CONSISTENT], 4 * seen[TraceVerdict.INCONSISTENT]) > LOGS // 2, seen


@pytest.mark.slow
@CASES
def test_all_slices_together_have_the_same_answer(text: str, delay: float) -> None:
    spec = load_text(text)
    for seed in range(LOGS // 2):
        lines = of_ledger(Random(seed))
        found = validate(spec, as_events(lines), options=Options(whole=True))
        explained = has_an_order(lines, delay, turns=text is TURNING)
        assert (found.verdict is TraceVerdict.CONSISTENT) == explained, seed
        assert found.verdict is not TraceVerdict.INCONCLUSIVE, seed


@pytest.mark.parametrize("hidden", [True, False])
def test_what_a_line_sees_of_what_is_shared_may_be_hidden(hidden: bool) -> None:
    text = TURNING if hidden else SPEC
    spec = load_text(text.replace("    on Owner(", "    on Open(key: Key): observe open\n    on Owner("))
    found = validate(spec, as_events([Line(1_000, "n1", "Open", "a")]))
    assert found.verdict is (TraceVerdict.CONSISTENT if hidden else TraceVerdict.INCONSISTENT)


@pytest.mark.parametrize(("most", "verdict"), [(3, TraceVerdict.CONSISTENT), (2, TraceVerdict.INCONSISTENT)])
@pytest.mark.parametrize("whole", [False, True])
def test_as_many_hidden_steps_of_a_slice_may_come_before_a_line_as_the_clause_allows(
    most: int, verdict: TraceVerdict, whole: bool
) -> None:
    text = SPEC.replace("action forget", "action grow(k: Key):\n    version[k] := version[k] + 1\n\naction forget")
    text = text.replace("hidden forget; at most 2", f"hidden grow; at most {most}")
    found = validate(load_text(text), as_events([Line(1_000, "n1", "Read", "a", 3)]), options=Options(whole=whole))
    assert found.verdict is verdict


def test_a_log_that_begins_in_mid_life_is_not_held_against_a_clause_that_knows_gaps() -> None:
    lines = [Line(1_000, "n2", "Read", "a", 2), Line(1_010, "n1", "Written", "a", 3, "n1")]
    opened = GAPS.replace("open: bool = false", "open: bool = true")
    begun, whole = (
        validate(load_text(text), as_events(lines)) for text in (opened, opened.replace("    on gap", "    # on gap"))
    )
    assert (begun.verdict, whole.verdict) == (TraceVerdict.INCONCLUSIVE, TraceVerdict.INCONSISTENT)
    assert "may tell of what came before" in str(begun.reason)
    again = validate(load_text(opened), as_events([*lines, Line(1_020, "n2", "Read", "a", 2)]))
    assert [str(violation.place) for violation in again.violations] == ["n2.log:2"]


def validated(*lines: Line) -> Validation:
    """The answer about a ledger that is opened first."""
    return validate(load_text(SPEC), as_events([Line(1_000, "n1", "Turned"), *lines]))


def test_lines_of_one_write_that_no_time_suits_are_named() -> None:
    written = Line(1_010, "n1", "Written", "a", 1, "n1")
    assert validated(written, Line(1_016, "n2", "Applied", "a", 1, "n1")).verdict is TraceVerdict.CONSISTENT
    (violation,) = validated(written, Line(1_017, "n2", "Applied", "a", 1, "n1")).violations
    assert str(violation.place) == "n2.log:2"
    assert violation.repair.text.startswith("n1.log:1, n2.log:2 tell of one step")


def test_writes_that_a_file_has_in_the_wrong_order_are_a_mismatch() -> None:
    found = validated(Line(1_010, "n1", "Written", "a", 2, "n1"), Line(1_020, "n1", "Written", "a", 1, "n1"))
    (violation,) = found.violations
    assert (str(violation.place), violation.action) == ("n1.log:1", "write")


def test_a_file_may_tell_again_of_a_write() -> None:
    """A node that writes applies what it wrote, too."""
    wrote = Line(1_010, "n1", "Written", "a", 1, "n1")
    again = Line(1_012, "n1", "Applied", "a", 1, "n1")
    assert validated(wrote, Line(1_011, "n1", "Read", "a", 1), again).verdict is TraceVerdict.CONSISTENT


@pytest.mark.parametrize("kind", ["Applied", "Kept"])
def test_a_line_that_says_something_else_of_a_write_is_a_mismatch(kind: str) -> None:
    wrote = Line(1_010, "n1", "Written", "a", 1, "n1")
    found = validated(wrote, Line(1_011, "n2", "Applied", "a", 1, "n1"), Line(1_012, "n3", kind, "a", 1, "n3"))
    (violation,) = found.violations
    assert (str(violation.place), violation.repair.text) == ("n3.log:3", "`by` is n1 instead of n3")


def test_what_fits_only_with_another_order_of_what_is_shared_is_asked_of_all_slices_of_a_small_log() -> None:
    """It is closed by one node and opened by another in one millisecond, before or after the write; it does not matter to anything else."""
    lines = [Line(1_010, "n1", "Turned"), Line(1_009, "n3", "Written", "a", 1, "n3"), Line(1_009, "n3", "Turned")]
    found = validate(load_text(SPEC), as_events(lines))
    assert (found.verdict, found.whole is not None) == (TraceVerdict.CONSISTENT, True)
