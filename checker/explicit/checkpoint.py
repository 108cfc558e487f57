"""Checkpoints: a folder of level files, and a manifest that says how far the search came (docs/level-files.md).

The manifest is replaced in one atomic step and level files only grow. So the process may die at any moment: whatever
lies behind the last manifest is truncated on resume. A damaged checkpoint, or one of another search, is refused with
the diagnostic ``E822``.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from assay.checker.explicit.findings import SearchEvent
from assay.checker.explicit.store.level_file import (
    CHUNK,
    HEADER,
    ChunkLayout,
    DamagedError,
    RecordChunk,
    map_words,
    unpack_header,
)
from assay.checker.explicit.store.levels import Levels, level_name
from assay.checker.layout.row import Rows
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.lazy_dataclass import dataclass

MANIFEST = "checkpoint.json"
LOCK = "lock"
FORMAT = 1
UNUSABLE = "E822"


@dataclass(frozen=True, slots=True)
class Saved:
    """How far a search came: the first ``place`` states of the last finished level are expanded.

    ``counts`` are the sizes of the finished levels. Of the level that is being written, ``flushed`` chunks are in its
    file, and ``staged`` further states in the file ``tail``. ``tallies`` are counters, by position in the arrays of
    compiled code. ``seconds`` and ``searched`` are times by the clock.
    """

    counts: tuple[int, ...]
    flushed: int
    staged: int
    place: int
    generated: int
    keys: str
    fingerprints: str
    seconds: float
    searched: float
    events: tuple[SearchEvent, ...]
    tallies: Mapping[str, tuple[int, ...]]
    tail: str = ""


class Checkpoint:
    """The checkpoint in a folder, locked while this object lives. After ``resume``, ``saved`` says where to
    continue."""

    def __init__(self, folder: Path, identity: bytes, *, resume: bool) -> None:
        self.folder = folder
        self.saved: Saved | None = None
        self._identity = identity
        self._serial = 0
        self._lock = self._acquire(resume=resume)
        try:
            self._begin(resume=resume)
        except SpecError:
            self.close()
            raise

    def _begin(self, *, resume: bool) -> None:
        if resume:
            self.saved = self._load()
        elif self._manifest.exists():
            note = "go on with it by `--resume`, or name another folder"
            self._refuse("holds the checkpoint of an earlier search already", note)

    @property
    def _manifest(self) -> Path:
        return self.folder / MANIFEST

    def _refuse(self, reason: str, *notes: str) -> NoReturn:
        raise SpecError([Diagnostic(UNUSABLE, NOWHERE, f"`{self.folder}` {reason}", tuple(map(Note, notes)))])

    def _acquire(self, *, resume: bool) -> int:
        try:
            if not resume:
                self.folder.mkdir(parents=True, exist_ok=True)
            elif not self._manifest.exists():
                self._refuse(f"holds no checkpoint: there is no `{MANIFEST}`")
            lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            self._refuse(f"cannot hold a checkpoint: {error.strerror}")
        try:
            # The system drops this lock when the process ends in whatever way, so a killed search leaves none behind.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            self._refuse("is being used by another search")
        return lock

    def close(self) -> None:
        """Release the lock, so that another process can use the folder."""
        os.close(self._lock)

    # --------------------------------------------------------------------------------------------------- save

    def save(self, saved: Saved, levels: Levels) -> None:
        """Write down where a search is. Raises ``OSError``; the previous manifest then stays valid."""
        self._serial += 1
        tail = f"tail-{self._serial:06d}" if levels.staged else ""
        # Level files hold full chunks until their level ends. So the states that are still staged get a file of their
        # own, such as `tail-000003`.
        if tail:
            chunk = levels.layout.assemble(levels.chunk(len(levels.counts), levels.flushed))
            header = levels.header(len(levels.counts)).pack()
            _write_durably(self.folder / tail, header.tobytes() + chunk.tobytes())
        # The manifest comes after the files that it names have reached the disk.
        levels.sync()
        content = asdict(saved) | {"tail": tail, "serial": self._serial}
        _write_durably(self._manifest, _signed(self._identity, content).encode())
        # Only now: the manifest before this one named an old tail, and was valid until it was replaced.
        for old in self.folder.glob("tail-*"):
            if old.name != tail:
                old.unlink()

    # --------------------------------------------------------------------------------------------------- load

    def _load(self) -> Saved:
        try:
            whole = json.loads(self._manifest.read_text("utf-8"))
            content = whole["search"]
            identity, version, sum_ = whole["identity"], whole["assay checkpoint"], whole["sha256"]
        except OSError as error:
            self._refuse(f"cannot be read: {error.strerror}")
        except (ValueError, KeyError, TypeError):
            self._refuse(f"is damaged: `{MANIFEST}` is not what assay writes")
        if version != FORMAT:
            self._refuse(f"is of another version of assay: its format is {version}, and this one writes {FORMAT}")
        if signature(content) != sum_:
            self._refuse(f"is damaged: the checksum of `{MANIFEST}` does not fit")
        if identity != self._identity.hex():
            note = "it is of another spec, model, selection of properties, or version of assay"
            self._refuse("is the checkpoint of another search", note)
        self._serial = int(content.pop("serial"))
        return from_json(content)

    def require_choice(self, fingerprints: str) -> None:
        """Refuse to resume with another ``--fingerprints``: the reported probability of collisions would be wrong."""
        if self.saved is not None and self.saved.fingerprints != fingerprints:
            self._refuse(f"was written with `--fingerprints {self.saved.fingerprints}`", "go on with the same")

    def restore(self, levels: Levels, saved: Saved, initial: Sequence[Rows]) -> None:
        """Continue with the levels in the folder, after checking every byte of them and that the initial states are
        these."""
        name = ""
        try:
            for level, count in enumerate((*saved.counts, saved.flushed * CHUNK)):
                if count:
                    name = level_name(level)
                    self._check(self.folder / name, level, count, levels.layout, last=level == len(saved.counts))
            name = saved.tail
            tail = self._check(self.folder / name, len(saved.counts), saved.staged, levels.layout) if name else None
            levels.resume(self.folder, saved.counts, saved.flushed, tail)
        except (OSError, DamagedError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            self._refuse(f"is damaged: `{name}`: {why}")
        # The identity is a hash of compiled code. It says nothing about initial states that the evaluator has listed.
        first = [chunk.rows for chunk in levels.chunks(0)] if saved.counts else []
        if [rows.tobytes() for rows in first] != [rows.tobytes() for rows in initial]:
            self._refuse("is the checkpoint of another search: it has other initial states")

    def _check(self, path: Path, level: int, count: int, layout: ChunkLayout, *, last: bool = False) -> RecordChunk:
        """Check every chunk of a file and return the last one. Raises ``DamagedError`` or ``OSError``."""
        words = map_words(path)
        header = unpack_header(words[:HEADER])
        if (header.identity, header.level, header.words) != (self._identity, level, layout.words):
            raise DamagedError("it is of another search")
        at, seen, chunk = HEADER, 0, None
        while seen < count:
            chunk = layout.whole(words[at:])
            seen += len(chunk.rows)
            at += layout.size(len(chunk.rows))
        # The file of the last level may have grown after the manifest was written. `Levels.resume` cuts it to that
        # length.
        if chunk is None or seen != count or (not last and at != len(words)):
            raise DamagedError("it has another number of states than the manifest says")
        return chunk


def _write_durably(path: Path, content: bytes) -> None:
    """Replace a file atomically; on return its content is on the disk."""
    aside = path.with_name(path.name + ".new")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)  # the rename itself is durable only once the folder is synchronised
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _signed(identity: bytes, content: dict[str, Any]) -> str:
    whole = {"assay checkpoint": FORMAT, "identity": identity.hex(), "search": content, "sha256": signature(content)}
    return json.dumps(whole, indent=1) + "\n"


def signature(content: dict[str, Any]) -> str:
    """The checksum of a manifest's content."""
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def from_json(content: dict[str, Any]) -> Saved:
    """The state of a search from a manifest's content. Raises ``TypeError`` or ``KeyError`` if a field is missing or
    unknown."""
    events = tuple(SearchEvent(**(each | {"row": tuple(each["row"])})) for each in content["events"])
    return Saved(**(content | {"counts": tuple(content["counts"]), "events": events}))
