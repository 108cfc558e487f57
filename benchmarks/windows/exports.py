"""Whole recordings as shippers, indexes, loggers' settings and `grep` leave them: nothing is cut out in time, but shapes change."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator

from .parts import LEVEL, WORDS, Made, Span, by_time, everything, where
from .recordings import Entry, Files, Recording, base

LOGGER = re.compile(r"\(([\w.$]+)\)\s*$")
QUIET = (
    *("org.apache.zookeeper", "kafka.zookeeper", "kafka.server.KafkaServer", "kafka.cluster", "kafka.controller"),
    *("kafka.zk", "kafka.server", "org.apache.kafka.raft", "org.apache.kafka.controller", "kafka.raft", "kafka.log"),
    *("state.change.logger", "org.apache.kafka.image", "org.apache.kafka.metadata", "kafka.coordinator"),
)
SEARCHED = (
    *WORDS,
    "starting",
    "started",
    "controller",
    "Created log",
    "truncat",
    "fenc",
    "snapshot",
    "elect",
    "high watermark",
)


def _first_line(entry: Entry) -> str:
    return entry.text.partition("\n")[0]


def words(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """The lines with one of two to four words."""
    chosen = rng.sample(SEARCHED, rng.randint(2, 4))
    wanted = re.compile("|".join(chosen), re.IGNORECASE if rng.random() < 0.3 else 0)
    return "|".join(chosen), where(recording, lambda _n, _f, entry: wanted.search(entry.text) is not None)


def quiet(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """One to three loggers, with those below them, write warnings and errors alone."""
    names = [LOGGER.search(_first_line(each)) for _, _, each in recording.every()]
    below = {name for name in QUIET if any(found and found[1].startswith(name) for found in names)}
    chosen = rng.sample(sorted(below), min(len(below), rng.randint(1, 3)))

    def keep(_node: str, _name: str, entry: Entry) -> bool:
        found, level = LOGGER.search(_first_line(entry)), LEVEL.match(entry.text)
        silent = found is not None and any(found[1] == each or found[1].startswith(each + ".") for each in chosen)
        return not silent or (level is not None and level[1] in ("WARN", "ERROR", "FATAL"))

    return "+".join(chosen), where(recording, keep)


def newest_first(recording: Recording, _rng: random.Random, _span: Span | None) -> Made:
    """Each file from its end."""
    _, files = everything(recording)
    return "newest first", [(path, entries[::-1]) for path, entries in files]


def _by_moment(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Lines that follow each other with one time."""
    group: list[Entry] = []
    for each in entries:
        if group and each.time is not None and each.time != group[-1].time:
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def tied(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """An index with several shards keeps no order of lines with equal times."""
    _, files = everything(recording)
    shuffled: Files = []
    for path, entries in files:
        shuffled.append((path, [each for group in _by_moment(entries) for each in rng.sample(group, len(group))]))
    return "ties shuffled", shuffled


def _edited(edit: Callable[[str], str]) -> Callable[[Entry], Entry]:
    return lambda entry: Entry(entry.time, edit(entry.text), entry.mark, entry)


def _of_all(recording: Recording, edit: Callable[[str], str]) -> Files:
    _, files = everything(recording)
    return [(path, list(map(_edited(edit), entries))) for path, entries in files]


def seconds(recording: Recording, _rng: random.Random, _span: Span | None) -> Made:
    """The times bear no milliseconds."""
    stamp = re.compile(r"^(\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d{3}\]")
    return "seconds", _of_all(recording, lambda text: stamp.sub(r"\1]", text))


def one_stream(recording: Recording, _rng: random.Random, _span: Span | None) -> Made:
    """What a container writes to its standard output: a node's files by time."""
    files: Files = []
    for node, by_name in recording.nodes.items():
        kinds = sorted(by_name.items(), key=lambda pair: base(pair[0]))
        files.append((f"{node}.log", by_time(entries for _, entries in kinds)))
    return "one stream a node", files


def twice(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """A shipper that was not answered sends some of its batches again."""
    _, files = everything(recording)
    sent: Files = []
    for path, entries in files:
        lines: list[Entry] = []
        place = 0
        while place < len(entries):
            batch = entries[place : place + rng.randint(1, 20)]
            lines += batch * (2 if rng.random() < 0.05 else 1)
            place += len(batch)
        sent.append((path, lines))
    return "batches sent twice", sent


def cut_off(recording: Recording, rng: random.Random, _span: Span | None) -> Made:
    """A shipper keeps so many characters of a line, and drops the lines that continue it."""
    width = rng.choice((256, 512, 1024))
    return f"{width} characters", _of_all(recording, lambda text: text.partition("\n")[0][:width])
