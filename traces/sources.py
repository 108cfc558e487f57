"""From the paths that a user names to the files behind them: directories are walked, archives opened, nothing is skipped silently."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assay.grammar.diagnostics import Diagnostic, Span, SpecError
from assay.traces.events import Notice, Place
from assay.traces.readers.expand import Budget, Content, Wrapping, expand
from assay.traces.readers.reading import Origin

_COMPRESSIONS = (".gz", ".xz", ".bz2", ".zst", ".tgz", ".txz", ".tzst")

STANDARD_INPUT = Path("-")
"""The path that stands for standard input."""


@dataclass(frozen=True, slots=True)
class ExpansionLimit:
    """How far a compressed file may expand: ``ratio`` times its size, and ``floor`` bytes in any case."""

    ratio: int = 300
    floor: int = 256 << 20

    def budget(self, size: int) -> Budget:
        """The budget of a file of that size."""
        return Budget(max(self.floor, self.ratio * size))


@dataclass(frozen=True, slots=True)
class Source:
    """A file to read, whether the user named the file itself, and when it was last written (milliseconds since the epoch)."""

    named: bool
    content: Content
    modified: int | None = None

    @property
    def file(self) -> str:
        """Its name as the user would say it."""
        return str(self.content.where)

    @property
    def folder(self) -> str:
        """The directory, inside an archive too; the archive itself for a file that lies at its top."""
        where = self.content.where
        path = Path(where.path).absolute()
        if not where.members:
            return str(path.parent)
        return "/".join((str(path), *where.members)).rpartition("/")[0]

    @property
    def base(self) -> str:
        """The file's own name, without directories and without the ending of a compression."""
        name = self.file.rpartition("!")[2].rpartition("/")[2]
        for ending in _COMPRESSIONS:
            name = name.removesuffix(ending)
        return name

    @property
    def origin(self) -> Origin:
        """Where its records come from."""
        return Origin(self.file, self.folder, self.base, modified=self.modified)


def check_paths(paths: Iterable[Path]) -> None:
    """Raise SpecError (E601) that names every path which does not exist."""
    missing = [path for path in paths if path != STANDARD_INPUT and not path.exists()]
    if missing:
        raise SpecError(
            Diagnostic("E601", Span(str(path), 1, 1, 1, 1), f"there is no file or directory `{path}`")
            for path in missing
        )


def walk(paths: Iterable[Path], limit: ExpansionLimit, notices: list[Notice]) -> Iterator[Source]:
    """The files behind the paths, each to be read before the next is asked for. Directories are walked by name."""
    walker = _Walker(limit, notices)
    for path in paths:
        if path == STANDARD_INPUT:
            yield from walker.standard_input()
        elif path.is_dir():
            yield from walker.directory(path)
        else:
            yield from walker.file(path, named=True)


class _Walker:
    """Remembers what was seen, so that a loop of links ends and a file reached twice is read once."""

    def __init__(self, limit: ExpansionLimit, notices: list[Notice]) -> None:
        self._limit = limit
        self._notices = notices
        self._seen: dict[tuple[int, int], Path] = {}

    def directory(self, path: Path) -> Iterator[Source]:
        """The files below a directory; links are followed, once."""
        try:
            if self._reached_before(path, path.stat()):
                return
            entries = sorted(path.iterdir())
        except OSError as error:
            self._note("unreadable", path, f"the directory cannot be read: {error.strerror}")
            return
        for entry in entries:
            if entry.is_dir():
                yield from self.directory(entry)
            else:
                yield from self.file(entry, named=False)

    def file(self, path: Path, *, named: bool) -> Iterator[Source]:
        """The file itself, or the files in it."""
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                self._note("not a file", path, "neither a file nor a directory")
                return
            if self._reached_before(path, status):
                return
            with path.open("rb", buffering=0) as stream:
                budget = self._limit.budget(status.st_size)
                for content in expand(stream, Wrapping(str(path)), budget, self._notices):
                    yield Source(named, content, status.st_mtime_ns // 1_000_000)
        except OSError as error:
            self._note("unreadable", path, f"the file cannot be read: {error.strerror}")

    def standard_input(self) -> Iterator[Source]:
        """Standard input, or the files in it. Its size is not known: the floor of the limit is its budget where it is compressed."""
        stream = sys.stdin.buffer
        for content in expand(stream, Wrapping("standard input"), self._limit.budget(0), self._notices):
            yield Source(named=True, content=content)

    def _reached_before(self, path: Path, status: os.stat_result) -> bool:
        """Whether this very file or directory was seen under another name, which is then reported."""
        key = (status.st_dev, status.st_ino)
        first = self._seen.setdefault(key, path)
        if first is path:
            return False
        if stat.S_ISDIR(status.st_mode) and first in path.parents:
            self._note("link loop", path, f"the link leads back to {first}")
        else:
            self._note("duplicated input", path, f"the same as {first}; read once")
        return True

    def _note(self, kind: str, path: Path, text: str) -> None:
        self._notices.append(Notice(kind, Place(str(path), 1, 0), text))
