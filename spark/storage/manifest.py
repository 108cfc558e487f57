"""Manifests: how far a job has come, which level files count, and what was found and counted. docs/level-files.md
describes the format.

A level file counts once a manifest names it. So the files of attempts that failed or came second are never read. Each
manifest is a new file, written in one step. A job goes on from the newest one that is whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict

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
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.storage.filesystem import Storage

NOT_RESUMED = "E835"
FORMAT = 1
PREFIX = "manifest-"
STATES = "states-"
"""The prefix of a list of levels that is only read, not resumed from."""


@dataclass(frozen=True, slots=True)
class LevelPart:
    """A level file: its name, how it refers to predecessors, the range of owners whose states it holds, and how many
    states.

    ``bits`` is the width of the keys in the key file beside it; 0 if there is none.
    """

    name: str
    parent: Parent = Parent.PLACE
    first_owner: int = 0
    last_owner: int = OWNERS
    count: int = 0
    bits: int = 0

    @property
    def keys(self) -> str:
        """The name of the key file beside it."""
        return key_name(self.name)

    def within(self, first: int, last: int) -> bool:
        """Whether it has states of the owners ``first`` to ``last - 1``."""
        return self.count > 0 and first < self.last_owner and self.first_owner < last


def key_name(name: str) -> str:
    """The name of the key file of a level file."""
    return f"{name}-keys"


Level = tuple[LevelPart, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """How far a job has come: the parts of its levels, and the search's counters as in a checkpoint (``saved``).

    ``saved.keys`` says what tells states apart from this level on.
    """

    identity: str
    kernel: str
    levels: tuple[Level, ...]
    saved: Saved

    @property
    def files(self) -> set[str]:
        """The names of all files that count."""
        parts = [part for level in self.levels for part in level]
        # Key files are named also where there are none: `sweep` removes what no manifest names, and a name too many is
        # no harm.
        return {part.name for part in parts} | {part.keys for part in parts}

    @property
    def name(self) -> str:
        """The name of its file. Sorted by name, manifests are sorted by level."""
        return f"{PREFIX}{len(self.levels):06d}.json"

    def pack(self) -> bytes:
        """The content of its file, with a checksum."""
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
    except (ValueError, KeyError, TypeError, AttributeError):  # the last where it is JSON, and no object
        raise DamagedError("it is no manifest of assay") from None


def sweep(storage: Storage, job: str | None = None) -> int:
    """Remove the files of attempts that failed or came second: those that no manifest names. Returns how many were
    removed.

    With ``job``, only files of that job's tasks, while none of them runs. Without it, before a search is resumed, only
    files older than the newest manifest: another driver may still run and name younger files later. What a late task
    still writes stays, and so does what cannot be removed.
    """
    removed = 0
    with suppress(OSError, DamagedError):  # if one manifest cannot be read, what it counts is not known
        manifests = dict(_manifests(storage))
        # Of all manifests: lists of levels (`STATES`) may name files that the newest manifest does not.
        counted = {name for each in manifests.values() for name in each.files}
        latest = max((storage.written(name) for name in manifests), default=0.0)
        for name, time in storage.attempts().items():
            own = time < latest if job is None else name.startswith(f"{job}-")
            if own and name not in counted:
                storage.remove(name)
                removed += 1
    return removed


def _manifests(storage: Storage) -> Iterator[tuple[str, Manifest]]:
    """All manifests and lists of levels, with their names; raises ``OSError`` or ``DamagedError``."""
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
                continue  # half written by a driver that died: the one before it counts
    return None


def chunks(storage: Storage, part: LevelPart, compiled: Compiled, level: int) -> Iterator[RecordChunk]:
    """The chunks of a level file, with all checksums verified; raises ``DamagedError`` or ``OSError``."""
    words = storage.words(part.name)
    header = unpack_header(words[:HEADER])
    if (header.identity, header.level, header.words) != (compiled.identity, level, compiled.layout.words):
        raise DamagedError(f"`{part.name}` is of another search")
    # By the count of the manifest: only it says how many states count.
    layout, at, seen = ChunkLayout(header.words, part.parent), HEADER, 0
    while seen < part.count:
        chunk = layout.whole(words[at:])
        seen += len(chunk.rows)
        at += layout.size(len(chunk.rows))
        yield chunk
    if seen != part.count:
        raise DamagedError(f"`{part.name}` has another number of states than its manifest says")


def rows(storage: Storage, part: LevelPart, level: int, compiled: Compiled, owners: tuple[int, int]) -> Iterator[Rows]:
    """The rows of a level file that the owners ``first`` to ``last - 1`` own (``owners``); raises ``DamagedError``
    or ``OSError``.
    """
    first, last = owners
    # Where the file has only these owners, no fingerprints need to be computed.
    inside = first <= part.first_owner and part.last_owner <= last
    for chunk in chunks(storage, part, compiled, level):
        yield chunk.rows if inside else owned(compiled, chunk.rows, first, last)


def prints_of(compiled: Compiled, some: Rows) -> Rows:
    """The fingerprints of rows, which need not be contiguous."""
    return compiled.machine.prints(np.ascontiguousarray(some))
