"""Pairs of lines that contradict each other, anywhere in a log, whatever happened before, between and after them.

A search ends at one line, and what it never came to may hold the breach. So each line is asked about with few earlier
ones that speak of the same. Between the two anything may have happened, within the transition properties that last. In
the terms of a window most pairs of a log are alike, so that few questions are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.symbolic.sat.clause_blocks import UnansweredError
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.values import Atom, FrozenMap, RecordValue, Some, Value, VariantValue, sort_key
from assay.traces.event import Event
from assay.traces.observe.partial_order import OrderedObservation, by_time
from assay.traces.windows.numbers import SizeProbe, probe_of
from assay.traces.windows.recent_values import RecentValues
from assay.traces.windows.window_model import ROOM, LogPart, writer_of

QUESTIONS = 60
"""How many pairs that are not alike are asked about at most."""

PAIRS = 3_000
"""How many pairs are compared with these at most: to compare takes a tenth of a millisecond."""

TO_START = 1_000.0
"""Within so many milliseconds no process ends and starts again: to load its program alone takes longer."""

Lines = tuple[OrderedObservation, ...]
Before = tuple[tuple[int, ...], ...]


def is_one_run(items: Sequence[OrderedObservation]) -> bool:
    """Whether some lines of one file are too near each other in time for a restart of the process between them. The line
    that reports a restart may be missing.
    """
    files = {(writer_of(each.observation.event), each.observation.event.sequence) for each in items}
    times = [each.time for each in items]
    return len(files) == 1 and max(times) - min(times) <= TO_START


def pairs_of(items: Sequence[OrderedObservation]) -> Iterator[Lines]:
    """Each line with earlier lines that it may contradict: the last with an equal number, and the last of its kind with
    an equal element. Also, for each field, the one with the greatest number: of all lines, and of those that name an
    equal element.
    """
    of_line: IdentityMemo[Event, list[OrderedObservation]] = IdentityMemo()
    for each in sorted(items, key=by_time):
        of_line.setdefault(each.observation.event, []).append(each)
    lines = [tuple(each) for each in of_line.values()]
    last: dict[object, int] = {}
    greatest: dict[object, tuple[int, int]] = {}
    for at, line in enumerate(lines):
        named = {pair for each in line for pair in each.observation.values}
        # In order: of two numbers in one field of a line the greater one is the last.
        numbers = sorted((name, value) for name, value in named if type(value) is int)
        atoms = {value for _, value in named if isinstance(value, Atom)}
        # For example two elections in one epoch, or two lines about the session of one process.
        alike = [*numbers, *((line[0].observation.event.kind, each) for each in atoms)]
        fields = [((element, name), value) for element, (name, value) in product((None, *atoms), numbers)]
        others = {last[key] for key in alike if key in last}
        # For example a broker epoch that is lower than an earlier one of the same broker.
        others |= {known[1] for key, value in fields if (known := greatest.get(key)) is not None and known[0] > value}
        for other in sorted(others):
            yield (*lines[other], *line)
        last |= dict.fromkeys(alike, at)
        greatest |= {key: (value, at) for key, value in fields if value >= greatest.get(key, (0, 0))[0]}


_known = RecentValues[set[object]](4)
"""Which pairs the last logs were asked about, and do not contradict each other. A search may end several times."""


def first_refuted(
    log: LogPart,
    items: Sequence[OrderedObservation],
    failed: OrderedObservation,
    before: Callable[[Lines], Before],
    ask: Callable[[Lines, Before], bool],
) -> Lines | None:
    """The first pair of lines of which ``ask`` says that they contradict each other, of those whose later line is
    nearest to a ``failed`` one. Pairs that are alike but for names and numbers are asked about once. None if there is
    none among so many questions."""
    probe = probe_of(log.loaded, log.plan.name)
    known = _known.get_or_make(log, None, set[object])
    most = len(known) + QUESTIONS
    pairs = sorted(pairs_of(items), key=lambda lines: abs(lines[-1].time - failed.time))
    for lines in pairs[:PAIRS]:
        order = before(lines)
        key = order, is_one_run(lines), _alike(lines, probe)
        if key in known:
            continue
        if len(known) >= most:
            return None
        try:
            if ask(lines, order):
                return lines
        except (UnansweredError, SpecError, UnsupportedError):
            pass  # no answer about these lines refutes nothing: the next pair is asked about
        known.add(key)
    return None


def _alike(lines: Lines, probe: SizeProbe) -> tuple[object, ...]:
    """What lines say, up to the names of elements, and to numbers with the same order and small distances."""
    values = [value for each in lines for _, value in each.observation.values]
    scale = probe.scale({n for each in values for n in _numbers(each)}, ROOM * 2)
    names: dict[Atom, int] = {}
    seen: dict[object, int] = {}

    def shape(value: Value) -> object:
        match value:
            # The order counts: `bool` is an `int`, and `Atom`, `Some` and records are tuples.
            case int() if type(value) is int:
                return scale.place(value)
            case Atom():
                return value.sort, names.setdefault(value, len(names))
            case Some():
                return "some", shape(value.value)
            case frozenset():
                # Names are numbered as they come, so they come in an order that does not depend on hashes.
                return "set", tuple(sorted(map(shape, sorted(value, key=sort_key)), key=repr))
            case tuple():
                return tuple(map(shape, value))
            case FrozenMap():
                entries = sorted(value.items(), key=lambda entry: sort_key(entry[0]))
                return "map", tuple(sorted(((shape(a), shape(b)) for a, b in entries), key=repr))
            case RecordValue():
                return tuple(map(shape, value.fields))
            case VariantValue():
                return value.variant, *map(shape, value.payload)
            case _:
                return value

    return tuple(
        (
            each.observation.rule.span,
            seen.setdefault(each.observation.event.record.place, len(seen)),
            *(shape(value) for _, value in each.observation.values),
        )
        for each in lines
    )


def _numbers(value: Value) -> Iterator[int]:
    match value:
        case int() if type(value) is int:
            yield value
        case Some():
            yield from _numbers(value.value)
        case frozenset() | tuple():
            yield from (n for each in value for n in _numbers(each))
        case FrozenMap():
            yield from (n for pair in value.items() for each in pair for n in _numbers(each))
        case RecordValue():
            yield from (n for each in value.fields for n in _numbers(each))
        case VariantValue():
            yield from (n for each in value.payload for n in _numbers(each))
        case _:
            return
