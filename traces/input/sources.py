"""From the paths that a user names to the files behind them: directories are walked, archives opened, and nothing is
skipped silently.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.grammar.diagnostics.diagnostic import Diagnostic, Span, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition, Notice
from assay.traces.input.archives import ArchivePath, Budget, Content, expand
from assay.traces.input.file_contents import RecordOrigin
from assay.traces.input.lines.record_scanner import ByteStream

_COMPRESSIONS = (".gz", ".xz", ".bz2", ".zst", ".tgz", ".txz", ".tzst")

STANDARD_INPUT = Path("-")
"""The path that means standard input."""

STDIN_NAME = "standard input"
NO_FILE = "no file"
"""The kind of the notice about a directory that holds none."""


@dataclass(frozen=True, slots=True)
class ExpansionLimit:
    """How far a compressed file may expand: to ``ratio`` times its size, and to ``floor`` bytes in any case."""

    ratio: int = 300
    floor: int = 256 << 20

    def budget(self, size: int) -> Budget:
        """The budget of a file of that size."""
        return Budget(max(self.floor, self.ratio * size))


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file to read: its name as the user would write it, its absolute path or URI, and whether the user named the
    file itself.

    ``modified`` is when it was last written, in milliseconds since the epoch, if that is known.
    """

    name: str
    location: str
    named: bool
    size: int
    modified: int | None = None

    def origin(self, members: tuple[str, ...] = ()) -> RecordOrigin:
        """The origin of the records of the file, or of a member if it is an archive, which then acts as a directory."""
        file = "!".join((self.name, *members))
        folder = "/".join((self.location, *members)).rpartition("/")[0]
        base = file.rpartition("!")[2].rpartition("/")[2]
        for ending in _COMPRESSIONS:
            base = base.removesuffix(ending)
        return RecordOrigin(file, folder, base, modified=self.modified)


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text to read: a listed file, or one from it if it is an archive."""

    listed: ListedFile
    content: Content

    @property
    def origin(self) -> RecordOrigin:
        """The origin of its records."""
        return self.listed.origin(self.content.where.members)


def check_paths(paths: Iterable[Path]) -> None:
    """Raise SpecError (E601) with every path that does not exist, or that the system does not look at."""
    asked = [(path, _missing(path)) for path in paths if path != STANDARD_INPUT]
    missing = [Diagnostic("E601", Span(str(path), 1, 1, 1, 1), why) for path, why in asked if why is not None]
    if missing:
        raise SpecError(missing)


def _missing(path: Path) -> str | None:
    try:
        return None if path.exists() else f"there is no file or directory `{path}`"
    except OSError as error:  # the name is too long, or a folder on the way may not be read
        return f"it cannot be read: {error.strerror}"


def walk(paths: Iterable[Path], limit: ExpansionLimit, notices: list[Notice]) -> Iterator[TextSource]:
    """The texts behind the paths, each to be read before the next is requested.

    Directories are walked in the order of names.
    """
    for listed in list_files(paths, notices):
        try:
            if listed.name == STDIN_NAME:
                yield from unpack(listed, _StandardInput(), limit, notices)
                continue
            # Unbuffered, because all readers ask for large blocks.
            with Path(listed.name).open("rb", buffering=0) as stream:
                yield from unpack(listed, stream, limit, notices)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other files are read
            notices.append(unreadable(listed.name, read_error(error)))


class _StandardInput:
    """Standard input, whose end stays its end: on a terminal each further read would wait for another Ctrl-D."""

    def __init__(self) -> None:
        self._ended = False

    def read(self, size: int = -1, /) -> bytes:
        """Up to ``size`` bytes; fewer only at the end."""
        data = b"" if self._ended else sys.stdin.buffer.read(size)
        self._ended = size < 0 or len(data) < size
        return data


def unpack(
    listed: ListedFile, stream: ByteStream, limit: ExpansionLimit, notices: list[Notice]
) -> Iterator[TextSource]:
    """The texts in a file whose bytes ``stream`` returns: the file itself, or the contents of an archive; each is read
    before the next.

    The size of standard input is not known: if it is compressed, its budget is the floor of the limit.
    """
    for content in expand(stream, ArchivePath(listed.name), limit.budget(listed.size), notices):
        yield TextSource(listed, content)


def list_files(paths: Iterable[Path], notices: list[Notice]) -> Iterator[ListedFile]:
    """The files behind the paths; none is opened."""
    walker = _Walker(notices)
    for path in paths:
        if path == STANDARD_INPUT:
            yield ListedFile(STDIN_NAME, str(Path(STDIN_NAME).absolute()), named=True, size=0)
        elif path.is_dir():
            noticed, is_empty = len(notices), True
            for listed in walker.directory(path):
                is_empty = False
                yield listed
            # Where a file was left out with a notice, the directory is not empty.
            if is_empty and len(notices) == noticed:
                notices.append(_note(NO_FILE, path, "the directory holds no file"))
        else:
            yield from walker.file(path, named=True)


def unreadable(path: str | Path, reason: str | None, what: str = "file") -> Notice:
    """The notice about a file or directory that the system refuses to open."""
    return Notice("unreadable", LogPosition(str(path), 1, 0), f"the {what} cannot be read: {reason}")


def read_error(error: Exception) -> str:
    """Why a file cannot be read: what the system says, or that a reader has a mistake."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return f"a mistake in assay ended its reader ({type(error).__name__}: {error}). Please report it; no line of the file is used"


class _Walker:
    """Remembers visited files, so that a loop of links ends and a file reached twice is read once."""

    def __init__(self, notices: list[Notice]) -> None:
        self._notices = notices
        self._seen: dict[tuple[int, int], Path] = {}

    def directory(self, path: Path) -> Iterator[ListedFile]:
        """The files below a directory; links are followed once."""
        try:
            if self._reached_before(path, path.stat()):
                return
            entries = sorted(path.iterdir())
        except OSError as error:
            self._notices.append(unreadable(path, error.strerror, what="directory"))
            return
        for entry in entries:
            if _is_directory(entry):
                yield from self.directory(entry)
            else:
                yield from self.file(entry, named=False)

    def file(self, path: Path, *, named: bool) -> Iterator[ListedFile]:
        """The file, if it is a regular file."""
        try:
            status = path.stat()
        except OSError as error:
            self._notices.append(unreadable(path, error.strerror))
            return
        if not stat.S_ISREG(status.st_mode):
            self._notices.append(_note("not a file", path, "neither a file nor a directory"))
        elif not self._reached_before(path, status):
            yield ListedFile(str(path), str(path.absolute()), named, status.st_size, status.st_mtime_ns // 1_000_000)

    def _reached_before(self, path: Path, status: os.stat_result) -> bool:
        """Whether this file or directory was reached before under another name, which is then reported."""
        # By what the system calls it, so that links of both kinds are seen through.
        key = (status.st_dev, status.st_ino)
        first = self._seen.setdefault(key, path)
        # By identity: `setdefault` has just put this very object in.
        if first is path:
            return False
        if stat.S_ISDIR(status.st_mode) and first in path.parents:
            self._notices.append(_note("link loop", path, f"the link leads back to {first}"))
        else:
            self._notices.append(_note("duplicated input", path, f"the same as {first}; read once"))
        return True


def _is_directory(path: Path) -> bool:
    """Whether a path is a directory, as far as the system tells. Of a folder that may be listed and not be entered it
    tells nothing; `_Walker.file` reports why.
    """
    try:
        return path.is_dir()
    except OSError:
        return False


def _note(kind: str, path: Path, text: str) -> Notice:
    return Notice(kind, LogPosition(str(path), 1, 0), text)
