"""The user's cache, which keeps what is slow to make from one run to the next.

Its files hold machine code and tables that steer the program. So a file is used only if nobody else can have written
it: it belongs to this user or to the superuser, and neither its group nor others may write it. The owner and mode are
asked of the open file, which nobody can exchange afterwards.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

CHECKSUM = 32
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def user_cache() -> Path | None:
    """The cache folder: ``ASSAY_CACHE``, or a folder in the user's cache directory. It need not exist yet.

    ``XDG_CACHE_HOME`` that is empty or relative counts as unset, as the XDG rules have it. None if the user has no home.
    """
    chosen = os.environ.get("ASSAY_CACHE")
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
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & WRITABLE_BY_OTHERS


def cached(name: str, folder: Path | None = None) -> bytes | None:
    """The content that was kept under a name; None if there is none, if it is damaged, or if others can write it."""
    place = folder or user_cache()
    if place is None:
        return None
    try:
        with (place / name).open("rb") as file:
            content = file.read() if is_own(os.fstat(file.fileno())) else b""
    except OSError:
        return None
    checksum, kept = content[:CHECKSUM], content[CHECKSUM:]
    return kept if _checksum(name, kept) == checksum else None


def keep(name: str, content: bytes, folder: Path | None = None, *, at_most: int | None = None) -> None:
    """Keep content under a name. A cache that cannot be written only costs time in the next run.

    The file is written under a temporary name and renamed, so that processes do not disturb each other. With
    ``at_most`` only so many entries stay whose names begin as this one's, up to the hyphen: the oldest are deleted.
    """
    place = folder or user_cache()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place, delete=False) as file:
            try:
                file.write(_checksum(name, content) + content)
                file.flush()
                Path(file.name).replace(place / name)
            except OSError:
                Path(file.name).unlink()
        if at_most is not None:
            _delete_oldest(place, name.partition("-")[0], at_most)


def _delete_oldest(place: Path, kind: str, at_most: int) -> None:
    entries = sorted(place.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime_ns)
    for path in entries[: max(0, len(entries) - at_most)]:
        path.unlink(missing_ok=True)


def _checksum(name: str, content: bytes) -> bytes:
    """Of the name too: a file of this user that another one has renamed is not what its name says."""
    return hashlib.sha256(name.encode() + b"\0" + content).digest()
