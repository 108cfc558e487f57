"""The work directory of a job: a folder that the driver and all executors reach under one name.

A plain path or ``file:`` is a folder that they share; anything else is a file system that pyarrow knows (``hdfs:``, ``s3a:``, ``gs:``). Files
are written whole and never changed.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4
from weakref import finalize

from assay.checker.explicit.store.level_file import map_words
from assay.checker.layout.row import Rows

BLOCK = 4 << 20
"""Bytes of a remote file that are in memory while it is copied."""
_ATTEMPT = re.compile(r"[0-9a-f]{12}(-[0-9a-f]{12})?")


def new_name() -> str:
    """A name that no other attempt takes."""
    return uuid4().hex[:12]


class Storage:
    """The files below a URI, by their names relative to it. Everything raises ``OSError`` where the files cannot be reached."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def __reduce__(self) -> tuple[type[Storage], tuple[str]]:
        return Storage, (self.uri,)

    @cached_property
    def folder(self) -> Path | None:
        """The folder, where it is one of this machine."""
        parts = urlsplit(self.uri)
        if parts.scheme == "file":
            return Path(unquote(parts.path))
        return Path(self.uri) if not parts.scheme else None

    @cached_property
    def _remote(self) -> tuple[Any, str]:
        from pyarrow import fs  # noqa: PLC0415 - optional

        uri = self.uri.replace("s3a://", "s3://", 1)
        try:
            system, path = fs.FileSystem.from_uri(uri)
        except (ValueError, NotImplementedError) as error:
            raise OSError(0, str(error)) from None
        return system, path.rstrip("/")

    @cached_property
    def _copies(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="assay-copy-"))
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def begin(self) -> None:
        """Make the folder."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        else:
            system, path = self._remote
            system.create_dir(path, recursive=True)

    def read(self, name: str) -> bytes:
        """A whole file."""
        if self.folder is not None:
            return (self.folder / name).read_bytes()
        system, path = self._remote
        with system.open_input_stream(f"{path}/{name}") as stream:
            content: bytes = stream.read()
        return content

    def section(self, name: str, offset: int, size: int) -> bytes:
        """A part of a file."""
        if self.folder is not None:
            with (self.folder / name).open("rb") as file:
                file.seek(offset)
                return file.read(size)
        system, path = self._remote
        with system.open_input_file(f"{path}/{name}") as file:
            content: bytes = file.read_at(size, offset)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file in one step; where that fails, nothing stays."""
        aside = f"{name}.{new_name()}"
        if self.folder is not None:
            try:
                (self.folder / aside).write_bytes(content)
                (self.folder / aside).replace(self.folder / name)
            except OSError:
                (self.folder / aside).unlink(missing_ok=True)
                raise
            return
        system, path = self._remote
        with system.open_output_stream(f"{path}/{aside}") as stream:
            stream.write(content)
        system.move(f"{path}/{aside}", f"{path}/{name}")

    def names(self) -> list[str]:
        """The files directly in the folder."""
        if self.folder is not None:
            return sorted(each.name for each in self.folder.iterdir() if each.is_file())
        from pyarrow import fs  # noqa: PLC0415 - optional

        system, path = self._remote
        found = system.get_file_info(fs.FileSelector(path))
        return sorted(each.base_name for each in found if each.type == fs.FileType.File)

    def attempts(self) -> dict[str, float]:
        """The files in folders of attempts, which tasks and drivers made (``new_name``), and when each was written last."""
        if self.folder is not None:
            places = (each for each in self.folder.iterdir() if _ATTEMPT.fullmatch(each.name) and each.is_dir())
            files = [each for place in places for each in place.iterdir()]
            return {f"{each.parent.name}/{each.name}": each.stat().st_mtime for each in files}
        from pyarrow import fs  # noqa: PLC0415 - optional

        system, path = self._remote
        found = system.get_file_info(fs.FileSelector(path, recursive=True))
        times = {each.path.removeprefix(f"{path}/"): each.mtime for each in found if each.type == fs.FileType.File}
        attempts = {name: time for name, time in times.items() if _ATTEMPT.fullmatch(name.rpartition("/")[0])}
        return {name: time.timestamp() for name, time in attempts.items() if time is not None}

    def written(self, name: str) -> float:
        """When a file was written last."""
        if self.folder is not None:
            return (self.folder / name).stat().st_mtime
        system, path = self._remote
        (found,) = system.get_file_info([f"{path}/{name}"])
        if found.mtime is None:
            raise OSError(0, f"{name} is not there")
        seconds: float = found.mtime.timestamp()
        return seconds

    def remove(self, name: str) -> None:
        """Remove a file."""
        if self.folder is not None:
            (self.folder / name).unlink(missing_ok=True)
        else:
            system, path = self._remote
            system.delete_file(f"{path}/{name}")

    def here(self, name: str) -> Path:
        """A file as one of this machine: itself, or a copy of it."""
        if self.folder is not None:
            return self.folder / name
        copy = self._copies / name
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            aside = copy.with_name(f"{copy.name}.{new_name()}")
            try:
                self._fetch(name, aside)
                aside.replace(copy)
            finally:
                aside.unlink(missing_ok=True)
        return copy

    def _fetch(self, name: str, target: Path) -> None:
        """Copy a remote file block by block: a level file may be larger than the memory."""
        system, path = self._remote
        with system.open_input_stream(f"{path}/{name}") as stream, target.open("wb") as into:
            shutil.copyfileobj(stream, into, BLOCK)

    def words(self, name: str) -> Rows:
        """The words of a file, read when they are looked at."""
        return map_words(self.here(name))

    def writing(self, name: str) -> Path:
        """A folder of this machine to write into, whose files then go to the folder of that name by ``keep``."""
        place = (self.folder or self._copies) / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def keep(self, name: str) -> None:
        """Let everybody have a file that was written into the place that ``writing`` gave."""
        if self.folder is not None:
            return
        from pyarrow import fs  # noqa: PLC0415 - optional

        system, path = self._remote
        target = f"{path}/{name}"
        system.create_dir(target.rpartition("/")[0], recursive=True)
        fs.copy_files(str(self._copies / name), target, destination_filesystem=system)
