"""What a job has done so far: the level files that count, and what was found and counted. docs/level-files.md describes it.

A file of a task counts once a manifest names it; what an attempt wrote that failed, or came second, is never looked at. Every manifest is a
new file, written in one step, so that the newest whole one is where a job goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass

import numpy as np

from assay.checker.explicit.checkpoint import Saved, from_json, signature
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.shard import owned
from assay.checker.explicit.store.hash_kernels import OWNERS
from assay.checker.explicit.store.level_file import (
    HEADER,
    ChunkLayout,
    DamagedError,
    Parent,
    RecordChunk,
    unpack_header,
)
from assay.checker.layout.row import Rows
from assay.spark.storage.filesystem import Storage

FORMAT = 1
PREFIX = "manifest-"
STATES = "states-"
"""Of a list of levels to read, and not to go on from."""


@dataclass(frozen=True, slots=True)
class LevelPart:
    """A level file: its name, how it names predecessors, whose states it holds, and how many; ``bits`` is the width of the keys in the key file beside it, 0 if there is none."""

    name: str
    parent: Parent = Parent.PLACE
    first_owner: int = 0
    last_owner: int = OWNERS
    count: int = 0
    bits: int = 0

    @property
    def keys(self) -> str:
        """The name of the key file."""
        return key_name(self.name)

    def within(self, first: int, last: int) -> bool:
        """Whether it has states of the owners from the first number up to the second."""
        return self.count > 0 and first < self.last_owner and self.first_owner < last


def key_name(name: str) -> str:
    """The name of the key file beside a level file."""
    return f"{name}-keys"


Level = tuple[LevelPart, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """How far a job came: the parts of its levels; ``saved`` is as in a checkpoint. ``keys`` tell states apart from here on."""

    identity: str
    kernel: str
    levels: tuple[Level, ...]
    saved: Saved

    @property
    def files(self) -> set[str]:
        """The names of all files that count."""
        parts = [part for level in self.levels for part in level]
        return {part.name for part in parts} | {part.keys for part in parts}

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"{PREFIX}{len(self.levels):06d}.json"

    def pack(self) -> bytes:
        """The content of its file."""
        content = {
            "identity": self.identity,
            "kernel": self.kernel,
            "levels": [[asdict(p) for p in level] for level in self.levels],
        }
        whole = {"assay spark": FORMAT, **content, "search": asdict(self.saved)}
        return json.dumps(whole | {"sha256": signature(whole)}).encode()


def unpack(content: bytes) -> Manifest:
    """The manifest in a file; raises ``DamagedError``."""
    try:
        whole = json.loads(content)
        expected = whole.pop("sha256")
        if whole["assay spark"] != FORMAT:
            raise DamagedError(f"it has version {whole['assay spark']} of the format, and this program reads {FORMAT}")
        if signature(whole) != expected:
            raise DamagedError("its checksum does not fit")
        levels = tuple(
            tuple(LevelPart(**(part | {"parent": Parent(part["parent"])})) for part in level)
            for level in whole["levels"]
        )
        return Manifest(whole["identity"], whole["kernel"], levels, from_json(whole["search"]))
    except (ValueError, KeyError, TypeError):
        raise DamagedError("it is no manifest of assay") from None


def sweep(storage: Storage, job: str | None = None) -> int:
    """Remove what attempts wrote that failed or came second, files that no manifest names; how many.

    Those of a job's own tasks, while none of them is meant to run; or without one, before a search goes on, what is older than the newest manifest: a
    driver that still runs, whatever is thought of it, names what is younger, if anything. What a task that is late still writes stays, and so does what
    cannot be removed.
    """
    removed = 0
    with suppress(OSError, DamagedError):  # where one manifest cannot be read, nobody knows what it counts
        manifests = dict(_manifests(storage))
        counted = {name for each in manifests.values() for name in each.files}
        latest = max((storage.written(name) for name in manifests), default=0.0)
        for name, time in storage.attempts().items():
            own = time < latest if job is None else name.startswith(f"{job}-")
            if own and name not in counted:
                storage.remove(name)
                removed += 1
    return removed


def _manifests(storage: Storage) -> Iterator[tuple[str, Manifest]]:
    """All manifests, and other lists of levels, with their names; raises ``OSError`` or ``DamagedError``."""
    for name in storage.names():
        if name.startswith((PREFIX, STATES)) and name.endswith(".json"):
            yield name, unpack(storage.read(name))


def newest(storage: Storage) -> Manifest | None:
    """The newest whole manifest of a work directory; None if there is none. Raises ``OSError``."""
    for name in reversed(storage.names()):
        if name.startswith(PREFIX) and name.endswith(".json"):
            try:
                return unpack(storage.read(name))
            except DamagedError:
                continue  # written half by a driver that ended: the one before it counts
    return None


def chunks(storage: Storage, part: LevelPart, compiled: Compiled, level: int) -> Iterator[RecordChunk]:
    """The chunks of a level file, every checksum compared; raises ``DamagedError`` or ``OSError``."""
    words = storage.words(part.name)
    header = unpack_header(words[:HEADER])
    if (header.identity, header.level, header.words) != (compiled.identity, level, compiled.layout.words):
        raise DamagedError(f"`{part.name}` is of another search")
    layout, at, seen = ChunkLayout(header.words, part.parent), HEADER, 0
    while seen < part.count:
        chunk = layout.whole(words[at:])
        seen += len(chunk.rows)
        at += layout.size(len(chunk.rows))
        yield chunk
    if seen != part.count:
        raise DamagedError(f"`{part.name}` has another number of states than its manifest says")


def rows(storage: Storage, part: LevelPart, level: int, compiled: Compiled, stretch: tuple[int, int]) -> Iterator[Rows]:
    """The rows of a level file whose owners are from the first number up to the second; raises ``DamagedError`` or ``OSError``."""
    first, last = stretch
    inside = first <= part.first_owner and part.last_owner <= last
    for chunk in chunks(storage, part, compiled, level):
        yield chunk.rows if inside else owned(compiled, chunk.rows, first, last)


def prints_of(compiled: Compiled, some: Rows) -> Rows:
    """The fingerprints of rows that may lie in a file."""
    return compiled.machine.prints(np.ascontiguousarray(some))
