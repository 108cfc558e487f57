"""The work directory of a job: a folder that the driver and all executors reach under one name.

A plain path or ``file:`` is a folder that they share. Anything else is a file system that pyarrow knows (``hdfs:``,
``s3a:``, ``gs:``). Files are written whole and never changed, so that copies of them stay valid.
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
    """A random name of 48 bits, so that no two attempts write the same file."""
    return uuid4().hex[:12]


class Storage:
    """The files below a URI, by their names relative to it. Every method raises ``OSError`` where the files cannot
    be reached.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri

    def __reduce__(self) -> tuple[type[Storage], tuple[str]]:
        # The connection and the local copies belong to one process.
        return Storage, (self.uri,)

    @cached_property
    def folder(self) -> Path | None:
        """The folder, where the URI is one of this machine; None for a remote file system."""
        try:
            parts = urlsplit(self.uri)
        except ValueError as error:
            raise OSError(0, str(error)) from None
        if parts.scheme == "file":
            return Path(unquote(parts.path))
        # A plain path is taken as it is: it may have `?`, `#` and `%`, which mean something in a URI alone.
        return Path(self.uri) if not parts.scheme else None

    @cached_property
    def _remote(self) -> tuple[Any, str]:
        from pyarrow import fs  # noqa: PLC0415 - optional

        uri = self.uri.replace("s3a://", "s3://", 1)  # Hadoop's name for S3, which pyarrow does not know
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
        """Create the folder."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        else:
            system, path = self._remote
            system.create_dir(path, recursive=True)

    def read(self, name: str) -> bytes:
        """The content of a file."""
        if self.folder is not None:
            return (self.folder / name).read_bytes()
        system, path = self._remote
        with system.open_input_stream(f"{path}/{name}") as stream:
            content: bytes = stream.read()
        return content

    def section(self, name: str, offset: int, size: int) -> bytes:
        """A part of a file: ``size`` bytes from ``offset`` on."""
        if self.folder is not None:
            with (self.folder / name).open("rb") as file:
                file.seek(offset)
                return file.read(size)
        system, path = self._remote
        with system.open_input_file(f"{path}/{name}") as file:
            content: bytes = file.read_at(size, offset)
        return content

    def write(self, name: str, content: bytes) -> None:
        """Write a file in one step: it is there whole, or not at all."""
        aside = f"{name}.{new_name()}"  # renamed when it is whole: nobody reads half a manifest
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
        """The names of the files directly in the folder, sorted."""
        if self.folder is not None:
            return sorted(each.name for each in self.folder.iterdir() if each.is_file())
        from pyarrow import fs  # noqa: PLC0415 - optional

        system, path = self._remote
        found = system.get_file_info(fs.FileSelector(path))
        return sorted(each.base_name for each in found if each.type == fs.FileType.File)

    def attempts(self) -> dict[str, float]:
        """The files in the folders of attempts (named by ``new_name``), each with the time of its last change in
        seconds.
        """
        if self.folder is not None:
            # Only folders of attempts: others in the work directory belong to the user.
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
        """The time of a file's last change, in seconds."""
        if self.folder is not None:
            return (self.folder / name).stat().st_mtime
        system, path = self._remote
        (found,) = system.get_file_info([f"{path}/{name}"])
        if found.mtime is None:
            # pyarrow raises nothing for a missing file: it gives an answer without a time.
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
        """The path of a file on this machine: the file itself, or a local copy of a remote one."""
        if self.folder is not None:
            return self.folder / name
        copy = self._copies / name
        if not copy.exists():
            # Under another name first: a copy that was cut off must not be taken for the file.
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
        """The words of a file, mapped into memory: a page is read when it is accessed."""
        return map_words(self.here(name))

    def writing(self, name: str) -> Path:
        """A folder of this machine to write into; ``keep`` makes its files visible to all."""
        place = (self.folder or self._copies) / name
        place.mkdir(parents=True, exist_ok=True)
        return place

    def keep(self, name: str) -> None:
        """Make a file visible to all that was written into the folder of ``writing``: copies it to a remote file
        system.
        """
        if self.folder is not None:
            return
        from pyarrow import fs  # noqa: PLC0415 - optional

        system, path = self._remote
        target = f"{path}/{name}"
        system.create_dir(target.rpartition("/")[0], recursive=True)
        fs.copy_files(str(self._copies / name), target, destination_filesystem=system)
