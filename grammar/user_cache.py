"""The user's cache, which keeps what is slow to make from one run to the next.

Its files hold machine code and tables that steer the program. So a file is used only if nobody else can have written
it. It must belong to this user or to the superuser, and neither its group nor others may write it. The owner and mode
are asked of the open file, which nobody can exchange afterwards.

The folder has a limit. What was used least recently is deleted first, by whichever process finds too much; a process
that misses a file makes its content again.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

CHECKSUM = 32
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

LIMIT = 256 << 20
"""Bytes on disk that the entries of a folder may take."""
SHARE = 16
"""A process looks for too much when it first keeps something. It does so again each time it has written this fraction
of the limit. So the limit is exceeded by no more than such a part for each process that runs.
"""

_ENTRY = re.compile(r"[a-z]+-[0-9a-f]{64}|[0-9a-f]{64}\.o|\.assay-unfinished-\w+", re.ASCII)
"""What may be deleted: the folder is chosen by the user and may hold other files."""
_BLOCK = 4096
_NOTED = 3600
"""Seconds after which a use is noted again, so that reading does not write each time."""
_written: dict[Path, int] = {}
"""Bytes that this process has written to a folder since it last looked for too much."""


def user_cache() -> Path | None:
    """The cache folder: ``ASSAY_CACHE``, or a folder in the user's cache directory. It need not exist yet.

    ``XDG_CACHE_HOME`` that is empty or relative counts as unset, as the XDG rules have it. None if the user has no home.
    """
    chosen = os.environ.get("ASSAY_CACHE")
    # An empty variable counts as unset, so that `ASSAY_CACHE= assay …` does not fill the current folder.
    if chosen:
        return Path(chosen)
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if caches.is_absolute():
        return caches / "assay"
    home = Path("~")
    with suppress(RuntimeError):  # neither HOME nor an entry in the list of users
        home = home.expanduser()
    return home / ".cache" / "assay" if home.is_absolute() else None


def is_own(status: os.stat_result) -> bool:
    """Whether nobody but this user and the superuser can have written a file, or a folder's entries."""
    # The superuser's files count as own: an image may come with a filled cache.
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & WRITABLE_BY_OTHERS


def cached(name: str, folder: Path | None = None) -> bytes | None:
    """The content that was kept under a name; None if there is none, if it is damaged, or if others can write it."""
    place = folder or user_cache()
    if place is None:
        return None
    try:
        with (place / name).open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read() if is_own(status) else b""
            if content and time.time() - status.st_mtime > _NOTED:
                with suppress(OSError):  # a cache that is only read
                    os.utime(place / name)
    except OSError:
        return None
    checksum, kept = content[:CHECKSUM], content[CHECKSUM:]
    return kept if _checksum(name, kept) == checksum else None


def keep(name: str, content: bytes, folder: Path | None = None) -> None:
    """Keep content under a name. A cache that cannot be written only costs time in the next run.

    The file is written under a temporary name and renamed, so that processes do not disturb each other. The name is
    ``<kind>-<hash>`` or ``<hash>.o``, with a SHA-256 in hexadecimal digits; under another name it stays for ever.
    """
    place = folder or user_cache()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place, prefix=".assay-unfinished-", delete=False) as file:
            try:
                file.write(_checksum(name, content) + content)
                file.flush()
                # A reader sees the old file or the new one, and never half of one.
                Path(file.name).replace(place / name)
            except OSError:
                Path(file.name).unlink()
        # LIMIT stands for what is not known: a process looks for too much when it first keeps something.
        written = _written.get(place, LIMIT) + _size(len(content) + CHECKSUM)
        if written >= LIMIT // SHARE:
            _delete_least_recent(place)
            written = 0
        _written[place] = written


def _delete_least_recent(place: Path) -> None:
    """Delete entries until the rest keeps the limit. Other processes may do the same, or read what is deleted."""
    found = []
    with os.scandir(place) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                # A link could lead to what is not in this folder.
                if _ENTRY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime_ns, _size(status.st_size), entry.path))
    excess = sum(size for _, size, _ in found) - LIMIT
    for _, size, path in sorted(found):
        if excess <= 0:
            break
        Path(path).unlink(missing_ok=True)
        excess -= size


def _size(content: int) -> int:
    """The bytes on disk of a file, so that very many small ones count too."""
    return -(-content // _BLOCK) * _BLOCK


def _checksum(name: str, content: bytes) -> bytes:
    """Of the name too: a file of this user that another one has renamed is not what its name says."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()
