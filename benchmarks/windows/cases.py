"""Cases: a part or an export of a recording, which is determined by seed, recording, kind and number."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from . import exports, parts
from .parts import Maker, Span
from .recordings import Files, Recording

KINDS = {
    "a": "time window of all nodes",
    "b": "tail from a time on",
    "c": "head up to a time",
    "d": "one node",
    "e": "a subset of nodes",
    "f": "one or two kinds of file of all nodes",
    "g": "one node's one file",
    "h": "grep for one word",
    "i": "WARN and ERROR only, or INFO and above",
    "j": "a paste of 1 to 30 lines of one file",
    "k": "all nodes in one file",
    "l": "rotation: parts of files missing",
    "m": "5 % of all lines lost",
    "n": "a duplicated file",
    "o": "two windows with a hole between",
}
LOST_LINE = "p"
WHOLE = "w"
EXPORTS = {
    "G": "grep for several words",
    "V": "some loggers at WARN",
    "N": "newest first",
    "T": "lines of one millisecond in any order",
    "S": "times to the second",
    "X": "all loggers of a node in one file",
    "D": "some batches of lines twice",
    "U": "lines cut off at some width",
}
APART = {LOST_LINE: "one line lost", WHOLE: "the whole", **EXPORTS}
"""What is asked only where it is named: the whole shows whether a recording is healthy at all."""
TRIES = 200
"""How often a part is drawn until one is not empty."""


@dataclass(slots=True)
class Case:
    """A part of a recording; with a breach, ``evidence`` are the places (path, line) of the lines that show it."""

    recording: str
    kind: str
    number: int
    detail: str
    files: Files
    breach: str | None = None
    evidence: list[tuple[str, int]] = field(default_factory=list)

    @property
    def id(self) -> str:
        """By which a case is asked for again."""
        return f"{self.recording}:{self.kind}:{self.number}" + (f":{self.breach}" if self.breach else "")

    @property
    def lines(self) -> int:
        """How many lines there are in its files."""
        return sum(each.lines for _, entries in self.files for each in entries)

    def write(self, folder: Path) -> None:
        """Write its files below a folder."""
        for path, entries in self.files:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("\n".join(each.text for each in entries) + "\n", encoding="utf-8")

    def with_files(self, files: Files, remark: str = "") -> Case:
        """The same case with other files."""
        return Case(self.recording, self.kind, self.number, self.detail + remark, files, self.breach)


def make(recording: Recording, kind: str, number: int, seed: int, span: Span | None = None) -> Case | None:
    """The case of that kind and number, which is not empty; None if there is none."""
    rng = random.Random(f"{seed}/{recording.name}/{kind}/{number}")
    for _ in range(TRIES):
        detail, files = MAKERS[kind](recording, rng, span)
        if files:
            return Case(recording.name, kind, number, detail, files)
    return None


MAKERS: dict[str, Maker] = {
    "a": parts.window,
    "b": parts.tail,
    "c": parts.head,
    "d": parts.one_node,
    "e": parts.subset,
    "f": parts.kinds_of_file,
    "g": parts.one_file,
    "h": parts.grep,
    "i": parts.levels,
    "j": parts.paste,
    "k": parts.merged,
    "l": parts.rotated,
    "m": parts.loss,
    "n": parts.duplicate,
    "o": parts.hole,
    LOST_LINE: parts.lost_line,
    WHOLE: parts.everything,
    "G": exports.words,
    "V": exports.quiet,
    "N": exports.newest_first,
    "T": exports.tied,
    "S": exports.seconds,
    "X": exports.one_stream,
    "D": exports.twice,
    "U": exports.cut_off,
}


def schedule(recordings: Sequence[Recording], kinds: str, seed: int) -> Iterator[Case]:
    """Cases without end, each recording and kind once in a round: any beginning of them is spread over all."""
    rng = random.Random(seed)
    pairs = [(recording, kind) for recording in recordings for kind in kinds]
    numbers = count(1)
    while pairs:
        rng.shuffle(pairs)
        for recording, kind in pairs:
            case = make(recording, kind, next(numbers), seed)
            if case is not None:
                yield case
