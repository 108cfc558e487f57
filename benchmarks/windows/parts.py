"""Random parts of a recording, as people have them.

Where a part is to show a breach (see `benchmarks.windows.breaches`), it is drawn around the lines that show it.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from math import exp, log
from typing import NamedTuple

from .recordings import Entry, Files, Recording, base

LEVEL = re.compile(r"^\[[^\]]*\] (TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
WORDS = (
    *("epoch", "ISR", "leader", "session", "Controller", "LeaderAndIsr", "elected", "ISR from", "state-change"),
    *("Broker", "RaftManager", "KafkaServer", "Exception", "partition", "registered", "shut"),
)
DIGITS = re.compile(r"\d+")


class Span(NamedTuple):
    """From when to when, on which nodes and in which of their files the lines are that a part has to hold."""

    low: int
    high: int
    nodes: frozenset[str]
    files: frozenset[tuple[str, str]]


Made = tuple[str, Files]
Keep = Callable[[str, str, Entry], bool]
Maker = Callable[[Recording, random.Random, Span | None], Made]
"""Draws a part; it says in words what it drew."""


def where(recording: Recording, keep: Keep) -> Files:
    """The entries of which this is true, in their files."""
    files = [
        (f"{node}/{name}", [each for each in entries if keep(node, name, each)])
        for node, by_name in recording.nodes.items()
        for name, entries in by_name.items()
    ]
    return [(path, entries) for path, entries in files if entries]


def everything(recording: Recording, _rng: random.Random | None = None, _span: Span | None = None) -> Made:
    """The whole recording."""
    return "whole", where(recording, lambda _node, _name, _entry: True)


def _within(entry: Entry, low: float, high: float) -> bool:
    return entry.time is not None and low <= entry.time <= high


def _some_time(recording: Recording, rng: random.Random) -> int:
    """Half of them where lines are, half of them anywhere."""
    times = recording.times
    return rng.choice(times) if rng.random() < 0.5 else int(rng.uniform(times[0], times[-1]))


def _some_length(recording: Recording, rng: random.Random, least: int = 1000) -> int:
    whole = max(recording.times[-1] - recording.times[0], least + 1)
    # Uniform in the logarithm: one to ten seconds are as likely as ten to a hundred.
    return int(exp(rng.uniform(log(least), log(whole))))


def _around(recording: Recording, rng: random.Random, span: Span) -> tuple[int, int]:
    return span.low - _some_length(recording, rng, 50), span.high + _some_length(recording, rng, 50)


def _seconds(recording: Recording, low: int, high: int) -> str:
    first, last = recording.times[0], recording.times[-1]
    return f"{(low - first) / 1000:.1f}..{(high - first) / 1000:.1f} s of {(last - first) / 1000:.0f}"


def window(recording: Recording, rng: random.Random, span: Span | None) -> Made:
    """What all nodes wrote in some time."""
    if span is None:
        low = _some_time(recording, rng)
        high = low + _some_length(recording, rng)
    else:
        low, high = _around(recording, rng, span)
    return _seconds(recording, low, high), where(recording, lambda _n, _f, entry: _within(entry, low, high))


def tail(recording: Recording, rng: random.Random, span: Span | None) -> Made:
    """What all nodes wrote from a time on."""
    low = _some_time(recording, rng) if span is None else int(rng.uniform(recording.times[0], span.low))
    files = where(recording, lambda _n, _f, entry: _within(entry, low, float("inf")))
    return _seconds(recording, low, recording.times[-1]), files


def head(recording: Recording, rng: random.Random, span: Span | None) -> Made:
    """What all nodes wrote up to a time."""
    high = _some_time(recording, rng) if span is None else int(rng.uniform(span.high, recording.times[-1]))
    files = where(recording, lambda _n, _f, entry: entry.time is None or entry.time <= high)
    return _seconds(recording, recording.times[0], high), files


def one_node(recording: Recording, rng: random.Random, span: Span | None) -> Made:
    """What one node wrote."""
    chosen = rng.choice(sorted(recording.nodes if span is None else span.nodes))
    return chosen, where(recording, lambda node, _f, _e: node == chosen)


def subset(recording: Recording, rng: random.Random, span: Span | None) -> Made:
    """What some nodes wrote, but not all."""
    names = sorted(recording.nodes)
    most = max(len(names) - 1, 1)
    must = set() if span is None else set(span.nodes)
    chosen = must | set(rng.sample(names, rng.randint(min(2, most), most)))
    return "+".join(sorted(chosen)), where(recording, lambda node, _f, _e: node in chosen)


def kinds_of_file(recording: Recording, rng: random.Random, span: Span | None) -> Made:
    """One or two kinds of files, such as `controller.log`."""
    every = sorted({base(name) for files in recording.nodes.values() for name in files} - {"log-cleaner.log"})
    must = set() if span is None else {base(name) for _, name in span.files}
    chosen = must | set(rng.sample(every, min(rng.randint(1, 2), len(every))))
    return "+".join(sorted(chosen)), where(recording, lambda _n, name, _e: base(name) in chosen)


def one_file(recording: Recording, rng: random.Random, span: Span | None) -> Made:
    """One kind of file of one node."""
    every = ((node, name) for node, files in recording.nodes.items() for name in files if "cleaner" not in name)
    chosen = rng.choice(sorted({(node, base(name)) for node, name in (every if span is None else span.files)}))
    return "/".join(chosen), where(recording, lambda node, name, _e: (node, base(name)) == chosen)


def grep(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """The lines with one word, sometimes without the names of their files."""
    words = [*WORDS, *(topic for topic, _ in recording.topics[:6])]
    words += [
        f"{topic}-{partition}" for topic, partition in rng.sample(recording.topics, min(6, len(recording.topics)))
    ]
    ids = sorted({found[1] for node in recording.nodes if (found := re.search(r"(\d+)", node))})
    words += [pattern for each in ids for pattern in (rf"\bid={each}\b", rf"[Bb]roker {each}\b", rf"\b{each}\b")]
    word = rng.choice(words)
    wanted = re.compile(word, re.IGNORECASE if rng.random() < 0.2 else 0)
    files = where(recording, lambda _n, _f, entry: wanted.search(entry.text) is not None)
    if rng.random() < 0.3:
        return f"{word} (grep -h)", [("grep.txt", [each for _, entries in files for each in entries])] if files else []
    return word, files


def levels(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """The lines of some levels."""
    chosen = rng.choice((("WARN", "ERROR", "FATAL"), ("INFO", "WARN", "ERROR", "FATAL")))

    def keep(_node: str, _name: str, entry: Entry) -> bool:
        found = LEVEL.match(entry.text)
        return found is not None and found[1] in chosen

    return "+".join(chosen), where(recording, keep)


def paste(recording: Recording, rng: random.Random, span: Span | None) -> Made:
    """A few lines of one file, as people paste them."""
    every = ((node, name) for node, files in recording.nodes.items() for name in files if files[name])
    node, name = rng.choice(sorted(every if span is None else span.files))
    entries, size = recording.nodes[node][name], rng.randint(1, 30)
    marked = [place for place, each in enumerate(entries) if each.mark is not None]
    way, chosen = (_pasted_around if span and marked else _pasted)(rng, len(entries), size, marked)
    path = rng.choice(("paste.txt", f"{node}/{name}"))
    return f"{len(chosen)} {way} of {node}/{name}", [(path, [entries[place] for place in chosen])] if chosen else []


def _pasted(rng: random.Random, lines: int, size: int, _marked: Sequence[int]) -> tuple[str, Sequence[int]]:
    if rng.random() < 0.5:
        low = rng.randrange(lines)
        return "consecutive", range(low, min(lines, low + size))
    return "random", sorted(rng.sample(range(lines), min(size, lines)))


def _pasted_around(rng: random.Random, lines: int, size: int, marked: Sequence[int]) -> tuple[str, Sequence[int]]:
    room = max(0, size - len(marked))
    if rng.random() < 0.5:
        low = max(0, marked[0] - rng.randint(0, room))
        chosen = range(low, min(lines, max(low + size, marked[-1] + 1)))
        return "consecutive", chosen if len(chosen) <= 30 else []
    return "random", sorted({*marked, *rng.sample(range(lines), min(room, lines))})


def merged(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """All in one file: one file after the other, or by time."""
    _, files = everything(recording)
    if rng.random() < 0.5:
        return "concatenated", [("all.log", [each for _, entries in files for each in entries])]
    return "interleaved", [("all.log", by_time(entries for _, entries in files))]


def by_time(files: Iterable[Sequence[Entry]]) -> list[Entry]:
    """The lines of several files in the order of their times; those without one follow the line before them."""
    timed: list[tuple[int, Entry]] = []
    for entries in files:
        last = 0
        for each in entries:
            last = last if each.time is None else each.time
            timed.append((last, each))
    timed.sort(key=lambda pair: pair[0])
    return [each for _, each in timed]


def rotated(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """Files of which rotation has removed a part."""
    way = rng.choice(("middle third of each file", "one node's file from the middle on", "one node's first half"))
    if way.startswith("middle"):
        _, whole = everything(recording)
        files = [(path, each[: len(each) // 3] + each[2 * len(each) // 3 :]) for path, each in whole]
        return way, [(path, entries) for path, entries in files if entries]
    chosen = rng.choice(sorted(recording.nodes))
    name = rng.choice(sorted({base(each) for each in recording.nodes[chosen]} - {"log-cleaner.log"}))
    times = [e.time for f, es in recording.nodes[chosen].items() if base(f) == name for e in es if e.time is not None]
    cut = times[len(times) // 2] if times else 0
    late = way.endswith("on")

    def keep(node: str, file: str, entry: Entry) -> bool:
        gone = node == chosen and base(file) == name and entry.time is not None and (entry.time >= cut) == late
        return not gone

    return f"{way}: {chosen}/{name}", where(recording, keep)


def loss(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """A few of all lines are lost."""
    return "5 %", where(recording, lambda _n, _f, _e: rng.random() >= 0.05)


def lost_line(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """One line is lost, which is as likely of a rare kind as of a frequent one."""
    kinds: dict[str, list[Entry]] = defaultdict(list)
    for _, name, each in recording.every():
        if "cleaner" not in name and each.time is not None and each.mark is None:
            kinds[DIGITS.sub("#", each.text)[:120]].append(each)
    lost = rng.choice(kinds[rng.choice(sorted(kinds))])
    return lost.text.partition("\n")[0][:160], where(recording, lambda _n, _f, entry: entry is not lost)


def duplicate(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """A file is there twice."""
    _, files = everything(recording)
    path, entries = rng.choice([each for each in files if "cleaner" not in each[0]])
    node, name = path.split("/")
    copy = rng.choice((f"{node}/{name}.1", f"{node}/{name} (copy)", f"backup/{node}/{name}", f"{node}-copy/{name}"))
    return f"{path} as {copy}", [*files, (copy, entries)]


def hole(recording: Recording, rng: random.Random, span: Span | None) -> Made:
    """Two windows of time; the breach is in the one or in the other."""
    if span is None:
        cuts = sorted(_some_time(recording, rng) for _ in range(4))
        first, second = (cuts[0], cuts[1]), (cuts[2], cuts[3])
    elif rng.random() < 0.5:
        first = _around(recording, rng, span)
        low = first[1] + _some_length(recording, rng, 500)
        second = low, low + _some_length(recording, rng)
    else:
        second = _around(recording, rng, span)
        high = second[0] - _some_length(recording, rng, 500)
        first = high - _some_length(recording, rng), high
    detail = f"{_seconds(recording, *first)} and {_seconds(recording, *second)}"
    return detail, where(recording, lambda _n, _f, entry: _within(entry, *first) or _within(entry, *second))
